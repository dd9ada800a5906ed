//! Business Associate Agreements (contract 13): accepted, signed, read, superseded, ended.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::patience::eventually;
use svc_tests::policies::Policies;
use svc_tests::program;
use svc_tests::wire::Answer;
use svc_tests::world::World;

use super::{call, code, data, key_with, request};
use crate::engines::on_both_engines;

on_both_engines! {
    an_agreement_is_signed_once_and_its_document_never_changes,
    everything_that_is_wrong_with_a_signature_is_said_at_once,
    acceptances_at_once_stand_one_after_the_other,
    a_terminated_agreement_blocks_inference,
    acceptances_belong_to_their_organization,
    acceptances_and_documents_are_append_only,
}

const STATUS: &str = "/v1/compliance/baa";
const ACCEPTANCES: &str = "/v1/compliance/baa/acceptances";
const SIGNER: &str = "Zoë Παπαδοπούλου 山田 太郎 김하늘";
/// The same name as a system sends it that keeps characters in parts.
const SIGNER_IN_PARTS: &str = "Zoe\u{308} Παπαδοπούλου 山田 太郎 \u{1100}\u{1175}\u{11b7}\u{1112}\u{1161}\u{1102}\u{1173}\u{11af}";

fn signature(version: &str) -> Value {
    json!({
        "template_version": version,
        "signer_name": SIGNER_IN_PARTS,
        "signer_title": "Privacy Officer",
        "signer_email": "zoe@clinic.example",
        "agree": true,
    })
}

async fn status(world: &World, key: &str) -> Value {
    data(world, key, "GET", STATUS, Value::Null).await
}

async fn chat(world: &World, key: &str) -> Answer {
    world.gateway.chat(key, json!({"message": mark()})).await
}

async fn refuses_inference(world: &World, key: &str) {
    eventually("BAA_REQUIRED", async || {
        let chat = chat(world, key).await;
        (chat.status == 402 && chat.json()["error"]["code"] == "BAA_REQUIRED").then_some(())
    })
    .await;
}

async fn allows_inference(world: &World, key: &str) {
    eventually("a chat", async || {
        (chat(world, key).await.status == 200).then_some(())
    })
    .await;
}

async fn download(world: &World, key: &str, id: &str) -> Answer {
    let path = format!("{ACCEPTANCES}/{id}/download");
    call(world, key, "GET", &path, Value::Null).await
}

async fn an_agreement_is_signed_once_and_its_document_never_changes(world: &World) {
    let organization = world.organization_with(&["--no-baa"]);
    let key = &organization.key;
    let before = status(world, key).await;
    assert_eq!(
        (
            &before["status"],
            &before["acceptance_id"],
            &before["required"]
        ),
        (&json!("none"), &Value::Null, &json!(true))
    );
    let template = &before["template"];
    let body = template["body"].as_str().unwrap();
    assert_eq!(
        template["sha256"],
        hex::encode(Sha256::digest(body.as_bytes()))
    );
    refuses_inference(world, key).await;

    let version = before["current_template_version"].as_str().unwrap();
    let sign = request(key, "POST", ACCEPTANCES, &signature(version))
        .header("Idempotency-Key", "an-acceptance")
        .header("User-Agent", "clinic-console/1.0");
    let signed = world.gateway.answer(&sign).await;
    assert_eq!(signed.status, 201, "{}", signed.text());
    let again = world.gateway.answer(&sign).await;
    assert_eq!(again.json()["data"], signed.json()["data"]);
    let acceptance = signed.json()["data"].clone();
    let id = acceptance["id"].as_str().unwrap();
    assert_eq!(acceptance["status"], "in_force");
    assert_eq!(
        acceptance["accepted_by"]["user_id"],
        organization.user_id.as_str()
    );
    assert_eq!(acceptance["accepted_by"]["name"], SIGNER);
    assert_eq!(acceptance["user_agent"], "clinic-console/1.0");
    assert_eq!(acceptance["template_sha256"], template["sha256"]);
    let row = books::single(&world.gateway.database, signed.request_id()).await;
    let document = books::document(&row);
    assert_eq!(document["event"], "baa.accepted");
    assert!(!document.to_string().contains("Zoë"), "{document}");
    let after = status(world, key).await;
    assert_eq!(
        (&after["status"], &after["acceptance_id"]),
        (&json!("active"), &json!(id))
    );
    // The replica that answered knows at once.
    assert_eq!(chat(world, key).await.status, 200);

    let listed = data(world, key, "GET", ACCEPTANCES, Value::Null).await;
    assert_eq!(listed, json!([acceptance]));
    let path = format!("{ACCEPTANCES}/{id}");
    assert_eq!(
        data(world, key, "GET", &path, Value::Null).await,
        acceptance
    );

    let first = download(world, key, id).await;
    let second = download(world, key, id).await;
    assert_eq!(first.status, 200);
    assert_eq!(first.body, second.body);
    let digest = Sha256::digest(&first.body);
    let sha256 = hex::encode(digest);
    assert_eq!(acceptance["document"]["sha256"], sha256);
    assert_eq!(acceptance["document"]["size_bytes"], first.body.len());
    for (name, value) in [
        ("content-type", "application/pdf".to_owned()),
        (
            "content-disposition",
            format!("attachment; filename=\"baa-{id}.pdf\""),
        ),
        ("etag", format!("\"{sha256}\"")),
        (
            "repr-digest",
            format!("sha-256=:{}:", STANDARD.encode(digest)),
        ),
        ("content-length", first.body.len().to_string()),
    ] {
        assert_eq!(first.header(name), Some(value.as_str()), "{name}");
    }
    for read in [&first, &second] {
        let row = books::single(&world.gateway.database, read.request_id()).await;
        assert_eq!(row["event"], "baa.downloaded");
        assert_eq!(row["target_id"], id);
    }
    let tag = format!("\"{sha256}\"");
    whoever_has_a_document_is_not_sent_it_again(world, key, &path, &tag).await;
    reads_as_what_was_signed(&first.body, &acceptance, body);
    can_be_verified_offline(world, &first.body, &signed.body);
}

