//! Proofs of the audit log: its newest checkpoint, that a row is in it, and that an older one is a beginning of it.
//!
//! A checkpoint shows nothing of any row, and a witness asks for it every second: reading it leaves no audit row, which
//! would make the next checkpoint necessary.

use std::time::Duration;

use futures_util::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::merkle::Hash;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::fact::Fact;
use svc_pipeline::handler::Handler;
use svc_pipeline::response::{Body, Response};
use svc_store::audit_tree::{self, Inclusion, Signed};
use svc_store::{Store, StoreError};

use crate::call::{Answering, Call, Reply, missing, store_fault};
use crate::endpoint::{NEEDS, call};

/// `GET /v1/audit/checkpoint`: the signed note itself.
pub(crate) struct Newest;

impl Handler for Newest {
    fn name(&self) -> &'static str {
        "control"
    }

    fn needs(&self) -> &'static [Fact] {
        NEEDS
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            match newest(&exchange).await {
                Ok(signed) => plain(&exchange, signed.checkpoint),
                Err(fault) => exchange.refuse(fault).await,
            }
        })
    }
}

async fn newest(exchange: &Exchange) -> Result<Signed, Fault> {
    call(exchange, Map::new())?.takes_nothing()?;
    let signed = audit_tree::signed(&exchange.gateway.store).await;
    signed.map_err(|error| store_fault(&error))
}

fn plain(exchange: &Exchange, text: String) -> Response {
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    let own = HeaderMap::from_iter([(CONTENT_TYPE, kind)]);
    exchange.respond(StatusCode::OK, own, Body::Full(text.into()))
}

/// `GET /v1/audit/{id}/proof`.
pub(crate) fn inclusion(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = call.id("id", IdKind::Audit)?;
        let (store, caller) = (&call.gateway.store, &call.caller);
        let prove = || audit_tree::prove(store, &caller.organization_id, caller.mode, &id);
        let mut found = prove().await.map_err(|error| store_fault(&error))?;
        if found.is_none() {
            // It may wait for its leaf.
            settled(store).await?;
            found = prove().await.map_err(|error| store_fault(&error))?;
        }
        let Inclusion {
            leaf,
            hashes,
            signed,
        } = found.ok_or_else(missing)?;
        let Signed { size, checkpoint } = signed;
        let data = json!({
            "object": "audit_proof",
            "id": &id,
            "leaf_index": leaf.index,
            "leaf_hash": hex::encode(leaf.hash),
            "tree_size": size,
            "hashes": texts(&hashes),
            "checkpoint": checkpoint,
        });
        let details = [
            ("filters".to_owned(), json!([["id", id]])),
            ("rows".to_owned(), json!(1)),
        ];
        Ok(Reply {
            details: details.into_iter().collect(),
            ..Reply::of(data)
        })
    })
}

/// `GET /v1/audit/consistency`: `from` and `to` are sizes of trees, `to` the newest one where it is absent.
pub(crate) fn consistency(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let from = call.query.one("from", &mut problems);
        let from = from.and_then(|word| size(&word));
        if from.is_none() {
            problems.add("$query.from", "must be the size of a tree");
        }
        let to = call.query.word("to", size, &mut problems);
        call.query.end(&mut problems);
        problems.into_result()?;
        let store = &call.gateway.store;
        let signed = audit_tree::signed(store).await;
        let signed = signed.map_err(|error| store_fault(&error))?;
        let (from, to) = (from.unwrap_or_default(), to.unwrap_or(signed.size));
        if to > signed.size {
            return Err(invalid("$query.to", "is larger than the tree"));
        }
        let hashes = beginning(store, "$query.from", from, to).await?;
        Ok(Reply::of(json!({
            "object": "audit_consistency_proof",
            "from": from,
            "to": to,
            "hashes": texts(&hashes),
            // The checkpoint is that of the newest tree only.
            "checkpoint": (to == signed.size).then_some(signed.checkpoint),
        })))
    })
}

/// The proof that the tree of `from` leaves, which the caller has named in `parameter`, is a beginning of that of `to`.
///
/// # Errors
/// 422 for sizes that the log does not have.
pub(super) async fn beginning(
    store: &Store,
    parameter: &str,
    from: u64,
    to: u64,
) -> Result<Vec<Hash>, Fault> {
    let hashes = audit_tree::consistency(store, from, to).await;
    hashes.map_err(|error| match error {
        StoreError::Missing(_) => invalid(parameter, "is larger than the tree"),
        error => store_fault(&error),
    })
}

/// The size of a tree, as a query says it.
pub(super) fn size(word: &str) -> Option<u64> {
    word.parse().ok()
}

pub(super) fn texts(hashes: &[Hash]) -> Value {
    hashes.iter().map(hex::encode).collect()
}

/// 50 ms between looks at whether a row is sealed; a round of the sealer is 1 s.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// 10 s: ten rounds of the sealer.
const MOST_LOOKS: u32 = 200;

/// Waits until everything that was committed before this call is sealed.
///
/// # Errors
/// 503 where the sealer does not keep up.
pub(super) async fn settled(store: &Store) -> Result<(), Fault> {
    let waiting = audit_tree::last_waiting(store).await;
    let Some(last) = waiting.map_err(|error| store_fault(&error))? else {
        return Ok(());
    };
    for _ in 0..MOST_LOOKS {
        let sealed = audit_tree::is_sealed(store, &last).await;
        if sealed.map_err(|error| store_fault(&error))? {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err(Fault::unavailable("audit rows are not sealed in time"))
}
