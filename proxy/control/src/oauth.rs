//! Delegated access for applications (contract 16): the applications themselves, the metadata, the token endpoint and
//! introspection; and the decisions behind the pages that users see, which `svc-dashboard` shows.

mod answer;
pub(crate) mod applications;
pub mod authorization;
mod client;
mod form;
mod introspection;
mod metadata;
mod token;

pub(crate) use introspection::Introspection;
pub(crate) use metadata::Metadata;
pub(crate) use token::Token;

/// The paths that the metadata names.
pub const AUTHORIZE: &str = "/v1/oauth/authorize";
pub(crate) const TOKEN: &str = "/v1/oauth/token";
pub(crate) const INTROSPECT: &str = "/v1/oauth/introspect";
