//! What is counted, and how it is told to Prometheus.
//!
//! One recorder a process; several servers in one process (tests) share it.

use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use mmw_core::place::Way;

use crate::fault::Code;

/// Upper bounds of the buckets of durations, in seconds.
const BUCKETS: [f64; 12] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0, 10.0,
];

static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Starts counting; later calls do nothing.
pub fn start() {
    HANDLE.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_buckets(&BUCKETS)
            .ok()?
            .build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).ok()?;
        metrics::describe_counter!("mmw_calls_total", "Calls of actions, by outcome.");
        metrics::describe_histogram!("mmw_call_seconds", "How long calls of actions took.");
        metrics::describe_counter!("mmw_http_requests_total", "HTTP requests, by status.");
        metrics::describe_gauge!("mmw_lane_waiting", "Errands that wait for a turn.");
        metrics::describe_gauge!("mmw_store_bytes", "Bytes of the store on disk.");
        metrics::describe_counter!("mmw_jobs_total", "Background jobs, by outcome.");
        metrics::describe_gauge!(
            "mmw_records_without_vector",
            "Records that are found by words only until the model has looked at them."
        );
        Some(handle)
    });
}

/// Counts a call of an action.
pub fn called(tool: &str, way: Way, fault: Option<Code>, took: Duration) {
    let outcome = fault.map_or("ok", Code::name);
    metrics::counter!(
        "mmw_calls_total",
        "tool" => tool.to_owned(), "way" => way.name(), "outcome" => outcome
    )
    .increment(1);
    metrics::histogram!("mmw_call_seconds", "tool" => tool.to_owned()).record(took);
}

/// Counts an HTTP request.
pub fn answered(route: &'static str, status: u16) {
    metrics::counter!(
        "mmw_http_requests_total",
        "route" => route, "status" => status.to_string()
    )
    .increment(1);
}

/// Counts a background job.
pub fn worked(kind: &str, outcome: &'static str) {
    metrics::counter!("mmw_jobs_total", "kind" => kind.to_owned(), "outcome" => outcome)
        .increment(1);
}

/// Notes how many records wait for a vector.
pub fn without_vector(n_records: u64) {
    #[allow(clippy::cast_precision_loss, reason = "a gauge is a float")]
    metrics::gauge!("mmw_records_without_vector").set(n_records as f64);
}

/// Returns everything that was counted, as Prometheus reads it.
#[must_use]
pub fn render(n_waiting: usize, store_bytes: Option<u64>) -> String {
    #[allow(clippy::cast_precision_loss, reason = "a gauge is a float")]
    {
        metrics::gauge!("mmw_lane_waiting").set(n_waiting as f64);
        if let Some(bytes) = store_bytes {
            metrics::gauge!("mmw_store_bytes").set(bytes as f64);
        }
    }
    HANDLE
        .get()
        .and_then(Option::as_ref)
        .map(|handle| {
            handle.run_upkeep();
            handle.render()
        })
        .unwrap_or_default()
}
