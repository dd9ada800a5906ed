//! Policies: hot-reloaded data in `policies/`. The set is read and validated whole, swapped at once, and
//! pinned by each request for its whole life. A broken file is reported and never replaces a good set.

pub mod agreements;
pub mod cases;
pub mod models;
pub mod phi;
pub mod pipelines;
pub mod plans;
pub mod sampling;
pub mod watch;

use std::fmt;
use std::path::Path;

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use cases::Case;
use models::Catalogue;
use phi::PhiPolicy;
use pipelines::{Endpoint, Routes};
use plans::Plans;
use svc_store::baa::Template;

/// The files of a policy set, in the order in which problems are reported.
pub const FILES: [&str; 4] = ["pipelines.toml", "models.toml", "phi.toml", "plans.toml"];

/// A whole, valid policy set.
pub struct PolicySet {
    pub routes: Routes,
    pub catalogue: Catalogue,
    pub phi: PhiPolicy,
    pub plans: Plans,
    /// Agreements that organizations accept, oldest first.
    pub agreements: Vec<Template>,
    /// What the PHI policy is to find and to keep; tried by [`crate::phi::failures`].
    pub cases: Vec<Case>,
    /// SHA-256 over the files, hex: what an epoch stands for.
    pub digest: String,
    /// Counts policy sets of this deployment; audit rows carry it.
    pub epoch: i64,
}

/// What policies speak of and do not say themselves.
#[derive(Clone)]
pub struct Known {
    /// Names that the configuration knows.
    pub providers: Vec<String>,
    /// Routes that are part of the program.
    pub endpoints: &'static [&'static [Endpoint]],
}

/// One thing that is wrong with a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyProblem {
    /// Its path below the policy folder, or what else could not be read or entered (`policies`, `epoch`).
    pub file: String,
    pub message: String,
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.message)
    }
}

/// Collects problems over all files, so that an operator sees them at once.
#[derive(Default)]
pub(crate) struct Findings(Vec<PolicyProblem>);

impl Findings {
    pub(crate) fn add(&mut self, file: &str, message: impl Into<String>) {
        self.0.push(PolicyProblem {
            file: file.to_owned(),
            message: message.into(),
        });
    }
}

/// A policy file whose problems have lines.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) file: &'s str,
    pub(crate) text: &'s str,
}

impl Source<'_> {
    /// The line, from 1 on, of a byte of the text.
    pub(crate) fn line(&self, offset: usize) -> usize {
        let before = self.text.get(..offset).unwrap_or_default();
        before.bytes().filter(|byte| *byte == b'\n').count() + 1
    }
}

impl Findings {
    /// Adds what is wrong at a byte of a file's text.
    pub(crate) fn add_at(&mut self, source: Source<'_>, offset: usize, message: impl fmt::Display) {
        let line = source.line(offset);
        self.add(source.file, format!("line {line}: {message}"));
    }
}

impl PolicySet {
    /// Reads and validates all files of `folder`. The epoch is 0 until the store has given one.
    ///
    /// # Errors
    /// Every problem of every file.
    pub fn load(folder: &Path, known: &Known) -> Result<Self, Vec<PolicyProblem>> {
        let mut findings = Findings::default();
        let mut hasher = Sha256::new();
        let texts = FILES.map(|file| read(folder, file, &mut hasher, &mut findings));
        let [pipelines, models, phi, plans] = &texts;
        let routes = parse(FILES[0], pipelines, &mut findings)
            .map(|file| Routes::build(file, known.endpoints, FILES[0], &mut findings));
        let source = |at: usize, text| Source {
            file: FILES[at],
            text,
        };
        let catalogue = parse(FILES[1], models, &mut findings)
            .map(|file| Catalogue::build(file, source(1, models), &known.providers, &mut findings));
        let phi = parse(FILES[2], phi, &mut findings)
            .map(|file| PhiPolicy::build(file, source(2, phi), &mut findings));
        let plans = parse(FILES[3], plans, &mut findings)
            .map(|file| Plans::build(file, catalogue.as_ref(), FILES[3], &mut findings));
        let cases = phi
            .as_ref()
            .map(|phi| cases::load(folder, phi, &mut findings));
        let agreements = agreements::load(folder, &mut hasher, &mut findings);
        let digest = hex::encode(hasher.finalize());
        match (routes, catalogue, phi, plans, cases) {
            (Some(routes), Some(catalogue), Some(phi), Some(plans), Some(cases))
                if findings.0.is_empty() =>
            {
                Ok(Self {
                    routes,
                    catalogue,
                    phi,
                    plans,
                    agreements,
                    cases,
                    digest,
                    epoch: 0,
                })
            }
            _ => Err(findings.0),
        }
    }
}

