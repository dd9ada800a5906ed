//! What the gateway counts. Labels are names from policies and catalogues, never anything that a caller sent.

use std::time::Duration;

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry,
};
use svc_core::chat::Usage;

use crate::filter;

/// Seconds; from a filter's microseconds to a long generation.
const FAST_SECONDS: &[f64] = &[
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05,
    0.25, 1.0,
];
/// Boundaries of the OpenTelemetry conventions for `gen_ai.server.request.duration`.
const SLOW_SECONDS: &[f64] = &[
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
/// Boundaries of the OpenTelemetry conventions for `gen_ai.client.token.usage`.
const TOKENS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
];

/// What is counted of requests, runs and this process itself, for `/metrics`.
pub struct Metrics {
    /// Responses, by route and status.
    pub requests: IntCounterVec,
    /// One of each filter: they are in the way of every request, and looking one up takes as long as the smaller ones.
    filter_seconds: Vec<(&'static str, Histogram)>,
    /// From the request head to the first upstream byte: what the gateway itself adds before the model starts.
    pub overhead_seconds: Histogram,
    /// Tokens of a run, by model and kind (`input`, `output`).
    pub token_usage: HistogramVec,
    /// From the request head to the end of the reply, by model and error.
    pub request_seconds: HistogramVec,
    /// From the request head to the first piece of content, by model.
    pub first_token_seconds: HistogramVec,
    /// For each output token after the first, by model.
    pub output_token_seconds: HistogramVec,
    /// Findings and placeholders, by kind and what was done with them.
    pub phi_entities: IntCounterVec,
    /// All detectors over one request.
    pub phi_scan_seconds: Histogram,
    /// Texts that a detector had read before (`hit`) or had to read (`miss`).
    pub phi_results: IntCounterVec,
    /// Of the policy set in force.
    pub policy_epoch: IntGauge,
    /// By outcome: `accepted` or `refused`.
    pub policy_reloads: IntCounterVec,
    /// Runs whose intent has no terminal row yet.
    pub unsettled: IntGauge,
    /// Those of them whose end could not be written when it came.
    pub unwritten: IntGauge,
    /// Seconds since every audit row was sealed.
    pub audit_seal_lag: IntGauge,
    /// Audit rows that stand in the place of sealed ones.
    pub audit_replaced: IntCounter,
    /// From the request head to the end of a solve, by solver status.
    pub solve_seconds: HistogramVec,
    /// Specs that waited for a worker when the last one was taken in.
    pub solve_waiting: IntGauge,
    /// 1 while shared counters of rate limits do not answer.
    pub limits_down: IntGauge,
    /// Replicas that were alive when the store was last asked, this one among them.
    pub replicas: IntGauge,
    /// Cycles whose sums were not those of their ledger. Expected: none, ever.
    pub usage_drifts: IntCounter,
}

impl Metrics {
    /// Makes every metric and enters it in the registry.
    ///
    /// # Errors
    /// When a name is taken.
    pub fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let filter_seconds = histograms(
            "svc_filter_duration_seconds",
            "Time in one filter.",
            FAST_SECONDS,
            &["filter"],
        )?;
        registry.register(Box::new(filter_seconds.clone()))?;
        let metrics = Self {
            requests: IntCounterVec::new(
                Opts::new("svc_requests_total", "Responses by route and status."),
                &["route", "status"],
            )?,
            filter_seconds: filter::names()
                .map(|name| (name, filter_seconds.with_label_values(&[name])))
                .collect(),
            overhead_seconds: Histogram::with_opts(
                HistogramOpts::new(
                    "svc_overhead_seconds",
                    "From the request head to the first upstream byte.",
                )
                .buckets(FAST_SECONDS.to_vec()),
            )?,
            token_usage: histograms(
                "gen_ai_client_token_usage",
                "Tokens of one run.",
                TOKENS,
                &["gen_ai_request_model", "gen_ai_token_type"],
            )?,
            request_seconds: histograms(
                "gen_ai_server_request_duration_seconds",
                "From the request head to the end of the reply.",
                SLOW_SECONDS,
                &["gen_ai_request_model", "error_type"],
            )?,
            first_token_seconds: histograms(
                "gen_ai_server_time_to_first_token_seconds",
                "From the request head to the first piece of content.",
                SLOW_SECONDS,
                &["gen_ai_request_model"],
            )?,
            output_token_seconds: histograms(
                "gen_ai_server_time_per_output_token_seconds",
                "Time per output token after the first.",
                FAST_SECONDS,
                &["gen_ai_request_model"],
            )?,
            phi_entities: IntCounterVec::new(
                Opts::new(
                    "svc_phi_entities_total",
                    "PHI findings in requests, by kind and what was done.",
                ),
                &["kind", "action"],
            )?,
            phi_scan_seconds: Histogram::with_opts(
                HistogramOpts::new(
                    "svc_phi_scan_seconds",
                    "Time of all detectors over one request.",
                )
                .buckets(FAST_SECONDS.to_vec()),
            )?,
            phi_results: IntCounterVec::new(
                Opts::new(
                    "svc_phi_results_total",
                    "Texts that a detector had read before (hit) or had to read (miss).",
                ),
                &["outcome"],
            )?,
            policy_epoch: IntGauge::new("svc_policy_epoch", "Epoch of the policy set in force.")?,
            policy_reloads: IntCounterVec::new(
                Opts::new("svc_policy_reloads_total", "Policy reloads by outcome."),
                &["outcome"],
            )?,
            unsettled: IntGauge::new(
                "svc_unsettled_runs",
                "Runs whose audit intent has no terminal row yet.",
            )?,
            unwritten: IntGauge::new(
                "svc_unwritten_runs",
                "Runs that have ended and whose end could not be written to the store yet.",
            )?,
            audit_seal_lag: IntGauge::new(
                "svc_audit_seal_lag_seconds",
                "Seconds since every audit row was sealed; more than a few mean that the sealer is behind or cannot seal.",
            )?,
            audit_replaced: IntCounter::new(
                "svc_audit_replaced_total",
                "Audit rows that somebody has put in the place of sealed ones, past the triggers of the database.",
            )?,
            solve_seconds: histograms(
                "svc_solve_duration_seconds",
                "From the request head to the end of a solve call, by solver status.",
                SLOW_SECONDS,
                &["status"],
            )?,
            solve_waiting: IntGauge::new(
                "svc_solve_waiting",
                "Specs that waited for a worker when the last one was taken in.",
            )?,
            limits_down: IntGauge::new(
                "svc_limits_down",
                "1 while shared counters of rate limits do not answer and this replica counts its part by itself.",
            )?,
            replicas: IntGauge::new(
                "svc_replicas",
                "Replicas that were alive when the store was last asked.",
            )?,
            usage_drifts: IntCounter::new(
                "svc_usage_drifts_total",
                "Billing cycles whose sums were not those of their ledger.",
            )?,
        };
        let Self {
            requests,
            filter_seconds: _,
            overhead_seconds,
            token_usage,
            request_seconds,
            first_token_seconds,
            output_token_seconds,
            phi_entities,
            phi_scan_seconds,
            phi_results,
            policy_epoch,
            policy_reloads,
            unsettled,
            unwritten,
            audit_seal_lag,
            audit_replaced,
            solve_seconds,
            solve_waiting,
            limits_down,
            replicas,
            usage_drifts,
        } = &metrics;
        registry.register(Box::new(requests.clone()))?;
        registry.register(Box::new(overhead_seconds.clone()))?;
        registry.register(Box::new(phi_scan_seconds.clone()))?;
        registry.register(Box::new(phi_entities.clone()))?;
        registry.register(Box::new(phi_results.clone()))?;
        registry.register(Box::new(policy_epoch.clone()))?;
        registry.register(Box::new(policy_reloads.clone()))?;
        registry.register(Box::new(unsettled.clone()))?;
        registry.register(Box::new(unwritten.clone()))?;
        registry.register(Box::new(audit_seal_lag.clone()))?;
        registry.register(Box::new(audit_replaced.clone()))?;
        registry.register(Box::new(solve_waiting.clone()))?;
        registry.register(Box::new(limits_down.clone()))?;
        registry.register(Box::new(replicas.clone()))?;
        registry.register(Box::new(usage_drifts.clone()))?;
        for histogram in [
            token_usage,
            request_seconds,
            first_token_seconds,
            output_token_seconds,
            solve_seconds,
        ] {
            registry.register(Box::new(histogram.clone()))?;
        }
        // Nobody sees the first one rise where there was nothing before.
        for outcome in ["accepted", "refused"] {
            policy_reloads.with_label_values(&[outcome]);
        }
        Ok(metrics)
    }

