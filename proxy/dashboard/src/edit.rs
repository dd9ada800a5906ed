//! Forms that change something which exists: what somebody changed in the form is saved, and nothing else
//! (decision 41).
//!
//! Such a form carries what it showed, a digest for each value. What comes back as it was shown is taken from the
//! record as it is by now; where the form and somebody else have both changed a field, nothing is saved, and the page
//! says so.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, StatusCode};
use serde_json::{Map, Value};
use svc_core::fault::Fault;
use svc_core::secret;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};

use crate::form::{Fields, unix};
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

/// The hidden field of such a form.
pub(crate) const SHOWN: &str = "shown";

/// 96 bits of SHA-256: whoever makes two values look alike overwrites a change that they may overwrite anyway.
const DIGEST_BYTES: usize = 12;

/// The fields of such a form, by what a change of them is.
pub(crate) struct Edit {
    /// Fields with one value, and lists that are right as a whole only.
    pub(crate) whole: &'static [&'static str],
    /// Fields of boxes each of which is a matter of its own.
    pub(crate) apart: &'static [&'static str],
}

impl Edit {
    /// What the hidden field holds while the form shows these fields.
    pub(crate) fn shown(&self, fields: &Fields) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for name in self.whole.iter().chain(self.apart) {
            for value in fields.all(name) {
                query.append_pair(name, &digest(value));
            }
        }
        query.finish()
    }

    /// What is to be saved: what the form changed, over the record as it is `now`.
    ///
    /// # Errors
    /// The form as it stays, where somebody else has changed the same: 409 to the browser, with both values.
    pub(crate) fn over(&self, now: &Fields, sent: Fields) -> Result<Fields, Sent> {
        let shown = Fields::of_text(sent.text(SHOWN));
        let mut merged = sent.clone();
        let mut clashes = Vec::new();
        for name in self.whole {
            let was = sorted(shown.all(name).map(str::to_owned));
            let (mine, theirs) = (digests(&sent, name), digests(now, name));
            if mine == was {
                merged.put(name, now.all(name));
            } else if theirs != was && theirs != mine {
                clashes.push(((*name).to_owned(), clash(now, &sent, name)));
            }
        }
        for name in self.apart {
            let was: Vec<&str> = shown.all(name).collect();
            let is_ticked = |fields: &Fields, value: &str| fields.all(name).any(|one| one == value);
            let boxes = now.all(name).chain(sent.all(name));
            let mut ticked: Vec<&str> = boxes
                .filter(|value| {
                    let mine = is_ticked(&sent, value);
                    if mine == was.contains(&digest(value).as_str()) {
                        is_ticked(now, value)
                    } else {
                        mine
                    }
                })
                .collect();
            ticked.sort_unstable();
            ticked.dedup();
            merged.put(name, ticked.into_iter());
        }
        if clashes.is_empty() {
            return Ok(merged);
        }
        Err(Sent {
            status: StatusCode::CONFLICT,
            fields: Some(merged),
            told: Told::fields(CLASHED, clashes),
        })
    }

    /// Asks the API to change what the form changed; gives the form where it stays on the page.
    ///
    /// # Errors
    /// What is no answer to a form ([`Sent::refused`]).
    pub(crate) async fn save(
        &self,
        exchange: &mut Exchange,
        visitor: &Visitor,
        path: &str,
        now: &Fields,
        sent: Fields,
        wanted: impl FnOnce(&Fields) -> Map<String, Value>,
    ) -> Result<Option<Sent>, Fault> {
        // Who may not change it is refused by the API, which keeps a row of that.
        let fields = if visitor.may(exchange, &Method::PATCH, path) {
            match self.over(now, sent) {
                Ok(fields) => fields,
                Err(stays) => return Ok(Some(stays)),
            }
        } else {
            sent
        };
        let ask = Ask::new(Method::PATCH, path).body(wanted(&fields));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(_) => Ok(None),
            Err(fault) => Sent::refused(fault, fields).map(Some),
        }
    }
}

const CLASHED: &str = "Something here was changed elsewhere since this page was opened. Nothing is saved yet: look at the marked fields, and \
     save once more.";

/// What is said beside a field that two have changed.
fn clash(now: &Fields, sent: &Fields, name: &str) -> String {
    format!(
        "It is {} by now. Saving once more puts {} in its place.",
        quoted(now, name),
        quoted(sent, name)
    )
}

