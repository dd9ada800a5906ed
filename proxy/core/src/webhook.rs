//! Outbound webhooks: the names of events, and which events an endpoint has asked for (spec, Outbound webhook
//! events). Pure; signing is the webhook crate's.

/// The feature of organizations that may have endpoints and are told of events.
pub const FEATURE: &str = "webhooks";

/// Header that names a delivery. What comes in with it tells no event, or two systems that send each other everything
/// would do so forever.
pub const ID_HEADER: &str = "x-svc-webhook-id";

/// What has happened to a record or to an entity's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventName {
    RecordCreated,
    RecordUpdated,
    RecordDeleted,
    RecordBulkCreated,
    SchemaUpdated,
}

impl EventName {
    /// In the order of the specification's table.
    pub const ALL: &[Self] = &[
        Self::RecordCreated,
        Self::RecordUpdated,
        Self::RecordDeleted,
        Self::RecordBulkCreated,
        Self::SchemaUpdated,
    ];

    /// The word of `event`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::RecordCreated => "record.created",
            Self::RecordUpdated => "record.updated",
            Self::RecordDeleted => "record.deleted",
            Self::RecordBulkCreated => "record.bulk_created",
            Self::SchemaUpdated => "schema.updated",
        }
    }

    /// Reads a word of [`Self::word`]; `None` for an unknown event.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.word() == word)
    }
}

/// Stands for every event, those of later versions among them (contract 15.1).
pub const EVERY_EVENT: &str = "*";

/// What an endpoint has asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Names of events, or [`EVERY_EVENT`] alone.
    pub events: Vec<String>,
    /// `None`: of any app.
    pub app_id: Option<String>,
    /// `None`: of any entity.
    pub entity_keys: Option<Vec<String>>,
}

impl Subscription {
    /// Whether an event of this app and entity is asked for.
    pub fn wants(&self, name: EventName, app_id: &str, entity_key: &str) -> bool {
        let Self {
            events,
            app_id: app,
            entity_keys,
        } = self;
        let is_named = |event: &String| event == EVERY_EVENT || event == name.word();
        events.iter().any(is_named)
            && app.as_ref().is_none_or(|app| app == app_id)
            && entity_keys
                .as_ref()
                .is_none_or(|keys| keys.iter().any(|key| key == entity_key))
    }
}

/// Why an attempt did not deliver (contract 15.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttemptError {
    /// No 2xx in time.
    Timeout,
    Dns,
    Connect,
    Tls,
    /// The address is not one that callers may choose.
    BlockedAddress,
    /// A 3xx: redirects are not followed.
    Redirect,
    /// Another status than 2xx and 3xx.
    Status,
    /// The answer went on past what is read of it.
    BodyTooLarge,
    Internal,
}

impl AttemptError {
    /// In the order of the contract's list.
    pub const ALL: &[Self] = &[
        Self::Timeout,
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::BlockedAddress,
        Self::Redirect,
        Self::Status,
        Self::BodyTooLarge,
        Self::Internal,
    ];

    /// The word of `attempts[].error`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::BlockedAddress => "blocked_address",
            Self::Redirect => "redirect",
            Self::Status => "status",
            Self::BodyTooLarge => "body_too_large",
            Self::Internal => "internal",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|error| error.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription(events: &[&str]) -> Subscription {
        Subscription {
            events: events.iter().map(|&event| event.to_owned()).collect(),
            app_id: None,
            entity_keys: None,
        }
    }

    #[test]
    fn names_read_back_and_nothing_else_does() {
        for name in EventName::ALL {
            assert_eq!(EventName::parse(name.word()), Some(*name));
        }
        for word in ["", "*", "record", "record.created ", "Record.Created"] {
            assert_eq!(EventName::parse(word), None, "{word}");
        }
    }

    #[test]
    fn an_endpoint_gets_what_it_has_asked_for_and_nothing_else() {
        let created = EventName::RecordCreated;
        assert!(subscription(&["*"]).wants(EventName::SchemaUpdated, "a", "patient"));
        assert!(subscription(&["record.created"]).wants(created, "a", "patient"));
        assert!(!subscription(&["record.updated"]).wants(created, "a", "patient"));
        let mut narrow = subscription(&["*"]);
        narrow.app_id = Some("a".to_owned());
        assert!(narrow.wants(created, "a", "patient") && !narrow.wants(created, "b", "patient"));
        narrow.entity_keys = Some(vec!["visit".to_owned(), "patient".to_owned()]);
        assert!(narrow.wants(created, "a", "patient") && !narrow.wants(created, "a", "invoice"));
    }
}
