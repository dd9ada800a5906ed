//! `docs/openapi.yaml` against the program: the routes that there are, what they ask for, and the tables of words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use svc_core::entity;
use svc_core::fault::CATALOGUE;
use svc_core::scope::Scope;
use svc_core::surface::Surface;
use svc_core::version::ApiVersion;
use svc_core::webhook::{EVERY_EVENT, EventName};
use svc_pipeline::policy::pipelines::{Access, Gate};
use svc_tests::openapi::{Operation, document};
use svc_tests::program;

/// What a route asks for, by its method and path.
type Routes = BTreeMap<String, (String, String)>;

/// The routes of the gateway: those of the shipped policy and those of the program.
fn routes() -> Routes {
    let path = program::repository().join("policies/pipelines.toml");
    let policy: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let mut routes = Routes::new();
    for route in policy["route"].as_array().unwrap() {
        let word = |name: &str| route[name].as_str().unwrap().to_owned();
        let label = format!("{} {}", word("method"), word("path"));
        routes.insert(label, (word("scope"), "scope".to_owned()));
    }
    let pages = |path: &str| path == "/ui" || path.starts_with("/ui/");
    let tables = [svc_control::ENDPOINTS, svc_dashboard::ENDPOINTS.as_slice()];
    let endpoints = tables.into_iter().flatten();
    // Pages are for people.
    for endpoint in endpoints.filter(|endpoint| !pages(endpoint.path)) {
        let (scope, gate) = match endpoint.access {
            Access::Credential { scope, gate } => (scope.word(), gate_word(gate)),
            Access::Own => ("", "own"),
        };
        // OpenAPI has no word for a parameter of several segments.
        let path = endpoint.path.replace("{*", "{");
        let label = format!("{} {path}", endpoint.method);
        routes.insert(label, (scope.to_owned(), gate.to_owned()));
    }
    routes
}

fn gate_word(gate: Gate) -> &'static str {
    match gate {
        Gate::Scope => "scope",
        Gate::User => "user",
        Gate::OrgAdmin => "org_admin",
    }
}

#[test]
fn every_route_is_documented_and_every_operation_is_a_route() {
    let routes = routes();
    let documented: Routes = document()
        .operations()
        .iter()
        .map(|operation| {
            let label = format!("{} {}", operation.method, operation.path);
            (label, (operation.scope.clone(), operation.gate.clone()))
        })
        .collect();
    let missing: Vec<&String> = routes
        .keys()
        .filter(|route| !documented.contains_key(*route))
        .collect();
    assert!(missing.is_empty(), "not in docs/openapi.yaml: {missing:?}");
    for (operation, asked) in &documented {
        let found = routes.get(operation);
        let found = found.unwrap_or_else(|| panic!("{operation} is no route of the gateway"));
        assert_eq!(asked, found, "x-scope and x-gate of {operation}");
    }
}

#[test]
fn every_operation_succeeds_and_says_how_it_refuses() {
    let mut ids = BTreeSet::new();
    for operation in document().operations() {
        let label = format!("{} {}", operation.method, operation.path);
        let id = operation.body["operationId"].as_str().expect("an id");
        assert!(ids.insert(id), "{id} stands twice");
        let answers_itself = operation.body["responses"].get("default").is_none();
        let successes = operation.successes();
        assert_eq!(!successes.is_empty(), answers_itself, "{label}");
        assert!(successes.len() <= 1 || operation.method == "PUT", "{label}");
        if speaks_oauth(operation) {
            continue;
        }
        let statuses: Vec<u16> = operation.statuses().collect();
        // Who takes no credential refuses in ways of its own.
        let refusals: &[u16] = match operation.gate.as_str() {
            "own" => &[500, 503],
            _ => &[400, 401, 403, 429, 500, 503],
        };
        for status in refusals {
            assert!(statuses.contains(status), "{label} lacks {status}");
        }
    }
}

/// Whether an operation answers in the words of RFC 6749, which are none of the catalogue's.
fn speaks_oauth(operation: &Operation) -> bool {
    operation.gate == "own" && operation.body["tags"][0] == "oauth"
}

/// Every code that a response may have, with the surface whose words it has.
fn codes(operation: &Operation, status: u16) -> Vec<(Surface, String)> {
    let mut found = Vec::new();
    let response = &operation.body["responses"][status.to_string()];
    let schema = &document().resolve(response)["content"]["application/json"]["schema"];
    let choices = schema["anyOf"].as_array().cloned();
    for choice in choices.unwrap_or_else(|| vec![schema.clone()]) {
        let base = choice["allOf"][0]["$ref"].as_str().unwrap_or_default();
        let (surface, field) = match base.rsplit('/').next() {
            Some("Error") => (Surface::Native, "code"),
            Some("MessagesError") => (Surface::Messages, "code"),
            Some("CompletionsError") => (Surface::ChatCompletions, "svc_code"),
            _ => continue,
        };
        let words = &choice["allOf"][1]["properties"]["error"]["properties"][field]["enum"];
        let words = words.as_array().expect("codes");
        let words = words.iter().map(|word| word.as_str().unwrap().to_owned());
        found.extend(words.map(|word| (surface, word)));
    }
    found
}

