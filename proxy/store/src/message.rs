//! Stored messages: the record of `GET /v1/ai/messages/{id}` (spec, Message record), content sealed.

use serde_json::Value;
use svc_core::chat::{Role, Usage};
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::conversation::{self, NewMessage};
use crate::engine::{Connection, Row, args};
use crate::seal::{self, Content, Place, SecretKey};
use crate::{Store, StoreError};

/// A message with its content opened.
pub struct Message {
    pub id: String,
    /// Of the request that made it.
    pub request_id: String,
    pub org_id: String,
    pub conversation_id: String,
    /// Catalogue id.
    pub model: String,
    pub role: Role,
    /// Of the reply; zero on the caller's own messages.
    pub usage: Usage,
    /// What the run was charged; zero on the caller's own messages.
    pub credits: Micro,
    pub content: Content,
    /// Word of [`svc_core::chat::FinishReason`], of a reply.
    pub stop_reason: Option<String>,
    /// `{"mode", "redacted", "entity_types", "restored"}` (contract 21), of a reply.
    pub phi: Option<Value>,
    /// The terminal audit row of the run.
    pub audit_id: Option<String>,
    pub created_at: Timestamp,
    /// Placeholders of its conversation, for restoring.
    pub phi_map: Option<Content>,
    /// The person whom an agent spoke with in its conversation.
    pub runtime_user: Option<String>,
}

/// Messages `m` with what opens them, of their conversations.
macro_rules! messages_with_keys {
    () => {
        concat!(
            "SELECT m.*, c.wrapped_key, c.phi_map, c.end_user_key_id, c.runtime_user, k.wrapped AS end_user_wrapped \
             FROM messages m JOIN conversations c ON c.id = m.conversation_id \
             AND c.org_id = m.org_id AND c.mode = m.mode ",
            conversation::join_end_user_key!(),
        )
    };
}

/// The message with this id, as far as this organization and mode have it.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    message_id: &str,
) -> Result<Option<Message>, StoreError> {
    let arguments = args![message_id, org_id, mode];
    let row = store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = concat!(
                    messages_with_keys!(),
                    " WHERE m.id = $1 AND m.org_id = $2 AND m.mode = $3",
                );
                cx.row(sql, arguments).await
            })
        })
        .await?;
    let Some(row) = row else { return Ok(None) };
    let conversation_id: String = row.get("conversation_id")?;
    let Some(key) = conversation::data_key(store, org_id, &conversation_id, &row).await? else {
        return Ok(None);
    };
    opened(&row, org_id, conversation_id, &key).map(Some)
}

/// Messages of one conversation behind `after_seq`, in their order, with the place of each; none where the
/// conversation does not open any more.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn of_conversation(
    store: &Store,
    org_id: &str,
    mode: Mode,
    conversation_id: &str,
    after_seq: i64,
    limit: u32,
) -> Result<Vec<(i64, Message)>, StoreError> {
    let arguments = args![conversation_id, org_id, mode, after_seq, limit];
    let rows = store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = concat!(
                    messages_with_keys!(),
                    " WHERE m.conversation_id = $1 AND m.org_id = $2 AND m.mode = $3 AND m.seq > $4 \
                           ORDER BY m.seq LIMIT $5",
                );
                cx.rows(sql, arguments).await
            })
        })
        .await?;
    let Some(first) = rows.first() else {
        return Ok(Vec::new());
    };
    let key = conversation::data_key(store, org_id, conversation_id, first).await?;
    let Some(key) = key else {
        return Ok(Vec::new());
    };
    let messages = rows.iter().map(|row| {
        let message = opened(row, org_id, conversation_id.to_owned(), &key)?;
        Ok((row.get("seq")?, message))
    });
    messages.collect()
}

fn opened(
    row: &Row,
    org_id: &str,
    conversation_id: String,
    key: &SecretKey,
) -> Result<Message, StoreError> {
    let id: String = row.get("id")?;
    let sealed: Vec<u8> = row.get("content")?;
    let sealed_map: Option<Vec<u8>> = row.get("phi_map")?;
    let map_place = conversation::map_place(&conversation_id, org_id);
    Ok(Message {
        runtime_user: row.get("runtime_user")?,
        request_id: row.get("request_id")?,
        org_id: row.get("org_id")?,
        model: row.get("model")?,
        role: role_from(row)?,
        usage: Usage {
            input_tokens: row.get("input_tokens")?,
            output_tokens: row.get("output_tokens")?,
            cache_read_input_tokens: row.get("cache_read_input_tokens")?,
            cache_creation_input_tokens: row.get("cache_write_input_tokens")?,
        },
        credits: row.get("credits_micro")?,
        content: seal::open_text(key, place(&id, org_id), &sealed)?,
        stop_reason: row.get("stop_reason")?,
        phi: row.get("phi")?,
        audit_id: row.get("audit_id")?,
        created_at: row.get("created_at")?,
        phi_map: sealed_map
            .map(|sealed| seal::open_text(key, map_place, &sealed))
            .transpose()?,
        id,
        conversation_id,
    })
}

pub(crate) fn role_from(row: &Row) -> Result<Role, StoreError> {
    match row.get::<String>("role")?.as_str() {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        _ => Err(StoreError::Corrupt { column: "role" }),
    }
}

const fn role_word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

pub(crate) fn place<'a>(message_id: &'a str, org_id: &'a str) -> Place<'a> {
    Place {
        table: "messages",
        row_id: message_id,
        column: "content",
        org_id,
    }
}

/// A message whose content is sealed.
#[derive(Clone)]
pub(crate) struct Draft {
    id: String,
    request_id: String,
    role: Role,
    sealed: Vec<u8>,
    model: String,
    usage: Usage,
    credits: Micro,
    stop_reason: Option<String>,
    phi: Option<Value>,
    audit_id: Option<String>,
}

impl Draft {
    pub(crate) fn new(
        message: &NewMessage,
        request_id: &str,
        org_id: &str,
        key: &SecretKey,
        key_version: u32,
    ) -> Result<Self, StoreError> {
        let NewMessage {
            id,
            role,
            content,
            model,
            usage,
            credits,
            stop_reason,
            phi,
            audit_id,
        } = message;
        let plain = content.as_str().as_bytes();
        Ok(Self {
            sealed: seal::seal(key, key_version, place(id, org_id), plain)?,
            id: id.clone(),
            request_id: request_id.to_owned(),
            role: *role,
            model: model.clone(),
            usage: *usage,
            credits: *credits,
            stop_reason: stop_reason.clone(),
            phi: phi.clone(),
            audit_id: audit_id.clone(),
        })
    }
}

pub(crate) async fn insert(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
    conversation_id: &str,
    seq: i64,
    draft: Draft,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Draft {
        id,
        request_id,
        role,
        sealed,
        model,
        usage,
        credits,
        stop_reason,
        phi,
        audit_id,
    } = draft;
    cx.execute(
        "INSERT INTO messages (id, org_id, mode, conversation_id, seq, request_id, model, role, content, \
         input_tokens, output_tokens, cache_read_input_tokens, cache_write_input_tokens, credits_micro, \
         stop_reason, phi, audit_id, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
        args![
            id,
            org_id,
            mode,
            conversation_id,
            seq,
            request_id,
            model,
            role_word(role),
            sealed,
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            credits,
            stop_reason,
            phi.as_ref(),
            audit_id,
            now,
        ],
    )
    .await
    .map(drop)
}
