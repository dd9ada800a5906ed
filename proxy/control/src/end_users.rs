//! Everything that is kept of a person that agents speak with (contract 18): conversations, credentials, audit rows.
//! Read some rows at a time; as lines, sent as they are read, or as one JSON object while it is not too large for that.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use svc_core::fault::{Code, Fault, Problems};
use svc_core::surface::native;
use svc_core::time::Timestamp;
use svc_pipeline::caller::Caller;
use svc_pipeline::gateway::Gateway;
use svc_pipeline::handler::message;
use svc_pipeline::policy::plans::Limits;
use svc_pipeline::response::{Body, ByteStream, Heartbeat};
use svc_pipeline::standing::Standing;
use svc_store::audit::{self, Filter};
use svc_store::conversation;
use svc_store::page::{Page, Position};
use svc_store::{StoreError, agent_credential, end_user, tenant};

use crate::agent_credentials;
use crate::audit::shown;
use crate::call::{Answering, Call, Reply, missing, store_fault};
use crate::lines::{LINES, break_off, line, log_broken};
use crate::organizations;

/// Longest name of a person (contract 10).
const MAX_USER_CHARS: usize = 128;
/// Rows that are read at once.
const BATCH_ROWS: u32 = 100;
/// Credentials whose rows are looked for at once: each look walks the whole log.
const ACTORS: usize = 64;
/// Largest export that comes as one JSON object; it is held whole.
const MAX_WHOLE_BYTES: usize = 32 * 1024 * 1024;

pub(crate) fn export(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        problems.into_result()?;
        let organization = organizations::find(&call).await?;
        let user = call.parameter("runtime_user").to_owned();
        let user = percent_decoded(&user).ok_or_else(missing)?;
        if !(1..=MAX_USER_CHARS).contains(&user.chars().count()) {
            return Err(missing());
        }
        let export = Export {
            gateway: Arc::clone(&call.gateway),
            caller: Arc::clone(&call.caller),
            standing: call.standing,
            limits: call.policy.plans.limits,
            now: call.now,
            user,
            credentials: Vec::new(),
            next: Next::Credentials(None),
            counts: [0; KINDS.len()],
        };
        if !export
            .is_known()
            .await
            .map_err(|error| store_fault(&error))?
        {
            return Err(missing());
        }
        let lines = call.client.accepts_lines;
        let (store, org_id, now) = (&export.gateway.store, &organization.id, export.now);
        let pseudonym = end_user::pseudonym(store, org_id, &export.user, now).await;
        let pseudonym = pseudonym.map_err(|error| store_fault(&error))?;
        let reply = if lines {
            Reply::plain(headers(), Body::Stream(Box::new(export)))
        } else {
            Reply::of(export.whole(&organization.id).await?)
        };
        // Of whom: all rows about one person have the same, and nobody without the organization's key can try names.
        let reply = reply.about("organization", &organization.id);
        Ok(reply
            .detail("runtime_user_hmac", pseudonym)
            .detail("lines", lines))
    })
}

/// A parameter of the path as it was meant. `None` for what is no text, or no text that anything stored may hold.
fn percent_decoded(text: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    let decoded = decoded.ok().filter(|text| !text.contains('\0'));
    decoded.map(std::borrow::Cow::into_owned)
}

fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(LINES));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers
}

/// What lines are about, in the order in which they come, and where each stands in the object.
const KINDS: [(&str, &str); 4] = [
    ("agent_credential", "agent_credentials"),
    ("conversation", "conversations"),
    ("message", "messages"),
    ("audit_event", "audit_events"),
];
const CREDENTIAL: usize = 0;
const CONVERSATION: usize = 1;
const MESSAGE: usize = 2;
const AUDIT_EVENT: usize = 3;

/// An export under way.
struct Export {
    gateway: Arc<Gateway>,
    /// As they were let in, and as they stand with each batch.
    caller: Arc<Caller>,
    standing: Standing,
    limits: Limits,
    now: Timestamp,
    user: String,
    /// Ids of the credentials that were read: the actors of the audit rows.
    credentials: Vec<String>,
    next: Next,
    counts: [u64; KINDS.len()],
}

