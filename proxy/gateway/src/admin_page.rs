//! What the admin listener answers: whether this process lives, whether it is ready, and its metrics.

use std::time::Instant;

use bytes::Bytes;
use prometheus::{Encoder, Registry, TextEncoder};
use serde_json::json;
use svc_edge::{AdminReply, PublicDoor};
use svc_pipeline::gateway::Gateway;

/// What stands at a path; `None` where nothing does.
pub(crate) async fn answer(
    gateway: &Gateway,
    registry: &Registry,
    path: &str,
    door: PublicDoor,
) -> Option<AdminReply> {
    match path {
        "/healthz" => Some(AdminReply {
            status: 200,
            content_type: "text/plain",
            body: Bytes::from_static(b"ok\n"),
        }),
        "/readyz" => Some(readiness(gateway, door).await),
        "/metrics" => {
            let mut body = Vec::new();
            let encoder = TextEncoder::new();
            match encoder.encode(&registry.gather(), &mut body) {
                Ok(()) => Some(AdminReply {
                    status: 200,
                    content_type: METRICS_TYPE,
                    body: body.into(),
                }),
                Err(error) => {
                    tracing::error!(%error, "metrics could not be encoded");
                    Some(AdminReply {
                        status: 500,
                        content_type: "text/plain",
                        body: Bytes::new(),
                    })
                }
            }
        }
        _ => None,
    }
}

const METRICS_TYPE: &str = "text/plain; version=0.0.4";

/// Ready means that an inference request could pass: the public listener is open and stays so, the store answers and
/// takes what is written, and every detector of the policy is loaded. Policy files that were refused are shown and leave
/// the gateway ready: a good set is in force.
async fn readiness(gateway: &Gateway, door: PublicDoor) -> AdminReply {
    let store = match gateway.store.ping().await {
        Ok(()) => gateway.pulse.refusal(Instant::now()),
        Err(error) => Some(error.to_string()),
    };
    let policy = gateway.policies.current();
    let missing: Vec<String> = policy
        .phi
        .detectors
        .iter()
        .filter_map(|id| {
            gateway
                .plugins
                .detector(id)
                .err()
                .map(|error| error.to_string())
        })
        .collect();
    let refused: Vec<String> = gateway
        .policies
        .refused()
        .iter()
        .map(ToString::to_string)
        .collect();
    let draining = door == PublicDoor::Closed;
    let ready = !draining && store.is_none() && missing.is_empty();
    let body = json!({
        "ready": ready,
        "draining": draining,
        "store": store,
        "detectors_missing": missing,
        "policy": {"epoch": policy.epoch, "digest": policy.digest, "refused": refused},
    });
    AdminReply {
        status: if ready { 200 } else { 503 },
        content_type: "application/json",
        body: body.to_string().into(),
    }
}