    /// Time in one filter.
    pub(crate) fn filtered(&self, name: &'static str, elapsed: Duration) {
        let mut all = self.filter_seconds.iter();
        if let Some((_, seconds)) = all.find(|(known, _)| *known == name) {
            seconds.observe(elapsed.as_secs_f64());
        }
    }

    /// One finished run. `error_type` is the label of [`Self::request_seconds`].
    pub fn run(&self, model: &str, error_type: &str, usage: Usage, timing: &Timing) {
        let tokens = |kind: &str, count: u64| {
            self.token_usage
                .with_label_values(&[model, kind])
                .observe(approximate(count));
        };
        tokens("input", usage.input_tokens);
        tokens("output", usage.output_tokens);
        self.request_seconds
            .with_label_values(&[model, error_type])
            .observe(timing.total.as_secs_f64());
        let Some(first) = timing.first_token else {
            return;
        };
        self.first_token_seconds
            .with_label_values(&[model])
            .observe(first.as_secs_f64());
        if usage.output_tokens > 1 {
            let rest = timing.total.saturating_sub(first).as_secs_f64()
                / approximate(usage.output_tokens - 1);
            self.output_token_seconds
                .with_label_values(&[model])
                .observe(rest);
        }
    }
}

/// Durations of one run, all from the request head on.
pub struct Timing {
    /// To the end of the reply.
    pub total: Duration,
    /// To the first piece of content; `None` without any.
    pub first_token: Option<Duration>,
}

#[expect(clippy::cast_precision_loss, reason = "a metric, not a sum of money")]
fn approximate(count: u64) -> f64 {
    count as f64
}

fn histograms(
    name: &str,
    help: &str,
    buckets: &[f64],
    labels: &[&str],
) -> Result<HistogramVec, prometheus::Error> {
    HistogramVec::new(
        HistogramOpts::new(name, help).buckets(buckets.to_vec()),
        labels,
    )
}
