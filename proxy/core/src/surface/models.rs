//! The model catalogue as `GET /v1/models` lists it, in the shape of each SDK (contract 21). Which models a
//! caller may use is decided elsewhere.

use serde_json::{Value, json};

use crate::time::Timestamp;

/// One model of the catalogue that the caller may use.
#[derive(Clone, Copy)]
pub struct Listed<'a> {
    /// Catalogue id.
    pub id: &'a str,
    pub created: Timestamp,
}

/// The list shape of the chat-completions surface.
pub fn chat_completions_list(models: &[Listed<'_>]) -> Value {
    let data: Vec<Value> = models.iter().map(chat_completions_model).collect();
    json!({"object": "list", "data": data})
}

/// One model in the shape of the chat-completions surface.
pub fn chat_completions_model(model: &Listed<'_>) -> Value {
    json!({
        "id": model.id,
        "object": "model",
        "created": model.created.unix_seconds(),
        "owned_by": OWNER,
    })
}

/// The list shape of the messages surface, for callers that send `anthropic-version`: one page.
pub fn messages_list(models: &[Listed<'_>]) -> Value {
    let data: Vec<Value> = models.iter().map(messages_model).collect();
    json!({
        "data": data,
        "has_more": false,
        "first_id": models.first().map(|model| model.id),
        "last_id": models.last().map(|model| model.id),
    })
}

/// One model in the shape of the messages surface.
pub fn messages_model(model: &Listed<'_>) -> Value {
    json!({
        "type": "model",
        "id": model.id,
        "display_name": model.id,
        "created_at": model.created.to_string(),
    })
}

/// Who offers the models, as the caller sees it: the gateway, whichever provider is behind it.
const OWNER: &str = "svc";

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: &[Listed<'static>] = &[
        Listed {
            id: "alpha-haiku-4-5",
            created: Timestamp(1_795_205_340_123),
        },
        Listed {
            id: "beta-5.4",
            created: Timestamp(1_795_205_341_000),
        },
    ];

    #[test]
    fn each_sdk_finds_its_own_shape() {
        assert_eq!(
            chat_completions_list(MODELS),
            json!({"object": "list", "data": [
                {"id": "alpha-haiku-4-5", "object": "model", "created": 1_795_205_340, "owned_by": "svc"},
                {"id": "beta-5.4", "object": "model", "created": 1_795_205_341, "owned_by": "svc"},
            ]})
        );
        let list = messages_list(MODELS);
        assert_eq!(list["data"][1]["display_name"], "beta-5.4");
        assert_eq!(list["data"][0]["created_at"], "2026-11-20T20:09:00.123Z");
        assert_eq!(
            (&list["first_id"], &list["last_id"], &list["has_more"]),
            (&json!("alpha-haiku-4-5"), &json!("beta-5.4"), &json!(false))
        );
    }

    #[test]
    fn an_empty_catalogue_has_no_ends() {
        let list = messages_list(&[]);
        assert_eq!(
            (&list["first_id"], &list["last_id"]),
            (&Value::Null, &Value::Null)
        );
    }
}
