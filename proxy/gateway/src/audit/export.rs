//! An export of the audit log, verified line by line (docs/audit.md). Keeps no row: what it remembers of a log is the
//! places of its leaves. Says what is wrong by the row's id, never what stands in it.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use svc_core::audit_leaf::{self, INTEGRITY};
use svc_core::checkpoint::{Checkpoint, Verifier};
use svc_core::json;
use svc_core::merkle::{self, Hash};
use svc_core::time::{MS_PER_DAY, Timestamp};
use svc_store::retention::MIN_AUDIT_DAYS;

/// What the verifier knows from elsewhere.
pub(crate) struct Expected {
    /// Who must have signed.
    pub(crate) key: Option<Verifier>,
    /// A signed note that was kept.
    pub(crate) since: Option<String>,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Report {
    /// At most [`MAX_PROBLEMS`], in the order of the lines.
    pub(crate) problems: Vec<String>,
    /// Problems that are not among them.
    pub(crate) unlisted: u64,
    pub(crate) rows: u64,
    pub(crate) expired: u64,
    pub(crate) verifier: Option<Verifier>,
    pub(crate) checkpoint: Option<Checkpoint>,
    /// Size of the kept checkpoint that the log continues.
    pub(crate) continues: Option<u64>,
    pub(crate) is_filtered: bool,
    /// What the export says it is of. Who signed it says so too.
    pub(crate) says: Option<Says>,
}

/// Whose rows an export has, and of which time: rows beyond that are in another export, if in any.
pub(crate) struct Says {
    pub(crate) org_id: String,
    pub(crate) mode: String,
    pub(crate) generated_at: String,
    /// `from` and `to` as they were asked for.
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
}

impl Report {
    pub(crate) fn holds(&self) -> bool {
        self.problems.is_empty()
    }

    fn wrong(&mut self, problem: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.unlisted += 1;
        }
    }
}

const MAX_PROBLEMS: usize = 100;
/// Longer is no line of an export: a row is some kilobytes.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// 1 day: rows become leaves at most so much later than what they tell of.
const SEALING_DELAY_MS: i64 = MS_PER_DAY;

/// Reads an export to its end.
///
/// # Errors
/// Those of the reader. What is wrong with the export is in the report.
pub(crate) fn verify(mut lines: impl BufRead, expected: &Expected) -> io::Result<Report> {
    let mut report = Report::default();
    let mut pass = Pass::default();
    let mut number = 0_u64;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = (&mut lines)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        number += 1;
        if !bytes.ends_with(b"\n") {
            report.wrong(format!("line {number} is cut off"));
            break;
        }
        pass.line(number, &bytes, expected, &mut report);
    }
    if !pass.is_over {
        report.wrong("the export is cut off: its last line is not its end".to_owned());
    }
    Ok(report)
}

/// What is remembered between lines.
#[derive(Default)]
struct Pass {
    head: Option<Head>,
    leaves: HashSet<u64>,
    /// Time and id of the row before.
    last: Option<(Timestamp, String)>,
    /// The first leaf whose row is too young to have expired.
    first_young: Option<u64>,
    rows: u64,
    absent: u64,
    digest: Sha256,
    is_over: bool,
}

/// The first line.
struct Head {
    org_id: Value,
    mode: Value,
    is_ascending: bool,
    /// Rows of before may have expired.
    expiry: Timestamp,
    checkpoint: Option<Checkpoint>,
}

impl Pass {
    fn line(&mut self, number: u64, bytes: &[u8], expected: &Expected, report: &mut Report) {
        if self.is_over {
            report.wrong(format!("line {number} stands behind the end"));
            return;
        }
        let Ok(mut line) = json::object(bytes) else {
            report.wrong(format!("line {number} is not a JSON object"));
            return;
        };
        let kind = line.get("type").and_then(Value::as_str).map(str::to_owned);
        match (kind.as_deref(), self.head.is_some()) {
            (Some("export"), false) => {
                self.head = Some(head(&line, expected, report));
            }
            (Some("audit_event"), true) => self.row(number, &mut line, report),
            (Some("absent"), true) => self.absent(number, &line, report),
            (Some("end"), true) => self.end(&line, report),
            (Some("error"), true) => report.wrong(format!(
                "line {number} says that the export broke off on the server"
            )),
            _ => report.wrong(format!("line {number} has no place here")),
        }
        self.digest.update(bytes);
    }

