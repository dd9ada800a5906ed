//! Identifiers: a type prefix and a 26-character Crockford ULID (contract 1.1).

use ulid::Ulid;

use crate::time::Timestamp;

/// What an identifier names; the prefix says it to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    Organization,
    User,
    Project,
    Request,
    Message,
    Conversation,
    ApiKey,
    Agent,
    AgentCredential,
    Integration,
    Binding,
    WebhookEndpoint,
    BulkReplay,
    InboundWebhook,
    OauthApplication,
    BaaAcceptance,
    Audit,
    /// Records, apps and deliveries carry bare ULIDs.
    Bare,
}

impl IdKind {
    const ALL: [Self; 18] = [
        Self::Organization,
        Self::User,
        Self::Project,
        Self::Request,
        Self::Message,
        Self::Conversation,
        Self::ApiKey,
        Self::Agent,
        Self::AgentCredential,
        Self::Integration,
        Self::Binding,
        Self::WebhookEndpoint,
        Self::BulkReplay,
        Self::InboundWebhook,
        Self::OauthApplication,
        Self::BaaAcceptance,
        Self::Audit,
        Self::Bare,
    ];

    /// The type prefix with its underscore (contract 1.1); empty for bare ULIDs.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Organization => "org_",
            Self::User => "user_",
            Self::Project => "proj_",
            Self::Request => "req_",
            Self::Message => "msg_",
            Self::Conversation => "conv_",
            Self::ApiKey => "key_",
            Self::Agent => "agt_",
            Self::AgentCredential => "agc_",
            Self::Integration => "int_",
            Self::Binding => "bind_",
            Self::WebhookEndpoint => "we_",
            Self::BulkReplay => "rply_",
            Self::InboundWebhook => "iwh_",
            Self::OauthApplication => "oapp_",
            Self::BaaAcceptance => "baa_",
            Self::Audit => "aud_",
            Self::Bare => "",
        }
    }

    /// Makes an identifier from an instant and 80 bits of randomness (the low bits of `random`).
    pub fn make(self, now: Timestamp, random: u128) -> String {
        let ulid = Ulid::from_parts(now.0.max(0).unsigned_abs(), random);
        let mut id = String::with_capacity(self.prefix().len() + ULID_CHARS);
        id.push_str(self.prefix());
        id.push_str(ulid.array_to_str(&mut [0; ULID_CHARS]));
        id
    }

    /// Reads an identifier that a client sent, prefixed or bare, and gives the canonical, prefixed form. The contract
    /// has bare ones of conversations alone (X16): who wants the prefix compares the two. `None` for what is neither.
    pub fn accept(self, text: &str) -> Option<String> {
        let bare = text.strip_prefix(self.prefix()).unwrap_or(text);
        if bare.len() != ULID_CHARS || bare.bytes().any(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        Ulid::from_string(bare).ok()?;
        Some(format!("{}{bare}", self.prefix()))
    }
}

/// Whether a text has the form of an identifier of ours, of whatever kind. Others use ULIDs too, for people among others:
/// ask it of what is meant to be an identifier of ours only.
pub fn is_id(text: &str) -> bool {
    let (prefix, bare) = match text.rfind('_') {
        Some(at) => text.split_at(at + 1),
        None => ("", text),
    };
    IdKind::ALL.iter().any(|kind| kind.prefix() == prefix) && IdKind::Bare.accept(bare).is_some()
}

const ULID_CHARS: usize = 26;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_told_from_what_may_be_a_name() {
        let ulid = IdKind::Bare.make(Timestamp(1_000), 7);
        for text in [ulid.clone(), format!("agt_{ulid}"), format!("rply_{ulid}")] {
            assert!(is_id(&text), "{text}");
        }
        for text in [
            "",
            "_",
            "Maria-Lopez",
            "536-22-1234",
            &format!("Maria_{ulid}"),
            &format!("agt_{ulid}x"),
            &ulid.to_lowercase(),
            &format!("maria_lopez_{ulid}"),
            &format!("patient_{ulid}"),
        ] {
            assert!(!is_id(text), "{text}");
        }
    }

    #[test]
    fn ids_sort_by_time_and_read_back() {
        let early = IdKind::Request.make(Timestamp(1_000), 7);
        let late = IdKind::Request.make(Timestamp(2_000), 1);
        assert!(early < late);
        assert_eq!(early.len(), 30);
        assert_eq!(
            IdKind::Request.accept(&early).as_deref(),
            Some(early.as_str())
        );
    }

    #[test]
    fn conversations_are_accepted_with_and_without_prefix() {
        let id = IdKind::Conversation.make(Timestamp(1_000), 7);
        assert_eq!(
            IdKind::Conversation.accept(&id[5..]).as_deref(),
            Some(id.as_str())
        );
        assert_eq!(IdKind::Conversation.accept(&id.to_lowercase()), None);
        assert_eq!(IdKind::Conversation.accept("conv_"), None);
        assert_eq!(
            IdKind::Conversation.accept("msg_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            None
        );
    }
}
