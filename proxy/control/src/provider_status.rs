//! How the providers are doing, as far as this process has noticed (contract 18). Nothing is probed: without traffic
//! the answer is `unknown`.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};
use svc_core::secret::Mode;
use svc_pipeline::inference::{Circuit, Summary, WINDOW};
use svc_pipeline::moment;
use svc_pipeline::policy::models::{Model, ModelRoute, ProviderKind, kind_of};
use svc_pipeline::provider::Provider;
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

    /// Of a model whose routes lead to providers that fare so, in the order in which they are tried. It answers as long
    /// as one of them does. One that nothing is known of takes nothing away, and may answer the next call.
    fn of_model(routes: &[Self]) -> Self {
        let answers = |status: &Self| matches!(status, Self::Operational | Self::Degraded);
        let mut known = routes.iter().filter(|status| **status != Self::Unknown);
        match known.next() {
            Some(Self::Outage) if known.any(answers) => Self::Degraded,
            Some(Self::Outage) if routes.first() == Some(&Self::Unknown) => Self::Unknown,
            Some(first) => *first,
            None => Self::Unknown,
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
        let fares: BTreeMap<&str, Fare> = providers
            .iter()
            .map(|(name, provider)| (name.as_str(), Fare::of(provider, now)))
            .collect();
        let models = &call.policy.catalogue.models;
        let plugins = call.gateway.plugins.status();
        let speaks = |id: &str| {
            let mut plugins = plugins.iter();
            plugins.any(|plugin| plugin.id == id && plugin.serving.is_some())
        };
        let (mut shown_providers, mut statuses) = (Vec::new(), Vec::new());
        for (name, fare) in &fares {
            let ways = ways(models, name);
            let Some((first, way)) = ways.first() else {
                continue;
            };
            statuses.push(fare.status);
            let kind = kind_of(models, &way.driver).unwrap_or(first.kind);
            let driver = plugins.iter().find(|plugin| plugin.id == way.driver);
            let driver = driver.and_then(|plugin| Some((&*plugin.id, plugin.serving.as_ref()?)));
            let shown_models = ways.iter().map(|(model, _)| {
                let routes = model.routes.iter().filter(|route| speaks(&route.driver));
                let routes = routes.filter_map(|route| Some(fares.get(&*route.provider)?.status));
                let status = Status::of_model(&routes.collect::<Vec<_>>());
                json!({"id": model.id, "status": status.word()})
            });
            let shown_models = shown_models.collect();
            shown_providers.push(record(name, kind, fare, shown_models, driver));
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

/// What is known of a provider.
struct Fare {
    status: Status,
    circuit: Circuit,
    summary: Summary,
}

impl Fare {
    fn of(provider: &Provider, now: Instant) -> Self {
        let circuit = provider.breaker.circuit();
        let summary = provider.observed.summary(now);
        Self {
            status: Status::of(circuit, error_rate(&summary)),
            circuit,
            summary,
        }
    }
}

/// The models that may be had of a provider, each with its route there: those whose first route it is in front.
fn ways<'m>(models: &'m [Model], provider: &str) -> Vec<(&'m Model, &'m ModelRoute)> {
    let way = |model: &'m Model| {
        let mut routes = model.routes.iter().enumerate();
        let (rank, route) = routes.find(|(_, route)| route.provider == provider)?;
        Some((rank, model, route))
    };
    let mut ways: Vec<_> = models.iter().filter_map(way).collect();
    ways.sort_by_key(|(rank, _, _)| *rank > 0);
    ways.into_iter()
        .map(|(_, model, route)| (model, route))
        .collect()
}

/// Begins the ids of drivers by custom; the rest is their name.
const DRIVER_PREFIX: &str = "provider-";

fn record(
    name: &str,
    kind: ProviderKind,
    fare: &Fare,
    models: Vec<Value>,
    driver: Option<(&str, &PluginVersion)>,
) -> Value {
    let Fare {
        status,
        circuit,
        summary,
    } = fare;
    let Summary {
        requests,
        failures: _,
        p50_ms,
        p95_ms,
        last_success_at,
        last_error,
    } = summary;
    json!({
        "name": name,
        "kind": kind.word(),
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
        "models": models,
        "driver": driver.map(|(id, driver)| json!({
            "name": id.strip_prefix(DRIVER_PREFIX).unwrap_or(id),
            "version": driver.version,
            "digest": format!("sha256:{}", driver.digest),
            "loaded_at": driver.loaded_at.to_string(),
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_answers_as_long_as_one_of_its_routes_does() {
        use Status::{Degraded, Operational, Outage, Unknown};
        for (routes, status) in [
            (&[][..], Unknown),
            (&[Unknown], Unknown),
            (&[Outage], Outage),
            (&[Outage, Unknown], Outage),
            (&[Outage, Outage], Outage),
            (&[Outage, Operational], Degraded),
            (&[Outage, Unknown, Degraded], Degraded),
            (&[Operational, Outage], Operational),
            (&[Degraded, Operational], Degraded),
            (&[Unknown, Operational], Operational),
            (&[Unknown, Outage], Unknown),
            (&[Unknown, Outage, Operational], Degraded),
            (&[Outage, Unknown, Outage], Outage),
        ] {
            assert!(Status::of_model(routes) == status, "{}", status.word());
        }
    }
}
