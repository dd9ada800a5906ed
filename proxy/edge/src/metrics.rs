//! Collectors of the edge. Labels are words of the code, never a value of a request.

use prometheus::{IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

use crate::exchange::{BAD_HEAD, MISFRAMED};

/// Listener side.
#[derive(Clone)]
pub struct EdgeMetrics {
    pub(crate) connections_open: IntGauge,
    pub(crate) requests_in_flight: IntGauge,
    /// By stage: `request_body`, `response_head`, `response_body`.
    pub(crate) client_disconnects: IntCounterVec,
    /// By reason: `address`, `total`.
    pub(crate) connections_refused: IntCounterVec,
    /// By reason: `timeout`, `broken`.
    pub(crate) handshakes_failed: IntCounterVec,
    /// By reason: what the edge answered itself or closed without an answer.
    pub(crate) requests_refused: IntCounterVec,
    /// By result: `loaded`, `rejected`.
    pub(crate) certificate_loads: IntCounterVec,
}

impl EdgeMetrics {
    /// Makes every metric and enters it in the registry.
    ///
    /// # Errors
    /// When the registry holds one of the names already.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let metrics = Self {
            connections_open: IntGauge::new(
                "svc_edge_connections_open",
                "Client connections, all public listeners.",
            )?,
            requests_in_flight: IntGauge::new(
                "svc_edge_requests_in_flight",
                "Requests between their head and the end of their response.",
            )?,
            client_disconnects: known(
                "svc_edge_client_disconnects_total",
                "Clients that left before their response was complete.",
                "stage",
                &["request_body", "response_head", "response_body"],
            )?,
            connections_refused: known(
                "svc_edge_connections_refused_total",
                "Connections closed at once for a connection limit.",
                "reason",
                &["address", "total"],
            )?,
            handshakes_failed: known(
                "svc_edge_handshakes_failed_total",
                "TLS handshakes that took too long or were broken off.",
                "reason",
                &["timeout", "broken"],
            )?,
            requests_refused: known(
                "svc_edge_requests_refused_total",
                "Requests that no service saw.",
                "reason",
                &[
                    BAD_HEAD,
                    "header_invalid",
                    "header_timeout",
                    MISFRAMED,
                    "panic",
                    "shutdown",
                ],
            )?,
            certificate_loads: known(
                "svc_edge_certificate_loads_total",
                "Attempts to load the listener's certificate.",
                "result",
                &["loaded", "rejected"],
            )?,
        };
        registry.register(Box::new(metrics.connections_open.clone()))?;
        registry.register(Box::new(metrics.requests_in_flight.clone()))?;
        registry.register(Box::new(metrics.client_disconnects.clone()))?;
        registry.register(Box::new(metrics.connections_refused.clone()))?;
        registry.register(Box::new(metrics.handshakes_failed.clone()))?;
        registry.register(Box::new(metrics.requests_refused.clone()))?;
        registry.register(Box::new(metrics.certificate_loads.clone()))?;
        Ok(metrics)
    }
}

/// Connector side; `target` is the configured name of a target, never an address from a request.
#[derive(Clone)]
pub struct UpstreamMetrics {
    pub(crate) connects: IntCounterVec,
    pub(crate) reuses: IntCounterVec,
    pub(crate) stale_retries: IntCounterVec,
    pub(crate) errors: IntCounterVec,
    pub(crate) in_flight: IntGaugeVec,
}

impl UpstreamMetrics {
    /// Makes every metric and enters it in the registry.
    ///
    /// # Errors
    /// When the registry holds one of the names already.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let metrics = Self {
            connects: counters(
                "svc_upstream_connects_total",
                "New connections to a target.",
                &["target"],
            )?,
            reuses: counters(
                "svc_upstream_reuses_total",
                "Exchanges over a connection of the pool.",
                &["target"],
            )?,
            stale_retries: counters(
                "svc_upstream_stale_retries_total",
                "Exchanges repeated because a connection of the pool had gone stale.",
                &["target"],
            )?,
            errors: counters(
                "svc_upstream_errors_total",
                "Exchanges that failed, by word.",
                &["target", "error"],
            )?,
            in_flight: IntGaugeVec::new(
                Opts::new(
                    "svc_upstream_requests_in_flight",
                    "Exchanges between their start and the end of the response body.",
                ),
                &["target"],
            )?,
        };
        registry.register(Box::new(metrics.connects.clone()))?;
        registry.register(Box::new(metrics.reuses.clone()))?;
        registry.register(Box::new(metrics.stale_retries.clone()))?;
        registry.register(Box::new(metrics.errors.clone()))?;
        registry.register(Box::new(metrics.in_flight.clone()))?;
        Ok(metrics)
    }
}

/// Counters by one label, whose values are all there from the beginning: nobody sees the first one rise where there was
/// nothing before.
fn known(
    name: &str,
    help: &str,
    label: &str,
    values: &[&str],
) -> Result<IntCounterVec, prometheus::Error> {
    let counters = counters(name, help, &[label])?;
    for value in values {
        counters.with_label_values(&[value]);
    }
    Ok(counters)
}

fn counters(name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec, prometheus::Error> {
    IntCounterVec::new(Opts::new(name, help), labels)
}
