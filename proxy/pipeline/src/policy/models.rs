//! `models.toml`: the catalogue and the price list.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use svc_core::chat::ChatRequest;
use svc_core::metering::Price;
use svc_core::money::Micro;
use svc_core::surface::native;
use svc_core::time::{MS_PER_DAY, Timestamp};
use toml::Spanned;

use super::sampling::{Otherwise, SamplingRule};
use super::{Findings, Source};
use crate::feature;

/// What a model may be said to take.
const MODEL_FEATURES: [&str; 5] = [
    feature::TOOLS,
    feature::PROVIDER_TOOLS,
    feature::IMAGES,
    feature::DOCUMENTS,
    "reasoning",
];

/// Spec, Limits: model retirement notice.
const RETIREMENT_NOTICE_MS: i64 = 90 * MS_PER_DAY;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    price_list: String,
    features: BTreeMap<String, FeatureEntry>,
    model: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FeatureEntry {
    hipaa_eligible: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    provider: Spanned<String>,
    kind: ProviderKind,
    released_at: String,
    upstream_model: String,
    /// Id of the driver plugin where it is not `provider-<provider>`.
    driver: Option<String>,
    access: Access,
    relative_cost: String,
    #[serde(default)]
    weights: Weights,
    context_window_tokens: u64,
    max_output_tokens: u32,
    temperature: String,
    /// What becomes of another temperature.
    temperature_otherwise: Option<Otherwise>,
    features: Vec<String>,
    usd_per_million: Prices,
    retirement: Option<RetirementEntry>,
    #[serde(default)]
    fallback: Vec<FallbackEntry>,
}

/// Another way to the same model: a second region, another account, a reseller.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FallbackEntry {
    provider: Spanned<String>,
    upstream_model: String,
    driver: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Weights {
    cache_read: String,
    cache_write: String,
}