    fn row(&mut self, number: u64, line: &mut Map<String, Value>, report: &mut Report) {
        self.rows += 1;
        let row = line.remove("data").unwrap_or_default();
        let text = |member: &str| row.get(member).and_then(Value::as_str);
        let id = text("id").unwrap_or("without id").to_owned();
        let Some(at) = text("occurred_at").and_then(Timestamp::parse) else {
            report.wrong(format!("row {id} (line {number}) has no time"));
            return;
        };
        let Some(head) = &self.head else { return };
        if row.get("org_id") != Some(&head.org_id) || row.get("mode") != Some(&head.mode) {
            report.wrong(format!(
                "row {id} (line {number}) belongs to another organization or mode"
            ));
        }
        if let Some(last) = &self.last {
            let ascends = *last < (at, id.clone());
            let repeats = last.1 == id;
            if repeats || ascends != head.is_ascending {
                report.wrong(format!("row {id} (line {number}) is out of order"));
            }
        }
        let expiry = head.expiry;
        self.last = Some((at, id.clone()));
        let Some((index, stored)) = leaf(&row) else {
            report.wrong(format!(
                "row {id} (line {number}) was inserted past the gateway: it was never sealed"
            ));
            return;
        };
        let before = report.problems.len() as u64 + report.unlisted;
        if audit_leaf::hash(&row) != Some(stored) {
            report.wrong(format!(
                "row {id} (line {number}, leaf {index}) was changed: it does not give its leaf hash"
            ));
        }
        self.stands(&id, number, index, &stored, line, report);
        if report.problems.len() as u64 + report.unlisted == before {
            report.rows += 1;
            if at >= expiry.plus_ms(SEALING_DELAY_MS) {
                let first = self.first_young.get_or_insert(index);
                *first = index.min(*first);
            }
        }
    }

    /// Whether the leaf stands where it says in the tree of the checkpoint, and nothing else does.
    fn stands(
        &mut self,
        id: &str,
        number: u64,
        index: u64,
        hash: &Hash,
        line: &Map<String, Value>,
        report: &mut Report,
    ) {
        if !self.leaves.insert(index) {
            report.wrong(format!(
                "row {id} (line {number}) claims leaf {index}, as another row does"
            ));
        }
        let checkpoint = self.head.as_ref().and_then(|head| head.checkpoint.as_ref());
        let Some(checkpoint) = checkpoint else { return };
        let (size, root) = (checkpoint.head.size, &checkpoint.head.root);
        match line.get("proof").and_then(hashes) {
            Some(proof) if merkle::includes(root, size, index, hash, &proof) => {}
            Some(_) => report.wrong(format!(
                "row {id} (line {number}) does not stand at leaf {index} of the checkpoint's log"
            )),
            None => report.wrong(format!(
                "row {id} (line {number}, leaf {index}) has no proof: hashes were removed from the log"
            )),
        }
    }

    /// Behind all rows, so that each of them has been seen.
    fn absent(&mut self, number: u64, line: &Map<String, Value>, report: &mut Report) {
        self.absent += 1;
        let data = line.get("data").unwrap_or(&Value::Null);
        let text = |member: &str| data.get(member).and_then(Value::as_str);
        let id = text("id").unwrap_or("without id");
        let (Some((index, hash)), Some(at)) =
            (leaf(data), text("occurred_at").and_then(Timestamp::parse))
        else {
            report.wrong(format!("line {number} names no leaf"));
            return;
        };
        self.stands(id, number, index, &hash, line, report);
        let expiry = self.head.as_ref().map(|head| head.expiry);
        if expiry.is_none_or(|expiry| at >= expiry) {
            report.wrong(format!(
                "row {id} (leaf {index}, of {at}) was removed before its time"
            ));
        } else if let Some(young) = self.first_young.filter(|young| *young < index) {
            report.wrong(format!(
                "row {id} (leaf {index}) was removed before its time: it says {at}, but leaf {young} before it is younger"
            ));
        } else {
            report.expired += 1;
        }
    }

    fn end(&mut self, line: &Map<String, Value>, report: &mut Report) {
        self.is_over = true;
        let count = |name: &str| line.get("counts")?.get(name)?.as_u64();
        if count("audit_event") != Some(self.rows) || count("absent") != Some(self.absent) {
            report.wrong("lines are missing: the end counts others".to_owned());
        }
        let digest: Hash = std::mem::take(&mut self.digest).finalize().into();
        let text = |member: &str| line.get(member).and_then(Value::as_str);
        if text("sha256") != Some(&hex::encode(digest)) {
            report.wrong("lines were changed since: the end has another SHA-256".to_owned());
        }
        // Without a verifier that was said of the first line.
        if let Some(verifier) = &report.verifier {
            let note = text("note").unwrap_or_default();
            if let Err(error) = verifier.open_export(note, &digest) {
                report.wrong(format!(
                    "lines were changed, added or removed since: the note of the end {error}"
                ));
            }
        }
    }
}

