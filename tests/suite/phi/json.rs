//! JSON that callers and models define, fill, promise and write: what stands beside a value is not what it is, and JSON
//! stays JSON.

use serde_json::{Map, Value, json};
use svc_tests::fake::mark;
use svc_tests::surfaces::{FORMS, Form, MODELS, Surface};
use svc_tests::world::World;

use crate::engines::on_sqlite;
use crate::surfaces::ask;

on_sqlite! {
    properties_that_may_hold_phi_are_defined_in_any_order,
    keys_and_lists_beside_a_value_are_left_alone,
    what_is_promised_may_hold_placeholders,
    numbers_come_back_as_numbers,
    numbers_that_a_schema_lists_come_back_as_numbers,
    however_many_numbers_are_promised_each_may_be_a_placeholder,
    dates_come_back_as_the_schema_has_dates,
    json_in_texts_stays_json,
    a_value_is_known_by_its_key_in_any_disguise,
    samples_of_a_schema_are_known_by_their_keys,
}

/// A value under a label, each in a way of its own, and what must not be left of it.
fn labelled() -> Vec<(Value, &'static str)> {
    vec![
        (json!({"ssn": "NTM2MjIxMjM0"}), "NTM2"),
        (json!({"last_name": "UXV1eA=="}), "UXV1"),
        (json!({"patient_name": "Xuereb&#32;Quux"}), "Xuereb"),
        (json!({"last_name": "%51uux%20Bar"}), "uux"),
        (json!({"last_name": "Qu\\u0075x"}), "Qu"),
        (json!({"mrn": "NDQ3MTIyMw=="}), "NDQ3"),
        (json!({"mrn": "%34471223"}), "471223"),
        (json!({"user\u{200b}name": "jmcallister"}), "jmcallister"),
        (json!({"ｌａｓｔ＿ｎａｍｅ": "Quux"}), "Quux"),
        (json!({"mrn": [null, "4471223"]}), "4471223"),
        (json!({"first_name": [null, "Xuereb"]}), "Xuereb"),
        (json!({"last_name": [["Quux"]]}), "Quux"),
        (json!({"zip": [94_110]}), "94110"),
        (json!({"age": [93]}), "93"),
        (json!({"mrn": [{}, "4471223"]}), "4471223"),
        (json!({"mrn": [[null], "4471223"]}), "4471223"),
        (
            json!({"note": "so ".repeat(163), "user\u{200b}name": "jmcallister", "z": "ok"}),
            "jmcallister",
        ),
        (
            json!({"name": "username", "value": "jmcallister"}),
            "jmcallister",
        ),
        (json!({"x": "user", "mrn": "4471223"}), "4471223"),
        (json!({"a": {"b": {"mrn": "4471223"}}}), "4471223"),
    ]
}

/// What the provider gets of a history in which a tool was called with `input`.
async fn sent_of(world: &World, key: &str, model: &str, input: &Value) -> Value {
    let mark = mark();
    let mut body = Surface::Messages.question(model, "a", Form::Whole);
    body["tools"] = json!([{"name": "look", "input_schema": {"type": "object"}}]);
    body["metadata"] = json!({"user_id": "user-1"});
    body["messages"] = json!([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": input}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": mark}]},
    ]);
    let answer = ask(world, key, Surface::Messages, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    world.fake.received(&mark).await["body"].clone()
}

/// The arguments that reach the caller of a model that calls a tool with `input`.
async fn shown_of(world: &World, key: &str, model: &str, input: &Value, form: Form) -> Value {
    let mark = mark();
    let call = json!([{"name": "look", "input": input}]);
    world
        .fake
        .expect(json!({"contains": mark, "tools": call}))
        .await;
    let mut body = Surface::Messages.question(model, &mark, form);
    body["tools"] = json!([{"name": "look", "input_schema": {"type": "object"}}]);
    let answer = ask(world, key, Surface::Messages, &body).await;
    let heard = match form {
        Form::Whole => Surface::Messages.read(&answer),
        Form::Streamed => Surface::Messages.heard(&answer),
    };
    heard.calls[0].2.clone()
}

