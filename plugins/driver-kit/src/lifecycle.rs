//! What a driver tells of itself, and the exchange that it tries on itself.

use crate::bindings::exports::gateway::plugin::lifecycle::{ConfigError, Manifest};
use crate::bindings::gateway::plugin::types::PluginKind;
use crate::bindings::gateway::provider::types::{
    ChatRequest, Event, Message, Part, PartBody, Role,
};
use crate::run::Exchange;

/// Version of the interfaces in `wit/v0.1`.
const API: &str = "0.1.0";

/// What `describe` answers. `config_schema` is a JSON Schema, or empty for a driver without configuration.
pub fn describe(id: &str, version: &str, config_schema: &str) -> Manifest {
    Manifest {
        id: id.to_owned(),
        version: version.to_owned(),
        kind: PluginKind::ProviderDriver,
        api: API.to_owned(),
        config_schema: config_schema.as_bytes().to_vec(),
        counters: Vec::new(),
        ext: Vec::new(),
    }
}

/// `configure` of a driver without configuration.
///
/// # Errors
/// For anything but an empty object.
pub fn no_configuration(config: &[u8]) -> Result<(), ConfigError> {
    let fields = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(config);
    match fields {
        Ok(fields) if fields.is_empty() => Ok(()),
        _ => Err(ConfigError {
            path: String::new(),
            message: "this driver takes no configuration".to_owned(),
        }),
    }
}

/// One exchange of synthetic words, there and back: a streamed request of the model "model" that says "ping" and may
/// have one token, and the frames of an answer that says "pong".
///
/// # Errors
/// What came out other than it should.
pub fn self_test<E: Exchange>(expected_body: &[u8], frames: &[&str]) -> Result<(), String> {
    let upstream = E::request(&ping()).map_err(|error| format!("{:?}", error.kind))?;
    if upstream.body != expected_body {
        return Err("the request does not come out as it should".to_owned());
    }
    let mut exchange = E::default();
    let mut events = Vec::new();
    for data in frames {
        exchange.frame("", data.as_bytes(), &mut events);
    }
    events.retain(|event| !matches!(event, Event::Usage(_)));
    match events.as_slice() {
        [Event::Started(_), Event::Text(text), Event::Finished(_)] if text == "pong" => Ok(()),
        _ => Err("the answer does not come out as it should".to_owned()),
    }
}

fn ping() -> ChatRequest {
    let part = Part {
        body: PartBody::Text("ping".to_owned()),
        cache_mark: None,
        ext: Vec::new(),
    };
    let message = Message {
        role: Role::User,
        content: vec![part],
        name: None,
        ext: Vec::new(),
    };
    ChatRequest {
        model: "model".to_owned(),
        system: Vec::new(),
        messages: vec![message],
        tools: Vec::new(),
        tool_choice: None,
        parallel_tool_calls: None,
        max_output_tokens: Some(1),
        temperature: None,
        top_p: None,
        top_k: None,
        stop_sequences: Vec::new(),
        response_format: None,
        reasoning_tokens: None,
        metadata: Vec::new(),
        streaming: true,
        ext: Vec::new(),
    }
}
