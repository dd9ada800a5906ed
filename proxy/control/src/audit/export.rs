//! Every row that matches, streamed: some rows at a time, by keyset, never the whole log in memory. An export is as of
//! one checkpoint: what was committed before it was asked for is in it, what comes later is not.
//!
//! Lines carry each row with its proof, so that they are verified offline without any leaf of another organization.
//! Rows that are gone stand there by their leaves. The last line counts all lines before it: without it, the export is
//! cut off.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use svc_core::checkpoint::Signer;
use svc_core::fault::{Fault, Problems};
use svc_core::merkle::Kept;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::gateway::Gateway;
use svc_pipeline::response::{Body, ByteStream, Heartbeat, Response};
use svc_pipeline::standing::Standing;
use svc_store::audit::{self, Filter, Listed};
use svc_store::audit_tree::{self, Absent, AbsentPage, Signed};
use svc_store::page::{Order, Page, Position};
use svc_store::{StoreError, audit_key, tenant};

use super::{Form, Format, HAPPENED, csv, filter, integrity, ocsf, proof, shown, shown_filters};
use crate::call::{Call, store_fault};
use crate::endpoint::{call, witness};
use crate::lines;

/// Rows of one batch: about 600 KB with their proofs.
const BATCH_ROWS: u32 = 200;

/// Answers a query with a stream.
pub(super) async fn serve(mut exchange: Exchange, form: Form) -> Response {
    let planned = match call(&exchange, Map::new()) {
        Ok(call) => plan(call, form).await,
        Err(fault) => Err(fault),
    };
    let (export, details) = match planned {
        Ok(planned) => planned,
        Err(fault) => return exchange.refuse(fault).await,
    };
    let witnessed = witness(&mut exchange, HAPPENED, StatusCode::OK, None, details);
    if let Err(fault) = witnessed.await {
        return exchange.refuse(fault).await;
    }
    let mut own = HeaderMap::new();
    let (kind, disposition) = match form {
        Form::Csv => (
            "text/csv; charset=utf-8; header=present",
            "attachment; filename=\"audit.csv\"",
        ),
        Form::Lines | Form::OcsfLines => (lines::LINES, "attachment; filename=\"audit.ndjson\""),
    };
    own.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    own.insert(CONTENT_DISPOSITION, HeaderValue::from_static(disposition));
    exchange.respond(StatusCode::OK, own, Body::Stream(Box::new(export)))
}

/// An export under way.
struct Export {
    gateway: Arc<Gateway>,
    standing: Standing,
    organization_id: String,
    mode: Mode,
    form: Form,
    filter: Filter,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    /// The tree that the export is as of.
    size: u64,
    /// Who signed that tree, and signs the end.
    signer: Signer,
    /// The first line, until it is sent.
    head: Value,
    next: Next,
    rows: u64,
    absent: u64,
    /// Over every byte before the last line.
    digest: Sha256,
}

/// What the next batch begins with.
enum Next {
    Head,
    Rows(Option<Position>),
    Absent(Option<(Timestamp, u64)>),
    End,
    Nothing,
}