async fn a_value_is_known_by_its_key_in_any_disguise(world: &World) {
    let organization = world.organization();
    for (input, core) in labelled() {
        let body = sent_of(world, &organization.key, "alpha-haiku-4-5", &input).await;
        let sent = body["messages"][1].to_string();
        assert!(!sent.contains(core), "{sent}");
        for form in FORMS {
            let arguments =
                shown_of(world, &organization.key, "alpha-haiku-4-5", &input, form).await;
            let arguments = arguments.to_string();
            assert!(!arguments.contains(core), "{arguments}");
        }
    }
}

async fn samples_of_a_schema_are_known_by_their_keys(world: &World) {
    let organization = world.organization();
    for schema in [
        json!({"examples": [{"mrn": "4471223"}]}),
        json!({"example": {"mrn": "4471223"}}),
        json!({"default": {"ssn": "536221234"}}),
        json!({"x-patient": {"mrn": "4471223"}}),
        json!({"allOf": [{"default": {"mrn": "4471223"}}]}),
        json!({"properties": {"p": {"anyOf": [{"example": {"mrn": "4471223"}}]}}}),
        json!({"properties": {"mrn": {"type": "string", "examples": ["x", "4471223"]}}}),
        json!({"properties": {"mrn": {"enum": (0..99).map(|at| format!("44712{at:02}")).collect::<Vec<_>>()}}}),
    ] {
        let mut input_schema = schema.clone();
        input_schema["type"] = json!("object");
        let mut body = Surface::Messages.question("alpha-haiku-4-5", "a", Form::Whole);
        body["tools"] = json!([{"name": "look", "input_schema": input_schema}]);
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        assert_eq!(answer.status, 400, "{schema}: {}", answer.text());
        assert_eq!(Surface::Messages.code(&answer.json()), "PHI_IN_TOOL_SCHEMA");
    }
    // As many samples as anybody lists, under a name as long as can be, cost no more than they are.
    let names = json!({"n".repeat(50_000): {"enum": (0..8_000).collect::<Vec<_>>()}});
    let mut body = Surface::Messages.question("alpha-haiku-4-5", "a", Form::Whole);
    body["tools"] =
        json!([{"name": "look", "input_schema": {"type": "object", "properties": names}}]);
    let answer = ask(world, &organization.key, Surface::Messages, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// What assistants and tools write as text.
fn documents() -> Vec<Value> {
    vec![
        json!({"street": "12 Main Street", "city": "Springfield", "state": "IL", "zip": "62704"}),
        json!({"month": "March", "year": 2026}),
        json!({"january": 12, "february": 9, "march": 3}),
        json!({"monday": 8, "tuesday": 8, "open": true, "closed": null}),
        json!([{"month": "January", "visits": 12}, {"month": "February", "visits": 9}]),
        json!({"month": "March", "day": "Monday", "site": "Mercy Hospital"}),
        json!({"labels": ["January", "February", "March"], "data": [3, 4, 5]}),
        json!({"birth": {"month": "March", "day": 14, "year": 1987}, "name": "Adaeze Okafor"}),
        json!({
            "resourceType": "Patient", "id": "p-1", "active": true,
            "name": [{"use": "official", "family": "Okafor", "given": ["Adaeze", "Chidi"]}],
            "telecom": [{"system": "phone", "value": "(415) 823-4467"}, {"system": "email", "value": "ruth.aldana@lakeside-mail.org"}],
            "gender": "female", "birthDate": "1987-03-14",
            "address": [{"line": ["12 Main Street"], "city": "Springfield", "state": "IL", "postalCode": "62704"}],
        }),
        json!({"visits": [{"on": "March 14, 1987", "by": "Dr. Ruth Aldana", "mrn": 84_731_962}, {"on": "May 2", "by": "Ann Poe"}]}),
        json!([
            ["Smith", "John", "1962-03-14"],
            ["Miller", "Anna", "1987-05-02"]
        ]),
        json!({"text": "{\"street\": \"12 Main Street\", \"city\": \"Springfield\"}", "next": "14 March"}),
        json!({"to": "Ruth Aldana", "cc": ["Adaeze Okafor", "Chidi Obi"], "body": "See you on March 14 at 12 Main Street, Springfield."}),
    ]
}

/// JSON with nothing of its values but whether they are there.
fn shape(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(shape).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            Value::Object(
                fields
                    .map(|(key, value)| (key.clone(), shape(value)))
                    .collect(),
            )
        }
        Value::Bool(_) | Value::Null => value.clone(),
        Value::Number(_) | Value::String(_) => json!("said"),
    }
}

