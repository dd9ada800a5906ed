//! `cases/phi.toml`: texts, and what PHI Guard is to find in them and to keep under which profile.
//!
//! Beside the policy, not part of it: cases change no rule and no epoch. Texts are invented; a problem names places in
//! the file all the same, never what stands there.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::phi::{PhiPolicy, ProfileId};
use super::{Findings, Source};

/// Where the cases are, below the policy folder.
pub const FILE: &str = "cases/phi.toml";

/// More than anybody reads, and seconds of scanning.
const MAX_CASES: usize = 1_000;

/// 16 MiB: no file of cases is larger.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "case")]
    cases: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// The one in force when absent.
    profile: Option<String>,
    text: String,
    /// Values by the kind that they are to be found as.
    #[serde(default)]
    found: BTreeMap<String, Vec<String>>,
    /// Values that no finding may touch.
    #[serde(default)]
    kept: Vec<String>,
}

/// One case that can be tried.
pub struct Case {
    pub name: String,
    /// Line of the file on which it begins.
    pub line: usize,
    pub profile: ProfileId,
    pub text: String,
    pub expectations: Vec<Expectation>,
}

/// What is to become of one value of a case's text.
pub struct Expectation {
    /// Where the file says so, `found.NAME[0]` or `kept[1]`.
    pub place: String,
    /// The first place of the value in the text, in bytes.
    pub start: usize,
    pub end: usize,
    /// The kind that it is to be found as; `None` where it is to stay.
    pub kind: Option<String>,
}

/// Reads the cases of a policy folder; a folder without a file of cases has none.
pub(crate) fn load(folder: &Path, policy: &PhiPolicy, findings: &mut Findings) -> Vec<Case> {
    let path = folder.join(FILE);
    let text = match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Ok(file) if file.len() > MAX_FILE_BYTES => {
            findings.add(FILE, format!("is larger than {MAX_FILE_BYTES} bytes"));
            return Vec::new();
        }
        Ok(_) => svc_plugin::read_regular(&path),
        Err(error) => Err(error),
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => {
            findings.add(FILE, format!("cannot be read: {error}"));
            return Vec::new();
        }
    };
    parse(&text, policy, findings)
}

fn parse(text: &str, policy: &PhiPolicy, findings: &mut Findings) -> Vec<Case> {
    let file: File = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            findings.add(FILE, error.to_string());
            return Vec::new();
        }
    };
    if file.cases.len() > MAX_CASES {
        findings.add(FILE, format!("has more than {MAX_CASES} cases"));
    }
    let source = Source { file: FILE, text };
    let cases = file.cases.into_iter().take(MAX_CASES);
    cases
        .filter_map(|entry| {
            let start = entry.span().start;
            case(entry.into_inner(), source.line(start), policy)
                .map_err(|problem| findings.add_at(source, start, problem))
                .ok()
        })
        .collect()
}

fn case(entry: Entry, line: usize, policy: &PhiPolicy) -> Result<Case, String> {
    let Entry {
        name,
        profile,
        text,
        found,
        kept,
    } = entry;
    let profile = match profile {
        None => policy.profile_in_force(),
        Some(wanted) => policy.profile_named(&wanted).ok_or_else(|| {
            let known: Vec<&str> = policy.profile_names().collect();
            let known = known.join(", ");
            format!("case \"{name}\": unknown profile {wanted}; known are {known}")
        })?,
    };
    let mut expectations = Vec::new();
    for (kind, values) in &found {
        if let Some(problem) = policy.unknown_kind(kind) {
            return Err(format!("case \"{name}\": {problem}"));
        }
        for (at, value) in values.iter().enumerate() {
            let place = format!("found.{kind}[{at}]");
            expectations.push(expectation(&text, value, place, Some(kind.clone())));
        }
    }
    for (at, value) in kept.iter().enumerate() {
        expectations.push(expectation(&text, value, format!("kept[{at}]"), None));
    }
    let expectations: Result<Vec<_>, _> = expectations.into_iter().collect();
    let expectations = expectations
        .map_err(|place| format!("case \"{name}\": {place} does not stand in its text"))?;
    if expectations.is_empty() {
        return Err(format!("case \"{name}\" expects nothing"));
    }
    Ok(Case {
        name,
        line,
        profile,
        text,
        expectations,
    })
}

/// Where a value stands; its place in the file where it stands nowhere.
fn expectation(
    text: &str,
    value: &str,
    place: String,
    kind: Option<String>,
) -> Result<Expectation, String> {
    let Some(start) = text.find(value).filter(|_| !value.is_empty()) else {
        return Err(place);
    };
    Ok(Expectation {
        place,
        start,
        end: start + value.len(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const POLICY: &str =
        "detectors = [\"d\"]\ndefaults = { action = \"redact\", threshold = 500 }\n";

    fn read(text: &str) -> (Vec<Case>, Vec<String>) {
        let mut findings = Findings::default();
        let source = Source {
            file: "phi.toml",
            text: POLICY,
        };
        let policy = PhiPolicy::build(toml::from_str(POLICY).unwrap(), source, &mut findings);
        let cases = parse(text, &policy, &mut findings);
        let problems = findings.0.iter().map(ToString::to_string).collect();
        (cases, problems)
    }

    #[test]
    fn a_case_says_what_becomes_of_its_values() {
        let (cases, problems) = read(
            "[[case]]\nname = \"a\"\ntext = \"Jo has 1 cat\"\nfound = { NAME = [\"Jo\"] }\nkept = [\"cat\"]\n",
        );
        assert_eq!(problems, Vec::<String>::new());
        let case = cases.first().unwrap();
        let read: Vec<_> = case
            .expectations
            .iter()
            .map(|value| {
                (
                    value.place.as_str(),
                    value.start,
                    value.end,
                    value.kind.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            read,
            [
                ("found.NAME[0]", 0, 2, Some("NAME")),
                ("kept[0]", 9, 12, None)
            ]
        );
        assert_eq!(case.line, 1);
    }

    #[test]
    fn a_case_that_cannot_be_tried_is_named() {
        let head =
            "[[case]]\nname = \"ok\"\ntext = \"x\"\nkept = [\"x\"]\n\n[[case]]\nname = \"b\"\n";
        for (rest, expected) in [
            ("text = \"x\"\n", "line 6: case \"b\" expects nothing"),
            (
                "text = \"x\"\nkept = [\"y\"]\n",
                "line 6: case \"b\": kept[0] does not stand in its text",
            ),
            ("text = \"x\"\nkept = [\"\"]\n", "kept[0] does not stand"),
            (
                "text = \"x\"\nfound = { NAMES = [\"x\"] }\n",
                "unknown kind NAMES",
            ),
            (
                "text = \"x\"\nfound = { FACILITY = [\"x\"] }\n",
                "findings of FACILITY are ORGANIZATION",
            ),
            (
                "text = \"x\"\nprofile = \"p\"\nkept = [\"x\"]\n",
                "unknown profile p; known are safe-harbor",
            ),
            ("kept = [\"x\"]\n", "missing field `text`"),
            ("text = \"x\"\nkeeps = [\"x\"]\n", "unknown field `keeps`"),
        ] {
            let (_, problems) = read(&format!("{head}{rest}"));
            assert_eq!(problems.len(), 1, "{rest}: {problems:?}");
            let problem = problems.first().unwrap();
            assert!(
                problem.starts_with("cases/phi.toml: ") && problem.contains(expected),
                "{problem}"
            );
        }
    }
}