fn read(folder: &Path, file: &str, hasher: &mut Sha256, findings: &mut Findings) -> String {
    match svc_plugin::read_regular(&folder.join(file)) {
        Ok(text) => {
            hasher.update(file.as_bytes());
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
            text
        }
        Err(error) => {
            findings.add(file, format!("cannot be read: {error}"));
            String::new()
        }
    }
}

fn parse<T: DeserializeOwned>(file: &str, text: &str, findings: &mut Findings) -> Option<T> {
    if findings.0.iter().any(|problem| problem.file == file) {
        return None;
    }
    toml::from_str(text)
        .map_err(|error| findings.add(file, error.to_string()))
        .ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn shipped() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies")
    }

    fn known() -> Known {
        Known {
            providers: ["alpha", "beta"].map(str::to_owned).to_vec(),
            endpoints: &[],
        }
    }

    /// A copy of the shipped policies with one file rewritten.
    fn with(file: &str, edit: impl Fn(String) -> String) -> Result<PolicySet, Vec<PolicyProblem>> {
        let folder = tempfile::tempdir().unwrap();
        for name in FILES {
            let mut text = std::fs::read_to_string(shipped().join(name)).unwrap();
            if name == file {
                text = edit(text);
            }
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        PolicySet::load(folder.path(), &known())
    }

    fn problems(result: Result<PolicySet, Vec<PolicyProblem>>) -> String {
        let found = result.err().expect("the set must be refused");
        found
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn the_shipped_set_is_valid() {
        if let Err(problems) = PolicySet::load(&shipped(), &known()) {
            unreachable!("{problems:?}");
        }
    }

    #[test]
    fn an_inference_route_cannot_lose_a_compliance_filter() {
        for filter in ["auth", "baa", "phi_guard", "metering", "audit"] {
            let result = with("pipelines.toml", |text| {
                let (head, tail) = text.split_once("read = [").unwrap();
                format!(
                    "{}read = [{tail}",
                    head.replace(&format!("\"{filter}\", "), "")
                        .replace(&format!("\"{filter}\","), "")
                )
            });
            assert!(problems(result).contains("needs"), "without {filter}");
        }
    }

    #[test]
    fn the_order_of_checks_is_enforced() {
        let result = with("pipelines.toml", |text| {
            text.replace("\"baa\", \"metering\"", "\"metering\", \"baa\"")
        });
        assert!(
            problems(result).contains("filter metering needs the BAA"),
            "metering before baa"
        );
    }

    #[test]
    fn every_problem_of_every_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        for name in FILES {
            let text = std::fs::read_to_string(shipped().join(name)).unwrap();
            let text = text
                .replace("handler = \"message\"", "handler = \"massage\"")
                .replace("\"0.3\"", "\"cheap\"");
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let text = problems(PolicySet::load(folder.path(), &known()));
        assert!(
            text.contains("massage") && text.contains("alpha-haiku-4-5"),
            "{text}"
        );
    }

    #[test]
    fn a_provider_that_nobody_configured_is_named_with_its_line() {
        let unknown = |from: &str, to: &str| with("models.toml", |text| text.replacen(from, to, 1));
        let found = problems(unknown("provider = \"beta\"", "provider = \"gamma\""));
        let line = std::fs::read_to_string(shipped().join("models.toml")).unwrap();
        let line = line
            .lines()
            .position(|line| line == "provider = \"beta\"")
            .unwrap()
            + 1;
        assert_eq!(
            found,
            format!(
                "models.toml: line {line}: model beta-5.5: unknown provider gamma; known are alpha, beta; \
                 a further one needs an address in the configuration, which is read at startup"
            )
        );
        let fallback = "features = [\"tools\", \"images\"]\nfallback = [{ provider = \"delta\", upstream_model = \"m\" }]";
        let found = problems(unknown("features = [\"tools\", \"images\"]", fallback));
        assert!(found.contains("unknown provider delta"), "{found}");
    }

    #[test]
    fn slips_of_the_pen_are_named() {
        for (file, from, to, says) in [
            (
                "pipelines.toml",
                "method = \"GET\"",
                "method = \"FOO\"",
                "unknown method",
            ),
            (
                "pipelines.toml",
                "path = \"/v1/models\"",
                "path = \"v1/models\"",
                "does not begin with /",
            ),
            (
                "pipelines.toml",
                "pipeline = \"native_chat\"",
                "pipeline = \"messages\"",
                "decode_messages reads another surface than native",
            ),
            (
                "pipelines.toml",
                "open = []",
                "open = []\nunused = [\"typo\"]",
                "pipeline unused: unknown filter typo",
            ),
            (
                "pipelines.toml",
                "\"delegation\", \"limits\"",
                "\"limits\", \"delegation\"",
                "limits stands before delegation",
            ),
            (
                "models.toml",
                "id = \"alpha-haiku-4-5\"",
                "id = \"\"",
                "id is empty",
            ),
            (
                "models.toml",
                "upstream_model = \"alpha-haiku-4-5\"",
                "upstream_model = \"\"",
                "upstream_model is empty",
            ),
            (
                "models.toml",
                "context_window_tokens = 200000",
                "context_window_tokens = 0",
                "context_window_tokens is empty or 0",
            ),
            (
                "models.toml",
                "max_output_tokens = 64000",
                "max_output_tokens = 0",
                "max_output_tokens is empty or 0",
            ),
            (
                "pipelines.toml",
                "path = \"/v1/ai/messages/{id}\"",
                "path = \"/v1/ai/messages/{message}\"",
                "handler message needs {id} in the path",
            ),
            (
                "models.toml",
                "id = \"alpha-haiku-4-5\"",
                "id = \"alpha haiku\\n\"",
                "model \"alpha haiku\\n\": id holds blanks or line ends",
            ),
            (
                "models.toml",
                "max_output_tokens = 64000",
                "max_output_tokens = 200001",
                "max_output_tokens is above context_window_tokens",
            ),
            (
                "models.toml",
                "temperature = \"0..1\"",
                "temperature = \"-1..1\"",
                "a range from 0 on",
            ),
            (
                "phi.toml",
                "detectors = [\"phi-patterns\", \"phi-names\", \"phi-context\"]",
                "detectors = [\"phi-patterns\", \"phi-names\", \"phi-patterns\"]",
                "detectors: phi-patterns stands twice",
            ),
            (
                "models.toml",
                "features = [\"tools\", \"images\"]",
                "features = [\"tools\", \"fly\"]",
                "unknown feature fly",
            ),
            (
                "plans.toml",
                "features = [\"webhooks\"]",
                "features = [\"nope\"]",
                "unknown feature nope",
            ),
        ] {
            let edited = with(file, |text| {
                assert!(text.contains(from), "{file}: {from}");
                text.replacen(from, to, 1)
            });
            let found = problems(edited);
            assert!(found.contains(says), "{from}: {found}");
        }
    }

    #[test]
    fn a_plan_may_offer_what_the_catalogue_marks() {
        let folder = tempfile::tempdir().unwrap();
        for name in FILES {
            let text = std::fs::read_to_string(shipped().join(name)).unwrap();
            let marked = "[features]\nscribe = { hipaa_eligible = true }\n";
            let text = text.replacen("[features]\n", marked, 1);
            let offered = "features = [\"webhooks\", \"scribe\"]";
            let text = text.replacen("features = [\"webhooks\"]", offered, 1);
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let set = PolicySet::load(folder.path(), &known()).unwrap();
        assert!(crate::feature::known(&set.catalogue).contains("scribe"));
        assert!(set.plans.tier_with("scribe").is_some());
    }

    #[test]
    fn an_hour_in_a_cache_has_a_price_of_its_own_or_twice_that_of_input() {
        for (from, to, expected) in [
            (
                "cache_write_1h = \"6\"",
                "cache_write_1h = \"5.5\"",
                5_500_000,
            ),
            (", cache_write_1h = \"6\"", "", 6_000_000),
            (
                "cache_write = \"3.75\", cache_write_1h = \"6\"",
                "cache_write = \"0\"",
                0,
            ),
        ] {
            let edited = with("models.toml", |text| {
                assert!(text.contains(from), "{from}");
                text.replacen(from, to, 1)
            });
            let set = edited.ok().unwrap();
            let model = set.catalogue.find("alpha-sonnet-4-6").unwrap();
            assert_eq!(model.price.usd_cache_write_1h.0, expected, "{to}");
        }
    }

    #[test]
    fn a_retirement_needs_ninety_days_of_notice() {
        let announce = |retired: &str| {
            with("models.toml", |text| {
                text.replace(
                    "id = \"beta-5.3-codex\"",
                    &format!(
                        "id = \"beta-5.3-codex\"\nretirement = {{ announced_at = \"2026-11-01T00:00:00Z\", \
                         retired_at = \"{retired}\", recommended_replacement = \"beta-5.4\", docs_url = \"https://example.org\" }}"
                    ),
                )
            })
        };
        assert!(announce("2027-02-01T00:00:00Z").is_ok());
        assert!(problems(announce("2026-12-01T00:00:00Z")).contains("90 days"));
    }

    #[test]
    fn a_retirement_leads_to_a_model_that_stays_and_to_a_page() {
        let retire = |id: &str, to: &str, url: &str| {
            (
                format!("id = \"{id}\"\n"),
                format!(
                    "id = \"{id}\"\nretirement = {{ announced_at = \"2026-11-01T00:00:00Z\", \
                     retired_at = \"2027-02-01T00:00:00Z\", recommended_replacement = \"{to}\", docs_url = \"{url}\" }}\n"
                ),
            )
        };
        let page = "https://example.org/models";
        let codex = |to: &str, url: &str| vec![retire("beta-5.3-codex", to, url)];
        let chain = [
            codex("beta-5.4", page),
            vec![retire("beta-5.4", "beta-5.5", page)],
        ]
        .concat();
        for (edits, says) in [
            (
                codex("nobody", page),
                "recommended_replacement names no model",
            ),
            (
                codex("beta-5.3-codex", page),
                "recommended_replacement is the model itself",
            ),
            (
                chain,
                "model beta-5.3-codex: recommended_replacement is to be retired itself",
            ),
            (
                codex("beta-5.4", "nope"),
                "docs_url is not an http:// or https:// address",
            ),
            (codex("beta-5.4", "javascript:alert(1)"), "docs_url is not"),
        ] {
            let edited = with("models.toml", |text| {
                let mut text = text;
                for (from, to) in &edits {
                    assert!(text.contains(from), "{from}");
                    text = text.replacen(from, to, 1);
                }
                text
            });
            let found = problems(edited);
            assert!(found.contains(says), "{says}: {found}");
        }
    }

    #[test]
    fn the_providers_that_models_name_are_read_whatever_else_is_wrong() {
        let text = std::fs::read_to_string(shipped().join("models.toml")).unwrap();
        let shipped = models::named_providers(&text);
        assert_eq!(shipped, ["alpha", "beta"].map(str::to_owned).into());
        let odd = "[[model]]\nid = 7\nprovider = \"gamma\"\nfallback = [{ provider = \"delta\" }]\n[[model]]\n";
        let named = models::named_providers(odd);
        assert_eq!(named, ["delta", "gamma"].map(str::to_owned).into());
        assert!(models::named_providers("[[model").is_empty());
    }
}