fn spellings(document: &Value) -> [String; 2] {
    [
        document.to_string(),
        serde_json::to_string_pretty(document).unwrap(),
    ]
}

async fn json_in_texts_stays_json(world: &World) {
    let organization = world.organization();
    for document in documents() {
        let expected = shape(&document);
        for text in spellings(&document) {
            let read = |text: &str| -> Value {
                let read = serde_json::from_str(text);
                read.unwrap_or_else(|error| panic!("{error}: {text} of {document}"))
            };
            // A tool's result and what the caller says go out.
            let mark = mark();
            let body = json!({
                "model": "alpha-sonnet-4-6", "max_tokens": 99,
                "tools": [{"name": "look", "input_schema": {"type": "object"}}],
                "messages": [
                    {"role": "user", "content": text},
                    {"role": "assistant", "content": [
                        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": text},
                        {"type": "text", "text": mark}]},
                ],
            });
            let answer = ask(world, &organization.key, Surface::Messages, &body).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let sent = world.fake.received(&mark).await["body"]["messages"].clone();
            for place in ["/0/content", "/2/content/0/content"] {
                let said = sent.pointer(place).unwrap();
                let said = said.as_str().or_else(|| said[0]["text"].as_str());
                assert_eq!(shape(&read(said.unwrap())), expected, "{said:?}");
                for core in [
                    "Okafor",
                    "84731962",
                    "823-4467",
                    "1987-03-14",
                    "1962-03-14",
                    "12 Main",
                ] {
                    assert!(!said.unwrap().contains(core), "{said:?}");
                }
            }
            // What the model says comes back.
            for (surface, form) in [
                (Surface::Messages, Form::Streamed),
                (Surface::ChatCompletions, Form::Whole),
            ] {
                for (_, model) in MODELS {
                    let mark = svc_tests::fake::mark();
                    world
                        .fake
                        .expect(json!({"contains": mark, "text": text}))
                        .await;
                    let body = surface.question(model, &mark, form);
                    let answer = ask(world, &organization.key, surface, &body).await;
                    let heard = match form {
                        Form::Whole => surface.read(&answer),
                        Form::Streamed => surface.heard(&answer),
                    };
                    assert_eq!(shape(&read(&heard.text)), expected, "{}", heard.text);
                }
            }
        }
    }
}

/// Names of properties whose values are taken for PHI.
const NAMES: [&str; 24] = [
    "user",
    "user_id",
    "userId",
    "username",
    "userName",
    "login",
    "handle",
    "github_username",
    "ssn",
    "mrn",
    "patient",
    "patient_name",
    "first_name",
    "last_name",
    "city",
    "address",
    "phone",
    "email",
    "dob",
    "birth_date",
    "member_id",
    "account_number",
    "device_id",
    "age",
];

