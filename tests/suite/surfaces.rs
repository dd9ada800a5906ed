//! The three inference surfaces beside one another, and the two provider kinds: frozen transcripts, and what holds for
//! every conversation and every reply.

mod edges;
mod faults;
mod replies;
mod requests;
mod schemas;
mod transcripts;
mod vendors;

use serde_json::Value;
use svc_tests::surfaces::Surface;
use svc_tests::wire::Answer;
use svc_tests::world::World;

pub(crate) async fn ask(world: &World, key: &str, surface: Surface, body: &Value) -> Answer {
    world.gateway.answer(&surface.request(key, body)).await
}