/// Members of a query that leave out nothing but times.
const HARMLESS: [&str; 4] = ["from", "to", "order", "since_size"];

fn head(line: &Map<String, Value>, expected: &Expected, report: &mut Report) -> Head {
    let data = line.get("data").unwrap_or(&Value::Null);
    let text = |member: &str| data.get(member).and_then(Value::as_str);
    if data.get("version") != Some(&Value::from(1)) {
        report.wrong("the export is of a version that this program does not know".to_owned());
    }
    let filters = data.get("filters").and_then(Value::as_array);
    let filters = filters.map_or(&[][..], Vec::as_slice);
    report.is_filtered = filters.iter().any(|filter| {
        let name = filter.get(0).and_then(Value::as_str).unwrap_or_default();
        !HARMLESS.contains(&name)
    });
    let asked = |name: &str| {
        let mut filters = filters.iter();
        let filter = filters.find(|filter| filter.get(0).and_then(Value::as_str) == Some(name));
        let value = filter?.get(1)?.as_str()?;
        Some(value.to_owned())
    };
    let word = |member: &str| text(member).unwrap_or("not told").to_owned();
    report.says = Some(Says {
        org_id: word("org_id"),
        mode: word("mode"),
        generated_at: word("generated_at"),
        from: asked("from"),
        to: asked("to"),
    });
    let generated_at = text("generated_at").and_then(Timestamp::parse);
    if generated_at.is_none() {
        report.wrong("the export does not say when it was made".to_owned());
    }
    let retention_ms = i64::from(MIN_AUDIT_DAYS) * MS_PER_DAY;
    let expiry = generated_at.map_or(Timestamp(i64::MIN), |at| at.plus_ms(-retention_ms));
    let named = text("key").and_then(Verifier::parse);
    let verifier = expected.key.clone().or(named);
    let mut checkpoint = None;
    match (&verifier, text("checkpoint")) {
        (Some(verifier), Some(note)) => match verifier.open(note) {
            Ok(opened) => checkpoint = Some(opened),
            Err(error) => report.wrong(format!("the checkpoint {error}")),
        },
        (None, _) => report.wrong("the export names no key, and none was given".to_owned()),
        (_, None) => report.wrong("the export has no checkpoint".to_owned()),
    }
    if let (Some(verifier), Some(new), Some(note)) = (&verifier, &checkpoint, &expected.since) {
        continues(verifier, note, new, data, report);
    }
    report.verifier = verifier;
    report.checkpoint.clone_from(&checkpoint);
    Head {
        org_id: data.get("org_id").cloned().unwrap_or_default(),
        mode: data.get("mode").cloned().unwrap_or_default(),
        is_ascending: text("order") == Some("asc"),
        expiry,
        checkpoint,
    }
}

/// Whether the log continues that of a checkpoint that was kept.
fn continues(verifier: &Verifier, note: &str, new: &Checkpoint, data: &Value, report: &mut Report) {
    let old = match verifier.open(note) {
        Ok(old) => old.head,
        Err(error) => {
            report.wrong(format!("the checkpoint of --since {error}"));
            return;
        }
    };
    let given = data.get("consistency").filter(|given| !given.is_null());
    let proof = match given {
        Some(given) if given.get("old_size").and_then(Value::as_u64) == Some(old.size) => {
            given.get("hashes").and_then(hashes)
        }
        None if old.size == new.head.size => Some(Vec::new()),
        _ => {
            report.wrong(format!(
                "the export has no proof for --since: ask for it with since_size={}",
                old.size
            ));
            return;
        }
    };
    match proof {
        Some(proof) if merkle::extends(&old, &new.head, &proof) => {
            report.continues = Some(old.size);
        }
        _ => report.wrong(format!(
            "the log was rewritten: it does not continue the checkpoint of {} rows",
            old.size
        )),
    }
}

fn leaf(row: &Value) -> Option<(u64, Hash)> {
    let integrity = row.get(INTEGRITY)?;
    let index = integrity.get("leaf_index")?.as_u64()?;
    Some((index, hash(integrity.get("leaf_hash")?)?))
}

fn hash(value: &Value) -> Option<Hash> {
    hex::decode(value.as_str()?).ok()?.try_into().ok()
}

