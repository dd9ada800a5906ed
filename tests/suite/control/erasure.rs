//! The end of an organization: its key is destroyed, and nobody comes in by its credentials (contract 19.4).

use std::process::Output;

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::program;
use svc_tests::world::World;

use super::end_users::{credential, is_in_a_file, says};
use super::{call, data};
use crate::engines::on_both_engines;

on_both_engines! {
    an_erased_organization_is_nobody_any_more,
}

fn erase(world: &World, organization: &Organization, slug: &str) -> Output {
    let mut command = world.gateway.command();
    command.args([
        "admin",
        "erase-organization",
        "--organization",
        &organization.id,
    ]);
    program::run(command.args(["--confirm", slug]))
}

async fn slug(world: &World, organization: &Organization) -> String {
    let sql = "SELECT slug FROM organizations WHERE id = $1";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    rows[0]["slug"].as_str().unwrap().to_owned()
}

/// Commands that would give an erased organization something anew, or fail at its key.
fn commands_refuse(world: &World, organization: &Organization) {
    for arguments in [
        &[
            "create-user",
            "--email",
            "new@example.org",
            "--role",
            "owner",
        ][..],
        &["set-plan", "--tier", "standard"],
        &["terminate-baa"],
        &["rotate-organization-key"],
        &["phi-list", "show"],
        &["erase-end-user", "--runtime-user", "ann"],
    ] {
        let mut command = world.gateway.command();
        command.arg("admin").args(arguments);
        let refused = program::run(command.args(["--organization", &organization.id]));
        let told = program::text(&refused.stderr);
        assert!(!refused.status.success(), "{arguments:?}");
        let why = format!("{} was erased", organization.id);
        assert!(told.contains(&why), "{arguments:?}: {told}");
    }
}

/// What would be left of people, or would open something.
const LEFT: [&str; 8] = [
    "SELECT org_id FROM org_keys WHERE org_id = $1",
    "SELECT id FROM end_user_keys WHERE org_id = $1 AND (wrapped IS NOT NULL OR runtime_user IS NOT NULL)",
    "SELECT id FROM conversations WHERE org_id = $1 AND runtime_user IS NOT NULL",
    "SELECT id FROM agent_credentials WHERE org_id = $1 AND (runtime_user IS NOT NULL OR revoked_at IS NULL)",
    "SELECT id FROM api_keys WHERE org_id = $1 AND revoked_at IS NULL",
    "SELECT id FROM users WHERE org_id = $1 AND (email NOT LIKE '%@erased.invalid' OR status = 'active')",
    "SELECT id FROM webhook_endpoints WHERE org_id = $1 AND (secret IS NOT NULL OR wrapped_key IS NOT NULL)",
    "SELECT id FROM inbound_webhooks WHERE org_id = $1",
];

async fn an_erased_organization_is_nobody_any_more(world: &World) {
    let (gone, stays) = (world.organization(), world.organization());
    let key = &gone.key;
    let ann = credential(world, &gone, "ann").await;
    says(world, &ann, &mark()).await;
    let app = data(
        world,
        key,
        "POST",
        "/v1/apps",
        json!({"name": "Front desk"}),
    )
    .await["id"]
        .clone();
    let app = format!("/v1/apps/{}", app.as_str().unwrap());
    let fields = json!({"fields": [{"key": "mrn", "type": "string", "phi": true}]});
    data(world, key, "PUT", &format!("{app}/entities/visit"), fields).await;
    let inbound = json!({"entity_key": "visit", "name": "Lab"});
    let token = data(
        world,
        key,
        "POST",
        &format!("{app}/inbound-webhooks"),
        inbound,
    )
    .await["token"]
        .clone();
    let hook = json!({"url": "https://receiver.example.org/", "events": ["*"]});
    data(world, key, "POST", "/v1/webhooks", hook).await;
    let slug = slug(world, &gone).await;
    for sql in LEFT {
        let rows = world.gateway.database.rows(sql, &[&gone.id]).await;
        assert!(!rows.is_empty(), "{sql} finds nothing to begin with");
    }
    let refused = erase(world, &gone, "another");
    assert!(!refused.status.success());
    assert!(program::text(&refused.stderr).contains("nothing was erased"));
    assert_eq!(
        call(world, key, "GET", "/v1/models", Value::Null)
            .await
            .status,
        200
    );

    let erased = erase(world, &gone, &slug);
    assert!(erased.status.success(), "{}", program::text(&erased.stderr));
    for sql in LEFT {
        let rows = world.gateway.database.rows(sql, &[&gone.id]).await;
        assert!(rows.is_empty(), "{sql}: {rows:?}");
    }
    for credential in [key, &ann] {
        eventually("the end of a credential", async || {
            let status = world
                .gateway
                .chat(credential, json!({"message": mark()}))
                .await
                .status;
            (status == 401).then_some(())
        })
        .await;
    }
    let path = format!("/api/svc/v1/incoming/{}", token.as_str().unwrap());
    eventually("the end of a token", async || {
        let status = call(world, "nobody", "POST", &path, json!({"mrn": "1"}))
            .await
            .status;
        (status == 404).then_some(())
    })
    .await;
    let again = erase(world, &gone, &slug);
    assert!(program::text(&again.stdout).contains("was erased before"));
    commands_refuse(world, &gone);
    let sql = "SELECT document FROM audit WHERE org_id = $1 AND event = 'organization.erased'";
    let rows = world.gateway.database.rows(sql, &[&gone.id]).await;
    assert_eq!(rows.len(), 1);
    let details = books::document(&rows[0])["details"].clone();
    assert_eq!(
        (&details["keys"], &details["end_users"]),
        (&json!(1), &json!(1))
    );
    books::check(&world.gateway.database, &gone.id).await;
    let answer = world
        .gateway
        .chat(&stays.key, json!({"message": mark()}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn an_organizations_destroyed_key_stands_in_no_file_of_sqlite() {
    let world = World::start(None).await;
    let organization = world.organization();
    let sql = "SELECT hex(wrapped) AS wrapped FROM org_keys WHERE org_id = $1";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    let key = hex::decode(rows[0]["wrapped"].as_str().unwrap()).unwrap();
    assert!(is_in_a_file(&world, &key), "the search finds nothing");
    let slug = slug(&world, &organization).await;
    let erased = erase(&world, &organization, &slug);
    assert!(erased.status.success(), "{}", program::text(&erased.stderr));
    assert!(!is_in_a_file(&world, &key));
}