async fn whoever_has_a_document_is_not_sent_it_again(
    world: &World,
    key: &str,
    acceptance: &str,
    tag: &str,
) {
    let path = format!("{acceptance}/download");
    for (name, value, status, event) in [
        ("If-None-Match", tag, 304, "baa.downloaded"),
        ("If-None-Match", "*", 304, "baa.downloaded"),
        ("If-None-Match", "\"another\"", 200, "baa.downloaded"),
        ("If-Match", tag, 200, "baa.downloaded"),
        ("If-Match", "\"another\"", 422, "baa.denied"),
    ] {
        let asked = request(key, "GET", &path, &Value::Null).header(name, value);
        let answer = world.gateway.answer(&asked).await;
        assert_eq!(answer.status, status, "{name}: {value}");
        if status == 304 {
            assert_eq!((answer.header("etag"), answer.body.len()), (Some(tag), 0));
        }
        let row = books::single(&world.gateway.database, answer.request_id()).await;
        assert_eq!(row["event"], event);
        let shown = books::document(&row)["outcome"]["status"].clone();
        assert_eq!(shown, status);
    }
}

/// Every word of the agreement and of who signed it can be copied out of the document.
fn reads_as_what_was_signed(pdf: &[u8], acceptance: &Value, body: &str) {
    let text = pdf_extract::extract_text_from_mem(pdf).expect("the text of the document");
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let (text, body) = (squeezed(&text), body.replace(['#', '*'], ""));
    let words = body.split_whitespace();
    let missing: Vec<&str> = words
        .filter(|word| !text.contains(&squeezed(word)))
        .collect();
    assert!(missing.is_empty(), "{missing:?} in {text}");
    for pointer in [
        "/id",
        "/accepted_by/name",
        "/accepted_by/title",
        "/accepted_by/email",
        "/accepted_by/user_id",
        "/accepted_at",
        "/template_version",
        "/template_sha256",
        "/ip",
        "/user_agent",
        "/signature/key_id",
    ] {
        let value = acceptance.pointer(pointer).and_then(Value::as_str).unwrap();
        assert!(
            text.contains(&squeezed(value)),
            "{pointer}: {value} in {text}"
        );
    }
}

fn can_be_verified_offline(world: &World, pdf: &[u8], record: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let keys = program::output_of(world.gateway.command().args(["baa", "keys", "--json"]));
    let key: Value = serde_json::from_str(keys.lines().last().unwrap()).unwrap();
    let key = key["public_key"].as_str().unwrap();
    let record = file("acceptance.json", record);
    let verifies = |pdf: &[u8], key: &str| {
        let mut verify: Command = program::command();
        verify.current_dir(folder.path()).args(["baa", "verify"]);
        verify.arg(file("some.pdf", pdf)).arg(&record);
        program::run(verify.args(["--key", key]))
    };
    let proven = verifies(pdf, key);
    assert!(proven.status.success());
    // What was proven is the digest; whose document it is, the record says.
    let told = program::text(&proven.stdout);
    let digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(pdf));
    assert!(
        told.contains(&digest) && told.contains("is what the given record says"),
        "{told}"
    );
    let verifies = |pdf: &[u8], key: &str| verifies(pdf, key).status.success();
    let mut changed = pdf.to_vec();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    assert!(!verifies(&changed, key), "a changed document");
    assert!(!verifies(pdf, &STANDARD.encode([7; 32])), "another key");
}

