//! Logs and traces. Both carry ids, codes and durations, never content.

mod spans;

use std::io::IsTerminal;
use std::sync::{LazyLock, mpsc};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use http::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::runtime::Tokio;
use opentelemetry_sdk::trace::SdkTracerProvider;
use opentelemetry_sdk::trace::span_processor_with_async_runtime::BatchSpanProcessor;
use parking_lot::Mutex;
use prometheus::Registry;
use svc_pipeline::service::TRACES;
use tracing::Span;
use tracing_log::{AsLog, LogTracer};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::{FilterExt, LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::configuration::{LogFormat, Telemetry};
use spans::{Counted, Counts, Watched};

/// Keeps the span exporter alive; dropping it sends what is buffered.
pub(crate) struct Exporter(Option<(SdkTracerProvider, Counts)>);

impl Exporter {
    /// Adds what became of the spans to `/metrics`, where there are any.
    ///
    /// # Errors
    /// When the name is taken.
    pub(crate) fn register(&self, registry: &Registry) -> Result<(), prometheus::Error> {
        match &self.0 {
            Some((_, counts)) => registry.register(Box::new(counts.family.clone())),
            None => Ok(()),
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let Some((provider, _)) = self.0.take() else {
            return;
        };
        let (done, ended) = mpsc::sync_channel(1);
        // The process is about to end, and this thread with it; spans that the collector does not take now are lost
        // either way.
        let flushing = std::thread::Builder::new().name("last spans".to_owned());
        let flushing = flushing.spawn(move || {
            let _ = provider.shutdown();
            let _ = done.send(());
        });
        if flushing.is_ok() && ended.recv_timeout(LAST_EXPORT).is_err() {
            tracing::warn!("the collector did not take the last spans in time");
        }
    }
}

/// Starts logging to stderr and, where an endpoint is set, OTLP traces. Call it inside the runtime that is to
/// send them.
///
/// # Errors
/// A filter that does not parse, or an exporter that cannot be made.
pub(crate) fn start(configuration: &Telemetry) -> anyhow::Result<Exporter> {
    let filter = configuration.filter()?;
    let logs = match configuration.log_format {
        LogFormat::Text => fmt::layer()
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(std::io::stderr)
            .boxed(),
        LogFormat::Json => fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(std::io::stderr)
            .boxed(),
    };
    let provider = tracer(&configuration.otlp_endpoint)?;
    let traces = provider.as_ref().map(|(provider, _)| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("svc-gateway"))
            .with_location(false)
            .with_filter(Targets::new().with_target(TRACES, LevelFilter::TRACE))
    });
    tracing_subscriber::registry()
        .with(logs.with_filter(filter.and(silenced())))
        .with(traces)
        .try_init()?;
    hear_libraries()?;
    Ok(Exporter(provider))
}

/// What libraries say through the crate `log`, pingora first of all, becomes lines of ours.
fn hear_libraries() -> anyhow::Result<()> {
    static LIBRARIES: LazyLock<Libraries> = LazyLock::new(Libraries::new);
    log::set_logger(&*LIBRARIES).map_err(|error| anyhow!("{error}"))?;
    // Whatever no filter of ours lets pass is not even put together. Nor are the steps of libraries, whatever filter wants
    // to see ours: each word that a guest is given has some, within the time that it has.
    log::set_max_level(LevelFilter::current().as_log().min(log::LevelFilter::Debug));
    Ok(())
}

/// Makes `span` a child of the one that `traceparent` names (W3C Trace Context); without that header, or with one that
/// is none, it begins a trace of its own.
pub(crate) fn join(span: &Span, headers: &HeaderMap) {
    if headers.contains_key(TRACE_PARENT) {
        let parent = TraceContextPropagator::new().extract(&TraceParent(headers));
        // Refused by a span that no subscriber wants.
        let _ = span.set_parent(parent);
    }
}

const TRACE_PARENT: &str = "traceparent";

/// Headers as the propagator may see them: ids alone. `tracestate` has room for words of the caller's.
struct TraceParent<'h>(&'h HeaderMap);

impl Extractor for TraceParent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let value = (key == TRACE_PARENT).then(|| self.0.get(key))??;
        value.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACE_PARENT]
    }
}

/// What libraries say of their work is content, at the levels below: malformed paths and fields of callers, statements,
/// frames. No configuration brings it into the log.
fn silenced() -> Targets {
    Targets::new()
        .with_default(LevelFilter::INFO)
        // Its warnings are of what the other side of a connection sends.
        .with_target("rustls", LevelFilter::ERROR)
        .with_target(svc_store::NOTICES, LevelFilter::WARN)
        .with_targets(svc_edge::LOG_LEVELS)
        .with_target("svc_", LevelFilter::TRACE)
}

