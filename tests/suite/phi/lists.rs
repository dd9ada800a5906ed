//! Allow and deny lists of organizations, set from the command line beside a running gateway.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::program;
use svc_tests::world::World;

use crate::engines::{on_both_engines, on_sqlite};
use crate::refusal::expect;

on_both_engines! { what_is_denied_goes_and_what_is_allowed_stays }

on_sqlite! {
    a_change_of_the_lists_is_taken_up,
    a_denied_value_refuses_where_phi_refuses,
    a_denied_value_leaves_replies_too,
    an_allowed_value_has_no_kind,
    what_cannot_be_listed_is_refused_by_its_line,
}

/// Runs `admin phi-list` for an organization with these values.
fn command(world: &World, organization: &Organization, arguments: &[&str], values: &str) -> Output {
    let mut command = world.gateway.command();
    command
        .args(["admin", "phi-list"])
        .args(arguments)
        .args(["--organization", &organization.id])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // A command that refuses its options reads nothing.
    let _ = input.write_all(values.as_bytes());
    drop(input);
    child.wait_with_output().unwrap()
}

fn list(world: &World, organization: &Organization, arguments: &[&str], values: &str) -> String {
    let output = command(world, organization, arguments, values);
    assert!(output.status.success(), "{}", program::text(&output.stderr));
    program::text(&output.stdout)
}

const DENY: [&str; 5] = ["add", "--list", "deny", "--kind", "OTHER_ID"];
const ALLOW: [&str; 3] = ["add", "--list", "allow"];

/// What the provider gets of a text.
async fn sent(world: &World, organization: &Organization, text: &str) -> String {
    let mark = mark();
    let body = json!({"message": format!("{mark} {text}")});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    // Whatever was taken out comes back.
    let shown = answer.json()["data"]["message"]["content"].clone();
    assert_eq!(shown, format!("You said: {mark} {text}"));
    let received = world.fake.received(&mark).await;
    let text = received["body"]["messages"][0].to_string();
    text.split_once(&mark).unwrap().1.to_owned()
}

async fn an_allowed_value_has_no_kind(world: &World) {
    let organization = world.organization();
    let arguments = [&ALLOW[..], &["--kind", "NAME"]].concat();
    let output = command(
        world,
        &organization,
        &arguments,
        "Lakeside General Hospital",
    );
    let error = program::text(&output.stderr);
    assert!(
        !output.status.success() && error.contains("--kind"),
        "{error}"
    );
    // Without one, a denied value is an identifier.
    let denied = list(
        world,
        &organization,
        &["add", "--list", "deny"],
        "Blue Folder",
    );
    assert_eq!(denied, "1 listed, 1 in all\n");
    let shown = list(world, &organization, &["show"], "");
    assert!(shown.contains("OTHER_ID"), "{shown}");
}

async fn what_is_denied_goes_and_what_is_allowed_stays(world: &World) {
    let organization = world.organization();
    assert_eq!(
        list(
            world,
            &organization,
            &DENY,
            "Blue Folder\n\ntest-doc 7\nblue folder\n"
        ),
        "2 listed, 2 in all\n"
    );
    assert_eq!(
        list(world, &organization, &ALLOW, "Lakeside General Hospital"),
        "1 listed, 3 in all\n"
    );
    let text = "the blue folder file went from Lakeside General Hospital to Mercy General Hospital, TEST_DOC-7";
    let seen = sent(world, &organization, text).await;
    assert!(
        seen.contains("the [OTHER_ID_1] file went from Lakeside General Hospital to [ORGANIZATION_1], [OTHER_ID_2]"),
        "{seen}"
    );
    // Another organization has lists of its own.
    let seen = sent(world, &world.organization(), text).await;
    assert!(
        seen.contains("the blue folder file went from [ORGANIZATION_1] to"),
        "{seen}"
    );

    let columns = "SELECT list, kind, value_bytes, digest FROM phi_list_entries \
                   WHERE org_id = $1 ORDER BY list, value_bytes";
    let rows = world
        .gateway
        .database
        .rows(columns, &[&organization.id])
        .await;
    let kept: Vec<(&Value, &Value, &Value)> = rows
        .iter()
        .map(|row| (&row["list"], &row["kind"], &row["value_bytes"]))
        .collect();
    let (allow, deny, kind) = (json!("allow"), json!("deny"), json!("OTHER_ID"));
    assert_eq!(
        kept,
        [
            (&allow, &Value::Null, &json!(23)),
            (&deny, &kind, &json!(8)),
            (&deny, &kind, &json!(10))
        ]
    );
    let shown = list(world, &organization, &["show", "--json"], "");
    for row in &rows {
        assert!(shown.contains(row["digest"].as_str().unwrap()), "{shown}");
    }
    let sql = "SELECT document FROM audit WHERE org_id = $1 AND event = 'organization.updated' ORDER BY id";
    let changes = world.gateway.database.rows(sql, &[&organization.id]).await;
    let changes: Vec<Value> = changes.iter().map(books::document).collect();
    let details: Vec<&Value> = changes
        .iter()
        .map(|row| &row["details"]["phi_lists"])
        .collect();
    assert_eq!(
        details,
        [
            &json!({"added": 2, "list": "deny", "kind": "OTHER_ID"}),
            &json!({"added": 1, "list": "allow"})
        ]
    );
}

