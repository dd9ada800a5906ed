//! `svc-gateway admin phi-list`: values that an organization always or never takes out of its texts.
//!
//! Values come from standard input, one a line, so that they stand in no list of processes and no shell history. They
//! are printed nowhere.

use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use svc_core::phi::{ENTITY_KINDS, Kind, ListKey, ListedValue, Listing};
use svc_pipeline::moment;
use svc_store::audit::Row;
use svc_store::{Store, phi_list};

use super::{known, system_row};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Put values from standard input, one a line, on a list; they leave the other.
    Add {
        #[arg(long)]
        organization: String,
        #[arg(long, value_enum)]
        list: List,
        /// What denied values are found as; OTHER_ID when absent. Allowed values are found as nothing.
        #[arg(long)]
        kind: Option<String>,
    },
    /// Take values off their list: those of standard input, one a line, or one by its id.
    Remove {
        #[arg(long)]
        organization: String,
        /// As `show` prints it.
        #[arg(long)]
        id: Option<String>,
    },
    /// Print what is listed: ids, lists and kinds.
    Show {
        #[arg(long)]
        organization: String,
        /// Print one `{"id","list","kind","created_at"}` per line.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum List {
    Allow,
    Deny,
}

/// A value that somebody denies is an identifier, whatever else it may be.
const DENIED_AS: &str = "OTHER_ID";
/// Longest line that is read: any value that can be listed, with its signs.
const MAX_LINE_BYTES: usize = 4_096;

/// # Errors
/// An unknown organization, a value that cannot be listed (by its line), or a store that does not take it.
pub(super) async fn run(store: &Store, command: Command) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    match command {
        Command::Add {
            organization,
            list,
            kind,
        } => {
            let listing = listing(list, kind.as_deref())?;
            known(store, &organization).await?;
            let values = read()?;
            let mut held = 0;
            for values in values.chunks(phi_list::MAX_VALUES_PER_CHANGE) {
                let row = row(&organization, "added", values.len(), Some(&listing));
                let now = moment::now();
                let put = phi_list::put(store, &organization, &listing, values, now, &row);
                held = put.await.context("writing the list")?;
            }
            writeln!(out, "{} listed, {held} in all", values.len())?;
        }
        Command::Remove { organization, id } => {
            known(store, &organization).await?;
            let digests = match id {
                Some(id) => vec![digest(&id)?],
                None => phi_list::digests(store, &organization, &read()?)
                    .await
                    .context("reading the list")?,
            };
            let mut removed = 0;
            for digests in digests.chunks(phi_list::MAX_VALUES_PER_CHANGE) {
                let row = row(&organization, "removed", digests.len(), None);
                let taken = phi_list::remove(store, &organization, digests, moment::now(), &row);
                removed += taken.await.context("writing the list")?;
            }
            writeln!(out, "{removed} removed")?;
        }
        Command::Show { organization, json } => {
            known(store, &organization).await?;
            let entries = phi_list::entries(store, &organization).await;
            for entry in entries.context("reading the list")? {
                let id = hex::encode(entry.digest);
                let (list, kind) = match &entry.listing {
                    Listing::Allow => ("allow", None),
                    Listing::Deny(kind) => ("deny", Some(kind.as_str())),
                };
                let at = entry.created_at.to_string();
                if json {
                    let shown = json!({"id": id, "list": list, "kind": kind, "created_at": at});
                    writeln!(out, "{shown}")?;
                } else {
                    writeln!(out, "{id}  {list:<5}  {:<16}  {at}", kind.unwrap_or("-"))?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn listing(list: List, kind: Option<&str>) -> anyhow::Result<Listing> {
    let kind = match (list, kind) {
        (List::Allow, None) => return Ok(Listing::Allow),
        // Whoever names one expects that it means something.
        (List::Allow, Some(_)) => {
            bail!(
                "--kind is for --list deny: an allowed value is left alone, whatever it is found as"
            )
        }
        (List::Deny, kind) => kind.unwrap_or(DENIED_AS),
    };
    let Some(known) = ENTITY_KINDS.iter().find(|known| known.name == kind) else {
        let known: Vec<&str> = ENTITY_KINDS.iter().map(|known| known.name).collect();
        bail!("unknown kind {kind}; known are {}", known.join(", "))
    };
    Ok(Listing::Deny(Kind::named(known.name)))
}

/// The values of standard input, each once. Errors name lines, never what stands there.
fn read() -> anyhow::Result<Vec<ListedValue>> {
    let mut values = Vec::new();
    // Spellings of one value have one digest under any key; this one is used for nothing else.
    let key = ListKey::new(&rand::random());
    let mut seen = HashSet::new();
    for (at, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.context("reading standard input")?;
        if line.len() > MAX_LINE_BYTES {
            bail!("line {}: longer than {MAX_LINE_BYTES} bytes", at + 1);
        }
        if line.trim().is_empty() {
            continue;
        }
        if values.len() == phi_list::MAX_VALUES {
            bail!("more than {} values", phi_list::MAX_VALUES);
        }
        let value = ListedValue::of(&line).with_context(|| format!("line {}", at + 1))?;
        if seen.insert(value.digest(&key)) {
            values.push(value);
        }
    }
    if values.is_empty() {
        bail!("standard input holds no value");
    }
    Ok(values)
}

fn digest(id: &str) -> anyhow::Result<[u8; svc_core::phi::DIGEST_BYTES]> {
    let bytes = hex::decode(id).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.context("--id is not an id that `show` prints")
}

/// The audit row of a change: how many values, never which.
fn row(org_id: &str, what: &str, values: usize, listing: Option<&Listing>) -> Row {
    let mut change = Map::new();
    change.insert(what.to_owned(), values.into());
    match listing {
        None => {}
        Some(Listing::Allow) => drop(change.insert("list".to_owned(), "allow".into())),
        Some(Listing::Deny(kind)) => {
            change.insert("list".to_owned(), "deny".into());
            change.insert("kind".to_owned(), kind.as_str().into());
        }
    }
    let mut details = Map::new();
    details.insert("phi_lists".to_owned(), Value::Object(change));
    system_row(Some(org_id), "organization.updated", details)
}
