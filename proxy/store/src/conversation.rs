//! Stored conversations. Content is sealed under a data key of the conversation's own, which the organization key
//! wraps, or the key of the person that an agent spoke with (contract 19.4); no function here lets plain content reach
//! a statement.

use svc_core::chat::{Role, Usage};
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::end_user::{self, EndUserKey};
use crate::engine::{Connection, Row, args};
use crate::message::{self, Draft};
use crate::page::{Listing, Page, Paged};
use crate::seal::{self, Content, Place, SecretKey};
use crate::{Store, StoreError, org_key};

/// The principal that started a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// `api_key` or `agent_credential`.
    pub kind: String,
    pub id: String,
    /// The person whom the agent spoke with.
    pub runtime_user: Option<String>,
}

/// A conversation as it was when it was loaded.
pub struct Conversation {
    pub id: String,
    pub owner: Owner,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// What the placeholders of this conversation stand for; the pipeline's own format.
    pub phi_map: Option<Content>,
    /// The newest turns that were asked for, oldest first.
    pub history: Vec<Past>,
    /// To append to it.
    pub handle: Handle,
}

/// One message of the history.
pub struct Past {
    pub id: String,
    pub role: Role,
    pub content: Content,
}

/// What appending to a loaded conversation needs: its opened key and the state that it was loaded in.
#[derive(Clone)]
pub struct Handle {
    id: String,
    key: SecretKey,
    phi_map_version: i64,
}

/// What one inference adds.
#[derive(Clone)]
pub struct Turn {
    pub thread: Thread,
    /// In order; at most [`TURN_MESSAGES`].
    pub messages: Vec<NewMessage>,
    /// The whole map, where this turn added placeholders to it.
    pub phi_map: Option<Content>,
}

/// Where a turn goes.
#[derive(Clone)]
pub enum Thread {
    New {
        id: String,
        owner: Owner,
        /// Of the owner's `runtime_user`, as it was when the run began.
        person: Option<EndUserKey>,
    },
    Existing(Handle),
}

/// A message to be stored.
#[derive(Clone)]
pub struct NewMessage {
    pub id: String,
    pub role: Role,
    pub content: Content,
    /// Catalogue id.
    pub model: String,
    /// Tokens of the reply; zero on the caller's own messages.
    pub usage: Usage,
    /// What the run was charged; zero on the caller's own messages.
    pub credits: Micro,
    /// Word of [`svc_core::chat::FinishReason`].
    pub stop_reason: Option<String>,
    /// `{"mode", "redacted", "entity_types", "restored"}` (contract 21).
    pub phi: Option<serde_json::Value>,
    /// The terminal audit row.
    pub audit_id: Option<String>,
}

/// Messages that one turn may add.
pub const TURN_MESSAGES: usize = 100;
/// For [`load`]: as much history as is ever loaded.
pub const WHOLE_HISTORY: u32 = 10_000;

/// A conversation of a person, by its id alone.
pub struct Head {
    pub id: String,
    pub created_at: Timestamp,
}

/// A page of the conversations of a person.
///
/// # Errors
/// Those of the database.
pub async fn of_user(
    store: &Store,
    org_id: &str,
    mode: Mode,
    runtime_user: &str,
    page: &Page,
) -> Result<Paged<Head>, StoreError> {
    let listing = Listing::new(
        "SELECT id, created_at FROM conversations WHERE org_id = $1 AND mode = $2 AND runtime_user = $3",
        args![org_id, mode, runtime_user],
    );
    let head = |row: &Row| {
        Ok(Head {
            id: row.get("id")?,
            created_at: row.get("created_at")?,
        })
    };
    listing.page(store, page, head).await
}

