//! What an agent and its credentials may do (contract 10): scopes, and within a scope the tools, models, surfaces
//! and tokens. A credential can do what its own grants and its agent's both allow.

use serde_json::{Map, Value, json};

use crate::fault::Problems;
use crate::scope::Scope;
use crate::surface::Surface;
use crate::surface::fields::Fields;

/// One scope, and how far it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub scope: Scope,
    /// `None`: any tool.
    pub tools: Option<Vec<String>>,
    pub constraints: Constraints,
}

/// `None` is no constraint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    /// Output tokens of one request, at least 1.
    pub max_tokens: Option<u32>,
    /// Catalogue ids.
    pub models: Option<Vec<String>>,
    pub surfaces: Option<Vec<Surface>>,
}

/// Items of every list of a grant.
const MAX_ITEMS: usize = 100;
/// Longest name of a tool or model.
const MAX_NAME_BYTES: usize = 128;

impl Grant {
    fn read(value: Value, path: &str, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, path, problems)?;
        let word = fields.required_string("scope", problems);
        let scope = word.as_deref().and_then(Scope::parse);
        if word.is_some() && scope.is_none() {
            problems.add(fields.path_to("scope"), "unknown scope");
        }
        let tools = names(&mut fields, "tools", problems);
        let constraints = fields.take("constraints");
        let constraints = constraints
            .and_then(|value| Constraints::read(value, &fields.path_to("constraints"), problems));
        fields.end_strictly(problems);
        Some(Self {
            scope: scope?,
            tools,
            constraints: constraints.unwrap_or_default(),
        })
    }

    /// As records show it.
    pub fn to_json(&self) -> Value {
        let Self {
            scope,
            tools,
            constraints,
        } = self;
        json!({"scope": scope.word(), "tools": tools, "constraints": constraints.to_json()})
    }

    /// Whether no request fits it. Without tools an agent may still speak.
    pub(crate) fn is_void(&self) -> bool {
        let Constraints {
            max_tokens: _,
            models,
            surfaces,
        } = &self.constraints;
        models.as_ref().is_some_and(Vec::is_empty) || surfaces.as_ref().is_some_and(Vec::is_empty)
    }

    /// What both allow.
    pub(crate) fn narrowed(&self, other: &Self) -> Self {
        let (mine, theirs) = (&self.constraints, &other.constraints);
        Self {
            scope: self.scope,
            tools: common(self.tools.as_ref(), other.tools.as_ref()),
            constraints: Constraints {
                max_tokens: match (mine.max_tokens, theirs.max_tokens) {
                    (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
                    (mine, theirs) => mine.or(theirs),
                },
                models: common(mine.models.as_ref(), theirs.models.as_ref()),
                surfaces: common(mine.surfaces.as_ref(), theirs.surfaces.as_ref()),
            },
        }
    }
}

impl Constraints {
    pub fn allows_surface(&self, surface: Surface) -> bool {
        let surfaces = self.surfaces.as_ref();
        surfaces.is_none_or(|surfaces| surfaces.contains(&surface))
    }

    pub fn allows_model(&self, model: &str) -> bool {
        let models = self.models.as_ref();
        models.is_none_or(|models| models.iter().any(|id| id == model))
    }

    fn read(value: Value, path: &str, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, path, problems)?;
        let max_tokens = fields.count("max_tokens", 1, problems);
        let models = names(&mut fields, "models", problems);
        let words = names(&mut fields, "surfaces", problems);
        let surfaces = words.map(|words| {
            let mut surfaces = Vec::with_capacity(words.len());
            for (at, word) in words.iter().enumerate() {
                match Surface::parse(word) {
                    Some(surface) => surfaces.push(surface),
                    None => problems.add(format!("{path}.surfaces[{at}]"), "unknown surface"),
                }
            }
            surfaces
        });
        fields.end_strictly(problems);
        Some(Self {
            max_tokens,
            models,
            surfaces,
        })
    }

    /// Only what is constrained is shown.
    fn to_json(&self) -> Value {
        let Self {
            max_tokens,
            models,
            surfaces,
        } = self;
        let mut shown = Map::new();
        if let Some(max_tokens) = max_tokens {
            shown.insert("max_tokens".to_owned(), json!(max_tokens));
        }
        if let Some(models) = models {
            shown.insert("models".to_owned(), json!(models));
        }
        if let Some(surfaces) = surfaces {
            let words: Vec<&str> = surfaces.iter().map(|surface| surface.word()).collect();
            shown.insert("surfaces".to_owned(), json!(words));
        }
        Value::Object(shown)
    }
}