/// What libraries say through the crate `log`, but for what strangers make them say: that is theirs to choose.
struct Libraries {
    lines: LogTracer,
    /// When one of [`svc_edge::ACCEPTING`] was let through last.
    accepting: Mutex<Option<Instant>>,
}

impl Libraries {
    fn new() -> Self {
        Self {
            lines: LogTracer::new(),
            accepting: Mutex::default(),
        }
    }

    fn is_told(&self, record: &log::Record<'_>) -> bool {
        // A folder that was removed took its watch along, and that is found out.
        if record.target().starts_with("notify::") {
            return record.level() <= log::Level::Warn;
        }
        if record.target() != svc_edge::ACCEPTING {
            return true;
        }
        if record
            .args()
            .to_string()
            .starts_with(svc_edge::OF_A_STRANGER)
        {
            return false;
        }
        if record.level() > log::Level::Warn {
            return true;
        }
        let mut last = self.accepting.lock();
        let is_due = last.is_none_or(|last| last.elapsed() >= BETWEEN_LINES);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }
}

impl log::Log for Libraries {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        self.lines.enabled(metadata)
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.is_told(record) {
            self.lines.log(record);
        }
    }

    fn flush(&self) {
        self.lines.flush();
    }
}

fn tracer(endpoint: &str) -> anyhow::Result<Option<(SdkTracerProvider, Counts)>> {
    if endpoint.is_empty() {
        return Ok(None);
    }
    let client =
        opentelemetry_http::hyper::HyperClient::with_default_connector(EXPORT_TIMEOUT, None);
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .build()?;
    let resource = Resource::builder().with_service_name("svc-gateway").build();
    // The exporter's HTTP client needs tokio; the processor's own thread has none.
    let counts = Counts::new()?;
    let exporter = Watched::new(exporter, counts.clone());
    let processor = Counted {
        processor: BatchSpanProcessor::builder(exporter, Tokio).build(),
        counts: counts.clone(),
    };
    let provider = SdkTracerProvider::builder()
        .with_span_processor(processor)
        .with_resource(resource)
        .build();
    Ok(Some((provider, counts)))
}

/// 1 s: a machine that is short of what connections need does not write lines as fast as it can.
const BETWEEN_LINES: Duration = Duration::from_secs(1);
/// 2 s: a stop does not wait for a collector that does not answer.
const LAST_EXPORT: Duration = Duration::from_secs(2);
/// A collector that does not answer must not hold spans, and memory, for long.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write;
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_level_has_libraries_tell_what_callers_sent() {
        for level in ["trace", "debug,h2=trace", "h2::server=debug"] {
            let configuration = Telemetry {
                log_level: level.to_owned(),
                ..Telemetry::default()
            };
            let filter = configuration.filter().unwrap();
            let written = Written::default();
            let writer = written.clone();
            let logs = fmt::layer().with_writer(move || writer.clone());
            let logs = logs.with_filter(filter.and(silenced()));
            let subscriber = tracing_subscriber::registry().with(logs);
            tracing::subscriber::with_default(subscriber, || {
                tracing::debug!(target: "h2::server", "malformed path 1111");
                tracing::trace!(target: "hyper::proto", "2222");
                tracing::warn!(target: "h2::server", "3333");
                tracing::warn!(target: svc_edge::SHOWS_FIELDS, "5555");
                let libraries = Libraries::new();
                let listening = |message: &str| {
                    let mut record = log::Record::builder();
                    let record = record.level(log::Level::Error).target(svc_edge::ACCEPTING);
                    log::Log::log(&libraries, &record.args(format_args!("{message}")).build());
                };
                listening(&format!("{} error from 6666", svc_edge::OF_A_STRANGER));
                // What is said of every connection takes nobody's place.
                let mut record = log::Record::builder();
                let record = record.level(log::Level::Debug).target(svc_edge::ACCEPTING);
                log::Log::log(&libraries, &record.args(format_args!("new event!")).build());
                listening("Accept() failed: 7777");
                // Not again within the same second.
                listening("Accept() failed: 8888");
                let mut record = log::Record::builder();
                let record = record.level(log::Level::Info).target("notify::inotify");
                log::Log::log(
                    &libraries,
                    &record.args(format_args!("a lost watch")).build(),
                );
                tracing::info!(target: svc_store::NOTICES, "a notice");
                tracing::debug!(target: "svc_edge::connection", "4444");
            });
            let text = String::from_utf8(written.0.lock().clone()).unwrap();
            for content in [
                "1111",
                "2222",
                "5555",
                "6666",
                "8888",
                "a lost watch",
                "a notice",
            ] {
                assert!(!text.contains(content), "{level}: {text}");
            }
            assert!(text.contains("3333"), "{level}: {text}");
            // Who asks for one library alone hears no other.
            let is_everything = !level.starts_with("h2");
            for told in ["4444", "7777"] {
                assert_eq!(text.contains(told), is_everything, "{level}: {text}");
            }
        }
    }
}