/// Loads a conversation with its newest `limit` messages (at most [`WHOLE_HISTORY`]). `None` for one that does
/// not exist for this organization and mode, or whose person is erased.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn load(
    store: &Store,
    org_id: &str,
    mode: Mode,
    conversation_id: &str,
    limit: u32,
) -> Result<Option<Conversation>, StoreError> {
    let head = args![conversation_id, org_id, mode];
    let (conversation, org) = (conversation_id.to_owned(), org_id.to_owned());
    let found = store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = concat!(
                    "SELECT c.*, k.wrapped AS end_user_wrapped FROM conversations c ",
                    join_end_user_key!(),
                    " WHERE c.id = $1 AND c.org_id = $2 AND c.mode = $3",
                );
                let Some(row) = cx.row(sql, head).await? else {
                    return Ok(None);
                };
                // A turn that ended since the head was read may have placeholders that the head's map lacks.
                let next_seq: i64 = row.get("next_seq")?;
                let limit = limit.min(WHOLE_HISTORY);
                let tail = args![conversation, org, mode, limit, next_seq];
                let sql = "SELECT id, role, content FROM messages \
                           WHERE conversation_id = $1 AND org_id = $2 AND mode = $3 AND seq < $5 \
                           ORDER BY seq DESC LIMIT $4";
                Ok(Some((row, cx.rows(sql, tail).await?)))
            })
        })
        .await?;
    let Some((row, messages)) = found else {
        return Ok(None);
    };
    let id: String = row.get("id")?;
    let Some(key) = data_key(store, org_id, &id, &row).await? else {
        return Ok(None);
    };
    let sealed_map: Option<Vec<u8>> = row.get("phi_map")?;
    let phi_map = sealed_map
        .map(|sealed| seal::open_text(&key, map_place(&id, org_id), &sealed))
        .transpose()?;
    let mut history = Vec::with_capacity(messages.len());
    for message in messages.iter().rev() {
        history.push(past(&key, org_id, message)?);
    }
    Ok(Some(Conversation {
        owner: Owner {
            kind: row.get("owner_type")?,
            id: row.get("owner_id")?,
            runtime_user: row.get("runtime_user")?,
        },
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        phi_map,
        history,
        handle: Handle {
            id: id.clone(),
            key,
            phi_map_version: row.get("phi_map_version")?,
        },
        id,
    }))
}

fn past(key: &SecretKey, org_id: &str, row: &Row) -> Result<Past, StoreError> {
    let id: String = row.get("id")?;
    let sealed: Vec<u8> = row.get("content")?;
    Ok(Past {
        role: message::role_from(row)?,
        content: seal::open_text(key, message::place(&id, org_id), &sealed)?,
        id,
    })
}

/// Wraps data keys that older versions of the organization key have wrapped with the current one, and stops behind the
/// hundred in which `limit` conversations are reached. Returns how many; zero means that none is left.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn rewrap(store: &Store, org_id: &str, limit: u32) -> Result<u64, StoreError> {
    let keys = org_key::load(store, org_id).await?;
    let (version, current) = keys.current()?;
    let org = org_id.to_owned();
    let mut after = String::new();
    let mut moved = 0;
    while moved < u64::from(limit) {
        let page = args![&org, &after];
        let rows = store
            .db
            .read(|cx| {
                Box::pin(async move {
                    let sql = "SELECT id, wrapped_key FROM conversations \
                               WHERE org_id = $1 AND end_user_key_id IS NULL AND LENGTH(wrapped_key) > 0 \
                               AND id > $2 ORDER BY id LIMIT 100";
                    cx.rows(sql, page).await
                })
            })
            .await?;
        let Some(last) = rows.last() else { break };
        after = last.get("id")?;
        for row in &rows {
            let (id, wrapped): (String, Vec<u8>) = (row.get("id")?, row.get("wrapped_key")?);
            if seal::key_version(&wrapped)? == version {
                continue;
            }
            let key = unwrap(store, org_id, &id, &wrapped).await?;
            let again = seal::wrap(current, version, place(&id, "wrapped_key", org_id), &key)?;
            // Conditional: a conversation erased or rewrapped meanwhile stays as it is.
            let arguments = args![id, &org, wrapped, again];
            moved += store
                .db
                .write(|cx| {
                    Box::pin(async move {
                        let sql = "UPDATE conversations SET wrapped_key = $4 \
                                   WHERE id = $1 AND org_id = $2 AND wrapped_key = $3";
                        cx.execute(sql, arguments).await
                    })
                })
                .await?;
        }
    }
    Ok(moved)
}

/// Joins the key of the person that a conversation `c` is sealed below, as `k`; none once the person is erased.
macro_rules! join_end_user_key {
    () => {
        "LEFT JOIN end_user_keys k ON k.org_id = c.org_id AND k.id = c.end_user_key_id AND k.erased_at IS NULL"
    };
}
pub(crate) use join_end_user_key;

