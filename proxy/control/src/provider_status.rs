//! How the providers are doing, as far as this process has noticed (contract 18). Nothing is probed: without traffic
//! the answer is `unknown`.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};
use svc_core::secret::Mode;
use svc_pipeline::inference::{Circuit, Summary, WINDOW};
use svc_pipeline::moment;
use svc_pipeline::policy::models::Model;
use svc_plugin::PluginVersion;

use crate::call::{Answering, Call, Reply, shown};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Operational,
    Degraded,
    Outage,
    Unknown,
}

/// Above these parts of failing requests a provider counts as degraded and as out.
const DEGRADED_FROM: f64 = 0.05;
const OUTAGE_FROM: f64 = 0.5;
/// Decimal places of an error rate.
const RATE_SCALE: f64 = 10_000.0;

impl Status {
    const fn word(self) -> &'static str {
        match self {
            Self::Operational => "operational",
            Self::Degraded => "degraded",
            Self::Outage => "outage",
            Self::Unknown => "unknown",
        }
    }

    fn of(circuit: Circuit, error_rate: Option<f64>) -> Self {
        match (circuit, error_rate) {
            (Circuit::Open, _) => Self::Outage,
            (_, Some(rate)) if rate >= OUTAGE_FROM => Self::Outage,
            (Circuit::HalfOpen, _) => Self::Degraded,
            (Circuit::Closed, Some(rate)) if rate >= DEGRADED_FROM => Self::Degraded,
            (Circuit::Closed, Some(_)) => Self::Operational,
            (Circuit::Closed, None) => Self::Unknown,
        }
    }

    /// Of all providers together. One that nothing is known of takes nothing away.
    fn overall(all: &[Self]) -> Self {
        let is = |status| all.contains(&status);
        match (is(Self::Operational), is(Self::Degraded), is(Self::Outage)) {
            (false, false, true) => Self::Outage,
            (_, true, _) | (_, _, true) => Self::Degraded,
            (true, false, false) => Self::Operational,
            (false, false, false) => Self::Unknown,
        }
    }
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let now = Instant::now();
        let providers = match call.caller.mode {
            Mode::Live => &call.gateway.providers.live,
            Mode::Test => &call.gateway.providers.test,
        };
        // By provider: the models whose first route it is.
        let mut models: BTreeMap<&str, Vec<&Model>> = BTreeMap::new();
        for model in &call.policy.catalogue.models {
            if let Some(route) = model.routes.first() {
                models.entry(&route.provider).or_default().push(model);
            }
        }
        let plugins = call.gateway.plugins.status();
        let (mut shown_providers, mut statuses) = (Vec::new(), Vec::new());
        for (name, provider) in providers {
            let Some(models) = models.get(name.as_str()) else {
                continue;
            };
            let circuit = provider.breaker.circuit();
            let summary = provider.observed.summary(now);
            let status = Status::of(circuit, error_rate(&summary));
            statuses.push(status);
            let driver = models.first().and_then(|model| model.routes.first());
            let driver = driver.map_or("", |route| route.driver.as_str());
            let driver = plugins.iter().find(|plugin| plugin.id == driver);
            let driver = driver.and_then(|plugin| plugin.serving.as_ref());
            shown_providers.push(record(name, models, status, circuit, &summary, driver));
        }
        Ok(Reply::of(json!({
            "object": "provider_status",
            "status": Status::overall(&statuses).word(),
            "providers": shown_providers,
            "checked_at": moment::now().to_string(),
        })))
    })
}

fn error_rate(summary: &Summary) -> Option<f64> {
    let rate = summary.failures as f64 / summary.requests as f64;
    (summary.requests > 0).then(|| (rate * RATE_SCALE).round() / RATE_SCALE)
}

fn record(
    name: &str,
    models: &[&Model],
    status: Status,
    circuit: Circuit,
    summary: &Summary,
    driver: Option<&PluginVersion>,
) -> Value {
    let Summary {
        requests,
        failures: _,
        p50_ms,
        p95_ms,
        last_success_at,
        last_error,
    } = summary;
    let models_shown = models.iter();
    let models_shown = models_shown.map(|model| json!({"id": model.id, "status": status.word()}));
    json!({
        "name": name,
        "kind": models.first().map(|model| model.kind.word()),
        "status": status.word(),
        "circuit": match circuit {
            Circuit::Closed => "closed",
            Circuit::Open => "open",
            Circuit::HalfOpen => "half_open",
        },
        "window_seconds": WINDOW.as_secs(),
        "requests": requests,
        "error_rate": error_rate(summary),
        "latency_ms": {"p50": p50_ms, "p95": p95_ms},
        "last_success_at": shown(*last_success_at),
        "last_error": last_error.map(|(code, at)| json!({"code": code.word(), "at": at.to_string()})),
        "models": models_shown.collect::<Value>(),
        "driver": driver.map(|driver| json!({
            "name": name,
            "version": driver.version,
            "digest": format!("sha256:{}", driver.digest),
            "loaded_at": driver.loaded_at.to_string(),
        })),
    })
}