#[test]
fn every_error_code_stands_at_its_status() {
    let mut named = BTreeSet::new();
    let operations = document().operations().iter();
    for operation in operations.filter(|operation| !speaks_oauth(operation)) {
        for status in operation.statuses().filter(|status| *status >= 400) {
            let label = format!("{} {}, {status}", operation.method, operation.path);
            let codes = codes(operation, status);
            assert!(!codes.is_empty(), "{label} names no code");
            for (surface, word) in codes {
                let row = CATALOGUE.iter().find(|row| row.word == word);
                let row = row.unwrap_or_else(|| panic!("{label}: {word} is no code"));
                assert_eq!(surface.status(row.code), status, "{label}: {word}");
                assert!(!row.reserved, "{label}: {word} is raised by no route");
                named.insert(row.word);
            }
        }
    }
    // Raised for paths and methods that are no operation, or by routes that are none of this document.
    named.extend(["NOT_FOUND", "METHOD_NOT_ALLOWED", "ERROR"]);
    for row in CATALOGUE.iter().filter(|row| !row.reserved) {
        assert!(named.contains(row.word), "no operation names {}", row.word);
    }
}

fn words(pointer: &str) -> Vec<String> {
    let list = document().value.pointer(pointer).expect("a list of words");
    let words = list.as_array().expect("a list of words").iter();
    words
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_tables_of_words_are_the_programs() {
    let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.word()).collect();
    assert_eq!(words("/components/schemas/Scope/enum"), scopes);
    let mut events: Vec<&str> = EventName::ALL.iter().map(|event| event.word()).collect();
    assert_eq!(words("/components/schemas/WebhookEvent/enum"), events);
    events.push(EVERY_EVENT);
    assert_eq!(
        words("/components/schemas/WebhookEvents/items/enum"),
        events
    );
    assert_eq!(words("/components/schemas/FieldType/enum"), entity::TYPES);
    let versions: Vec<&str> = ApiVersion::ALL
        .iter()
        .map(|version| version.word())
        .collect();
    assert_eq!(words("/components/schemas/ApiVersion/enum"), versions);
    assert_eq!(
        document().value["info"]["version"],
        *versions.last().unwrap()
    );
}

#[test]
fn the_vocabulary_of_specs_is_the_guides() {
    let guide = std::fs::read_to_string(program::repository().join("docs/solve.md")).unwrap();
    let (mut constraints, mut preferences) = (BTreeSet::new(), BTreeSet::new());
    for section in guide.split("\n### `").skip(1) {
        let (name, text) = section.split_once('`').unwrap();
        let text = text.trim_start();
        if text.starts_with("A constraint") {
            constraints.insert(name.to_owned());
        }
        if text.starts_with("A preference") || text.starts_with("A constraint or preference") {
            preferences.insert(name.to_owned());
        }
    }
    let documented = |schema: &str| -> BTreeSet<String> {
        let pointer = format!("/components/schemas/{schema}/properties/type/enum");
        words(&pointer).into_iter().collect()
    };
    assert_eq!(documented("SolveConstraint"), constraints);
    assert_eq!(documented("SolvePreference"), preferences);
}

#[test]
fn every_example_is_what_its_schema_says() {
    for operation in document().operations() {
        let Some(media) = operation
            .body
            .pointer("/requestBody/content/application~1json")
        else {
            continue;
        };
        let examples = media["examples"].as_object();
        for (name, example) in examples.into_iter().flatten() {
            let problems = document().problems(&request_schema(operation), &example["value"]);
            let path = &operation.path;
            assert!(problems.is_empty(), "{path}, {name}: {problems:?}");
        }
    }
}

fn request_schema(operation: &Operation) -> String {
    let path = operation.path.replace('~', "~0").replace('/', "~1");
    let method = operation.method.to_lowercase();
    format!("/paths/{path}/{method}/requestBody/content/application~1json/schema")
}

/// A request object that may hold anything would let a client's mistake pass in silence.
#[test]
fn every_request_object_is_closed() {
    fn walk(value: &Value, place: &str, seen: &mut BTreeSet<String>) {
        if let Some(reference) = value["$ref"].as_str() {
            if seen.insert(reference.to_owned()) {
                walk(document().resolve(value), reference, seen);
            }
            return;
        }
        match value {
            Value::Object(fields) => {
                if fields.get("properties").is_some_and(Value::is_object)
                    && fields.contains_key("type")
                {
                    let is_closed = fields.contains_key("additionalProperties");
                    let is_refinement = !is_closed && place.contains("/anyOf/");
                    assert!(is_closed || is_refinement, "{place} is open");
                }
                for (name, field) in fields {
                    walk(field, &format!("{place}/{name}"), seen);
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    walk(item, &format!("{place}/{at}"), seen);
                }
            }
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    for operation in document().operations() {
        let schema = &operation.body["requestBody"]["content"]["application/json"]["schema"];
        walk(schema, &operation.path, &mut seen);
    }
    assert!(seen.len() > 10, "only {seen:?}");
}
