//! What the dispatcher counts. Labels are words of our own, never anything of an endpoint.

use prometheus::{Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, Opts, Registry};
use svc_store::webhook_endpoint::Disabled;

/// Seconds, from a loopback receiver to one that has taken its time, and beyond it for what had to wait.
const SECONDS: &[f64] = &[
    0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0,
];

/// What operators see of the dispatcher on `/metrics`.
#[derive(Clone)]
pub struct Metrics {
    /// By outcome: `delivered`, or the word of the error.
    pub attempts: IntCounterVec,
    /// Time of one attempt.
    pub attempt_seconds: Histogram,
    /// From the event's time to the start of its first attempt.
    pub first_attempt_seconds: Histogram,
    /// Attempts under way.
    pub in_flight: IntGauge,
    /// Deliveries that wait or are under way, on all replicas; counted up to 100,000.
    pub waiting: IntGauge,
    /// How long the delivery that has waited longest has been due.
    pub overdue_seconds: IntGauge,
    /// Deliveries that were given up.
    pub exhausted: IntCounter,
    /// Endpoints that were disabled, by reason.
    pub disabled: IntCounterVec,
    /// Results that came too late to count: the delivery was leased anew or ended meanwhile.
    pub late: IntCounter,
}

impl Metrics {
    /// Makes every metric and enters it in the registry.
    ///
    /// # Errors
    /// When a name is taken.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let histogram = |name: &str, help: &str| {
            Histogram::with_opts(HistogramOpts::new(name, help).buckets(SECONDS.to_vec()))
        };
        let metrics = Self {
            attempts: IntCounterVec::new(
                Opts::new(
                    "svc_webhook_attempts_total",
                    "Attempts to deliver, by outcome.",
                ),
                &["outcome"],
            )?,
            attempt_seconds: histogram("svc_webhook_attempt_seconds", "Time of one attempt.")?,
            first_attempt_seconds: histogram(
                "svc_webhook_first_attempt_seconds",
                "From an event to the start of its first attempt.",
            )?,
            in_flight: IntGauge::new("svc_webhook_in_flight", "Attempts under way.")?,
            waiting: IntGauge::new(
                "svc_webhook_waiting",
                "Deliveries that wait or are under way, on all replicas; counted up to 100,000.",
            )?,
            overdue_seconds: IntGauge::new(
                "svc_webhook_overdue_seconds",
                "For how long the delivery that has waited longest has been due.",
            )?,
            exhausted: IntCounter::new(
                "svc_webhook_exhausted_total",
                "Deliveries that were given up.",
            )?,
            disabled: IntCounterVec::new(
                Opts::new(
                    "svc_webhook_disabled_total",
                    "Endpoints disabled by the gateway.",
                ),
                &["reason"],
            )?,
            late: IntCounter::new(
                "svc_webhook_late_total",
                "Attempts whose lease had run out when they ended.",
            )?,
        };
        let Self {
            attempts,
            attempt_seconds,
            first_attempt_seconds,
            in_flight,
            waiting,
            overdue_seconds,
            exhausted,
            disabled,
            late,
        } = &metrics;
        for vector in [attempts, disabled] {
            registry.register(Box::new(vector.clone()))?;
        }
        for histogram in [attempt_seconds, first_attempt_seconds] {
            registry.register(Box::new(histogram.clone()))?;
        }
        for gauge in [in_flight, waiting, overdue_seconds] {
            registry.register(Box::new(gauge.clone()))?;
        }
        for counter in [exhausted, late] {
            registry.register(Box::new(counter.clone()))?;
        }
        // Nobody sees the first one rise where there was nothing before.
        for reason in [Disabled::Failing, Disabled::Gone] {
            disabled.with_label_values(&[reason.word()]);
        }
        Ok(metrics)
    }
}
