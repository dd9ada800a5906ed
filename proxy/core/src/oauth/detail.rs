//! What an application asks for (`authorization_details`, RFC 9396; contract 16.3), and what of it an agent can give:
//! entries of the type `svc_agent_access` in, grants of a credential out.

use serde_json::{Map, Value, json};

use crate::fault::Problems;
use crate::grant::{self, Constraints, Grant};
use crate::json;
use crate::scope::Scope;
use crate::surface::Surface;
use crate::surface::fields::Fields;

/// The one type there is.
pub const TYPE: &str = "svc_agent_access";

/// Contract 16.3.
const MAX_BYTES: usize = 16 * 1024;
const MAX_ENTRIES: usize = 16;

/// One entry, as asked for. What is not named is not narrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    surfaces: Vec<Surface>,
    models: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    max_tokens: Option<u32>,
}

/// Why details are refused (contract X15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No JSON array of objects.
    Malformed,
    /// A type or content that is not known here; the word says what.
    Unknown(&'static str),
}

/// Words of an action, by the surface that it opens.
const ACTIONS: [(&str, Surface); 3] = [
    ("chat", Surface::Native),
    ("messages", Surface::Messages),
    ("chat_completions", Surface::ChatCompletions),
];

impl Detail {
    fn read(entry: Map<String, Value>, types: &[String]) -> Result<Self, Refused> {
        let mut problems = Problems::default();
        let mut fields = Fields::top(entry);
        let kind = fields.required_string("type", &mut problems);
        match kind {
            Some(kind) if kind == TYPE && types.contains(&kind) => {}
            Some(_) => return Err(Refused::Unknown("a type is not supported")),
            None => return Err(Refused::Unknown("an entry has no type")),
        }
        fields.require("actions", &mut problems);
        let actions = grant::names(&mut fields, "actions", &mut problems);
        let models = grant::names(&mut fields, "models", &mut problems);
        let tools = grant::names(&mut fields, "tools", &mut problems);
        let max_tokens = fields.count("max_tokens", 1, &mut problems);
        fields.end_strictly(&mut problems);
        if !problems.is_empty() {
            return Err(Refused::Unknown(
                "an entry has an unknown field or a bad value",
            ));
        }
        let is_empty = |list: &Option<Vec<String>>| list.as_ref().is_some_and(Vec::is_empty);
        if is_empty(&actions) || is_empty(&models) || is_empty(&tools) {
            return Err(Refused::Unknown("a list of an entry is empty"));
        }
        let actions = actions.unwrap_or_default();
        let surfaces: Option<Vec<Surface>> = actions.iter().map(|word| surface(word)).collect();
        Ok(Self {
            surfaces: surfaces.ok_or(Refused::Unknown("an action is not known"))?,
            models,
            tools,
            max_tokens,
        })
    }

    /// The models that the entry names.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.models.iter().flatten().map(String::as_str)
    }

    /// What this entry and the agent's grant both allow; `None` where that is nothing.
    fn within(&self, grant: &Grant) -> Option<Grant> {
        let asked = Grant {
            scope: Scope::AiChat,
            tools: self.tools.clone(),
            constraints: Constraints {
                max_tokens: self.max_tokens,
                models: self.models.clone(),
                surfaces: Some(self.surfaces.clone()),
            },
        };
        let granted = asked.narrowed(grant);
        // Tools that were asked for and are all refused are an answer of no.
        let tools = self.tools.as_ref().and(granted.tools.as_ref());
        let is_refused = tools.is_some_and(Vec::is_empty);
        (!granted.is_void() && !is_refused).then_some(granted)
    }
}

fn surface(word: &str) -> Option<Surface> {
    let found = ACTIONS.iter().find(|(action, _)| *action == word);
    found.map(|(_, surface)| *surface)
}

fn action(surface: Surface) -> &'static str {
    let found = ACTIONS.iter().find(|(_, other)| *other == surface);
    found.map_or("", |(action, _)| action)
}

/// Reads `authorization_details`; `types` are those of the application.
///
/// # Errors
/// What is wrong, in one word for all entries.
pub fn read(text: &str, types: &[String]) -> Result<Vec<Detail>, Refused> {
    if text.len() > MAX_BYTES {
        return Err(Refused::Unknown("is longer than 16 KiB"));
    }
    let items = json::array(text.as_bytes()).map_err(|_| Refused::Malformed)?;
    let entries: Option<Vec<Map<String, Value>>> = items
        .into_iter()
        .map(|item| match item {
            Value::Object(entry) => Some(entry),
            _ => None,
        })
        .collect();
    let entries = entries.ok_or(Refused::Malformed)?;
    if entries.is_empty() {
        return Err(Refused::Unknown("has no entry"));
    }
    if entries.len() > MAX_ENTRIES {
        return Err(Refused::Unknown("has more than 16 entries"));
    }
    entries
        .into_iter()
        .map(|entry| Detail::read(entry, types))
        .collect()
}

/// What the agent can give of what is asked for, an entry a grant; `None` where an entry comes to nothing.
pub fn granted(asked: &[Detail], agent: &[Grant]) -> Option<Vec<Grant>> {
    let chat = agent.iter().find(|grant| grant.scope == Scope::AiChat)?;
    asked.iter().map(|detail| detail.within(chat)).collect()
}

