//! Audit rows as events of the Open Cybersecurity Schema Framework 1.3.0, class API Activity (6003), for those who
//! collect them. What the class has no attribute for stands in `unmapped`.

use serde_json::{Map, Value, json};
use svc_core::audit_leaf::INTEGRITY;
use svc_core::time::Timestamp;

/// Version of the schema that the events follow.
const SCHEMA: &str = "1.3.0";
/// Application Activity, API Activity.
const CATEGORY: u64 = 6;
const CLASS: u64 = 6_003;

/// Activities of the class.
const CREATE: u64 = 1;
const READ: u64 = 2;
const UPDATE: u64 = 3;
const DELETE: u64 = 4;
const OTHER: u64 = 99;

/// What the last word of an event comes to.
#[rustfmt::skip]
const ACTIVITIES: &[(u64, &[&str])] = &[
    (CREATE, &["created", "issued", "registered", "accepted"]),
    (READ, &["queried", "read", "exported", "downloaded", "listed"]),
    (UPDATE, &["updated", "archived", "reactivated", "rotated", "enabled", "disabled"]),
    (DELETE, &["deleted", "revoked", "erased", "expired", "terminated"]),
];

/// The event of a row as it is shown.
pub(super) fn event(row: &Value) -> Value {
    let at = |pointer: &str| row.pointer(pointer).cloned().unwrap_or_default();
    let text = |pointer: &str| row.pointer(pointer).and_then(Value::as_str);
    let name = text("/event").unwrap_or_default();
    let activity = activity(name, text("/request/method"));
    let result = text("/outcome/result").unwrap_or_default();
    let (status_id, severity_id) = match result {
        "success" => (1, 1),
        "denied" | "failure" => (2, 2),
        _ => (OTHER, 1),
    };
    let occurred_at = text("/occurred_at").and_then(Timestamp::parse);
    without_nulls(json!({
        "activity_id": activity,
        "activity_name": name.rsplit('.').next(),
        "category_uid": CATEGORY,
        "category_name": "Application Activity",
        "class_uid": CLASS,
        "class_name": "API Activity",
        "type_uid": CLASS * 100 + activity,
        "severity_id": severity_id,
        "time": occurred_at.map(|at| at.0),
        "status_id": status_id,
        "status": result,
        "status_code": text("/outcome/code"),
        "metadata": {
            "version": SCHEMA,
            "product": {"name": "svc-gateway", "vendor_name": "Svc", "version": env!("CARGO_PKG_VERSION")},
            "uid": at("/id"),
            "log_name": "audit",
            "event_code": name,
            "correlation_uid": at("/request/id"),
            "tenant_uid": at("/org_id"),
            "original_time": at("/occurred_at"),
        },
        "actor": {"user": user(row)},
        "api": {
            "operation": name,
            "version": at("/request/svc_version"),
            "service": text("/request/surface").map(|surface| json!({"name": surface})),
            "request": text("/request/id").map(|id| json!({"uid": id})),
            "response": at("/outcome/status").as_u64().map(|status| json!({"code": status, "error": at("/outcome/code")})),
        },
        "src_endpoint": match text("/request/ip") {
            Some(ip) => json!({"ip": ip}),
            None => json!({"name": "svc-gateway"}),
        },
        "http_request": text("/request/method").map(|method| json!({
            "http_method": method,
            "url": {"path": at("/request/path")},
            "user_agent": at("/request/user_agent"),
            "uid": at("/request/id"),
        })),
        "resources": text("/target/id").map(|id| json!([{"uid": id, "type": at("/target/type")}])),
        "unmapped": {
            "mode": at("/mode"),
            "phi": at("/phi"),
            "details": at("/details"),
            "integrity": row.get(INTEGRITY),
        },
    }))
}

/// A refusal is what was asked for by its method.
fn activity(event: &str, method: Option<&str>) -> u64 {
    // What was done to a part is named after both: `secret_rotated`.
    let word = event.rsplit(['.', '_']).next().unwrap_or_default();
    let named = ACTIVITIES.iter().find(|(_, words)| words.contains(&word));
    match (named, method) {
        (Some((activity, _)), _) => *activity,
        (None, Some("GET")) => READ,
        (None, Some("PATCH" | "PUT")) => UPDATE,
        (None, Some("DELETE")) => DELETE,
        _ => OTHER,
    }
}

