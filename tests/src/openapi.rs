//! `docs/openapi.yaml`: what it says of every operation, and whether an answer is what it says. To a client a
//! response object is open; here it is closed, so that a field that nobody has documented fails the test that met it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::{Draft, Registry, Validator};
use serde_json::{Map, Value, json};

use crate::program;
use crate::sse::Event;
use crate::wire::{Answer, Request};

/// One method of one path, as documented.
#[derive(Clone, Debug)]
pub struct Operation {
    pub method: String,
    pub path: String,
    /// `x-scope`.
    pub scope: String,
    /// `x-gate`.
    pub gate: String,
    /// The operation as it stands there.
    pub body: Value,
}

impl Operation {
    /// Statuses of success that the operation names.
    pub fn successes(&self) -> Vec<u16> {
        self.statuses()
            .filter(|status| (200..300).contains(status))
            .collect()
    }

    /// Every status that the operation names.
    pub fn statuses(&self) -> impl Iterator<Item = u16> {
        let responses = self.body["responses"].as_object();
        let words = responses.into_iter().flat_map(Map::keys);
        words
            .filter(|word| *word != "default")
            .map(|word| word.parse().expect("a status"))
    }
}

pub struct Document {
    /// As it stands in the file.
    pub value: Value,
    operations: Vec<Operation>,
    /// With closed response objects.
    registry: Registry<'static>,
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

const METHODS: &[&str] = &["get", "put", "post", "delete", "patch"];
/// Where the closed document is known to the validators.
const ADDRESS: &str = "urn:openapi";

static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    let path = program::repository().join("docs/openapi.yaml");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Document::of(&text)
});

/// The document, read once.
pub fn document() -> &'static Document {
    &DOCUMENT
}

impl Document {
    fn of(text: &str) -> Self {
        let value: Value = serde_saphyr::from_str(text).expect("YAML");
        let registry = Registry::new()
            .draft(Draft::Draft202012)
            .add(ADDRESS, closed(&value))
            .expect("a resource")
            .prepare()
            .expect("references that resolve");
        let mut operations = Vec::new();
        for (path, item) in value["paths"].as_object().expect("paths") {
            for method in METHODS {
                let Some(body) = item.get(method) else {
                    continue;
                };
                let word = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
                operations.push(Operation {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    scope: word("x-scope"),
                    gate: word("x-gate"),
                    body: body.clone(),
                });
            }
        }
        Self {
            value,
            operations,
            registry,
            compiled: Mutex::default(),
        }
    }

    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The operation that a request means, and nothing for a route that is not documented.
    pub fn operation(&self, method: &str, path: &str) -> Option<&Operation> {
        // HEAD is served wherever GET is.
        let method = if method == "HEAD" { "GET" } else { method };
        let fitting = self
            .operations
            .iter()
            .filter(|operation| operation.method == method && fits(&operation.path, path));
        // `/v1/usage/budget` before `/v1/{anything}/budget`.
        fitting.min_by_key(|operation| operation.path.matches('{').count())
    }

    /// What a reference within the document names; anything else is itself.
    pub fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let pointer = reference.strip_prefix('#').expect("a local reference");
                let found = self.value.pointer(pointer);
                found.unwrap_or_else(|| panic!("{reference} names nothing"))
            }
            None => value,
        }
    }

    /// The problems of a value by the schema at a pointer of the document.
    pub fn problems(&self, pointer: &str, value: &Value) -> Vec<String> {
        let validator = {
            let mut compiled = self.compiled.lock().expect("the validators");
            let found = compiled.entry(pointer.to_owned());
            Arc::clone(found.or_insert_with(|| Arc::new(self.compile(pointer))))
        };
        let errors = validator.iter_errors(value);
        errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }

    fn compile(&self, pointer: &str) -> Validator {
        // Braces of a path's parameters are no characters of an address.
        let fragment = pointer.replace('{', "%7B").replace('}', "%7D");
        let schema = json!({"$ref": format!("{ADDRESS}#{fragment}")});
        let options = jsonschema::options();
        let options = options
            .with_draft(Draft::Draft202012)
            .with_registry(&self.registry);
        let built = options.should_validate_formats(true).build(&schema);
        built.unwrap_or_else(|error| panic!("{pointer}: {error}"))
    }
}

