//! Scopes of credentials (spec, Authentication 3; contract 7).

/// What a credential may do. One line per scope; the words are the wire's.
macro_rules! scopes {
    ($($variant:ident $word:literal;)*) => {
        /// What a credential may do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Scope { $($variant),* }

        impl Scope {
            /// In the order of the contract's table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word in `scopes`, grants and errors.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Reads a word of [`Self::word`]; `None` for an unknown scope.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

scopes! {
    AiChat "ai:chat";
    ControlRead "control:read";
    ControlWebhooks "control:webhooks";
    ControlWorkflows "control:workflows";
    ControlIntegrations "control:integrations";
    OrgEndUsersRead "org.end_users.read";
    ControlAgents "control:agents";
    ControlKeys "control:keys";
    ControlUsage "control:usage";
    ControlCompliance "control:compliance";
    ControlOrg "control:org";
    ControlApps "control:apps";
    ControlOauth "control:oauth";
}