/// Reads the grants that a caller sent; each scope may stand once.
pub fn read(value: Value, path: &str, problems: &mut Problems) -> Option<Vec<Grant>> {
    let mut grants: Vec<Grant> = Vec::new();
    for (at, grant) in list(value, path, problems)? {
        if grants.iter().any(|other| other.scope == grant.scope) {
            problems.add(format!("{path}[{at}].scope"), "is granted twice");
        } else {
            grants.push(grant);
        }
    }
    Some(grants)
}

/// Grants as they were stored; `None` for what [`to_json`] did not write. A scope stands several times where a user has
/// consented to several ways of using it: each allows what it says, and none of them more.
pub fn stored(value: &Value) -> Option<Vec<Grant>> {
    let mut problems = Problems::default();
    let grants = list(value.clone(), "scope_grants", &mut problems)?;
    let grants = grants.into_iter().map(|(_, grant)| grant).collect();
    problems.is_empty().then_some(grants)
}

/// Grants with their places.
fn list(value: Value, path: &str, problems: &mut Problems) -> Option<Vec<(usize, Grant)>> {
    let Value::Array(items) = value else {
        problems.add(path, "must be an array");
        return None;
    };
    let items = items.into_iter().enumerate();
    let grants = items.filter_map(|(at, item)| {
        let grant = Grant::read(item, &format!("{path}[{at}]"), problems)?;
        Some((at, grant))
    });
    Some(grants.collect())
}

/// Grants as records show them.
pub fn to_json(grants: &[Grant]) -> Value {
    grants.iter().map(Grant::to_json).collect()
}

/// What both lists allow.
pub fn narrowed(one: &[Grant], other: &[Grant]) -> Vec<Grant> {
    one.iter()
        .filter_map(|grant| {
            let same = other.iter().find(|other| other.scope == grant.scope)?;
            Some(grant.narrowed(same))
        })
        .collect()
}

/// What a credential with these stored grants may do, within those of its agent and of all that the agent acts for.
/// Grants that cannot be read grant nothing.
pub fn held<'v>(own: &Value, line: impl Iterator<Item = &'v Value>) -> Vec<Grant> {
    let stored = |grants| stored(grants).unwrap_or_default();
    line.fold(stored(own), |grants, outer| {
        narrowed(&grants, &stored(outer))
    })
}

/// The first of `inner` that goes further than `outer`.
pub fn first_beyond(inner: &[Grant], outer: &[Grant]) -> Option<usize> {
    inner.iter().position(|grant| {
        let same = outer.iter().find(|other| other.scope == grant.scope);
        same.is_none_or(|same| grant.narrowed(same) != *grant)
    })
}

/// An array of distinct names.
pub(crate) fn names(
    fields: &mut Fields,
    key: &str,
    problems: &mut Problems,
) -> Option<Vec<String>> {
    let items = fields.array(key, problems)?;
    let path = fields.path_to(key);
    if items.len() > MAX_ITEMS {
        problems.add(&path, format!("must have at most {MAX_ITEMS} items"));
        return None;
    }
    let mut names = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        match item {
            Value::String(name) if (1..=MAX_NAME_BYTES).contains(&name.len()) => {
                if names.contains(&name) {
                    problems.add(format!("{path}[{at}]"), "is named twice");
                } else {
                    names.push(name);
                }
            }
            _ => problems.add(
                format!("{path}[{at}]"),
                format!("must be a string of 1 to {MAX_NAME_BYTES} bytes"),
            ),
        }
    }
    Some(names)
}

