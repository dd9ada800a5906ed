//! Scopes of credentials (spec, Authentication 3; contract 7).

/// What a credential may do. One line per scope; the words are the wire's.
macro_rules! scopes {
    ($($variant:ident $word:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Scope { $($variant),* }

        impl Scope {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

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
