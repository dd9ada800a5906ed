//! `svc-gateway baa`: the keys that sign agreements, and the proof that a downloaded document is what was signed.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_pipeline::moment;
use svc_store::baa::{self, signed_message};
use svc_store::signing_key::{self, PUBLIC_BYTES, Purpose};
use tokio::runtime::Handle;

use crate::configuration::Configuration;
use crate::wiring;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print the public keys that sign agreements, the newest last; the first is made where there is none.
    Keys {
        /// Print one `{"key_id","alg","public_key","created_at"}` per line.
        #[arg(long)]
        json: bool,
    },
    /// Prove offline that a file is what was signed: nothing is asked of a server or a database. The signature is over
    /// the SHA-256 of the file; all else that an acceptance says is its own word.
    Verify {
        /// The downloaded file.
        pdf: PathBuf,
        /// The acceptance as the API shows it, in its envelope or without.
        acceptance: PathBuf,
        /// Public key in base64, as `baa keys` prints it.
        #[arg(long)]
        key: String,
    },
}

/// What was proven of a file, and what was not.
struct Proven {
    sha256: String,
    key_id: String,
    /// As the record has it.
    id: String,
}

impl std::fmt::Display for Proven {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { sha256, key_id, id } = self;
        write!(
            f,
            "SHA-256 {sha256}, signed by key {key_id}: the signature is good\n\
             The signature is over this SHA-256 alone. That the file belongs to {id} is what the given record says; \
             the certificate page of the document names the acceptance."
        )
    }
}

/// What of an acceptance speaks of its document.
#[derive(Deserialize)]
struct Acceptance {
    id: String,
    document: Document,
    signature: Signature,
}

#[derive(Deserialize)]
struct Document {
    size_bytes: u64,
    sha256: String,
}

#[derive(Deserialize)]
struct Signature {
    alg: String,
    key_id: String,
    over: String,
    value: String,
}

/// 64 MiB: no document and no record is larger.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// # Errors
/// A store or a file that cannot be read, or a document that is not the one that was signed.
pub(crate) async fn run(
    configuration: &Configuration,
    command: Command,
) -> anyhow::Result<ExitCode> {
    match command {
        Command::Keys { json } => {
            let store = wiring::existing_store(configuration, &Handle::current()).await?;
            let printed = keys(&store, json).await;
            store.close().await;
            printed
        }
        Command::Verify {
            pdf,
            acceptance,
            key,
        } => {
            let proven = verify(&read(&pdf)?, &read(&acceptance)?, &key)?;
            let mut out = std::io::stdout().lock();
            writeln!(out, "{}: {proven}", pdf.display())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn keys(store: &svc_store::Store, json: bool) -> anyhow::Result<ExitCode> {
    baa::signer(store, moment::now())
        .await
        .context("making the signing key")?;
    let keys = signing_key::public_keys(store, Purpose::Agreement).await;
    let mut out = std::io::stdout().lock();
    for key in keys.context("reading the signing keys")? {
        let (public, at) = (STANDARD.encode(key.bytes), key.created_at.to_string());
        if json {
            let shown = json!({"key_id": key.key_id, "alg": "Ed25519", "public_key": public, "created_at": at});
            writeln!(out, "{shown}")?;
        } else {
            writeln!(out, "{}  Ed25519  {public}  {at}", key.key_id)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut bytes))
        .with_context(|| format!("reading {}", path.display()))?;
    Ok(bytes)
}

/// Holds a file against the record of an acceptance, and the record's signature against the key.
fn verify(pdf: &[u8], acceptance: &[u8], key: &str) -> anyhow::Result<Proven> {
    let key: [u8; PUBLIC_BYTES] = STANDARD
        .decode(key.trim())
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .context("--key is not 32 bytes in base64")?;
    let mut value: Value =
        serde_json::from_slice(acceptance).context("the acceptance is not JSON")?;
    if let Some(data) = value.get_mut("data") {
        value = data.take();
    }
    let Acceptance {
        id,
        document,
        signature,
    } = serde_json::from_value(value).context("the acceptance has no signed document")?;
    if (signature.alg.as_str(), signature.over.as_str()) != ("Ed25519", "document.sha256") {
        bail!("the signature is of a kind that this program does not know");
    }
    if document.size_bytes != pdf.len() as u64
        || document.sha256 != hex::encode(Sha256::digest(pdf))
    {
        bail!("the file is not the document of {id}: its SHA-256 is another");
    }
    if signature.key_id != signing_key::key_id(&key) {
        bail!(
            "the document was signed with key {}, which --key is not",
            signature.key_id
        );
    }
    let value = STANDARD.decode(&signature.value).unwrap_or_default();
    if !signing_key::verifies(&key, signed_message(&document.sha256), &value) {
        bail!("the signature is not one of key {}", signature.key_id);
    }
    Ok(Proven {
        sha256: document.sha256,
        key_id: signature.key_id,
        id,
    })
}