/// The one parameter that takes all segments that are left.
const REST: &str = "{path}";

/// Whether a path without its query has the form of a template.
fn fits(template: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let (mut wanted, mut found) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some(REST), Some(found)) => return !found.is_empty(),
            (Some(wanted), Some(found)) => {
                let is_parameter = wanted.starts_with('{') && !found.is_empty();
                if !is_parameter && wanted != found {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// A JSON pointer's segment.
fn segment(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

/// Holds an answer to what is documented of its route; an undocumented route is another test's matter.
///
/// # Panics
/// When the status, a header or the body is not as documented.
pub fn check(request: &Request, answer: &Answer) {
    let document = document();
    let Some(operation) = document.operation(request.method(), request.path()) else {
        return;
    };
    let label = format!("{} {}", operation.method, operation.path);
    // What another service answered is its own.
    let status = match answer.header("svc-integration") {
        Some(_) => "default".to_owned(),
        None => answer.status.to_string(),
    };
    let place = format!(
        "/paths/{}/{}/responses/{status}",
        segment(&operation.path),
        operation.method.to_lowercase(),
    );
    let response = &operation.body["responses"][&status];
    assert!(
        response.is_object(),
        "{label}: {} is not documented: {}",
        answer.status,
        answer.text()
    );
    let (response, place) = match response.get("$ref").and_then(Value::as_str) {
        Some(reference) => (document.resolve(response), reference[1..].to_owned()),
        None => (response, place),
    };
    let label = format!("{label}, {}", answer.status);
    check_headers(document, response, answer, &label);
    if request.method() != "HEAD" {
        check_body(document, response, &place, answer, &label);
    }
}

fn check_headers(document: &Document, response: &Value, answer: &Answer, label: &str) {
    let headers = response["headers"].as_object();
    for (name, header) in headers.into_iter().flatten() {
        let reference = header["$ref"].as_str().expect("a shared header");
        let header = document.resolve(header);
        let Some(text) = answer.header(&name.to_ascii_lowercase()) else {
            let is_required = header["required"] == true;
            assert!(!is_required, "{label}: no {name} in {:?}", answer.headers);
            continue;
        };
        let schema = document.resolve(&header["schema"]);
        let value = match schema["type"].as_str() {
            Some("integer") => text.parse::<i64>().map_or(json!(text), Value::from),
            _ => json!(text),
        };
        let problems = document.problems(&format!("{}/schema", &reference[1..]), &value);
        assert!(problems.is_empty(), "{label}: {name}: {problems:?}");
    }
}

fn check_body(document: &Document, response: &Value, place: &str, answer: &Answer, label: &str) {
    if response["content"].get("*/*").is_some() {
        return;
    }
    if response.get("content").is_none() {
        assert!(answer.body.is_empty(), "{label}: {}", answer.text());
        return;
    }
    let sent = answer.header("content-type").unwrap_or_default();
    let essence = sent.split(';').next().unwrap_or_default();
    let media = response["content"].get(essence);
    assert!(media.is_some(), "{label}: {sent:?} is not documented");
    if essence != "application/json" {
        return;
    }
    let pointer = format!("{place}/content/{}/schema", segment(essence));
    let problems = document.problems(&pointer, &answer.json());
    assert!(
        problems.is_empty(),
        "{label}: {problems:#?}\n{}",
        answer.text()
    );
}

/// Holds an event of the native stream to what is documented of it.
///
/// # Panics
/// When it is not as documented.
pub fn check_event(event: &Event) {
    const EVENTS: &str =
        "/paths/~1v1~1ai~1chat/post/responses/200/content/text~1event-stream/x-events";
    let pointer = format!("{EVENTS}/{}", segment(&event.name));
    let document = document();
    let known = document.value.pointer(&pointer).is_some();
    assert!(known, "{} is not a documented event", event.name);
    let problems = document.problems(&pointer, &event.data);
    assert!(
        problems.is_empty(),
        "{}: {problems:#?}\n{}",
        event.name,
        event.data
    );
}

/// The document with every object closed that does not say itself what else it may hold. Of each shared schema there
/// is an open twin for those that extend it: what an `allOf` does not know is judged where the parts come together.
fn closed(document: &Value) -> Value {
    let mut document = document.clone();
    let schemas = document["components"]["schemas"].as_object().cloned();
    let schemas = schemas.expect("schemas");
    close(&mut document);
    for (name, mut schema) in schemas {
        let own = schema.as_object_mut().expect("a schema");
        let has_properties = own.contains_key("properties");
        own.values_mut().for_each(close);
        assert!(has_properties || !own.contains_key("unevaluatedProperties"));
        document["components"]["schemas"][format!("{name}.open")] = schema;
    }
    document
}

fn close(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Object(fields) => {
            let is_extension = fields.get("allOf").is_some_and(Value::is_array);
            let is_object = fields.get("properties").is_some_and(Value::is_object)
                && fields.get("type").is_some_and(says_object)
                && !fields.contains_key("additionalProperties");
            for (name, field) in fields.iter_mut() {
                if is_extension && name == "allOf" {
                    field.as_array_mut().into_iter().flatten().for_each(opened);
                } else if name != "example" && name != "examples" {
                    close(field);
                }
            }
            if is_object || is_extension {
                fields.insert("unevaluatedProperties".to_owned(), json!(false));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A member of an `allOf`: a reference means the open twin.
fn opened(member: &mut Value) {
    if let Some(reference) = member["$ref"].as_str() {
        member["$ref"] = json!(format!("{reference}.open"));
    }
}

fn says_object(kind: &Value) -> bool {
    *kind == "object"
        || kind
            .as_array()
            .is_some_and(|kinds| kinds.contains(&json!("object")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "
openapi: 3.1.1
paths:
  /a/{id}:
    get:
      responses:
        '200': {content: {application/json: {schema: {$ref: '#/components/schemas/Longer'}}}}
  /a/b:
    get: {responses: {}}
components:
  schemas:
    Short: {type: object, required: [x], properties: {x: {type: object, properties: {y: {type: integer}}}}}
    Longer:
      allOf: [{$ref: '#/components/schemas/Short'}, {type: object, properties: {z: {type: integer}}}]
";

    #[test]
    fn objects_are_closed_also_where_one_extends_another() {
        let document = Document::of(PAGE);
        let count = |value: Value| {
            let pointer = "/components/schemas/Longer";
            document.problems(pointer, &value).len()
        };
        assert_eq!(count(json!({"x": {"y": 1}, "z": 1})), 0);
        assert_eq!(count(json!({"x": {"y": 1}, "more": 1})), 1);
        assert!(count(json!({"x": {"y": 1, "more": 1}})) > 0);
        assert!(count(json!({"z": 1})) > 0);
        let short = document.problems("/components/schemas/Short", &json!({"x": {}, "z": 1}));
        assert_eq!(short.len(), 1);
    }

    #[test]
    fn the_most_literal_path_is_meant() {
        let document = Document::of(PAGE);
        let path = |path: &str| {
            let found = document.operation("GET", path);
            found.map(|operation| operation.path.clone())
        };
        assert_eq!(path("/a/b?x=1").as_deref(), Some("/a/b"));
        assert_eq!(path("/a/c").as_deref(), Some("/a/{id}"));
        assert_eq!(path("/a/"), None);
        assert_eq!(path("/a/b/c"), None);
    }
}