/// The data key of a conversation's row, which has `end_user_wrapped` from [`join_end_user_key`]; `None` once its
/// person is erased.
pub(crate) async fn data_key(
    store: &Store,
    org_id: &str,
    conversation_id: &str,
    row: &Row,
) -> Result<Option<SecretKey>, StoreError> {
    let wrapped: Vec<u8> = row.get("wrapped_key")?;
    let end_user_key_id: Option<String> = row.get("end_user_key_id")?;
    if wrapped.is_empty() {
        return Ok(None);
    }
    let Some(end_user_key_id) = end_user_key_id else {
        return unwrap(store, org_id, conversation_id, &wrapped)
            .await
            .map(Some);
    };
    let outer: Option<Vec<u8>> = row.get("end_user_wrapped")?;
    let Some(outer) = outer else {
        return Ok(None);
    };
    let outer = end_user::open(store, org_id, end_user_key_id, &outer).await?;
    let place = place(conversation_id, "wrapped_key", org_id);
    Ok(Some(seal::unwrap(&outer.key, place, &wrapped)?))
}

/// A data key that the organization key has wrapped.
async fn unwrap(
    store: &Store,
    org_id: &str,
    conversation_id: &str,
    wrapped: &[u8],
) -> Result<SecretKey, StoreError> {
    let outer = org_key::opening(store, org_id, wrapped).await?;
    let place = place(conversation_id, "wrapped_key", org_id);
    Ok(seal::unwrap(&outer, place, wrapped)?)
}

pub(crate) fn map_place<'a>(conversation_id: &'a str, org_id: &'a str) -> Place<'a> {
    place(conversation_id, "phi_map", org_id)
}

fn place<'a>(conversation_id: &'a str, column: &'a str, org_id: &'a str) -> Place<'a> {
    Place {
        table: "conversations",
        row_id: conversation_id,
        column,
        org_id,
    }
}

/// A turn whose content is sealed: what a transaction may see of it.
#[derive(Clone)]
pub(crate) struct SealedTurn {
    org_id: String,
    mode: Mode,
    conversation_id: String,
    start: Start,
    phi_map: Option<Vec<u8>>,
    messages: Vec<Draft>,
    now: Timestamp,
}

#[derive(Clone)]
enum Start {
    New {
        owner: Owner,
        wrapped_key: Vec<u8>,
        end_user_key_id: Option<String>,
    },
    Existing {
        phi_map_version: i64,
    },
}

impl SealedTurn {
    /// Whether another turn of the same conversation may have come in between ([`StoreError::Moved`]).
    pub(crate) const fn may_clash(&self) -> bool {
        matches!(self.start, Start::Existing { .. }) && self.phi_map.is_some()
    }

    /// # Errors
    /// [`StoreError::Overloaded`] for more than [`TURN_MESSAGES`], and those of keys.
    pub(crate) async fn new(
        store: &Store,
        org_id: &str,
        mode: Mode,
        request_id: &str,
        turn: &Turn,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let Turn {
            thread,
            messages,
            phi_map,
        } = turn;
        if messages.len() > TURN_MESSAGES {
            return Err(StoreError::Overloaded);
        }
        let (conversation_id, key, start) = match thread {
            Thread::New { id, owner, person } => {
                let key = SecretKey::generate();
                let place = place(id, "wrapped_key", org_id);
                let (wrapped_key, end_user_key_id) = match (&owner.runtime_user, person) {
                    (Some(_), None) => return Err(StoreError::Missing("end user key")),
                    (Some(_), Some(outer)) => {
                        let wrapped = seal::wrap(&outer.key, seal::ONLY_VERSION, place, &key)?;
                        (wrapped, Some(outer.id.clone()))
                    }
                    (None, _) => {
                        let keys = org_key::load(store, org_id).await?;
                        let (version, outer) = keys.current()?;
                        (seal::wrap(outer, version, place, &key)?, None)
                    }
                };
                let start = Start::New {
                    owner: owner.clone(),
                    wrapped_key,
                    end_user_key_id,
                };
                (id.clone(), key, start)
            }
            Thread::Existing(Handle {
                id,
                key,
                phi_map_version,
            }) => {
                let phi_map_version = *phi_map_version;
                (id.clone(), key.clone(), Start::Existing { phi_map_version })
            }
        };
        let phi_map = phi_map
            .as_ref()
            .map(|map| {
                let place = map_place(&conversation_id, org_id);
                seal::seal(&key, seal::ONLY_VERSION, place, map.as_str().as_bytes())
            })
            .transpose()?;
        let messages = messages
            .iter()
            .map(|new| Draft::new(new, request_id, org_id, &key, seal::ONLY_VERSION))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            org_id: org_id.to_owned(),
            mode,
            conversation_id,
            start,
            phi_map,
            messages,
            now,
        })
    }
}

