//! The only pingora.
