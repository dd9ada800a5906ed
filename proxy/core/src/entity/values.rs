//! The values of one record, and whether they are what a schema says. A value never stands in a problem's text: it may
//! be PHI.

use serde_json::{Map, Number, Value};

use super::{Field, Kind, MAX_INTEGER, Schema};
use crate::fault::Problems;
use crate::json;
use crate::surface::fields::join;
use crate::time::Timestamp;

/// What a record holds, by field; a field without a value is not there. Has no `Debug`, `Display` or `Serialize`, so
/// that it reaches no log by accident.
#[derive(Clone, Default, PartialEq)]
pub struct Values(Map<String, Value>);

/// RFC 5321, 4.5.3.1.3: a path of 256 octets, its brackets counted.
const MAX_EMAIL_BYTES: usize = 254;
/// RFC 5321, 4.5.3.1.1, and RFC 1035, 2.3.4.
const MAX_LOCAL_BYTES: usize = 64;
const MAX_LABEL_BYTES: usize = 63;
/// An RFC 3339 time with nanoseconds and an offset has 35.
const MAX_DATETIME_BYTES: usize = 40;
const DATE_BYTES: usize = 10;
/// A value of type `json`, as compact text.
const MAX_JSON_BYTES: usize = 65_536;
/// All values of a record, as compact text: what one request of the control plane can bring (contract 1.2).
const MAX_RECORD_BYTES: usize = 1_048_576;

impl Values {
    /// Reads what [`Self::to_text`] wrote.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// As the store seals them.
    pub fn to_text(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    /// As records show them: every field of the schema, null where it has no value.
    pub fn shown(&self, schema: &Schema) -> Value {
        let pairs = schema.fields().iter().map(|field| {
            let value = self.0.get(&field.key).cloned().unwrap_or_default();
            (field.key.clone(), value)
        });
        Value::Object(pairs.collect())
    }
}

impl Schema {
    /// The values of a new record, each in its normal form. What is wrong is noted below `path`.
    pub fn judge(
        &self,
        mut input: Map<String, Value>,
        path: &str,
        problems: &mut Problems,
    ) -> Values {
        let mut values = Map::new();
        for field in self.fields() {
            let place = join(path, &field.key);
            match input.shift_remove(&field.key) {
                None | Some(Value::Null) if field.required => problems.add(place, "is required"),
                None | Some(Value::Null) => {}
                Some(value) => match field.normal(value) {
                    Ok(value) => {
                        values.insert(field.key.clone(), value);
                    }
                    Err(problem) => problems.add(place, problem),
                },
            }
        }
        refuse_unknown(&input, path, problems);
        bounded(Values(values), path, problems)
    }

    /// Takes away what is no field.
    pub fn keep_known(&self, input: &mut Map<String, Value>) {
        input.retain(|key, _| self.field(key).is_some());
    }

    /// The values of a record after a change, and the keys of those that are others now. A null clears.
    pub fn merge(
        &self,
        before: &Values,
        mut changes: Map<String, Value>,
        path: &str,
        problems: &mut Problems,
    ) -> (Values, Vec<String>) {
        let mut values = before.0.clone();
        let mut changed = Vec::new();
        for field in self.fields() {
            let place = join(path, &field.key);
            let next = match changes.shift_remove(&field.key) {
                None => continue,
                Some(Value::Null) if field.required => {
                    problems.add(place, "is required");
                    continue;
                }
                Some(Value::Null) => None,
                Some(value) => match field.normal(value) {
                    Ok(value) => Some(value),
                    Err(problem) => {
                        problems.add(place, problem);
                        continue;
                    }
                },
            };
            if values.get(&field.key) != next.as_ref() {
                changed.push(field.key.clone());
            }
            match next {
                Some(value) => values.insert(field.key.clone(), value),
                None => values.shift_remove(&field.key),
            };
        }
        refuse_unknown(&changes, path, problems);
        (bounded(Values(values), path, problems), changed)
    }