const INSERT: &str = "INSERT INTO conversations (id, org_id, mode, owner_type, owner_id, runtime_user, \
    wrapped_key, phi_map, phi_map_version, next_seq, created_at, updated_at, end_user_key_id) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10, $10, $11)";
/// As [`INSERT`], unless the person was erased since their key was read: their name is not written again.
const INSERT_OF_A_PERSON: &str = "INSERT INTO conversations (id, org_id, mode, owner_type, owner_id, runtime_user, \
    wrapped_key, phi_map, phi_map_version, next_seq, created_at, updated_at, end_user_key_id) \
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10, $10, id FROM end_user_keys \
    WHERE id = $11 AND org_id = $2 AND erased_at IS NULL";
/// The same where an erasure may run at once: it waits for this transaction, or this statement for it.
const INSERT_OF_A_PERSON_LOCKED: &str = "INSERT INTO conversations (id, org_id, mode, owner_type, owner_id, \
    runtime_user, wrapped_key, phi_map, phi_map_version, next_seq, created_at, updated_at, end_user_key_id) \
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10, $10, id FROM end_user_keys \
    WHERE id = $11 AND org_id = $2 AND erased_at IS NULL FOR KEY SHARE";

/// Writes a turn; the conversation's row is locked first, so that turns that end together stand one after
/// the other.
///
/// # Errors
/// [`StoreError::Missing`] for a conversation that is gone, erased or not of this organization and mode, and
/// [`StoreError::Moved`] when the turn has a map and the stored map is no longer the one that was loaded.
pub(crate) async fn insert_turn(cx: &mut Connection, turn: SealedTurn) -> Result<(), StoreError> {
    let SealedTurn {
        org_id,
        mode,
        conversation_id,
        start,
        phi_map,
        messages,
        now,
    } = turn;
    let count = u64::try_from(messages.len()).unwrap_or(u64::MAX);
    let first = match start {
        Start::New {
            owner,
            wrapped_key,
            end_user_key_id,
        } => {
            let sql = match (&end_user_key_id, &*cx) {
                (None, _) => INSERT,
                (Some(_), Connection::Postgres(_)) => INSERT_OF_A_PERSON_LOCKED,
                (Some(_), Connection::Sqlite(_) | Connection::Writer(_)) => INSERT_OF_A_PERSON,
            };
            let arguments = args![
                &conversation_id,
                &org_id,
                mode,
                owner.kind,
                owner.id,
                owner.runtime_user,
                wrapped_key,
                phi_map,
                count,
                now,
                end_user_key_id,
            ];
            cx.execute_one("conversation", sql, arguments).await?;
            0
        }
        Start::Existing { phi_map_version } => {
            let place = (&conversation_id, &org_id, mode);
            extend(cx, place, count, phi_map_version, phi_map, now).await?
        }
    };
    for (seq, draft) in (first..).zip(messages) {
        message::insert(cx, &org_id, mode, &conversation_id, seq, draft, now).await?;
    }
    Ok(())
}

/// Takes `count` places at the end of a conversation and returns the first. One that was erased, and so has no key any
/// more, is as good as gone.
async fn extend(
    cx: &mut Connection,
    (id, org_id, mode): (&String, &String, Mode),
    count: u64,
    phi_map_version: i64,
    phi_map: Option<Vec<u8>>,
    now: Timestamp,
) -> Result<i64, StoreError> {
    let sql = "UPDATE conversations SET next_seq = next_seq + $4, updated_at = $5 \
               WHERE id = $1 AND org_id = $2 AND mode = $3 AND LENGTH(wrapped_key) > 0 \
               RETURNING next_seq - $4 AS first_seq";
    let row = cx.row(sql, args![id, org_id, mode, count, now]).await?;
    let first = row
        .ok_or(StoreError::Missing("conversation"))?
        .get("first_seq")?;
    if let Some(map) = phi_map {
        let sql = "UPDATE conversations SET phi_map = $4, phi_map_version = phi_map_version + 1 \
                   WHERE id = $1 AND org_id = $2 AND mode = $3 AND phi_map_version = $5";
        let replaced = cx
            .execute(sql, args![id, org_id, mode, map, phi_map_version])
            .await?;
        if replaced == 0 {
            return Err(StoreError::Moved);
        }
    }
    Ok(first)
}