async fn everything_that_is_wrong_with_a_signature_is_said_at_once(world: &World) {
    let organization = world.organization_with(&["--no-baa"]);
    let key = &organization.key;
    let body = json!({
        "template_version": "1999-01",
        "signer_name": "two\nlines",
        "signer_title": "\u{12000}",
        "signer_email": "nobody",
        "agree": false,
        "witness": "B",
    });
    let refused = call(world, key, "POST", ACCEPTANCES, body.clone()).await;
    assert_eq!(refused.status, 422);
    let details = refused.json()["error"]["details"].clone();
    for field in body.as_object().unwrap().keys() {
        assert!(details.get(field).is_some(), "{field} in {details}");
    }
    let empty = call(world, key, "POST", ACCEPTANCES, json!({})).await;
    assert_eq!(
        empty.json()["error"]["details"].as_object().unwrap().len(),
        5
    );
    let reader = key_with(world, &organization, &["control:read"]).await;
    let scope = code(world, &reader, "POST", ACCEPTANCES, json!({}), 403).await;
    assert_eq!(scope, "MISSING_SCOPE");
    assert_eq!(status(world, key).await["status"], "none");
}

async fn acceptances_at_once_stand_one_after_the_other(world: &World) {
    let organization = world.organization_with(&["--no-baa"]);
    let key = &organization.key;
    let version = status(world, key).await["current_template_version"].clone();
    let version = version.as_str().unwrap();
    let calls = (0..4).map(|_| call(world, key, "POST", ACCEPTANCES, signature(version)));
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let listed = data(world, key, "GET", ACCEPTANCES, Value::Null).await;
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 4);
    let latest = &status(world, key).await["acceptance_id"];
    assert_eq!(&listed[0]["id"], latest, "newest first");
    let mut superseded_at = Value::Null;
    for acceptance in listed {
        assert_eq!(acceptance["superseded_at"], superseded_at, "{listed:?}");
        superseded_at = acceptance["accepted_at"].clone();
    }
}

async fn a_terminated_agreement_blocks_inference(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let accepted = status(world, key).await;
    assert_eq!(accepted["status"], "active");
    allows_inference(world, key).await;
    let terminate = || {
        let mut command = world.gateway.command();
        let options = ["admin", "terminate-baa", "--organization", &organization.id];
        program::run(command.args(options)).status.success()
    };
    assert!(terminate());
    refuses_inference(world, key).await;
    assert!(!terminate(), "it has ended already");
    assert_eq!(status(world, key).await["status"], "terminated");
    let id = accepted["acceptance_id"].as_str().unwrap();
    let ended = data(
        world,
        key,
        "GET",
        &format!("{ACCEPTANCES}/{id}"),
        Value::Null,
    )
    .await;
    assert_eq!(ended["status"], "terminated");
    assert!(ended["terminated_at"].is_string());
    let rows = data(world, key, "GET", "/v1/audit?event=baa.*", Value::Null).await;
    assert_eq!(rows[0]["event"], "baa.terminated");
    assert_eq!(
        (&rows[0]["actor"]["type"], &rows[0]["target"]["id"]),
        (&json!("system"), &json!(id))
    );
    let version = accepted["current_template_version"].as_str().unwrap();
    data(world, key, "POST", ACCEPTANCES, signature(version)).await;
    allows_inference(world, key).await;
    let listed = data(world, key, "GET", ACCEPTANCES, Value::Null).await;
    assert_eq!(
        (&listed[0]["status"], &listed[1]["status"]),
        (&json!("in_force"), &json!("terminated"))
    );
}

async fn acceptances_belong_to_their_organization(world: &World) {
    let (mine, other) = (world.organization(), world.organization());
    let theirs = status(world, &other.key).await["acceptance_id"].clone();
    let theirs = theirs.as_str().unwrap();
    for path in [
        format!("{ACCEPTANCES}/{theirs}"),
        format!("{ACCEPTANCES}/{theirs}/download"),
        format!("{ACCEPTANCES}/baa_00000000000000000000000000/download"),
    ] {
        let found = code(world, &mine.key, "GET", &path, Value::Null, 404).await;
        assert_eq!(found, "RESOURCE_NOT_FOUND");
    }
    assert_eq!(download(world, &other.key, theirs).await.status, 200);
}