async fn a_change_of_the_lists_is_taken_up(world: &World) {
    let organization = world.organization();
    let text = "the blue folder file";
    assert!(sent(world, &organization, text).await.contains(text));
    list(world, &organization, &DENY, "blue folder");
    eventually("the denied value goes", async || {
        let seen = sent(world, &organization, text).await;
        seen.contains("the [OTHER_ID_1] file").then_some(())
    })
    .await;
    let shown: Value =
        serde_json::from_str(&list(world, &organization, &["show", "--json"], "")).unwrap();
    let id = shown["id"].as_str().unwrap();
    assert_eq!(
        list(world, &organization, &["remove"], "red kite"),
        "0 removed\n"
    );
    assert_eq!(
        list(world, &organization, &["remove", "--id", id], ""),
        "1 removed\n"
    );
    assert_eq!(list(world, &organization, &["show"], ""), "");
    eventually("the value stays again", async || {
        let seen = sent(world, &organization, text).await;
        seen.contains(text).then_some(())
    })
    .await;
}

async fn a_denied_value_refuses_where_phi_refuses(world: &World) {
    let blocking = world.organization_with(&["--phi-mode", "block"]);
    let redacting = world.organization();
    for organization in [&blocking, &redacting] {
        list(world, organization, &DENY, "Blue Folder");
    }
    let mark = mark();
    let body = json!({"message": format!("{mark} blue folder")});
    let error = expect(
        &world.gateway.chat(&blocking.key, body).await,
        "PHI_BLOCKED",
        None,
    );
    assert_eq!(error["details"]["counts"], json!({"OTHER_ID": 1}));
    let tools = json!([{"name": "look", "description": "Looks up blue folder", "input_schema": {"type": "object"}}]);
    let body = json!({"message": mark, "tools": tools});
    let answer = world.gateway.chat(&redacting.key, body).await;
    expect(&answer, "PHI_IN_TOOL_SCHEMA", Some("tools[0]/description"));
    assert!(world.fake.seen(&mark).await.is_empty());
}

async fn a_denied_value_leaves_replies_too(world: &World) {
    let organization = world.organization();
    list(world, &organization, &DENY, "BX-2291-07");
    let mark = mark();
    let pieces = ["The sample is BX-22", "91-07 and ", "nothing else."];
    world
        .fake
        .expect(json!({"contains": mark, "text_chunks": pieces}))
        .await;
    let body = json!({"message": mark});
    let answer = world.gateway.chat(&organization.key, body).await.json();
    assert_eq!(
        answer["data"]["message"]["content"],
        "The sample is [OTHER_ID_1] and nothing else."
    );
}

async fn what_cannot_be_listed_is_refused_by_its_line(world: &World) {
    let organization = world.organization();
    let refused = |arguments: &[&str], values: &str, expected: &str| {
        let output = command(world, &organization, arguments, values);
        let said = program::text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(!said.contains("folder"), "{said}");
    };
    refused(&ALLOW, "blue folder\nx-1\n", "line 2");
    refused(&ALLOW, &format!("{}folder", "x".repeat(200)), "line 1");
    refused(&ALLOW, "\n", "no value");
    refused(
        &["add", "--list", "deny", "--kind", "NAMES"],
        "blue folder",
        "unknown kind NAMES",
    );
    refused(&["remove", "--id", "12"], "", "--id is not an id");
    let nobody = Organization {
        id: "org_01M7YT30ARKHN4SPHGEK4YVZTP".to_owned(),
        ..organization.clone()
    };
    let output = command(world, &nobody, &ALLOW, "blue folder");
    assert!(program::text(&output.stderr).contains("there is no organization"));
    assert_eq!(list(world, &organization, &["show"], ""), "");
}
