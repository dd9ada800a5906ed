//! TLS certificates, renewed while the gateway serves.

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::gateway::{chat, whole};
use svc_tests::patience::eventually;
use svc_tests::tls::{Files, Identity};
use svc_tests::wire::Connection;
use svc_tests::world::World;

async fn serves(world: &World, identity: &Identity, key: &str) {
    let stream = identity
        .connect(world.gateway.address, &["http/1.1"])
        .await
        .expect("a trusted certificate");
    let mut connection = Connection::over(stream);
    connection
        .send(&chat(key, whole(json!({"message": mark()}))).bytes())
        .await;
    assert_eq!(connection.reply().await.whole().await.0.status, 200);
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_and_a_broken_one_never() {
    let (first, second) = (Identity::fresh(), Identity::fresh());
    let files = Files::with(&first);
    let world = World::with(|setup| setup.tls(&files.certificate(), &files.key())).await;
    let organization = world.organization();
    serves(&world, &first, &organization.key).await;
    assert!(
        second.connect(world.gateway.address, &[]).await.is_err(),
        "trusted without being shown"
    );

    // A connection that is open keeps its certificate and goes on.
    let open = first.connect(world.gateway.address, &[]).await.unwrap();
    files.put(&second);
    eventually("the second certificate", async || {
        second.connect(world.gateway.address, &[]).await.ok()
    })
    .await;
    serves(&world, &second, &organization.key).await;
    let mut connection = Connection::over(open);
    connection
        .send(&chat(&organization.key, whole(json!({"message": mark()}))).bytes())
        .await;
    assert_eq!(connection.reply().await.whole().await.0.status, 200);

    files.put_nonsense();
    let refused = "svc_edge_certificate_loads_total{result=\"rejected\"}";
    eventually(refused, async || {
        (world.gateway.metric(refused).await >= 1.0).then_some(())
    })
    .await;
    serves(&world, &second, &organization.key).await;
}

#[tokio::test]
async fn http_2_is_offered_under_tls_and_never_in_clear() {
    let identity = Identity::fresh();
    let files = Files::with(&identity);
    let world = World::with(|setup| setup.tls(&files.certificate(), &files.key())).await;
    let stream = identity
        .connect(world.gateway.address, &["h2", "http/1.1"])
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let plain = World::sqlite().await;
    let mut connection = plain.gateway.connect().await;
    connection
        .send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .await;
    // A server that spoke HTTP/2 would open with a SETTINGS frame; an HTTP/1.1 error or a close is right.
    let reply = connection.reply_if_any().await;
    assert!(reply.is_none_or(|reply| reply.status >= 400));
}