async fn acceptances_and_documents_are_append_only(world: &World) {
    let organization = world.organization();
    let org = organization.id.as_str();
    for sql in [
        "UPDATE baa_acceptances SET signer_name = 'another' WHERE org_id = $1",
        "UPDATE baa_documents SET sha256 = '' WHERE org_id = $1",
        "DELETE FROM baa_documents WHERE org_id = $1",
        "DELETE FROM baa_acceptances WHERE org_id = $1",
    ] {
        assert!(world.gateway.database.refuses(sql, &[org]).await, "{sql}");
    }
    let end = "UPDATE baa_acceptances SET superseded_at = 1 WHERE org_id = $1";
    assert!(!world.gateway.database.refuses(end, &[org]).await);
    let again = "UPDATE baa_acceptances SET superseded_at = 2 WHERE org_id = $1";
    assert!(world.gateway.database.refuses(again, &[org]).await);
}

/// A newer agreement, published while the gateway serves.
#[tokio::test]
async fn a_newer_agreement_is_to_be_accepted_within_its_time_of_grace() {
    let policies = Policies::copy();
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = world.organization();
    let key = &organization.key;
    assert_eq!(status(&world, key).await["status"], "active");
    let facts = |end: &str| {
        format!(
            "title = \"Agreement\"\npublished_at = \"2026-05-01T00:00:00Z\"\nreaccept_by = \"{end}\"\n"
        )
    };
    policies.write("baa/2026-05.md", "# Agreement\n\nAnother text.\n");
    policies.write("baa/2026-05.toml", &facts("2100-01-01T00:00:00Z"));
    let due = eventually("the newer agreement", async || {
        let status = status(&world, key).await;
        (status["status"] == "reacceptance_due").then_some(status)
    });
    let due = due.await;
    assert_eq!(due["accepted_template_version"], "2026-04");
    assert_eq!(due["current_template_version"], "2026-05");
    assert_eq!(due["expires_at"], "2100-01-01T00:00:00.000Z");
    allows_inference(&world, key).await;
    let older = call(&world, key, "POST", ACCEPTANCES, signature("2026-04")).await;
    assert_eq!(older.status, 422);

    policies.write("baa/2026-05.toml", &facts("2026-05-02T00:00:00Z"));
    refuses_inference(&world, key).await;
    assert_eq!(status(&world, key).await["status"], "expired");
    // A text that comes after it asks for nothing more, and forgives nothing.
    policies.write("baa/2026-06.md", "# Agreement\n\nA stricter text.\n");
    let further = "title = \"Agreement\"\npublished_at = \"2026-06-01T00:00:00Z\"\n";
    policies.write("baa/2026-06.toml", further);
    eventually("the further agreement", async || {
        let status = status(&world, key).await;
        (status["current_template_version"] == "2026-06").then_some(())
    })
    .await;
    let expired = status(&world, key).await;
    assert_eq!(
        (&expired["status"], &expired["expires_at"]),
        (&json!("expired"), &json!("2026-05-02T00:00:00.000Z"))
    );
    assert_eq!(chat(&world, key).await.status, 402);
    // Put off, it is not there yet.
    let put_off = "title = \"Agreement\"\npublished_at = \"2100-06-01T00:00:00Z\"\n";
    policies.write("baa/2026-06.toml", put_off);
    eventually("the agreement before", async || {
        let status = status(&world, key).await;
        (status["current_template_version"] == "2026-05").then_some(())
    })
    .await;

    policies.write(
        "baa/2026-05.md",
        "# Agreement\n\nA text that nobody was shown.\n",
    );
    eventually("a refused policy set", async || {
        let page = world.gateway.admin_page("/readyz").await.text();
        page.contains("published with another text").then_some(())
    })
    .await;
    data(&world, key, "POST", ACCEPTANCES, signature("2026-05")).await;
    let accepted = status(&world, key).await;
    assert_eq!(accepted["status"], "active");
    assert_eq!(
        accepted["template"]["body"],
        "# Agreement\n\nAnother text.\n"
    );
    allows_inference(&world, key).await;
    let listed = data(&world, key, "GET", ACCEPTANCES, Value::Null).await;
    assert_eq!(listed[1]["status"], "superseded");
}