/// Reads the query, waits for the sealer, and pins the checkpoint. Gives the details of the audit row, too.
async fn plan(mut call: Call, form: Form) -> Result<(Export, Map<String, Value>), Fault> {
    let mut problems = Problems::default();
    let mut query = std::mem::take(&mut call.query);
    let asked = shown_filters(&query, &call.policy.catalogue);
    let filter = filter(&mut query, &mut problems);
    query.word("format", Format::parse, &mut problems);
    let (from, to) = (
        query.time("from", &mut problems),
        query.time("to", &mut problems),
    );
    let since = match form {
        Form::Lines => query.word("since_size", proof::size, &mut problems),
        Form::OcsfLines | Form::Csv => None,
    };
    query.end(&mut problems);
    problems.into_result()?;
    let store = &call.gateway.store;
    proof::settled(store).await?;
    let signed = audit_tree::signed(store).await;
    let Signed { size, checkpoint } = signed.map_err(|error| store_fault(&error))?;
    let signer = audit_key::signer(store).await;
    let signer = signer.map_err(|error| store_fault(&error))?;
    let signer = signer.ok_or_else(|| Fault::internal("an audit log that nobody signs"))?;
    let since = match since {
        Some(old) => {
            let hashes = proof::beginning(store, "$query.since_size", old, size).await?;
            json!({"old_size": old, "hashes": proof::texts(&hashes)})
        }
        None => Value::Null,
    };
    let head = json!({"type": "export", "data": {
        "object": "audit_export",
        "version": 1,
        "org_id": &call.caller.organization_id,
        "mode": call.caller.mode.word(),
        "generated_at": call.now.to_string(),
        "filters": &asked,
        "order": if filter.order == Order::OldestFirst { "asc" } else { "desc" },
        "checkpoint": checkpoint,
        "key": signer.verifier().to_string(),
        "consistency": since,
    }});
    let details = [
        ("filters".to_owned(), asked),
        ("export".to_owned(), json!(true)),
        ("tree_size".to_owned(), json!(size)),
    ];
    let export = Export {
        gateway: Arc::clone(&call.gateway),
        standing: call.standing,
        organization_id: call.caller.organization_id.clone(),
        mode: call.caller.mode,
        form,
        filter,
        from,
        to,
        size,
        signer,
        head,
        next: Next::Head,
        rows: 0,
        absent: 0,
        digest: Sha256::new(),
    };
    Ok((export, details.into_iter().collect()))
}

impl ByteStream for Export {
    fn next(&mut self) -> BoxFuture<'_, Option<Bytes>> {
        Box::pin(async move {
            let mut out = Vec::new();
            while out.is_empty() {
                let before = std::mem::replace(&mut self.next, Next::Nothing);
                let organization = self.organization_id.clone();
                match tenant::within(&organization, self.step(before, &mut out)).await {
                    Ok(Some(next)) => self.next = next,
                    Ok(None) => break,
                    Err(fault) => {
                        lines::log_broken(&fault, "an export of the audit log broke off");
                        self.break_off(&fault, &mut out);
                        break;
                    }
                }
            }
            (!out.is_empty()).then(|| out.into())
        })
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        None
    }

    fn abort(self: Box<Self>, fault: Fault) -> BoxFuture<'static, Bytes> {
        let mut out = Vec::new();
        self.break_off(&fault, &mut out);
        Box::pin(async move { out.into() })
    }
}

impl Export {
    /// Makes one batch, for whoever may still have it; gives what comes behind it, `None` when nothing does.
    async fn step(&mut self, next: Next, out: &mut Vec<u8>) -> Result<Option<Next>, Fault> {
        if !matches!(next, Next::Nothing) {
            self.standing.caller().await?;
        }
        let behind = match next {
            Next::Head => {
                match self.form {
                    Form::Lines => {
                        let head = std::mem::take(&mut self.head);
                        self.line(&head, out);
                    }
                    Form::Csv => out.extend(csv::header()),
                    Form::OcsfLines => {}
                }
                Next::Rows(None)
            }
            Next::Rows(after) => {
                let behind = self.rows(after, out).await;
                behind.map_err(|error| store_fault(&error))?
            }
            Next::Absent(after) => {
                let behind = self.absent(after, out).await;
                behind.map_err(|error| store_fault(&error))?
            }
            Next::End => {
                self.end(out);
                Next::Nothing
            }
            Next::Nothing => return Ok(None),
        };
        Ok(Some(behind))
    }

