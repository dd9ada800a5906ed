//! The pages: one file each, with its template beside it under the same name.

pub(crate) mod account;
pub(crate) mod agents;
pub(crate) mod agreement;
pub(crate) mod applications;
pub(crate) mod apps;
pub(crate) mod audit;
pub(crate) mod code;
pub(crate) mod consent;
pub(crate) mod deliveries;
pub(crate) mod inbound;
pub(crate) mod integrations;
pub(crate) mod invitation;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod mode;
pub(crate) mod models;
pub(crate) mod overview;
pub(crate) mod phi;
pub(crate) mod playground;
pub(crate) mod plugins;
pub(crate) mod policies;
pub(crate) mod records;
pub(crate) mod settings;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod webhooks;