/// Contract 12.1: both weights are 0 until priced.
impl Default for Weights {
    fn default() -> Self {
        Self {
            cache_read: "0".into(),
            cache_write: "0".into(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prices {
    input: String,
    output: String,
    cache_read: String,
    cache_write: String,
    /// Twice the price of input where it is absent, as vendors have it.
    cache_write_1h: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetirementEntry {
    announced_at: String,
    retired_at: String,
    recommended_replacement: String,
    docs_url: String,
}

/// Which wire family serves a model (`provider kind` of the specification's catalogue).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ProviderKind {
    /// The messages format.
    A,
    /// The chat-completions and responses formats.
    B,
}

impl ProviderKind {
    /// The word of `kind` and of audit rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// The wire family that a driver speaks, told by a model that it is the first to serve.
pub fn kind_of(models: &[Model], driver: &str) -> Option<ProviderKind> {
    let is_first = |model: &&Model| model.first_driver() == Some(driver);
    models.iter().find(is_first).map(|model| model.kind)
}

/// Who may use a model (spec, Model catalog).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Every plan.
    Standard,
    /// Organizations that have enabled it.
    Premium,
}

/// One model that callers may name.
pub struct Model {
    /// Catalogue id, the same on every surface.
    pub id: String,
    /// Ways to the model in the order in which they are tried; at least one.
    pub routes: Vec<ModelRoute>,
    pub kind: ProviderKind,
    /// When the model came into the catalogue.
    pub released_at: Timestamp,
    pub access: Access,
    pub price: Price,
    /// A prompt that is longer for certain is refused before anything is sent (contract 21).
    pub context_window_tokens: u64,
    /// Of one reply; what asks for more gets this.
    pub max_output_tokens: u32,
    pub sampling: SamplingRule,
    /// What it takes beside text, as `models.toml` has it.
    pub features: Vec<String>,
    pub retirement: Option<Retirement>,
}

/// One way to a model.
pub struct ModelRoute {
    /// Name of the provider in the configuration.
    pub provider: String,
    /// Id of the driver plugin that speaks its wire format.
    pub driver: String,
    /// The provider's own name of the model.
    pub upstream_model: String,
}

impl Model {
    /// Id of the driver whose reasoning callers bring, as far as nothing says otherwise.
    pub(crate) fn first_driver(&self) -> Option<&str> {
        self.routes.first().map(|route| &*route.driver)
    }

    /// What a run of this chat is charged at.
    pub(crate) fn price_of(&self, chat: &ChatRequest) -> Price {
        if chat.writes_for_an_hour() {
            self.price.with_hour_long_writes()
        } else {
            self.price
        }
    }
}

impl ModelRoute {
    fn new(provider: String, upstream_model: String, driver: Option<String>) -> Self {
        let driver = driver.unwrap_or_else(|| format!("provider-{provider}"));
        Self {
            provider,
            driver,
            upstream_model,
        }
    }
}

/// The end of a model, at least 90 days after it was announced (spec, Limits).
#[derive(Clone, Debug)]
pub struct Retirement {
    pub announced_at: Timestamp,
    /// From then on `MODEL_RETIRED`.
    pub retired_at: Timestamp,
    /// Catalogue id.
    pub recommended_replacement: String,
    pub docs_url: String,
}

/// The models of `models.toml`, with their prices and what their features are.
pub struct Catalogue {
    /// The version of the prices: ledger rows name it.
    pub price_list: String,
    /// In the order of the file.
    pub models: Vec<Model>,
    /// Feature name → HIPAA eligibility.
    features: BTreeMap<String, bool>,
}

/// Names of the providers that a `models.toml` speaks of, as far as it can be read.
pub fn named_providers(text: &str) -> BTreeSet<String> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        model: Vec<Way>,
    }
    #[derive(Deserialize)]
    struct Way {
        provider: Option<String>,
        #[serde(default)]
        fallback: Vec<Self>,
    }
    let named: Option<Named> = toml::from_str(text).ok();
    let models = named.into_iter().flat_map(|named| named.model);
    let ways = models.flat_map(|model| {
        model
            .fallback
            .into_iter()
            .map(|way| way.provider)
            .chain([model.provider])
    });
    ways.flatten().collect()
}

impl Catalogue {
    /// The model of this catalogue id, retired or not.
    pub fn find(&self, id: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.id == id)
    }

    /// Names of the features of which the file says whether they are HIPAA-eligible.
    pub fn marked_features(&self) -> impl Iterator<Item = &str> {
        self.features.keys().map(String::as_str)
    }

    /// Whether a feature may be used without the organization's own decision. Unmarked ones may not.
    pub fn hipaa_eligible(&self, feature: &str) -> bool {
        self.features.get(feature).copied().unwrap_or(false)
    }

    pub(crate) fn build(
        file: File,
        source: Source<'_>,
        providers: &[String],
        findings: &mut Findings,
    ) -> Self {
        let name = source.file;
        let mut models: Vec<Model> = Vec::with_capacity(file.model.len());
        for entry in file.model {
            unknown_providers(&entry, source, providers, findings);
            empty(&entry, name, findings);
            impossible(&entry, name, findings);
            unknown_features(&entry, &file.features, name, findings);
            if models.iter().any(|other| other.id == entry.id) {
                findings.add(name, format!("model {} stands twice", entry.id));
            }
            models.push(model(entry, name, findings));
        }
        if !models.iter().any(|model| model.id == native::DEFAULT_MODEL) {
            findings.add(
                name,
                format!(
                    "no model {}: native requests that name none are for it",
                    native::DEFAULT_MODEL
                ),
            );
        }
        for model in &models {
            if let Some(problem) = bad_replacement(model, &models) {
                let message = format!("model {}: recommended_replacement {problem}", model.id);
                findings.add(name, message);
            }
        }
        let features = file
            .features
            .into_iter()
            .map(|(feature, entry)| (feature, entry.hipaa_eligible))
            .collect();
        Self {
            price_list: file.price_list,
            models,
            features,
        }
    }
}

/// What is wrong with the model that a retirement recommends.
fn bad_replacement(model: &Model, models: &[Model]) -> Option<&'static str> {
    let recommended = &model.retirement.as_ref()?.recommended_replacement;
    match models.iter().find(|other| other.id == *recommended) {
        None => Some("names no model"),
        Some(other) if other.id == model.id => Some("is the model itself"),
        Some(other) if other.retirement.is_some() => Some("is to be retired itself"),
        Some(_) => None,
    }
}

fn model(entry: Entry, name: &str, findings: &mut Findings) -> Model {
    let id = entry.id;
    let mut decimal = |field: &str, text: &str| {
        Micro::parse(text)
            .filter(|value| value.0 >= 0)
            .unwrap_or_else(|| {
                findings.add(
                    name,
                    format!("model {id}: {field} is not a decimal with at most six digits after the point, or too large"),
                );
                Micro::ZERO
            })
    };
    let usd = &entry.usd_per_million;
    let usd_input = decimal("usd_per_million.input", &usd.input);
    let usd_cache_write = decimal("usd_per_million.cache_write", &usd.cache_write);
    let usd_cache_write_1h = match &usd.cache_write_1h {
        Some(text) => decimal("usd_per_million.cache_write_1h", text),
        // Where no write costs anything.
        None if usd_cache_write == Micro::ZERO => Micro::ZERO,
        None => Micro(usd_input.0.saturating_mul(2)),
    };
    let price = Price {
        relative_cost: decimal("relative_cost", &entry.relative_cost),
        weight_read: decimal("weights.cache_read", &entry.weights.cache_read),
        weight_write: decimal("weights.cache_write", &entry.weights.cache_write),
        usd_input,
        usd_output: decimal("usd_per_million.output", &usd.output),
        usd_cache_read: decimal("usd_per_million.cache_read", &usd.cache_read),
        usd_cache_write,
        usd_cache_write_1h,
    };
    let released_at = Timestamp::parse(&entry.released_at).unwrap_or_else(|| {
        findings.add(name, format!("model {id}: released_at must be RFC 3339"));
        Timestamp(0)
    });
    let otherwise = entry.temperature_otherwise;
    let sampling = SamplingRule::parse(&entry.temperature, otherwise).unwrap_or_else(|| {
        findings.add(
            name,
            format!(
                "model {id}: temperature is neither \"none\" nor a range from 0 on such as \"0..1\""
            ),
        );
        SamplingRule::default_alone(otherwise)
    });
    let retirement = entry
        .retirement
        .and_then(|entry| retirement(entry, &id, name, findings));
    let mut routes = vec![ModelRoute::new(
        entry.provider.into_inner(),
        entry.upstream_model,
        entry.driver,
    )];
    let fallbacks = entry.fallback.into_iter();
    routes.extend(
        fallbacks
            .map(|way| ModelRoute::new(way.provider.into_inner(), way.upstream_model, way.driver)),
    );
    Model {
        id,
        routes,
        kind: entry.kind,
        released_at,
        access: entry.access,
        price,
        context_window_tokens: entry.context_window_tokens,
        max_output_tokens: entry.max_output_tokens.max(1),
        sampling,
        features: entry.features,
        retirement,
    }
}