/// A property with each word of JSON Schema in front.
fn properties() -> Vec<Value> {
    vec![
        json!({"title": "The Title", "type": "string"}),
        json!({"description": "properties", "type": "string"}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Of Any"}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"items": {"type": "string"}, "type": "array"}),
        json!({"enum": ["title", "asc"], "type": "string"}),
        json!({"properties": {"locale": {"type": "string"}}, "required": ["locale"], "additionalProperties": false, "type": "object"}),
        json!({"$ref": "#/$defs/Inner"}),
    ]
}

/// A closed schema as data classes make them: names, in no order that helps.
fn schema(names: &[&str], property: &Value) -> Value {
    // What is listed under a patient's name is taken for one.
    let is_listed = |name: &str| property.get("enum").is_some() && name.contains("patient");
    let named: Map<String, Value> = names
        .iter()
        .map(|name| {
            let property = if is_listed(name) {
                &json!({"type": "string"})
            } else {
                property
            };
            ((*name).to_owned(), property.clone())
        })
        .collect();
    json!({
        "$defs": {"Inner": {"properties": {}, "additionalProperties": false, "type": "object"}},
        "properties": named, "required": names, "title": "User", "type": "object",
        "additionalProperties": false,
    })
}

async fn properties_that_may_hold_phi_are_defined_in_any_order(world: &World) {
    let organization = world.organization();
    // Kind A takes sixteen schemas with alternatives.
    let halves = NAMES.chunks(NAMES.len() / 2);
    let schemas = halves.flat_map(|names| {
        let properties = properties().into_iter();
        properties.map(move |property| (names, schema(names, &property)))
    });
    for (names, schema) in schemas {
        for (_, model) in MODELS {
            let mark = mark();
            let words = format!("{mark} What are the properties of the title of this book?");
            let mut body = Surface::ChatCompletions.question(model, &words, Form::Whole);
            let function =
                json!({"name": "user", "description": "Finds a user.", "parameters": schema});
            body["tools"] = json!([{"type": "function", "function": function}]);
            body["response_format"] = json!({
                "type": "json_schema", "json_schema": {"name": "User", "schema": schema, "strict": true},
            });
            let answer = ask(world, &organization.key, Surface::ChatCompletions, &body).await;
            assert_eq!(answer.status, 200, "{schema}: {}", answer.text());
            let sent = world.fake.received(&mark).await["body"].to_string();
            // Both schemas, and the question.
            assert!(!sent.contains("_1]"), "{sent}");
            assert!(sent.contains(&words), "{sent}");
            for name in names {
                let all = sent.matches(&format!("{name:?}")).count();
                assert!(all >= 4, "{name}: {all} in {sent}");
            }
        }
    }
}

async fn keys_and_lists_beside_a_value_are_left_alone(world: &World) {
    let organization = world.organization();
    for input in [
        json!({"user": {"locale": "en"}}),
        json!({"columns": ["id", "username", "created_at", "plan"]}),
        json!({"columns": ["last_name", "priority", "status"]}),
        json!({"filter": {"last_name": {"in": ["a"]}}, "city": {"distance": "near"}}),
        json!({"fields": ["mrn", "title"], "group_by": ["user_id", "title"]}),
        json!({"first_name": {"type": "string"}, "nickname": {"required": true}}),
    ] {
        for (_, model) in MODELS {
            let sent = sent_of(world, &organization.key, model, &input)
                .await
                .to_string();
            assert!(!sent.contains("_1]") && sent.contains("user-1"), "{sent}");
            for form in FORMS {
                let arguments = shown_of(world, &organization.key, model, &input, form).await;
                assert_eq!(arguments, input);
            }
        }
    }
}

/// A model that is held to the form of a date cannot say a placeholder, and would invent one.
async fn what_is_promised_may_hold_placeholders(world: &World) {
    let organization = world.organization();
    let day = json!({"type": "string", "format": "date", "description": "The day."});
    let closed = json!({
        "type": "object", "properties": {"day": day}, "required": ["day"], "additionalProperties": false,
    });
    for (said, is_bounded) in [("", true), ("seen on March 14, 1987", false)] {
        for (kind, model) in MODELS {
            let mark = mark();
            let words = format!("{mark} {said}");
            let mut body = Surface::ChatCompletions.question(model, &words, Form::Whole);
            let function = json!({"name": "look", "parameters": closed, "strict": true});
            body["tools"] = json!([{"type": "function", "function": function}]);
            body["response_format"] = json!({
                "type": "json_schema", "json_schema": {"name": "visit", "schema": closed, "strict": true},
            });
            let answer = ask(world, &organization.key, Surface::ChatCompletions, &body).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let sent = world.fake.received(&mark).await["body"].clone();
            let expected = if is_bounded {
                day.clone()
            } else {
                json!({"type": "string", "description": "The day.\n\n{\"format\":\"date\"}"})
            };
            let places = match kind {
                "A" => [
                    "/output_config/format/schema/properties/day",
                    "/tools/0/input_schema/properties/day",
                ],
                _ => [
                    "/response_format/json_schema/schema/properties/day",
                    "/tools/0/function/parameters/properties/day",
                ],
            };
            for place in places {
                assert_eq!(sent.pointer(place), Some(&expected), "{place} of {sent}");
            }
        }
    }
}

/// A placeholder is no number, and a caller whose schema asks for one would refuse a string.
async fn numbers_come_back_as_numbers(world: &World) {
    let organization = world.organization();
    let closed = json!({
        "type": "object", "required": ["mrn", "note"], "additionalProperties": false,
        "properties": {"mrn": {"type": "integer"}, "note": {"type": "string"}},
    });
    let function = json!({"name": "look", "parameters": closed, "strict": true});
    let promised = json!({
        "type": "json_schema", "json_schema": {"name": "visit", "schema": closed, "strict": true},
    });
    let written = json!({"mrn": "[MRN_1]", "note": "[MRN_1]"});
    let expected = json!({"mrn": 4_471_223, "note": "4471223"});
    for (kind, model) in MODELS {
        for (form, is_tool) in FORMS
            .into_iter()
            .flat_map(|form| [(form, true), (form, false)])
        {
            let mark = mark();
            let words = format!("{mark} Who is the patient with MRN 4471223?");
            let mut body = Surface::ChatCompletions.question(model, &words, form);
            let reply = if is_tool {
                body["tools"] = json!([{"type": "function", "function": function}]);
                json!({"contains": mark, "tools": [{"name": "look", "input": written}]})
            } else {
                body["response_format"] = promised.clone();
                json!({"contains": mark, "text": written.to_string()})
            };
            world.fake.expect(reply).await;
            let answer = ask(world, &organization.key, Surface::ChatCompletions, &body).await;
            let heard = match form {
                Form::Whole => Surface::ChatCompletions.read(&answer),
                Form::Streamed => Surface::ChatCompletions.heard(&answer),
            };
            let said = match heard.calls.first() {
                Some((_, _, arguments)) => arguments.clone(),
                None => serde_json::from_str(&heard.text).unwrap(),
            };
            assert_eq!(said, expected, "{}", answer.text());
            // And the model could say so.
            let sent = world.fake.received(&mark).await["body"].clone();
            let schema = match (kind, is_tool) {
                ("A", true) => "/tools/0/input_schema",
                ("A", false) => "/output_config/format/schema",
                (_, true) => "/tools/0/function/parameters",
                (_, false) => "/response_format/json_schema/schema",
            };
            let wanted = sent.pointer(&format!("{schema}/properties/mrn/anyOf/0"));
            assert_eq!(wanted, Some(&json!({"type": "integer"})), "{sent}");
        }
    }
}

/// What the caller hears of a reply in this schema, and what its provider was sent.
async fn promised_reply(
    world: &World,
    model: &str,
    said: &str,
    schema: &Value,
    reply: &Value,
) -> (Value, Value) {
    let organization = world.organization();
    let mark = mark();
    let mut body = Surface::ChatCompletions.question(model, &format!("{mark} {said}"), Form::Whole);
    body["response_format"] = json!({
        "type": "json_schema", "json_schema": {"name": "visit", "schema": schema, "strict": true},
    });
    let order = json!({"contains": mark, "text": reply.to_string()});
    world.fake.expect(order).await;
    let answer = ask(world, &organization.key, Surface::ChatCompletions, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let heard = Surface::ChatCompletions.read(&answer);
    let sent = world.fake.received(&mark).await["body"].take();
    (serde_json::from_str(&heard.text).unwrap(), sent)
}

/// The schema of a reply as its provider was sent it.
fn sent_schema(sent: &Value) -> &Value {
    let places = [
        "/output_config/format/schema",
        "/response_format/json_schema/schema",
    ];
    places.iter().find_map(|place| sent.pointer(place)).unwrap()
}

/// A closed object with these properties, all of them required.
fn closed(properties: Value) -> Value {
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({
        "type": "object", "required": names, "additionalProperties": false, "properties": properties,
    })
}

const TWO_PATIENTS: &str =
    "Patients Helen Marsh (MRN 5550123) and Robert Willis (MRN 5550999): whose chart is it?";

/// A placeholder among numbers would make a schema that no provider takes.
async fn numbers_that_a_schema_lists_come_back_as_numbers(world: &World) {
    let schema = closed(json!({
        "mrn": {"type": "integer", "enum": [5_550_123, 5_550_999]},
        "one": {"type": "integer", "const": 5_550_123},
        "any": {"enum": [5_550_123, 5_550_999]},
        "most": {"type": "integer", "minimum": 1, "maximum": 5_550_123},
    }));
    let written = json!({"mrn": "[MRN_1]", "one": "[MRN_1]", "any": "[MRN_2]", "most": "[MRN_1]"});
    let expected = json!({
        "mrn": 5_550_123, "one": 5_550_123, "any": 5_550_999, "most": 5_550_123,
    });
    for (_, model) in MODELS {
        let (heard, sent) = promised_reply(world, model, TWO_PATIENTS, &schema, &written).await;
        assert_eq!(heard, expected);
        let properties = &sent_schema(&sent)["properties"];
        for name in ["mrn", "one", "any"] {
            assert_eq!(properties[name]["type"], "string", "{sent}");
        }
        assert_eq!(properties["mrn"]["enum"], json!(["[MRN_1]", "[MRN_2]"]));
        assert!(properties["most"].get("maximum").is_none(), "{sent}");
        assert!(!sent.to_string().contains("5550123"), "{sent}");
    }
}

/// Kind A takes sixteen schemas with alternatives, and its fake refuses more.
async fn however_many_numbers_are_promised_each_may_be_a_placeholder(world: &World) {
    let number = || json!({"type": "number"});
    let optional = |kind: &str| json!({"anyOf": [{"type": kind}, {"type": "null"}]});
    for (count, other) in [
        (30, number()),
        (16, optional("number")),
        (16, optional("string")),
    ] {
        let mut properties: Map<String, Value> = (0..count)
            .map(|at| (format!("n{at}"), other.clone()))
            .collect();
        properties.insert("mrn".into(), json!({"type": "integer"}));
        let schema = closed(Value::Object(properties));
        let mut written: Map<String, Value> = (0..count)
            .map(|at| (format!("n{at}"), Value::Null))
            .collect();
        written.insert("mrn".into(), json!("[MRN_1]"));
        for (kind, model) in MODELS {
            let written = Value::Object(written.clone());
            let (heard, sent) = promised_reply(world, model, TWO_PATIENTS, &schema, &written).await;
            assert_eq!(heard["mrn"], 5_550_123);
            let mrn = &sent_schema(&sent)["properties"]["mrn"];
            let is_alternative = mrn["anyOf"][1]["pattern"].is_string();
            let is_in_digits = mrn["pattern"]
                .as_str()
                .is_some_and(|pattern| pattern.contains("[0-9]*"));
            assert_eq!(
                (is_alternative, is_in_digits),
                (kind == "B", kind == "A"),
                "{mrn}"
            );
        }
    }
}

async fn dates_come_back_as_the_schema_has_dates(world: &World) {
    let schema =
        closed(json!({"dob": {"type": "string", "format": "date"}, "as_said": {"type": "string"}}));
    let written = json!({"dob": "[DATE_1]", "as_said": "[DATE_1]"});
    for (said, date) in [
        ("March 4, 1961", "1961-03-04"),
        ("1961-03-04", "1961-03-04"),
        ("03/04/1961", "03/04/1961"),
        ("12/25/1961", "1961-12-25"),
    ] {
        for (_, model) in MODELS {
            let words = format!("Patient Helen Marsh, born {said}.");
            let (heard, _) = promised_reply(world, model, &words, &schema, &written).await;
            assert_eq!(heard, json!({"dob": date, "as_said": said}));
        }
    }
}
