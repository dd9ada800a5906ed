//! Strict JSON: what is read is what every other reader reads, and is written back the same.

use serde_json::Value;
use svc_core::json;

pub(crate) fn strict(data: &[u8]) {
    let Ok(fields) = json::object(data) else {
        return;
    };
    let value = Value::Object(fields);
    let plain = serde_json::from_slice::<Value>(data).ok();
    assert!(plain.as_ref() == Some(&value), "two readers disagree");
    let written = value.to_string();
    let again = json::object(written.as_bytes()).ok().map(Value::Object);
    assert!(again == Some(value), "what was written reads differently");
}