/// What a model cannot be without.
fn empty(entry: &Entry, name: &str, findings: &mut Findings) {
    let ways = entry.fallback.iter().map(|way| &way.upstream_model);
    let mut upstream = std::iter::once(&entry.upstream_model).chain(ways);
    for (field, is_empty) in [
        ("id", entry.id.is_empty()),
        ("upstream_model", upstream.any(String::is_empty)),
        ("context_window_tokens", entry.context_window_tokens == 0),
        ("max_output_tokens", entry.max_output_tokens == 0),
    ] {
        if is_empty {
            findings.add(name, format!("model {}: {field} is empty or 0", entry.id));
        }
    }
}

/// What no caller could name, and what no reply could be.
fn impossible(entry: &Entry, name: &str, findings: &mut Findings) {
    let is_blank = |sign: char| sign.is_whitespace() || sign.is_control();
    if entry.id.contains(is_blank) {
        let message = format!("model {:?}: id holds blanks or line ends", entry.id);
        findings.add(name, message);
    }
    if u64::from(entry.max_output_tokens) > entry.context_window_tokens {
        let message = format!(
            "model {}: max_output_tokens is above context_window_tokens",
            entry.id
        );
        findings.add(name, message);
    }
}

/// Features that no part of a request is: a slip of the pen would take one away from the model.
fn unknown_features(
    entry: &Entry,
    marked: &BTreeMap<String, FeatureEntry>,
    name: &str,
    findings: &mut Findings,
) {
    for feature in &entry.features {
        let is_known =
            MODEL_FEATURES.contains(&feature.as_str()) || marked.contains_key(feature.as_str());
        if !is_known {
            let message = format!(
                "model {}: unknown feature {feature}; known are {}",
                entry.id,
                MODEL_FEATURES.join(", ")
            );
            findings.add(name, message);
        }
    }
}

/// Providers of a model's routes that the configuration does not know: they could never answer.
fn unknown_providers(
    entry: &Entry,
    source: Source<'_>,
    providers: &[String],
    findings: &mut Findings,
) {
    let ways = entry.fallback.iter().map(|way| &way.provider);
    for provider in std::iter::once(&entry.provider).chain(ways) {
        if !providers.contains(provider.get_ref()) {
            let message = format!(
                "model {}: unknown provider {}; known are {}; a further one needs an address in the configuration, which \
                 is read at startup",
                entry.id,
                provider.get_ref(),
                providers.join(", ")
            );
            findings.add_at(source, provider.span().start, message);
        }
    }
}

fn retirement(
    entry: RetirementEntry,
    id: &str,
    name: &str,
    findings: &mut Findings,
) -> Option<Retirement> {
    let (Some(announced_at), Some(retired_at)) = (
        Timestamp::parse(&entry.announced_at),
        Timestamp::parse(&entry.retired_at),
    ) else {
        findings.add(
            name,
            format!("model {id}: retirement dates must be RFC 3339"),
        );
        return None;
    };
    if retired_at.0 - announced_at.0 < RETIREMENT_NOTICE_MS {
        findings.add(
            name,
            format!("model {id}: a retirement needs at least 90 days of notice"),
        );
    }
    let RetirementEntry {
        recommended_replacement,
        docs_url,
        ..
    } = entry;
    if !is_web_address(&docs_url) {
        findings.add(
            name,
            format!("model {id}: docs_url is not an http:// or https:// address"),
        );
    }
    Some(Retirement {
        announced_at,
        retired_at,
        recommended_replacement,
        docs_url,
    })
}

fn is_web_address(text: &str) -> bool {
    let uri: Option<http::Uri> = text.parse().ok();
    uri.is_some_and(|uri| {
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        is_web && uri.host().is_some_and(|host| !host.is_empty())
    })
}