fn quoted(fields: &Fields, name: &str) -> String {
    let values: Vec<&str> = fields.all(name).filter(|text| !text.is_empty()).collect();
    if values.is_empty() {
        "empty".to_owned()
    } else {
        format!("“{}”", show::short(&values.join(", ")))
    }
}

/// What of a body of the API is not as it is stored.
pub(crate) fn differing(wanted: Map<String, Value>, stored: &Value) -> Map<String, Value> {
    let differing = wanted.into_iter().filter_map(|(key, value)| {
        let before = stored.get(&key).unwrap_or(&Value::Null);
        let value = match value {
            Value::Object(inner) => Value::Object(differing(inner, before)),
            value if value == *before => return None,
            value => value,
        };
        let is_nothing = value.as_object().is_some_and(Map::is_empty);
        (!is_nothing).then_some((key, value))
    });
    differing.collect()
}

fn digests(fields: &Fields, name: &str) -> Vec<String> {
    sorted(fields.all(name).map(digest))
}

fn sorted(digests: impl Iterator<Item = String>) -> Vec<String> {
    // A field of text that is empty is as good as none.
    let nothing = digest("");
    let mut digests: Vec<String> = digests.filter(|one| *one != nothing).collect();
    digests.sort_unstable();
    digests
}

fn digest(value: &str) -> String {
    let digest = secret::digest(&unix(value));
    URL_SAFE_NO_PAD.encode(digest.get(..DIGEST_BYTES).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::panic)]
    use super::*;
    use serde_json::json;

    const EDIT: Edit = Edit {
        whole: &["name", "models"],
        apart: &["switches"],
    };

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    /// A form that showed these fields and came back with those.
    fn sent(shown: &[(&str, &str)], typed: &[(&str, &str)]) -> Fields {
        let mut sent = fields(typed);
        let shown = EDIT.shown(&fields(shown));
        sent.put(SHOWN, [shown.as_str()].into_iter());
        sent
    }

    #[test]
    fn what_nobody_touched_is_as_it_is_now() {
        let shown = [("name", "a\nb"), ("models", "x"), ("switches", "restore")];
        let typed = [("name", "a\r\nb"), ("switches", "restore")];
        let now = [("name", "c"), ("models", "x"), ("switches", "paused")];
        let Ok(merged) = EDIT.over(&fields(&now), sent(&shown, &typed)) else {
            panic!("a clash");
        };
        assert_eq!(merged.text("name"), "c");
        assert_eq!(merged.all("models").count(), 0, "the form has emptied it");
        let ticked: Vec<&str> = merged.all("switches").collect();
        assert_eq!(ticked, ["paused"], "the other box was unticked elsewhere");
    }

    #[test]
    fn two_changes_of_one_field_clash() {
        let shown = [("name", "a"), ("models", "x"), ("models", "y")];
        let typed = [("name", "b"), ("models", "x")];
        let now = [("name", "c"), ("models", "y")];
        let stays = EDIT.over(&fields(&now), sent(&shown, &typed));
        let stays = stays.err().expect("a clash");
        assert_eq!(stays.status, StatusCode::CONFLICT);
        let told = stays.told.at("name").expect("of the name");
        assert!(told.contains("“c”") && told.contains("“b”"), "{told}");
        assert!(stays.told.at("models").is_some(), "lists are one thing");
        assert_eq!(stays.text("name"), "b", "what was typed is kept");
        // The same change made twice is none.
        let same = [("name", "b"), ("models", "x")];
        assert!(EDIT.over(&fields(&same), sent(&shown, &typed)).is_ok());
        // A form that does not say what it showed has changed everything.
        assert!(EDIT.over(&fields(&now), fields(&typed)).is_err());
    }

    #[test]
    fn only_what_differs_is_asked_for() {
        let stored = json!({"name": "a", "days": {"x": 1, "y": 2}, "none": null});
        let wanted = json!({"name": "a", "days": {"x": 1, "y": 3}, "none": null, "new": [1]});
        let Value::Object(wanted) = wanted else {
            panic!("no object");
        };
        let rest = Value::Object(differing(wanted, &stored));
        assert_eq!(rest, json!({"days": {"y": 3}, "new": [1]}));
    }
}
