//! What several resources ask of their fields (contract 1.2).

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use svc_core::fault::Problems;
use svc_core::json;
use svc_core::phi::is_unseen;
use svc_core::surface::fields::Fields;
use svc_core::time::{MS_PER_HOUR, Timestamp};

pub(crate) const MAX_NAME_CHARS: usize = 100;
pub(crate) const MAX_DESCRIPTION_CHARS: usize = 1_000;
/// Items of a list that has no bound of its own.
pub(crate) const MAX_ITEMS: usize = 100;
const MAX_METADATA_PAIRS: usize = 50;
const MAX_METADATA_KEY_CHARS: usize = 40;
const MAX_METADATA_VALUE_CHARS: usize = 500;

/// A field of a change: absent, cleared by null, or set.
pub(crate) enum Given<T> {
    Absent,
    Null,
    Value(T),
}

/// A text whose length in characters is within `range`.
pub(crate) fn text(
    fields: &mut Fields,
    key: &str,
    range: std::ops::RangeInclusive<usize>,
    problems: &mut Problems,
) -> Option<String> {
    let text = fields.string(key, problems)?;
    check_length(&text, &fields.path_to(key), range, problems).then_some(text)
}

/// As [`text`], where a null clears the field.
pub(crate) fn text_or_null(
    fields: &mut Fields,
    key: &str,
    range: std::ops::RangeInclusive<usize>,
    problems: &mut Problems,
) -> Given<String> {
    match fields.take_or_null(key) {
        None => Given::Absent,
        Some(Value::Null) => Given::Null,
        Some(Value::String(text)) => {
            if check_length(&text, &fields.path_to(key), range, problems) {
                Given::Value(text)
            } else {
                Given::Absent
            }
        }
        Some(_) => {
            problems.add(fields.path_to(key), "must be a string or null");
            Given::Absent
        }
    }
}

fn check_length(
    text: &str,
    path: &str,
    range: std::ops::RangeInclusive<usize>,
    problems: &mut Problems,
) -> bool {
    let problem = other_length(text, range);
    let is_fitting = problem.is_none();
    if let Some(problem) = problem {
        problems.add(path, problem);
    }
    is_fitting
}

/// What is wrong with a name that people decide by: it has to be what it looks like, and to look like something.
pub(crate) fn misleading(name: &str) -> Option<&'static str> {
    // Lines and paragraphs that end, and characters of a width that show nothing.
    let is_blank = |letter: char| matches!(letter, '\u{2028}' | '\u{2029}' | '\u{2800}');
    let is_tag = |letter: char| matches!(letter, '\u{e0000}'..='\u{e0fff}');
    let is_hidden = |letter: char| {
        letter.is_control() || is_unseen(letter) || is_blank(letter) || is_tag(letter)
    };
    if name.chars().any(is_hidden) {
        return Some("must not have control characters, or ones that nobody sees");
    }
    let is_empty = name.chars().all(char::is_whitespace);
    is_empty.then_some("must have a character that is seen")
}

/// A whole number within a range.
pub(crate) fn whole(
    fields: &mut Fields,
    key: &str,
    range: std::ops::RangeInclusive<u32>,
    problems: &mut Problems,
) -> Option<u32> {
    let value = fields.take(key)?;
    let found = value.as_number().and_then(json::whole);
    let found = found.and_then(|value| u32::try_from(value).ok());
    let found = found.filter(|value| range.contains(value));
    if found.is_none() {
        let (least, most) = (range.start(), range.end());
        problems.add(
            fields.path_to(key),
            format!("must be a whole number from {least} to {most}"),
        );
    }
    found
}

/// As [`whole`], where a null clears the field.
pub(crate) fn whole_or_null(
    fields: &mut Fields,
    key: &str,
    range: std::ops::RangeInclusive<u32>,
    problems: &mut Problems,
) -> Given<u32> {
    if fields.is_null(key) {
        fields.take_or_null(key);
        return Given::Null;
    }
    match whole(fields, key, range, problems) {
        Some(value) => Given::Value(value),
        None => Given::Absent,
    }
}

/// An instant in RFC 3339.
pub(crate) fn time(fields: &mut Fields, key: &str, problems: &mut Problems) -> Option<Timestamp> {
    let text = fields.string(key, problems)?;
    let at = Timestamp::parse(&text);
    if at.is_none() {
        problems.add(fields.path_to(key), "must be an RFC 3339 time");
    }
    at
}

/// Hours from now.
pub(crate) const fn in_hours(now: Timestamp, hours: u32) -> Timestamp {
    now.plus_ms(hours as i64 * MS_PER_HOUR)
}

