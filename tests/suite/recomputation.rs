//! The sums of billing cycles are what the ledger says, and where they are not, everybody hears of it (contract 12.2).

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::patience::eventually;
use svc_tests::program;
use svc_tests::world::World;

mod sums_that_were_changed {
    use super::{World, tamper};

    #[tokio::test]
    async fn sqlite() {
        tamper(&World::start(None).await).await;
    }

    #[tokio::test]
    async fn postgres() {
        let database = tokio::task::spawn_blocking(svc_tests::postgres::database);
        tamper(&World::start(Some(database.await.unwrap())).await).await;
    }
}

/// What the command prints, and whether it says that all was well.
fn recompute(world: &World) -> (Value, bool) {
    let mut command = world.gateway.command();
    let output = program::run(command.args(["admin", "recompute-usage"]));
    let said = program::text(&output.stdout);
    let said = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    (said, output.status.success())
}

async fn rows(world: &World, organization_id: &str) -> Vec<Value> {
    let sql = "SELECT * FROM audit WHERE org_id = $1 AND event = 'usage.recomputed'";
    world.gateway.database.rows(sql, &[organization_id]).await
}

async fn tamper(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let runs = join_all((0..8).map(|_| world.gateway.chat(key, json!({"message": mark()})))).await;
    assert!(runs.iter().all(|answer| answer.status == 200));
    let (said, exact) = recompute(world);
    assert_eq!((&said["drifts"], exact), (&json!([]), true), "{said}");
    assert_eq!(said["cycles"], 1);
    assert!(rows(world, &organization.id).await.is_empty());

    let database = &world.gateway.database;
    let steal = "UPDATE budgets SET used_credits_micro = used_credits_micro - 7000, \
                 held_spend_micro = held_spend_micro + 5 WHERE org_id = $1";
    database.change(steal, &[&organization.id]).await;
    let (said, exact) = recompute(world);
    assert!(!exact, "{said}");
    let drift = &said["drifts"][0];
    assert_eq!(drift["org_id"], organization.id);
    let credits = |sums: &Value| sums["used_credits"].as_f64().unwrap();
    let missing = credits(&drift["recomputed"]) - credits(&drift["kept"]);
    assert!((missing - 0.007).abs() < 1e-9, "{said}");
    assert_eq!(drift["kept"]["held_spend_usd"], json!(0.000_005));
    books::check(database, &organization.id).await;
    let found = rows(world, &organization.id).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["actor_type"], "system");
    assert_eq!(
        books::document(&found[0])["details"]["recomputed"],
        drift["recomputed"]
    );
    assert!(recompute(world).1, "repaired");

    // The running gateway finds it by itself: it looks when it starts, and every ten minutes.
    database.change(steal, &[&organization.id]).await;
    world.gateway.kill();
    world.gateway.start().await;
    eventually("the alarm", async || {
        (world.gateway.metric("svc_usage_drifts_total").await == 1.0).then_some(())
    })
    .await;
    assert_eq!(rows(world, &organization.id).await.len(), 2);
    assert!(world.gateway.log().contains("were not those of its ledger"));
    books::check(database, &organization.id).await;
}

mod a_race_at_the_cap {
    use super::{World, race};

    #[tokio::test]
    async fn sqlite() {
        race(&*World::sqlite().await).await;
    }

    #[tokio::test]
    async fn postgres() {
        race(&*World::postgres().await).await;
    }
}

/// Requests at once that cannot all be paid for: no more is used than there was, and what was held is given back.
async fn race(world: &World) {
    let organization = world.organization_with(&["--credits", "0.5"]);
    let ask = async |_| {
        let body = json!({"message": mark(), "max_tokens": 60});
        world.gateway.chat(&organization.key, body).await
    };
    let answers = join_all((0..40).map(ask)).await;
    let count = |status: u16| answers.iter().filter(|one| one.status == status).count();
    let (passed, blocked) = (count(200), count(402));
    // Who loses every race for the row is told to come again.
    assert_eq!(passed + blocked + count(503), answers.len());
    assert!(
        passed > 0 && blocked > 0,
        "{passed} passed, {blocked} were blocked"
    );
    let sql = "SELECT used_credits_micro, held_credits_micro FROM budgets WHERE org_id = $1";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    let used = rows[0]["used_credits_micro"].as_i64().unwrap();
    assert!((1..=500_000).contains(&used), "{used}");
    assert_eq!(rows[0]["held_credits_micro"], 0);
    books::check(&world.gateway.database, &organization.id).await;
}