    async fn rows(
        &mut self,
        after: Option<Position>,
        out: &mut Vec<u8>,
    ) -> Result<Next, StoreError> {
        let page = Page {
            limit: BATCH_ROWS,
            after,
            created_after: self.from,
            created_before: self.to,
        };
        let store = &self.gateway.store;
        let found = audit::list(store, &self.organization_id, self.mode, &self.filter, &page);
        let found = found.await?;
        // What waits, or was sealed since, is for the next export. What does neither came in past the triggers.
        let size = self.size;
        let is_in = |row: &Listed| match &row.leaf {
            Some(leaf) => leaf.index < size,
            None => !row.waits,
        };
        let rows: Vec<Listed> = found.rows.into_iter().filter(is_in).collect();
        let leaves = rows.iter().filter_map(|row| row.leaf);
        let kept = self
            .material(leaves.map(|leaf| leaf.index).collect())
            .await?;
        for row in rows {
            self.rows += 1;
            self.row(row, &kept, out);
        }
        Ok(match (found.next, self.form) {
            (Some(last), _) => Next::Rows(Some(last)),
            (None, Form::Lines) => Next::Absent(None),
            (None, Form::Csv | Form::OcsfLines) => Next::End,
        })
    }

    /// What proofs are made from; no other form than lines has any.
    async fn material(&self, leaves: Vec<u64>) -> Result<Kept, StoreError> {
        if self.form == Form::Lines {
            audit_tree::material(&self.gateway.store, leaves, self.size).await
        } else {
            Ok(Kept::default())
        }
    }

    fn row(&mut self, row: Listed, kept: &Kept, out: &mut Vec<u8>) {
        let leaf = row.leaf;
        let row = shown(row);
        match self.form {
            Form::Lines => {
                let proof = leaf.and_then(|leaf| kept.inclusion(leaf.index, self.size));
                let proof = proof.map(|hashes| proof::texts(&hashes));
                let line = json!({"type": "audit_event", "data": row, "proof": proof});
                self.line(&line, out);
            }
            Form::OcsfLines => self.line(&ocsf::event(&row), out),
            Form::Csv => out.extend(csv::row(&row)),
        }
    }

    /// Leaves of the span whose rows are gone, whatever the rows would have said: filters cannot judge them.
    async fn absent(
        &mut self,
        after: Option<(Timestamp, u64)>,
        out: &mut Vec<u8>,
    ) -> Result<Next, StoreError> {
        let page = AbsentPage {
            from: self.from,
            to: self.to,
            size: self.size,
            after,
            limit: BATCH_ROWS,
        };
        let store = &self.gateway.store;
        let found = audit_tree::absent(store, &self.organization_id, self.mode, &page).await?;
        let leaves = found.leaves.iter().map(|absent| absent.leaf.index);
        let kept = self.material(leaves.collect()).await?;
        for absent in &found.leaves {
            self.absent += 1;
            let Absent {
                audit_id,
                leaf,
                occurred_at,
            } = absent;
            let proof = kept.inclusion(leaf.index, self.size);
            let data = json!({
                "id": audit_id,
                "occurred_at": occurred_at.to_string(),
                "integrity": integrity(Some(leaf)),
            });
            let proof = proof.map(|hashes| proof::texts(&hashes));
            let line = json!({"type": "absent", "data": data, "proof": proof});
            self.line(&line, out);
        }
        let next = found.next.map(|last| Next::Absent(Some(last)));
        Ok(next.unwrap_or(Next::End))
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        match self.form {
            Form::Lines => {
                let digest = std::mem::take(&mut self.digest).finalize();
                let counts = json!({"audit_event": self.rows, "absent": self.absent});
                let note = self.signer.sign_export(&digest.into());
                let line = json!({"type": "end", "counts": counts, "sha256": hex::encode(digest), "note": note});
                self.line(&line, out);
            }
            Form::Csv => out.extend(csv::end(self.rows)),
            Form::OcsfLines => {}
        }
    }

    /// The last thing said of an export that ends too early; a table says nothing.
    fn break_off(&self, fault: &Fault, out: &mut Vec<u8>) {
        if self.form != Form::Csv {
            lines::break_off(fault, out);
        }
    }

    fn line(&mut self, line: &Value, out: &mut Vec<u8>) {
        let start = out.len();
        lines::line(line, out);
        if let Some(line) = out.get(start..) {
            self.digest.update(line);
        }
    }
}
