//! Constraint solving.