/// What the next batch begins with.
enum Next {
    Credentials(Option<Position>),
    Conversations(Option<Position>),
    /// Of one conversation, behind a place in it; then what comes after the conversation.
    Messages(String, i64, Box<Next>),
    /// Of some credentials, from that at this place on.
    Audit(usize, Option<Position>),
    End,
    Nothing,
}

/// One thing, and which of [`KINDS`] it is.
type Item = (usize, Value);

impl Export {
    /// Whether anything is kept of the person.
    async fn is_known(&self) -> Result<bool, StoreError> {
        let (store, org_id, mode) = self.place();
        let one = page(1, None);
        let credentials = agent_credential::of_user(store, org_id, mode, &self.user, &one).await?;
        if !credentials.rows.is_empty() {
            return Ok(true);
        }
        let conversations = conversation::of_user(store, org_id, mode, &self.user, &one).await?;
        Ok(!conversations.rows.is_empty())
    }

    fn place(&self) -> (&svc_store::Store, &str, svc_core::secret::Mode) {
        let caller = &self.caller;
        (&self.gateway.store, &caller.organization_id, caller.mode)
    }

    /// Reads one batch, for whoever may still have it: what was said since is in it too.
    async fn step(&mut self, items: &mut Vec<Item>) -> Result<(), Fault> {
        self.caller = self.standing.caller().await?;
        let next = std::mem::replace(&mut self.next, Next::Nothing);
        let next = match next {
            Next::Credentials(after) => self.credentials(after, items).await,
            Next::Conversations(after) => self.conversation(after, items).await,
            Next::Messages(id, after, then) => return self.messages(id, after, *then, items).await,
            Next::Audit(at, after) => self.audit(at, after, items).await,
            Next::End | Next::Nothing => Ok(Next::Nothing),
        };
        self.next = next.map_err(|error| store_fault(&error))?;
        Ok(())
    }

    async fn credentials(
        &mut self,
        after: Option<Position>,
        items: &mut Vec<Item>,
    ) -> Result<Next, StoreError> {
        let (store, org_id, mode) = self.place();
        let batch = page(BATCH_ROWS, after);
        let found = agent_credential::of_user(store, org_id, mode, &self.user, &batch).await?;
        let last = found.last(|(row, _)| Position::new(row.created_at, &row.id));
        for (row, archived_at) in &found.rows {
            let record = agent_credentials::record(row, *archived_at, &self.limits, self.now);
            items.push((CREDENTIAL, record));
        }
        let ids = found.rows.into_iter().map(|(row, _)| row.id);
        self.credentials.extend(ids);
        Ok(match last {
            Some(last) => Next::Credentials(Some(last)),
            None => Next::Conversations(None),
        })
    }

    async fn conversation(
        &mut self,
        after: Option<Position>,
        items: &mut Vec<Item>,
    ) -> Result<Next, StoreError> {
        let (store, org_id, mode) = self.place();
        let batch = page(1, after);
        let found = conversation::of_user(store, org_id, mode, &self.user, &batch).await?;
        let Some(head) = found.rows.into_iter().next() else {
            return Ok(Next::Audit(0, None));
        };
        let created_at = head.created_at.to_string();
        items.push((
            CONVERSATION,
            json!({"id": head.id, "created_at": created_at}),
        ));
        let then = Next::Conversations(Some(Position {
            at: head.created_at,
            id: head.id.clone(),
        }));
        Ok(Next::Messages(head.id, BEFORE_THE_FIRST, Box::new(then)))
    }

    async fn messages(
        &mut self,
        id: String,
        after: i64,
        then: Next,
        items: &mut Vec<Item>,
    ) -> Result<(), Fault> {
        let (store, org_id, mode) = self.place();
        let found =
            svc_store::message::of_conversation(store, org_id, mode, &id, after, BATCH_ROWS).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let is_full = found.len() >= BATCH_ROWS as usize;
        let last = found.last().map(|(seq, _)| *seq).filter(|_| is_full);
        for (_, found) in found {
            let request_id = found.request_id.clone();
            let record = message::shown(found, self.caller.phi_restore)?;
            let mut envelope = native::message_record(&record, &request_id);
            items.push((MESSAGE, envelope["data"].take()));
        }
        self.next = match last {
            Some(last) => Next::Messages(id, last, Box::new(then)),
            None => then,
        };
        Ok(())
    }