    /// The fields in which stored values are not what this schema says, of the schema and of the values.
    pub fn misfits(&self, stored: &Values) -> Vec<String> {
        let mut misfits = Vec::new();
        for field in self.fields() {
            let fits = match stored.0.get(&field.key) {
                None => !field.required,
                // Nothing is rewritten: what has another normal form now does not fit.
                Some(value) => field.normal(value.clone()).is_ok_and(|next| next == *value),
            };
            if !fits {
                misfits.push(field.key.clone());
            }
        }
        let foreign = stored.0.keys().filter(|key| self.field(key).is_none());
        misfits.extend(foreign.cloned());
        misfits
    }
}

fn refuse_unknown(rest: &Map<String, Value>, path: &str, problems: &mut Problems) {
    for key in rest.keys() {
        problems.add_foreign(join(path, key), "is not a field of this entity");
    }
}

fn bounded(values: Values, path: &str, problems: &mut Problems) -> Values {
    if problems.is_empty() && values.to_text().len() > MAX_RECORD_BYTES {
        let place = if path.is_empty() { "$body" } else { path };
        problems.add(
            place,
            format!("must have at most {MAX_RECORD_BYTES} bytes in all"),
        );
    }
    values
}

impl Field {
    /// The normal form of a value that is not null.
    fn normal(&self, value: Value) -> Result<Value, String> {
        match (&self.kind, value) {
            (Kind::String { max_length } | Kind::Text { max_length }, value @ Value::String(_)) => {
                let length = value.as_str().map_or(0, |text| text.chars().count());
                if length <= *max_length as usize {
                    Ok(value)
                } else {
                    Err(format!("must have at most {max_length} characters"))
                }
            }
            (Kind::Integer { min, max }, Value::Number(number)) => {
                let found = integer(&number).ok_or_else(|| "must be a whole number".to_owned())?;
                let range = min.unwrap_or(-MAX_INTEGER)..=max.unwrap_or(MAX_INTEGER);
                if range.contains(&found) {
                    Ok(Value::from(found))
                } else {
                    let (least, most) = (range.start(), range.end());
                    Err(format!("must be a whole number from {least} to {most}"))
                }
            }
            (Kind::Number { min, max }, Value::Number(number)) => {
                let found = number.as_f64().unwrap_or(f64::NAN);
                let least = min.as_ref().and_then(Number::as_f64);
                let most = max.as_ref().and_then(Number::as_f64);
                if least.is_some_and(|least| found < least) {
                    Err(format!("must be at least {}", shown(min)))
                } else if most.is_some_and(|most| found > most) {
                    Err(format!("must be at most {}", shown(max)))
                } else {
                    Ok(Value::Number(number))
                }
            }
            (Kind::Boolean, value @ Value::Bool(_)) => Ok(value),
            (Kind::Date, Value::String(text)) => date(&text)
                .map(|()| Value::from(text))
                .ok_or_else(|| "must be a date such as 2026-11-20".to_owned()),
            (Kind::Datetime, Value::String(text)) => datetime(&text)
                .map(|at| Value::from(at.to_string()))
                .ok_or_else(|| "must be an RFC 3339 time with an offset".to_owned()),
            (Kind::Email, Value::String(text)) if is_email(&text) => Ok(Value::from(text)),
            (Kind::Email, Value::String(_)) => Err("must be an email address".to_owned()),
            (Kind::Enum { values }, Value::String(word)) => {
                if values.contains(&word) {
                    Ok(Value::from(word))
                } else {
                    Err(format!("must be one of: {}", values.join(", ")))
                }
            }
            (Kind::Json, value) => {
                if value.to_string().len() <= MAX_JSON_BYTES {
                    Ok(value)
                } else {
                    Err(format!("must have at most {MAX_JSON_BYTES} bytes"))
                }
            }
            (kind, value) => {
                let (wanted, found) = (wanted(kind), json::type_name(&value));
                Err(format!("must be {wanted}, not {found}"))
            }
        }
    }
}

const fn wanted(kind: &Kind) -> &'static str {
    match kind {
        Kind::Integer { .. } | Kind::Number { .. } => "a number",
        Kind::Boolean => "a boolean",
        Kind::Json => "a value",
        Kind::String { .. }
        | Kind::Text { .. }
        | Kind::Date
        | Kind::Datetime
        | Kind::Email
        | Kind::Enum { .. } => "a string",
    }
}

fn shown(limit: &Option<Number>) -> String {
    limit.as_ref().map(Number::to_string).unwrap_or_default()
}

/// A whole number within what every JSON reader keeps; a fraction of zero changes nothing.
pub(super) fn integer(number: &Number) -> Option<i64> {
    let found = number.as_i64().or_else(|| {
        let value = number.as_f64().filter(|value| value.fract() == 0.0)?;
        format!("{value:.0}").parse().ok()
    });
    found.filter(|found| (-MAX_INTEGER..=MAX_INTEGER).contains(found))
}

/// `2026-11-20`, a day that exists.
fn date(text: &str) -> Option<()> {
    let date: jiff::civil::Date = text.parse().ok()?;
    (text.len() == DATE_BYTES && date.to_string() == text).then_some(())
}

fn datetime(text: &str) -> Option<Timestamp> {
    let has_form = text.len() <= MAX_DATETIME_BYTES
        && text.is_ascii()
        && matches!(text.as_bytes().get(DATE_BYTES), Some(b'T' | b't'))
        && !text.contains('[');
    Timestamp::parse(text).filter(|_| has_form)
}

/// The rule of HTML's email field (WHATWG, 4.10.5.1.5) with the lengths of RFC 5321.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_local =
        |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
    let is_label = |label: &str| {
        (1..=MAX_LABEL_BYTES).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= MAX_EMAIL_BYTES
        && (1..=MAX_LOCAL_BYTES).contains(&local.len())
        && local.bytes().all(is_local)
        && domain.split('.').all(is_label)
}