/// An array of texts, as many as `count` says. `wrong` says what is wrong with one; it is asked in their order.
pub(crate) fn texts(
    value: Value,
    path: &str,
    count: std::ops::RangeInclusive<usize>,
    problems: &mut Problems,
    mut wrong: impl FnMut(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let Value::Array(items) = value else {
        problems.add(path, "must be an array of strings");
        return None;
    };
    if !count.contains(&items.len()) {
        let (least, most) = (count.start(), count.end());
        problems.add(path, format!("must have {least} to {most} items"));
        return None;
    }
    let mut texts = Vec::with_capacity(items.len());
    let mut is_good = true;
    for (at, item) in items.into_iter().enumerate() {
        let problem = match item {
            Value::String(text) => {
                let problem = wrong(&text);
                texts.push(text);
                problem
            }
            _ => Some("must be a string".to_owned()),
        };
        if let Some(problem) = problem {
            problems.add(format!("{path}[{at}]"), problem);
            is_good = false;
        }
    }
    is_good.then_some(texts)
}

/// What is wrong with a text that was named before, asked about one after the other.
pub(crate) fn repeated() -> impl FnMut(&str) -> Option<String> {
    let mut before = HashSet::new();
    move |text| (!before.insert(text.to_owned())).then(|| "is named twice".to_owned())
}

/// What is wrong with a text of another length, in characters.
pub(crate) fn other_length(text: &str, range: std::ops::RangeInclusive<usize>) -> Option<String> {
    let (least, most) = (range.start(), range.end());
    (!range.contains(&text.chars().count())).then(|| match least {
        0 => format!("must have at most {most} characters"),
        _ => format!("must have {least} to {most} characters"),
    })
}

/// Takes pairs of texts over into the metadata of a record, of which it may have 50: a null takes a pair out, what is
/// not named stays.
pub(crate) fn merge_metadata(
    metadata: &mut BTreeMap<String, String>,
    value: Value,
    path: &str,
    problems: &mut Problems,
) {
    let Value::Object(pairs) = value else {
        problems.add(path, "must be an object");
        return;
    };
    for (at, (name, value)) in pairs.into_iter().enumerate() {
        if !(1..=MAX_METADATA_KEY_CHARS).contains(&name.chars().count()) {
            problems.add(
                path,
                format!("key {at} must have 1 to {MAX_METADATA_KEY_CHARS} characters"),
            );
            continue;
        }
        match value {
            Value::Null => {
                metadata.remove(&name);
            }
            Value::String(text) if text.chars().count() <= MAX_METADATA_VALUE_CHARS => {
                metadata.insert(name, text);
            }
            Value::String(_) => problems.add(
                path,
                format!("value {at} must have at most {MAX_METADATA_VALUE_CHARS} characters"),
            ),
            _ => problems.add(path, format!("value {at} must be a string or null")),
        }
    }
    if metadata.len() > MAX_METADATA_PAIRS {
        problems.add(
            path,
            format!("must have at most {MAX_METADATA_PAIRS} pairs"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The texts of a list of 1 to 3 that are there once, or else the problems.
    fn distinct(value: Value) -> Result<Vec<String>, Value> {
        let mut problems = Problems::default();
        let texts = texts(value, "names", 1..=3, &mut problems, repeated());
        match problems.into_result() {
            Ok(()) => Ok(texts.unwrap_or_default()),
            Err(fault) => Err(fault.details_value()),
        }
    }

    #[test]
    fn a_list_has_as_many_texts_as_it_may_each_once() {
        assert_eq!(
            distinct(json!(["a", "b"])),
            Ok(vec!["a".to_owned(), "b".to_owned()])
        );
        let named_twice = json!({"names[1]": ["is named twice"], "names[2]": ["must be a string"]});
        assert_eq!(distinct(json!(["a", "a", 1])), Err(named_twice));
        // Too many are not looked at.
        let too_many = json!({"names": ["must have 1 to 3 items"]});
        assert_eq!(distinct(json!([])), Err(too_many.clone()));
        assert_eq!(distinct(json!(["a", "a", 1, 2])), Err(too_many));
    }

    #[test]
    fn a_name_is_what_it_looks_like() {
        for good in ["CareNav", "Soins & Santé", "مستشفى", "病院 1", " x "] {
            assert_eq!(misleading(good), None, "{good:?}");
        }
        for bad in [
            " ",
            "\u{a0}\u{3000}",
            "\u{200b}",
            "Care\u{202e}vaN",
            "Care\nNav",
            "Care\u{2028}Nav",
            "Care\u{7f}",
            "\u{3164}",
            "\u{2800}",
            "A\u{e0041}",
            "a\u{feff}b",
        ] {
            assert!(misleading(bad).is_some(), "{bad:?}");
        }
    }
}
