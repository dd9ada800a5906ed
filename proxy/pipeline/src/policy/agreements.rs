//! `baa/VERSION.md` and `baa/VERSION.toml`: the agreements that organizations accept (contract 13).
//!
//! A pair of files per version. The text is what is signed, byte for byte; once published it never changes, and the
//! store refuses a file that says something else. Taking files away withdraws nothing.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use svc_core::time::Timestamp;
use svc_store::baa::Template;

use super::Findings;

/// Where templates are, below the policy folder.
pub const FOLDER: &str = "baa";

/// Far more than a deployment publishes.
const MAX_TEMPLATES: usize = 1_000;
/// 1 MiB: no agreement is longer.
const MAX_TEXT_BYTES: u64 = 1024 * 1024;
const MAX_VERSION_CHARS: usize = 40;
const MAX_TITLE_CHARS: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    /// The version is the one to accept from then on.
    published_at: String,
    /// Until when acceptances of older versions still count; absent: without end.
    reaccept_by: Option<String>,
}

/// Reads the templates of a policy folder, oldest first; a folder without any has none.
pub(crate) fn load(folder: &Path, hasher: &mut Sha256, findings: &mut Findings) -> Vec<Template> {
    let folder = folder.join(FOLDER);
    let mut templates = Vec::new();
    for version in versions(&folder, findings) {
        templates.extend(template(&folder, &version, hasher, findings));
    }
    templates.sort_by_key(|template| template.published_at);
    for pair in templates.windows(2) {
        if let [one, next] = pair
            && one.published_at == next.published_at
        {
            let file = format!("{FOLDER}/{}.toml", next.version);
            let message = format!("published_at is that of version {} too", one.version);
            findings.add(&file, message);
        }
    }
    templates
}

/// The names before `.md` and `.toml`.
fn versions(folder: &Path, findings: &mut Findings) -> BTreeSet<String> {
    let mut versions = BTreeSet::new();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return versions,
        Err(error) => {
            findings.add(FOLDER, format!("cannot be read: {error}"));
            return versions;
        }
        Ok(entries) => entries,
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let path = Path::new(&name);
        let ending = path.extension().and_then(|ending| ending.to_str());
        if !matches!(ending, Some("md" | "toml")) {
            continue;
        }
        let Some(version) = path.file_stem().and_then(|stem| stem.to_str()) else {
            findings.add(FOLDER, "holds a file whose name is no text");
            continue;
        };
        let is_plain = (1..=MAX_VERSION_CHARS).contains(&version.len())
            && version
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
        if !is_plain {
            let message = format!(
                "a version is 1 to {MAX_VERSION_CHARS} letters, digits, dots, dashes and underscores"
            );
            findings.add(&format!("{FOLDER}/{}", path.display()), message);
            continue;
        }
        versions.insert(version.to_owned());
        if versions.len() > MAX_TEMPLATES {
            findings.add(FOLDER, format!("holds more than {MAX_TEMPLATES} versions"));
            break;
        }
    }
    versions
}

fn template(
    folder: &Path,
    version: &str,
    hasher: &mut Sha256,
    findings: &mut Findings,
) -> Option<Template> {
    let body = read(folder, version, "md", hasher, findings);
    let facts = read(folder, version, "toml", hasher, findings);
    let (body, facts) = (body?, facts?);
    let name = format!("{FOLDER}/{version}.toml");
    let File {
        title,
        published_at,
        reaccept_by,
    } = toml::from_str(&facts)
        .map_err(|error| findings.add(&name, error.to_string()))
        .ok()?;
    let mut time = |field: &str, text: &str| {
        let at = Timestamp::parse(text);
        if at.is_none() {
            findings.add(&name, format!("{field} is not an RFC 3339 time"));
        }
        at
    };
    let published_at = time("published_at", &published_at);
    let reaccept_by = reaccept_by.map(|text| time("reaccept_by", &text));
    if !(1..=MAX_TITLE_CHARS).contains(&title.chars().count()) {
        findings.add(
            &name,
            format!("title must have 1 to {MAX_TITLE_CHARS} characters"),
        );
    }
    if body.trim().is_empty() {
        findings.add(&format!("{FOLDER}/{version}.md"), "is empty");
    }
    let (published_at, reaccept_by) = (published_at?, reaccept_by.flatten());
    if reaccept_by.is_some_and(|end| end < published_at) {
        findings.add(&name, "reaccept_by is before published_at");
    }
    Some(Template {
        version: version.to_owned(),
        title,
        sha256: hex::encode(Sha256::digest(body.as_bytes())),
        body,
        published_at,
        reaccept_by,
    })
}