/// Who did it: the person where one is known, else the credential.
fn user(row: &Value) -> Value {
    let text = |pointer: &str| row.pointer(pointer).and_then(Value::as_str);
    let (kind, id) = (text("/actor/type").unwrap_or_default(), text("/actor/id"));
    let person = text("/actor/delegating_user_id");
    let (type_id, type_name) = match (person, kind) {
        (Some(_), _) | (None, "user") => (1, "User"),
        (None, "system") => (3, "System"),
        (None, other) => (OTHER, other),
    };
    json!({
        "uid": person.or(id),
        "name": if id.is_none() { Some(kind) } else { None },
        "type_id": type_id,
        "type": type_name,
        "credential_uid": person.and(id),
        "org": text("/org_id").map(|org_id| json!({"uid": org_id})),
    })
}

/// Attributes that are not known are left out: the schema has no null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            let kept = kept.map(|(name, value)| (name, without_nulls(value)));
            Value::Object(kept.collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn row() -> Value {
        json!({
            "id": "aud_1", "object": "audit_event", "event": "api_key.created", "schema": 1,
            "occurred_at": "2026-11-20T20:09:00.123Z", "org_id": "org_1", "mode": "live",
            "actor": {"type": "api_key", "id": "key_1", "delegating_user_id": "user_1", "hint": null},
            "request": {"id": "req_1", "method": "POST", "path": "/v1/api_keys", "surface": "native",
                        "svc_version": "2026-07-12", "ip": "198.51.100.4", "user_agent": null},
            "target": {"type": "api_key", "id": "key_2"},
            "outcome": {"result": "success", "status": 201, "code": null},
            "phi": null, "details": {}, "integrity": {"leaf_index": 3, "leaf_hash": "00"},
        })
    }

    #[test]
    fn required_attributes_are_there_in_their_types() {
        let event = event(&row());
        for (pointer, expected) in [
            ("/activity_id", json!(1)),
            ("/category_uid", json!(6)),
            ("/class_uid", json!(6003)),
            ("/type_uid", json!(600_301)),
            ("/severity_id", json!(1)),
            ("/status_id", json!(1)),
            ("/time", json!(1_795_205_340_123_i64)),
            ("/metadata/version", json!("1.3.0")),
            ("/metadata/product/vendor_name", json!("Svc")),
            ("/actor/user/uid", json!("user_1")),
            ("/actor/user/credential_uid", json!("key_1")),
            ("/api/operation", json!("api_key.created")),
            ("/api/response/code", json!(201)),
            ("/src_endpoint/ip", json!("198.51.100.4")),
            ("/resources/0/uid", json!("key_2")),
            ("/unmapped/integrity/leaf_index", json!(3)),
        ] {
            assert_eq!(event.pointer(pointer), Some(&expected), "{pointer}");
        }
        assert!(!event.to_string().contains("null"));
    }

    #[test]
    fn what_was_done_to_a_part_is_what_was_done() {
        for (event, expected) in [
            ("integration.secret_rotated", UPDATE),
            ("inbound_webhook.token_rotated", UPDATE),
            ("record.bulk_created", CREATE),
            ("oauth.token_revoked", DELETE),
            ("workflow.solve_completed", OTHER),
        ] {
            assert_eq!(activity(event, Some("POST")), expected, "{event}");
        }
    }

    #[test]
    fn rows_of_the_system_and_refusals_are_events_too() {
        let mut system = row();
        system["actor"] =
            json!({"type": "system", "id": null, "delegating_user_id": null, "hint": null});
        system["request"] = Value::Null;
        system["event"] = json!("audit.expired");
        let shown = event(&system);
        assert_eq!(shown["type_uid"], 600_304);
        assert_eq!(shown["actor"]["user"]["name"], "system");
        assert_eq!(shown["src_endpoint"]["name"], "svc-gateway");
        let mut denied = row();
        denied["event"] = json!("organization.denied");
        denied["request"]["method"] = json!("PATCH");
        denied["outcome"] = json!({"result": "denied", "status": 403, "code": "MISSING_SCOPE"});
        let shown = event(&denied);
        assert_eq!(
            (&shown["activity_id"], &shown["status_id"]),
            (&json!(3), &json!(2))
        );
        assert_eq!(shown["status_code"], "MISSING_SCOPE");
    }
}
