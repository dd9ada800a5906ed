//! What changes while the gateway serves: policies, plugins, certificates. Nobody notices; what is broken is
//! reported and never replaces what is good.

mod certificate;
mod plugin;
mod policy;