/// Grants of a credential as `authorization_details` show them, without those that allow nothing.
pub fn to_json(grants: &[Grant]) -> Value {
    grants
        .iter()
        .filter(|grant| grant.scope == Scope::AiChat && !grant.is_void())
        .map(|grant| {
            let mut entry = Map::new();
            entry.insert("type".to_owned(), json!(TYPE));
            entry.insert("actions".to_owned(), json!(actions(grant)));
            if let Some(models) = &grant.constraints.models {
                entry.insert("models".to_owned(), json!(models));
            }
            if let Some(tools) = &grant.tools {
                entry.insert("tools".to_owned(), json!(tools));
            }
            if let Some(max_tokens) = grant.constraints.max_tokens {
                entry.insert("max_tokens".to_owned(), json!(max_tokens));
            }
            Value::Object(entry)
        })
        .collect()
}

fn actions(grant: &Grant) -> Vec<&'static str> {
    match &grant.constraints.surfaces {
        Some(surfaces) => surfaces.iter().map(|surface| action(*surface)).collect(),
        None => ACTIONS.iter().map(|(action, _)| *action).collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn types() -> Vec<String> {
        vec![TYPE.to_owned()]
    }

    fn parsed(value: &Value) -> Result<Vec<Detail>, Refused> {
        read(&value.to_string(), &types())
    }

    fn agent(value: Value) -> Vec<Grant> {
        grant::stored(&value).unwrap()
    }

    #[test]
    fn what_allows_nothing_is_not_shown() {
        let grants = agent(json!([
            {"scope": "ai:chat", "constraints": {"surfaces": []}},
            {"scope": "ai:chat", "constraints": {"surfaces": ["native"], "models": []}},
            {"scope": "ai:chat", "tools": [], "constraints": {"surfaces": ["native"]}},
            {"scope": "control:read"},
        ]));
        let shown = json!([{"type": TYPE, "actions": ["chat"], "tools": []}]);
        assert_eq!(to_json(&grants), shown);
    }

    #[test]
    fn malformed_and_unknown_are_told_apart() {
        let good = json!({"type": TYPE, "actions": ["chat"]});
        assert!(parsed(&json!([good])).is_ok());
        for malformed in ["", "{}", "[1]", "[{}", "7", r#"[{"a":1,"a":2}]"#, "null"] {
            assert_eq!(
                read(malformed, &types()),
                Err(Refused::Malformed),
                "{malformed}"
            );
        }
        for unknown in [
            json!([]),
            json!([{}]),
            json!([{"actions": ["chat"]}]),
            json!([{"type": "other", "actions": ["chat"]}]),
            json!([{"type": TYPE}]),
            json!([{"type": TYPE, "actions": null}]),
            json!([{"type": TYPE, "actions": []}]),
            json!([{"type": TYPE, "actions": ["solve"]}]),
            json!([{"type": TYPE, "actions": ["chat", "chat"]}]),
            json!([{"type": TYPE, "actions": "chat"}]),
            json!([{"type": TYPE, "actions": ["chat"], "more": 1}]),
            json!([{"type": TYPE, "actions": ["chat"], "models": []}]),
            json!([{"type": TYPE, "actions": ["chat"], "tools": [7]}]),
            json!([{"type": TYPE, "actions": ["chat"], "max_tokens": 0}]),
            json!([{"type": TYPE, "actions": ["chat"], "max_tokens": 1.5}]),
            Value::Array(vec![good.clone(); 17]),
            json!([{"type": TYPE, "actions": ["chat"], "tools": ["x".repeat(17_000)]}]),
        ] {
            let found = parsed(&unknown);
            assert!(
                matches!(found, Err(Refused::Unknown(_))),
                "{unknown}: {found:?}"
            );
        }
        assert!(parsed(&Value::Array(vec![good; 16])).is_ok());
        assert!(read(r#"[{"type":"svc_agent_access","actions":["chat"]}]"#, &[]).is_err());
    }

    #[test]
    fn what_is_granted_is_what_both_allow() {
        let agent = agent(json!([
            {"scope": "control:read"},
            {"scope": "ai:chat", "tools": ["a", "b"],
             "constraints": {"max_tokens": 1000, "models": ["m", "n"], "surfaces": ["native", "messages"]}},
        ]));
        let asked = json!([
            {"type": TYPE, "actions": ["chat", "chat_completions"], "models": ["n", "o"], "tools": ["b", "c"],
             "max_tokens": 2000},
            {"type": TYPE, "actions": ["messages"]},
        ]);
        let found = granted(&parsed(&asked).unwrap(), &agent).unwrap();
        assert_eq!(
            to_json(&found),
            json!([
                {"type": TYPE, "actions": ["chat"], "models": ["n"], "tools": ["b"], "max_tokens": 1000},
                {"type": TYPE, "actions": ["messages"], "models": ["m", "n"], "tools": ["a", "b"], "max_tokens": 1000},
            ])
        );
        // What is stored is read again, entry for entry.
        assert_eq!(grant::stored(&grant::to_json(&found)), Some(found));
        for nothing in [
            json!([{"type": TYPE, "actions": ["chat_completions"]}]),
            json!([{"type": TYPE, "actions": ["chat"], "models": ["o"]}]),
            json!([{"type": TYPE, "actions": ["chat"], "tools": ["c"]}]),
            json!([{"type": TYPE, "actions": ["chat"]}, {"type": TYPE, "actions": ["chat_completions"]}]),
        ] {
            assert_eq!(
                granted(&parsed(&nothing).unwrap(), &agent),
                None,
                "{nothing}"
            );
        }
    }

    #[test]
    fn an_agent_that_may_not_speak_grants_nothing() {
        let asked = parsed(&json!([{"type": TYPE, "actions": ["chat"]}])).unwrap();
        assert_eq!(granted(&asked, &[]), None);
        let silent = agent(json!([{"scope": "control:read"}]));
        assert_eq!(granted(&asked, &silent), None);
        let without_tools = agent(json!([{"scope": "ai:chat", "tools": []}]));
        assert!(granted(&asked, &without_tools).is_some());
    }
}