/// `None` for what is no list of hashes.
fn hashes(value: &Value) -> Option<Vec<Hash>> {
    value.as_array()?.iter().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use serde_json::json;
    use svc_core::checkpoint::Signer;
    use svc_core::merkle::{Edge, Head, Kept};

    use super::*;

    /// 2026-11-20T20:09:00.123Z.
    const NOW: Timestamp = Timestamp(1_795_205_340_123);

    fn row(id: &str, days_ago: i64) -> Value {
        let at = NOW.plus_ms(-days_ago * MS_PER_DAY).to_string();
        json!({"id": id, "occurred_at": at, "org_id": "org_1", "mode": "live", "details": {"credits": 0.052}})
    }

    /// The export of a log with these rows in their order, oldest first; those named in `gone` are absent.
    fn export(rows: &[Value], gone: &[&str]) -> String {
        let (mut edge, mut kept) = (Edge::default(), Kept::default());
        let hashes: Vec<Hash> = rows.iter().filter_map(audit_leaf::hash).collect();
        for (index, hash) in (0..).zip(&hashes) {
            kept.insert((0, index), *hash);
            edge.push(*hash);
        }
        let (size, root) = (edge.size(), edge.root());
        let signer = Signer::new("test/log", SigningKey::from_bytes(&[1; 32]));
        let mut lines = vec![json!({"type": "export", "data": {
            "version": 1, "org_id": "org_1", "mode": "live", "generated_at": NOW.to_string(), "filters": [],
            "order": "asc", "checkpoint": signer.sign(&Head { size, root }), "key": signer.verifier().to_string(),
        }})];
        let mut absent = Vec::new();
        for (index, (row, hash)) in (0..).zip(rows.iter().zip(&hashes)) {
            let proof = kept.inclusion(index, size).unwrap_or_default();
            let proof: Value = proof.iter().map(hex::encode).collect();
            let mut data = row.clone();
            data[INTEGRITY] = json!({"leaf_index": index, "leaf_hash": hex::encode(hash)});
            if gone.iter().any(|id| data["id"] == *id) {
                absent.push(json!({"type": "absent", "data": data, "proof": proof}));
            } else {
                lines.push(json!({"type": "audit_event", "data": data, "proof": proof}));
            }
        }
        let counts = json!({"audit_event": rows.len() - absent.len(), "absent": absent.len()});
        lines.append(&mut absent);
        let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let digest: Hash = Sha256::digest(text.as_bytes()).into();
        let note = signer.sign_export(&digest);
        let end =
            json!({"type": "end", "counts": counts, "sha256": hex::encode(digest), "note": note});
        text.push_str(&format!("{end}\n"));
        text
    }

    fn verified(text: &str) -> Report {
        let expected = Expected {
            key: None,
            since: None,
        };
        verify(text.as_bytes(), &expected).unwrap_or_default()
    }

    #[test]
    fn rows_past_their_retention_may_be_gone() {
        let rows = [row("aud_1", 2_300), row("aud_2", 2_200), row("aud_3", 10)];
        let report = verified(&export(&rows, &["aud_1", "aud_2"]));
        assert!(report.holds(), "{:?}", report.problems);
        assert_eq!((report.rows, report.expired), (1, 2));
        let report = verified(&export(&rows, &[]));
        assert!(report.holds(), "{:?}", report.problems);
        assert_eq!((report.rows, report.expired), (3, 0));
    }

    /// Whoever takes a row out of the file can count and hash what is left, and cannot sign it.
    #[test]
    fn a_row_that_was_taken_out_of_the_file_is_missed() {
        let rows = [row("aud_1", 12), row("aud_2", 11), row("aud_3", 10)];
        let whole = export(&rows, &[]);
        let mut lines: Vec<&str> = whole.lines().collect();
        lines.remove(2);
        let end = lines.pop().map(serde_json::from_str::<Value>);
        let mut end = end.and_then(Result::ok).unwrap_or_default();
        let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        end["counts"]["audit_event"] = 2.into();
        end["sha256"] = hex::encode(Sha256::digest(text.as_bytes())).into();
        text.push_str(&format!("{end}\n"));
        let report = verified(&text);
        assert_eq!(report.problems.len(), 1);
        assert!(report.problems[0].contains("removed since: the note of the end"));
    }

    #[test]
    fn younger_rows_must_be_there() {
        let rows = [row("aud_1", 2_300), row("aud_2", 2_000)];
        let report = verified(&export(&rows, &["aud_2"]));
        assert!(!report.holds() && report.problems[0].contains("row aud_2 (leaf 1, of 2021-"));
    }

    /// Of a row that is gone only its leaf is proven: its age is what the database says now.
    #[test]
    fn a_row_behind_a_young_one_cannot_have_expired() {
        let rows = [row("aud_1", 10), row("aud_2", 2_300), row("aud_3", 9)];
        let report = verified(&export(&rows, &["aud_2"]));
        assert!(!report.holds() && report.problems[0].contains("but leaf 0 before it is younger"));
    }
}