/// What stands in both lists, in the order of the first; a list that is not there allows everything.
fn common<T: Clone + PartialEq>(one: Option<&Vec<T>>, other: Option<&Vec<T>>) -> Option<Vec<T>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(
            one.iter()
                .filter(|item| other.contains(item))
                .cloned()
                .collect(),
        ),
        (one, other) => one.or(other).cloned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn grants(value: Value) -> Vec<Grant> {
        stored(&value).unwrap()
    }

    #[test]
    fn what_is_shown_is_read_again() {
        let value = json!([
            {"scope": "ai:chat", "tools": ["lookup_slot"],
             "constraints": {"max_tokens": 4096, "models": ["alpha-haiku-4-5"], "surfaces": ["native"]}},
            {"scope": "control:read", "tools": null, "constraints": {}},
        ]);
        assert_eq!(to_json(&grants(value.clone())), value);
    }

    #[test]
    fn every_problem_has_its_path() {
        let mut problems = Problems::default();
        let value = json!([
            {"scope": "ai:chat", "tools": [7], "constraints": {"max_tokens": 0, "colour": 1}},
            {"scope": "ai:chat"}, {"scope": "ai:everything", "surfaces": []}, 5,
        ]);
        read(value, "scope_grants", &mut problems);
        let fault = problems.into_result().unwrap_err();
        let paths: Vec<&str> = fault.details.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            [
                "scope_grants[0].tools[0]",
                "scope_grants[0].constraints.max_tokens",
                "scope_grants[0].constraints.colour",
                "scope_grants[2].scope",
                "scope_grants[2].surfaces",
                "scope_grants[3]",
                // Known once all have been read: a scope that stands twice.
                "scope_grants[1].scope",
            ]
        );
    }

    #[test]
    fn what_is_held_is_what_the_whole_line_allows() {
        let own = json!([{"scope": "ai:chat"}, {"scope": "control:read"}]);
        let agent = json!([{"scope": "ai:chat", "tools": ["a", "b"]}]);
        let parent = json!([{"scope": "ai:chat", "tools": ["b", "c"]}, {"scope": "control:read"}]);
        let within = json!([{"scope": "ai:chat", "tools": ["b"]}]);
        assert_eq!(held(&own, [&agent, &parent].into_iter()), grants(within));
        assert_eq!(held(&own, [&agent, &json!("x")].into_iter()), []);
    }

    #[test]
    fn of_too_many_names_none_is_looked_at() {
        let mut problems = Problems::default();
        let names = vec!["lookup_slot"; MAX_ITEMS + 1];
        read(
            json!([{"scope": "ai:chat", "tools": names}]),
            "scope_grants",
            &mut problems,
        );
        let fault = problems.into_result().unwrap_err();
        let paths: Vec<&String> = fault.details.keys().collect();
        assert_eq!(paths, ["scope_grants[0].tools"]);
    }

    #[test]
    fn a_credential_never_goes_further_than_its_agent() {
        let agent = grants(
            json!([{"scope": "ai:chat", "tools": ["a", "b"], "constraints": {"max_tokens": 100}}]),
        );
        let wide = grants(json!([{"scope": "ai:chat"}, {"scope": "control:read"}]));
        assert_eq!(narrowed(&wide, &agent), agent);
        assert_eq!(first_beyond(&wide, &agent), Some(0));
        let narrow = grants(
            json!([{"scope": "ai:chat", "tools": ["b"], "constraints": {"max_tokens": 50}}]),
        );
        assert_eq!(first_beyond(&narrow, &agent), None);
        assert_eq!(narrowed(&agent, &narrow), narrow);
        let none = narrowed(
            &agent,
            &grants(json!([{"scope": "ai:chat", "tools": ["c"]}])),
        );
        assert_eq!(none[0].tools.as_deref(), Some(&[][..]));
    }
}
