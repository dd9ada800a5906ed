//! Spans on their way to the collector. They are counted, and a collector that takes none is told of once: what it does
//! not take is lost. Never looks into a span.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};
use prometheus::{IntCounter, IntCounterVec, Opts};

/// How many spans there were, and what became of them.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    pub(super) family: IntCounterVec,
    ended: IntCounter,
    sent: IntCounter,
    lost: IntCounter,
}

impl Counts {
    pub(super) fn new() -> Result<Self, prometheus::Error> {
        let family = IntCounterVec::new(
            Opts::new(
                "svc_trace_spans_total",
                "Spans that ended, were sent to the collector, or were lost because it did not take them",
            ),
            &["outcome"],
        )?;
        let of = |outcome| family.with_label_values(&[outcome]);
        Ok(Self {
            ended: of("ended"),
            sent: of("sent"),
            lost: of("lost"),
            family,
        })
    }
}

/// Counts what a processor is given. What it has no room for it drops without a word: that much is missing from `sent`
/// and `lost`.
#[derive(Debug)]
pub(super) struct Counted<P> {
    pub(super) processor: P,
    pub(super) counts: Counts,
}

impl<P: SpanProcessor> SpanProcessor for Counted<P> {
    fn on_start(&self, span: &mut Span, cx: &Context) {
        self.processor.on_start(span, cx);
    }

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() {
            self.counts.ended.inc();
        }
        self.processor.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.processor.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.processor.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.processor.set_resource(resource);
    }
}

/// Tells when the collector goes away, and when it is back.
#[derive(Debug)]
pub(super) struct Watched<E> {
    exporter: E,
    counts: Counts,
    is_away: AtomicBool,
}

impl<E> Watched<E> {
    pub(super) fn new(exporter: E, counts: Counts) -> Self {
        Self {
            exporter,
            counts,
            is_away: AtomicBool::new(false),
        }
    }
}

impl<E: SpanExporter> SpanExporter for Watched<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let exported = self.exporter.export(batch).await;
        let was_away = self.is_away.swap(exported.is_err(), Ordering::AcqRel);
        match &exported {
            Ok(()) => {
                self.counts.sent.inc_by(count);
                if was_away {
                    tracing::info!("the trace collector takes spans again");
                }
            }
            Err(error) => {
                self.counts.lost.inc_by(count);
                if !was_away {
                    tracing::warn!(%error, "the trace collector takes no spans; until it does, they are lost");
                }
            }
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