    async fn audit(
        &mut self,
        at: usize,
        after: Option<Position>,
        items: &mut Vec<Item>,
    ) -> Result<Next, StoreError> {
        let actors = self.credentials.iter().skip(at).take(ACTORS);
        let actors: Vec<String> = actors.cloned().collect();
        if actors.is_empty() {
            return Ok(Next::End);
        }
        let filter = Filter {
            actor_ids: actors,
            ..Filter::default()
        };
        let (store, org_id, mode) = self.place();
        let found = audit::list(store, org_id, mode, &filter, &page(BATCH_ROWS, after)).await?;
        let rows = found.rows.into_iter().map(|row| (AUDIT_EVENT, shown(row)));
        items.extend(rows);
        Ok(match found.next {
            Some(next) => Next::Audit(at, Some(next)),
            None => Next::Audit(at + ACTORS, None),
        })
    }

    /// Everything as one object.
    async fn whole(mut self, organization_id: &str) -> Result<Value, Fault> {
        let mut lists: [Vec<Value>; KINDS.len()] = Default::default();
        let (mut items, mut bytes) = (Vec::new(), 0);
        while !matches!(self.next, Next::End | Next::Nothing) {
            self.step(&mut items).await?;
            for (kind, mut data) in items.drain(..) {
                bytes += data.to_string().len();
                if bytes > MAX_WHOLE_BYTES {
                    return Err(too_large());
                }
                if kind == CONVERSATION {
                    data["messages"] = json!([]);
                }
                let list = match (kind, lists.get_mut(CONVERSATION)) {
                    (MESSAGE, Some(conversations)) => conversations
                        .last_mut()
                        .and_then(|last| last["messages"].as_array_mut()),
                    _ => lists.get_mut(kind),
                };
                if let Some(list) = list {
                    list.push(data);
                }
            }
        }
        let mut export = Map::new();
        export.insert("object".into(), "end_user_export".into());
        export.insert("organization".into(), organization_id.into());
        export.insert("runtime_user".into(), self.user.into());
        export.insert("generated_at".into(), self.now.to_string().into());
        for ((_, name), list) in KINDS.iter().zip(lists) {
            if *name != "messages" {
                export.insert((*name).to_owned(), list.into());
            }
        }
        Ok(Value::Object(export))
    }
}

/// Places in a conversation count from zero.
const BEFORE_THE_FIRST: i64 = -1;

const fn page(limit: u32, after: Option<Position>) -> Page {
    Page {
        limit,
        after,
        created_after: None,
        created_before: None,
    }
}

fn too_large() -> Fault {
    let message = "The export is too large for one JSON object; ask for application/x-ndjson.";
    Fault::new(Code::ValidationFailed, message).at("$header.Accept")
}

impl ByteStream for Export {
    fn next(&mut self) -> BoxFuture<'_, Option<Bytes>> {
        Box::pin(async move {
            let (mut out, mut items) = (Vec::new(), Vec::new());
            while out.is_empty() {
                match self.next {
                    Next::Nothing => return None,
                    Next::End => {
                        self.next = Next::Nothing;
                        let counts = KINDS.iter().zip(self.counts);
                        let counts: Map<String, Value> = counts
                            .map(|((kind, _), count)| ((*kind).to_owned(), count.into()))
                            .collect();
                        line(&json!({"type": "end", "counts": counts}), &mut out);
                    }
                    _ => {
                        let caller = Arc::clone(&self.caller);
                        let step = self.step(&mut items);
                        if let Err(fault) = tenant::within(&caller.organization_id, step).await {
                            log_broken(&fault, "an export of a person broke off");
                            self.next = Next::Nothing;
                            break_off(&fault, &mut out);
                        }
                    }
                }
                for (kind, data) in items.drain(..) {
                    if let (Some(count), Some((word, _))) =
                        (self.counts.get_mut(kind), KINDS.get(kind))
                    {
                        *count += 1;
                        line(&json!({"type": word, "data": data}), &mut out);
                    }
                }
            }
            Some(out.into())
        })
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        None
    }

    fn abort(self: Box<Self>, fault: Fault) -> BoxFuture<'static, Bytes> {
        let mut out = Vec::new();
        break_off(&fault, &mut out);
        Box::pin(async move { out.into() })
    }
}
