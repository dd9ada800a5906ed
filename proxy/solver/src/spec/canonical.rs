//! JSON in a form that equal values share. Numbers count by value (1 is 1.0), objects by key; lists of ids, days
//! and conditions are sets, all other lists keep their order.

use serde_json::Value;

/// Lists whose order means something.
const ORDERED: [&str; 1] = ["pattern"];

/// A value as text: equal texts are equal values.
pub(crate) fn value(value: &Value) -> String {
    let mut text = String::new();
    write(value, true, &mut text);
    text
}

/// An item as text: items that mean the same have the same text. A null field of it is an absent one.
pub(crate) fn item(item: &Value) -> String {
    let mut item = item.clone();
    if let Value::Object(fields) = &mut item {
        fields.retain(|_, value| !value.is_null());
    }
    let mut text = String::new();
    write(&item, false, &mut text);
    text
}

fn write(value: &Value, is_ordered: bool, text: &mut String) {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => {
                // All of its digits, as the integer of the same value has them. A zero has no sign.
                text.push_str(&format!("{:.0}", float + 0.0));
            }
            _ => text.push_str(&number.to_string()),
        },
        Value::Array(values) => {
            let mut parts: Vec<String> = values
                .iter()
                .map(|value| {
                    let mut part = String::new();
                    write(value, is_ordered, &mut part);
                    part
                })
                .collect();
            if !is_ordered {
                parts.sort_unstable();
            }
            text.push('[');
            text.push_str(&parts.join(","));
            text.push(']');
        }
        Value::Object(fields) => {
            let mut parts: Vec<String> = fields
                .iter()
                .map(|(key, value)| {
                    let mut part = Value::from(key.as_str()).to_string();
                    part.push(':');
                    write(
                        value,
                        is_ordered || ORDERED.contains(&key.as_str()),
                        &mut part,
                    );
                    part
                })
                .collect();
            parts.sort_unstable();
            text.push('{');
            text.push_str(&parts.join(","));
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_differ_and_numbers_do_not() {
        assert_eq!(value(&json!(1)), value(&json!(1.0)));
        assert_ne!(value(&json!(1)), value(&json!("1")));
        assert_ne!(value(&json!(1)), value(&json!(true)));
        assert_eq!(
            value(&json!({"a": 1, "b": 2})),
            value(&json!({"b": 2, "a": 1}))
        );
        assert_ne!(value(&json!([1, 2])), value(&json!([2, 1])));
    }

    #[test]
    fn large_numbers_count_by_value_too() {
        assert_eq!(
            value(&json!(10_000_000_000_000_000_u64)),
            value(&json!(1e16))
        );
        let of_float = value(&json!(9_007_199_254_740_992.0));
        assert_eq!(value(&json!(9_007_199_254_740_992_u64)), of_float);
        assert_ne!(value(&json!(9_007_199_254_740_993_u64)), of_float);
        let beyond = value(&json!(9_223_372_036_854_775_808.0));
        assert_eq!(value(&json!(9_223_372_036_854_775_808_u64)), beyond);
        assert_eq!(
            value(&json!(i64::MIN)),
            value(&json!(-9_223_372_036_854_775_808.0))
        );
    }

    #[test]
    fn a_null_field_of_an_item_is_absent() {
        let plain = json!({"type": "apart", "slot_where": [{"key": "a", "equals": null}]});
        let mut with_null = plain.clone();
        with_null["from"] = Value::Null;
        assert_eq!(item(&plain), item(&with_null));
        assert!(item(&plain).contains("null"));
    }

    #[test]
    fn items_are_sets_but_for_patterns() {
        assert_eq!(
            item(&json!({"slot_ids": ["a", "b"]})),
            item(&json!({"slot_ids": ["b", "a"]}))
        );
        assert_ne!(
            item(&json!({"pattern": [["a"], ["b"]]})),
            item(&json!({"pattern": [["b"], ["a"]]}))
        );
    }
}
