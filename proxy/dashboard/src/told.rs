//! What a page says of an attempt that was refused: one message, and what is wrong beside the field that it is about.

use askama::Template;
use serde_json::Value;
use svc_core::fault::{Code, Fault};

/// What a page says of an attempt that was refused: one message, and what is wrong with which field.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) message: Option<String>,
    fields: Vec<(String, String)>,
}

impl Told {
    pub(crate) fn of(fault: &Fault) -> Self {
        let fields: Vec<(String, String)> = fault
            .details
            .iter()
            .filter_map(|(field, messages)| Some((field.clone(), joined(messages)?)))
            .collect();
        let message = if fault.param.is_some() && !fields.is_empty() {
            "Something has to be corrected.".to_owned()
        } else {
            fault.message.to_string()
        };
        Self {
            message: Some(message),
            fields,
        }
    }

    /// As [`Told::of`], for what the sender of a form can do something about.
    ///
    /// # Errors
    /// The fault itself where it is of another kind, or where the role does not allow it: that is a page of its own.
    pub(crate) fn of_form(fault: Fault) -> Result<Self, Fault> {
        match fault.code.row().status {
            400..=499 if fault.code != Code::OrgAdminRequired => Ok(Self::of(&fault)),
            _ => Err(fault),
        }
    }

    /// As [`Told::of`], for filters that stand in the address.
    pub(crate) fn of_query(fault: &Fault) -> Self {
        let mut told = Self::of(fault);
        for (name, _) in &mut told.fields {
            if let Some(plain) = name.strip_prefix("$query.") {
                *name = plain.to_owned();
            }
        }
        told
    }

    /// A message that is about no field.
    pub(crate) fn message(text: impl Into<String>) -> Self {
        Self {
            message: Some(text.into()),
            fields: Vec::new(),
        }
    }

    /// A message, and what there is to say of some fields.
    pub(crate) fn fields(text: impl Into<String>, fields: Vec<(String, String)>) -> Self {
        Self {
            message: Some(text.into()),
            fields,
        }
    }

    /// With what is told of one path of the API told of a field of the form.
    pub(crate) fn moved(mut self, path: &str, field: &str) -> Self {
        for (name, _) in &mut self.fields {
            if is_about(name, path) {
                let rest = name.get(path.len()..).unwrap_or_default();
                *name = format!("{field}{rest}");
            }
        }
        self
    }

    /// What is wrong with a field, a line for each place in it.
    pub(crate) fn at(&self, field: &str) -> Option<String> {
        let about = self.fields.iter();
        let about = about.filter(|(name, _)| is_about(name, field));
        let lines: Vec<String> = about
            .map(|(name, text)| match place(name, field) {
                place if place.is_empty() => text.clone(),
                place => format!("{place}: {text}"),
            })
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// What is said above a form with these fields, which are in the order of the page.
    pub(crate) fn over<'a>(&'a self, fields: &[&'a str]) -> Notice<'a> {
        Notice {
            told: self,
            first: fields
                .iter()
                .find(|field| self.at(field).is_some())
                .copied(),
            others: self.elsewhere(fields),
        }
    }

    /// What is wrong with something that is none of these fields.
    pub(crate) fn elsewhere(&self, fields: &[&str]) -> Vec<String> {
        let others = self
            .fields
            .iter()
            .filter(|(name, _)| !fields.iter().any(|field| is_about(name, field)));
        others
            .map(|(name, text)| format!("{name}: {text}"))
            .collect()
    }
}

/// What stands above a form that was refused.
#[derive(Template)]
#[template(path = "notice.html")]
pub(crate) struct Notice<'a> {
    told: &'a Told,
    /// The first field that something is wrong with, which the message leads to.
    first: Option<&'a str>,
    others: Vec<String>,
}

/// `scopes[1]` is about `scopes`.
fn is_about(name: &str, field: &str) -> bool {
    let rest = name.strip_prefix(field);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// Where in a field something is, as people count: `no. 2, key` for `fields[1].key`.
fn place(name: &str, field: &str) -> String {
    let rest = name.strip_prefix(field).unwrap_or_default();
    let parts = rest.split(['.', '[']).filter(|part| !part.is_empty());
    let words: Vec<String> = parts
        .map(|part| {
            let index = part.strip_suffix(']').and_then(|at| at.parse::<u32>().ok());
            index.map_or_else(
                || part.to_owned(),
                |at| format!("no. {}", at.saturating_add(1)),
            )
        })
        .collect();
    words.join(", ")
}

/// Words of the API that mean something else to whoever fills a form in.
const WORDS: [(&str, &str); 6] = [
    (", or null for the default", ""),
    (", or null", ""),
    (" or null", ""),
    ("an array of ", ""),
    ("an RFC 3339 time", "a date and a time"),
    ("must be true", "must be ticked"),
];

/// The messages of one field of `error.details`.
fn joined(messages: &Value) -> Option<String> {
    let texts: Vec<&str> = messages
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let text = texts.join("; ");
    let plain = WORDS
        .iter()
        .fold(text, |text, (word, plain)| text.replace(word, plain));
    (!texts.is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;
    use svc_core::fault::Problems;

    #[test]
    fn what_is_wrong_stands_with_its_place() {
        let mut problems = Problems::default();
        for (path, message) in [
            ("fields[1].key", "is named twice"),
            ("fields[2]", "must be an object"),
            ("fields", "must have at most 2 items"),
            ("grants[0].limits.most", "must be a number"),
            ("fieldsets", "is not known"),
        ] {
            problems.add(path, message);
        }
        let fault = problems.into_result().expect_err("problems");
        let told = Told::of(&fault).moved("grants[0].limits.most", "most");
        let at = told.at("fields").expect("of the field");
        for line in [
            "no. 2, key: is named twice",
            "no. 3: must be an object",
            "must have at most 2 items",
        ] {
            assert!(at.lines().any(|one| one == line), "{line} in {at}");
        }
        assert_eq!(at.lines().count(), 3);
        assert_eq!(told.at("most").as_deref(), Some("must be a number"));
        let elsewhere = told.elsewhere(&["fields", "most"]);
        assert_eq!(elsewhere, ["fieldsets: is not known"]);
    }
}
