//! Metrics per plugin and version. Labels are words of our own and of the manifest (ids, versions, names of
//! counters); no guest can name one.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry,
};

use crate::error::{KillReason, PluginError};

const VERSION_LABELS: [&str; 2] = ["plugin", "version"];
/// Seconds: a call on a warm slot takes ten microseconds, a killed one a few hundred milliseconds.
const LATENCY_BUCKETS: [f64; 12] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.01, 0.05, 0.25,
    1.0,
];

/// The families, registered once.
pub(crate) struct Families {
    calls: IntCounterVec,
    latency: HistogramVec,
    instantiate: HistogramVec,
    kills: IntCounterVec,
    counters: IntCounterVec,
    removed: IntGaugeVec,
}

/// The metrics of one version.
pub(crate) struct VersionMetrics {
    id: String,
    version: String,
    calls: IntCounterVec,
    latency: HistogramVec,
    instantiate: Histogram,
    kills: IntCounterVec,
    /// Looked up once: a streamed reply makes a call for every event.
    usual: [OnceLock<Usual>; Function::COUNT],
}

/// What a call counts that ends well.
struct Usual {
    latency: Histogram,
    good: IntCounter,
}

/// A function of a guest that serves requests.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    Detect,
    Start,
    Head,
    Push,
    Close,
    Count,
    Parse,
}

impl Function {
    const COUNT: usize = Self::Parse as usize + 1;

    const fn word(self) -> &'static str {
        match self {
            Self::Detect => "detect",
            Self::Start => "start",
            Self::Head => "head",
            Self::Push => "push",
            Self::Close => "close",
            Self::Count => "count",
            Self::Parse => "parse",
        }
    }
}

impl Families {
    pub(crate) fn new() -> Result<Self, prometheus::Error> {
        let histogram = |name: &str, help: &str| {
            HistogramOpts::new(name, help).buckets(LATENCY_BUCKETS.to_vec())
        };
        Ok(Self {
            calls: IntCounterVec::new(
                Opts::new(
                    "svc_plugin_calls_total",
                    "Calls of plugins by function and outcome.",
                ),
                &["plugin", "version", "function", "outcome"],
            )?,
            latency: HistogramVec::new(
                histogram(
                    "svc_plugin_call_seconds",
                    "Time of a plugin call, waiting for its turn included.",
                ),
                &["plugin", "version", "function"],
            )?,
            instantiate: HistogramVec::new(
                histogram(
                    "svc_plugin_instantiate_seconds",
                    "Time to make and configure an instance.",
                ),
                &VERSION_LABELS,
            )?,
            kills: IntCounterVec::new(
                Opts::new(
                    "svc_plugin_kills_total",
                    "Plugin calls that the host ended, by reason.",
                ),
                &["plugin", "version", "reason"],
            )?,
            counters: IntCounterVec::new(
                Opts::new(
                    "svc_plugin_counter_total",
                    "What plugins counted themselves, by the names of their manifests.",
                ),
                &["plugin", "version", "counter"],
            )?,
            removed: IntGaugeVec::new(
                Opts::new(
                    "svc_plugin_removed",
                    "1 while a plugin serves that no folder offers any more.",
                ),
                &["plugin"],
            )?,
        })
    }

    pub(crate) fn register(&self, registry: &Registry) -> Result<(), prometheus::Error> {
        registry.register(Box::new(self.calls.clone()))?;
        registry.register(Box::new(self.latency.clone()))?;
        registry.register(Box::new(self.instantiate.clone()))?;
        registry.register(Box::new(self.kills.clone()))?;
        registry.register(Box::new(self.counters.clone()))?;
        registry.register(Box::new(self.removed.clone()))
    }

    /// The counters of one version, in the order of their names.
    pub(crate) fn counters(&self, id: &str, version: &str, names: &[String]) -> Arc<[IntCounter]> {
        names
            .iter()
            .map(|name| self.counters.with_label_values(&[id, version, name]))
            .collect()
    }

    /// Whether no folder offers any more what serves under an id.
    pub(crate) fn removed(&self, id: &str, is_removed: bool) {
        let gauge = self.removed.with_label_values(&[id]);
        gauge.set(is_removed.into());
    }

    /// The metrics of a version. Its kills are there from the beginning: nobody sees the first one rise where there was
    /// nothing before.
    pub(crate) fn version(&self, id: &str, version: &str) -> VersionMetrics {
        for reason in KillReason::ALL {
            self.kills.with_label_values(&[id, version, reason.word()]);
        }
        VersionMetrics {
            id: id.to_owned(),
            version: version.to_owned(),
            calls: self.calls.clone(),
            latency: self.latency.clone(),
            instantiate: self.instantiate.with_label_values(&[id, version]),
            kills: self.kills.clone(),
            usual: std::array::from_fn(|_| OnceLock::new()),
        }
    }
}

impl VersionMetrics {
    /// Makes one call and counts it.
    pub(crate) async fn measured<T, E>(
        &self,
        function: Function,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E>
    where
        for<'a> Outcome<'a>: From<&'a E>,
    {
        let began = Instant::now();
        let answer = call.await;
        let outcome = answer.as_ref().err().map_or(Outcome::Good, Outcome::from);
        self.called(function, began.elapsed(), outcome);
        answer
    }

    pub(crate) fn instantiated(&self, elapsed: Duration) {
        self.instantiate.observe(elapsed.as_secs_f64());
    }

    fn called(&self, function: Function, elapsed: Duration, outcome: Outcome<'_>) {
        let Some(usual) = self.usual.get(function as usize) else {
            return;
        };
        let usual = usual.get_or_init(|| {
            let (id, version, function) =
                (self.id.as_str(), self.version.as_str(), function.word());
            let good = [id, version, function, Outcome::Good.word()];
            Usual {
                latency: self.latency.with_label_values(&[id, version, function]),
                good: self.calls.with_label_values(&good),
            }
        });
        usual.latency.observe(elapsed.as_secs_f64());
        if matches!(outcome, Outcome::Good) {
            usual.good.inc();
            return;
        }
        let labels = [&self.id, &self.version, function.word(), outcome.word()];
        self.calls.with_label_values(&labels).inc();
        if let Outcome::Failed(PluginError::Killed(reason)) = outcome {
            self.kills
                .with_label_values(&[&self.id, &self.version, reason.word()])
                .inc();
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy)]
pub(crate) enum Outcome<'a> {
    Good,
    /// A failure that the guest reported as it should.
    Fault,
    Failed(&'a PluginError),
}

impl<'a> From<&'a PluginError> for Outcome<'a> {
    fn from(error: &'a PluginError) -> Self {
        Self::Failed(error)
    }
}

impl Outcome<'_> {
    const fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Fault => "fault",
            Self::Failed(error) => error.word(),
        }
    }
}
