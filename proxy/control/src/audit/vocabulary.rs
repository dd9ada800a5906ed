//! The words by which audit rows say what happened and to what. Filters take these alone: a mistyped one would find
//! nothing, which reads as if nothing had happened, and what somebody typed would stand for years in the row of the query.

/// Every event, by family, as `docs/audit.md` lists them.
#[rustfmt::skip]
const EVENTS: &[(&str, &[&str])] = &[
    ("agent", &["created", "updated", "archived", "reactivated", "denied"]),
    ("agent_credential", &["issued", "revoked", "denied"]),
    ("api_key", &["created", "revoked", "denied"]),
    ("app", &["created", "denied"]),
    ("audit", &["queried", "denied", "expired"]),
    ("auth", &["failed"]),
    ("baa", &["accepted", "downloaded", "terminated", "denied"]),
    ("budget", &["updated", "denied"]),
    ("conversation", &["expired"]),
    ("end_user", &["exported", "erased", "denied"]),
    ("entity", &["created", "updated", "denied"]),
    ("inbound_webhook", &["created", "updated", "token_rotated", "deleted", "denied"]),
    ("incoming", &["denied"]),
    ("inference", RUN),
    ("integration", &["created", "secret_rotated", "revoked", "requested", "dispatched", "failed", "cancelled", "abandoned", "denied"]),
    ("integration_binding", &["created", "deleted", "denied"]),
    ("master_key", &["rotated"]),
    ("oauth", &["code_issued", "access_denied", "code_burned", "token_issued", "token_revoked"]),
    ("oauth_application", &["created", "updated", "secret_rotated", "revoked", "denied"]),
    ("organization", &["updated", "plan_set", "erased", "denied"]),
    ("organization_key", &["rotated", "rewrapped"]),
    ("record", &["created", "bulk_created", "updated", "deleted", "read", "listed", "denied"]),
    ("request", &["replayed"]),
    ("token_count", RUN),
    ("usage", &["recomputed"]),
    ("user", &[
        "signed_in", "sign_in_failed", "signed_out", "password_changed", "second_factor_begun",
        "second_factor_enabled", "second_factor_removed", "recovery_codes_renewed", "created", "invited",
        "password_reset_issued", "role_changed", "suspended", "reinstated", "denied",
    ]),
    ("webhook_delivery", &["replayed", "denied"]),
    ("webhook_endpoint", &["created", "updated", "secret_rotated", "deleted", "disabled", "denied"]),
    ("workflow", &["solve_completed"]),
];

/// What becomes of content that is for a provider.
const RUN: &[&str] = &[
    "requested",
    "completed",
    "blocked",
    "failed",
    "cancelled",
    "abandoned",
    "denied",
];

/// Every type of what a row is about, as `docs/audit.md` lists them.
const TARGET_TYPES: &[&str] = &[
    "agent",
    "agent_credential",
    "api_key",
    "app",
    "baa_acceptance",
    "budget",
    "bulk_replay",
    "cycle",
    "entity",
    "inbound_webhook",
    "integration_binding",
    "integration_credential",
    "message",
    "oauth_application",
    "organization",
    "record",
    "record_batch",
    "user",
    "webhook_endpoint",
];

/// Whether rows may have this event, or one of this family (`inference.*`).
pub(super) fn is_event(word: &str) -> bool {
    let Some((family, happened)) = word.split_once('.') else {
        return false;
    };
    let mut families = EVENTS.iter().filter(|(known, _)| *known == family);
    families.any(|(_, words)| happened == "*" || words.contains(&happened))
}

/// Whether rows may be about something of this type.
pub(super) fn is_target_type(word: &str) -> bool {
    TARGET_TYPES.contains(&word)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// The words in backticks of a section of the page; one that begins with a point goes on with the family before it.
    fn documented(section: &str) -> BTreeSet<String> {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, rest) = page.split_once(&format!("### {section}\n")).unwrap();
        let table = rest.trim_start().split("\n\n").next().unwrap();
        let mut family = String::new();
        let mut words = BTreeSet::new();
        for word in table.split('`').skip(1).step_by(2) {
            if let Some(happened) = word.strip_prefix('.') {
                words.insert(format!("{family}.{happened}"));
                continue;
            }
            family = word.split('.').next().unwrap().to_owned();
            words.insert(word.to_owned());
        }
        words
    }

    #[test]
    fn every_event_is_documented_and_every_documented_one_is_known() {
        let known: BTreeSet<String> = EVENTS
            .iter()
            .flat_map(|(family, words)| words.iter().map(move |word| format!("{family}.{word}")))
            .collect();
        assert_eq!(documented("Every event"), known);
    }

    #[test]
    fn every_type_of_target_is_documented() {
        let known: BTreeSet<String> = TARGET_TYPES.iter().map(ToString::to_string).collect();
        assert_eq!(documented("Every type of target"), known);
    }

    #[test]
    fn a_refusal_of_every_endpoint_has_a_known_event() {
        for endpoint in crate::ENDPOINTS {
            if let Some(family) = endpoint.audited_as {
                let event = format!("{family}.denied");
                assert!(is_event(&event), "{}: {event}", endpoint.path);
            }
        }
    }

    #[test]
    fn what_somebody_typed_is_no_event() {
        for word in ["inference.completed", "inference.*", "user.*"] {
            assert!(is_event(word), "{word}");
        }
        for word in [
            "inference",
            "inference.complete",
            "inference.completed.*",
            "jane.*",
            "*",
            ".*",
            "barker.thomas.diabetes",
        ] {
            assert!(!is_event(word), "{word}");
        }
        assert!(is_target_type("api_key") && !is_target_type("jane_doe.diabetes"));
    }
}