fn read(
    folder: &Path,
    version: &str,
    ending: &str,
    hasher: &mut Sha256,
    findings: &mut Findings,
) -> Option<String> {
    let file = format!("{version}.{ending}");
    let path = folder.join(&file);
    let shown = format!("{FOLDER}/{file}");
    let text = match std::fs::metadata(&path) {
        Ok(facts) if facts.len() > MAX_TEXT_BYTES => {
            findings.add(&shown, format!("is larger than {MAX_TEXT_BYTES} bytes"));
            return None;
        }
        Ok(_) => svc_plugin::read_regular(&path),
        Err(error) => Err(error),
    };
    match text {
        Ok(text) => {
            for part in [shown.as_bytes(), text.as_bytes()] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            Some(text)
        }
        Err(error) => {
            findings.add(&shown, format!("cannot be read: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const FACTS: &str = "title = \"Agreement\"\npublished_at = \"2026-04-01T00:00:00Z\"\n";

    /// What stands in `files`, as versions or as problems.
    fn loaded(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(FOLDER).join(name), text).unwrap();
        }
        let mut findings = Findings::default();
        let found = load(folder.path(), &mut Sha256::new(), &mut findings);
        let problems: Vec<String> = findings.0.iter().map(ToString::to_string).collect();
        match problems.is_empty() {
            true => Ok(found.into_iter().map(|template| template.version).collect()),
            false => Err(problems.join("\n")),
        }
    }

    #[test]
    fn versions_come_in_the_order_of_their_publication() {
        let later = FACTS.replace("2026-04", "2027-04") + "reaccept_by = \"2027-06-01T00:00:00Z\"";
        let files = [
            ("b.md", "first"),
            ("b.toml", FACTS),
            ("a.md", "second"),
            ("a.toml", later.as_str()),
            ("README", "of no version"),
        ];
        assert_eq!(loaded(&files), Ok(vec!["b".to_owned(), "a".to_owned()]));
        assert_eq!(loaded(&[]), Ok(vec![]));
    }

    #[test]
    fn every_problem_names_its_file() {
        let late = format!("{FACTS}reaccept_by = \"2026-03-01T00:00:00Z\"");
        for (files, problem) in [
            (&[("a.md", "text")][..], "baa/a.toml: cannot be read"),
            (&[("a.toml", FACTS)], "baa/a.md: cannot be read"),
            (&[("a.md", " \n"), ("a.toml", FACTS)], "baa/a.md: is empty"),
            (&[("a b.md", "text")], "baa/a b.md: a version is"),
            (
                &[
                    ("a.md", "x"),
                    ("a.toml", "title = \"A\"\npublished_at = \"soon\""),
                ],
                "baa/a.toml: published_at is not",
            ),
            (
                &[("a.md", "x"), ("a.toml", late.as_str())],
                "baa/a.toml: reaccept_by is before",
            ),
            (
                &[
                    ("a.md", "x"),
                    ("a.toml", FACTS),
                    ("b.md", "y"),
                    ("b.toml", FACTS),
                ],
                "baa/b.toml: published_at is that of version a too",
            ),
        ] {
            let found = loaded(files).unwrap_err();
            assert!(found.starts_with(problem), "{found}");
        }
    }
}
