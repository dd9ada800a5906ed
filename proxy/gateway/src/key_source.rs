//! Where the master key comes from: a file, the environment, or a command that asks a key management service.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use futures_util::future::BoxFuture;
use svc_store::master_key::MasterKey;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::configuration::{self, Configuration};

/// Gives the master key once, when a command of the program starts.
pub(crate) trait KeySource: Send + Sync {
    /// # Errors
    /// A source that does not answer, or gives no key. No error says what it gave.
    fn read(&self) -> BoxFuture<'_, anyhow::Result<MasterKey>>;

    /// The file that [`Self::read`] would make, with a new key.
    ///
    /// # Errors
    /// A folder that may not be looked into.
    fn would_make(&self) -> anyhow::Result<Option<&Path>> {
        Ok(None)
    }
}

/// The source that is configured: a command before the environment before the file in the data folder.
pub(crate) fn configured(configuration: &Configuration) -> Box<dyn KeySource> {
    let command = &configuration.store.master_key_command;
    if !command.is_empty() {
        return Box::new(Asked(command.clone()));
    }
    match configuration::master_key() {
        Some(text) => Box::new(Given(text)),
        None => Box::new(Kept(configuration.server.data_dir.join("master.key"))),
    }
}

/// Whether there is no such file. One that cannot be seen may be there.
pub(crate) fn is_missing(file: &Path) -> anyhow::Result<bool> {
    let is_there = file.try_exists();
    is_there
        .map(|is_there| !is_there)
        .with_context(|| format!("looking for {}", file.display()))
}

/// In the environment.
struct Given(String);

impl KeySource for Given {
    fn read(&self) -> BoxFuture<'_, anyhow::Result<MasterKey>> {
        Box::pin(async { MasterKey::parse(&self.0).context("SVC_MASTER_KEY") })
    }
}

/// In a file, made on first use.
struct Kept(PathBuf);

impl KeySource for Kept {
    fn read(&self) -> BoxFuture<'_, anyhow::Result<MasterKey>> {
        Box::pin(async {
            let path = &self.0;
            let is_new = is_missing(path)?;
            let key = MasterKey::load_or_create(path)
                .with_context(|| format!("the master key {}", path.display()))?;
            if is_new {
                tracing::warn!(
                    path = %path.display(),
                    "made a new master key; without it nothing that is stored can be read, so back it up apart from the database"
                );
            }
            Ok(key)
        })
    }

    fn would_make(&self) -> anyhow::Result<Option<&Path>> {
        Ok(is_missing(&self.0)?.then_some(&self.0))
    }
}

/// What a command says on its standard output: the way to any key management service, with its own tool.
struct Asked(Vec<String>);

/// 30 s: a service far away, asked over a slow line.
const PATIENCE: Duration = Duration::from_secs(30);
/// More than this is no key.
const MAX_BYTES: u64 = 64 * 1024;

impl Asked {
    async fn ask(&self) -> anyhow::Result<String> {
        let [program, arguments @ ..] = self.0.as_slice() else {
            bail!("is empty");
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("starting {program}"))?;
        let out = child.stdout.take().context("its output")?;
        let mut text = String::new();
        out.take(MAX_BYTES)
            .read_to_string(&mut text)
            .await
            .context("reading its output")?;
        let status = child.wait().await.context("waiting for its end")?;
        if !status.success() {
            bail!("{program} ended with {status}");
        }
        Ok(text)
    }
}

impl KeySource for Asked {
    fn read(&self) -> BoxFuture<'_, anyhow::Result<MasterKey>> {
        Box::pin(async {
            let answered = tokio::time::timeout(PATIENCE, self.ask()).await;
            let answered = answered.unwrap_or_else(|_| bail!("no answer within {PATIENCE:?}"));
            let text = answered.context("store.master_key_command")?;
            MasterKey::parse(&text).context("what store.master_key_command says")
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// 32 bytes of 1 in base64.
    const KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

    async fn asked(command: &[&str]) -> Result<MasterKey, String> {
        let source = Asked(command.iter().map(|&word| word.to_owned()).collect());
        source.read().await.map_err(|error| format!("{error:#}"))
    }

    #[tokio::test]
    async fn a_command_gives_the_key_or_says_why_not() {
        assert!(asked(&["printf", "%s\\n", KEY]).await.is_ok());
        assert!(asked(&["printf", "2 %s", KEY]).await.is_ok());
        for (command, why) in [
            (&["sh", "-c", "echo no; exit 3"][..], "exit status: 3"),
            (&["no-such-program-here"], "starting no-such-program-here"),
            (&["printf", "secret"], "expected `version base64`"),
            (&["true"], "needs at least one key"),
        ] {
            let error = asked(command).await.err().unwrap();
            assert!(error.contains(why), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
