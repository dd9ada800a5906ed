//! Invitations, signing in and out, and how long that lasts.

use serde_json::{Value, json};
use svc_tests::browser::{Browser, PASSWORD};
use svc_tests::policies::Policies;
use svc_tests::program;
use svc_tests::world::World;

use super::{events, invite, second_factor};
use crate::engines::{on_both_engines, on_worlds_of_their_own};

on_both_engines! {
    an_invitation_works_once,
    a_password_lets_in_and_a_wrong_one_does_not,
    a_session_is_another_one_after_every_step,
    an_idle_session_and_an_old_one_are_over,
    guessing_closes_an_account_for_a_while,
    guesses_at_once_are_no_more_than_guesses_in_a_row,
    a_reset_ends_every_session,
    somebody_who_is_suspended_is_out_at_once,
}

on_worlds_of_their_own! {
    guessing_from_one_network_is_counted_over_accounts,
}

/// Contract 2, step 3: what comes before every credential comes before a password too.
#[tokio::test]
async fn an_address_that_failed_too_often_is_not_listened_to() {
    let policies = Policies::copy();
    policies.edit(
        "plans.toml",
        "failed_authentications_per_minute = 300",
        "failed_authentications_per_minute = 1",
    );
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let invited = invite(&world, &world.organization(), "member");
    Browser::new(&world.gateway)
        .accept(&invited.invitation)
        .await;
    let unknown = "svc_api_live_00000000000000000000000000000000";
    let chat = world.gateway.chat(unknown, json!({})).await;
    assert_eq!(chat.status, 401);
    let mut browser = Browser::new(&world.gateway);
    let refused = browser.sign_in(&invited.email, PASSWORD).await;
    assert_eq!(refused.status(), 429, "{}", refused.text);
    assert!(refused.answer.header("retry-after").is_some());
    let attempts = "SELECT bucket FROM login_attempts";
    let rows = world.gateway.database.rows(attempts, &[]).await;
    assert!(rows.is_empty(), "{rows:?}");
}

/// What is left to an address that guesses does not tell which accounts there are.
#[tokio::test]
async fn a_wrong_sign_in_costs_its_address_the_same_with_an_account_and_without() {
    let policies = Policies::copy();
    policies.edit(
        "plans.toml",
        "failed_authentications_per_minute = 300",
        "failed_authentications_per_minute = 3",
    );
    let trusted = toml::Value::from(vec!["127.0.0.0/8"]);
    let world = World::with(|setup| {
        let setup = setup.policies(policies.path());
        setup.key("server", "trusted_proxies", trusted)
    });
    let world = world.await;
    let invited = invite(&world, &world.organization(), "member");
    let mut own = Browser::new(&world.gateway);
    own.accept(&invited.invitation).await;
    second_factor::enrol(&mut own).await;
    let stranger = |host: u8| {
        let browser = Browser::new(&world.gateway);
        browser.header("X-Forwarded-For", &format!("198.51.100.{host}"))
    };
    let emails = [invited.email.as_str(), "nobody@clinic.example"];
    for (host, email) in (1..).zip(emails) {
        let mut browser = stranger(host);
        let mut statuses = Vec::new();
        for _ in 0..4 {
            let refused = browser.sign_in(email, "a wild guess of mine").await;
            statuses.push(refused.status());
        }
        assert_eq!(statuses, [401, 401, 401, 429], "{email}");
    }
    let mut browser = stranger(3);
    let half = browser.sign_in(&invited.email, PASSWORD).await;
    assert_eq!(half.leads_to(), "/ui/login/totp?next=%2Fui");
    let page = browser.get("/ui/login/totp").await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let wrong = [("code", "12345")];
        let refused = browser.submit(&page, "/ui/login/totp", &wrong).await;
        statuses.push(refused.status());
    }
    assert_eq!(statuses, [401, 401, 401, 429]);
}

async fn an_invitation_works_once(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    let mut browser = Browser::new(&world.gateway);
    let path = browser.path(&invited.invitation).to_owned();
    let page = browser.get(&path).await;
    assert_eq!(page.status(), 200, "{}", page.text);
    assert!(page.text.contains(&invited.email));

    let weak = [("password", "short"), ("again", "other")];
    let refused = browser.submit(&page, &path, &weak).await;
    assert_eq!(refused.status(), 422);
    assert!(
        refused.text.contains("at least 12 characters"),
        "{}",
        refused.text
    );
    assert!(refused.text.contains("not the same"));

    let set = [("password", PASSWORD), ("again", PASSWORD)];
    let done = browser.submit(&refused, &path, &set).await;
    assert_eq!(done.leads_to(), "/ui");
    assert_eq!(browser.get("/ui/account").await.status(), 200);

    let mut other = Browser::new(&world.gateway);
    assert_eq!(other.get(&path).await.status(), 404);
    let told = events(world, &invited.id).await;
    assert_eq!(told, ["user.created", "user.password_changed"]);
    let sql = "SELECT document FROM audit WHERE target_id = $1";
    for row in world.gateway.database.rows(sql, &[&invited.id]).await {
        let token = path.rsplit('/').next().unwrap();
        assert!(!row["document"].as_str().unwrap().contains(token));
    }
    let sql = "SELECT phc FROM passwords WHERE user_id = $1";
    let rows = world.gateway.database.rows(sql, &[&invited.id]).await;
    assert!(
        rows[0]["phc"]
            .as_str()
            .unwrap()
            .starts_with("$argon2id$v=19$m=19456,t=2,p=1$")
    );
}

async fn a_password_lets_in_and_a_wrong_one_does_not(world: &World) {
    let invited = invite(world, &world.organization(), "viewer");
    Browser::new(&world.gateway)
        .accept(&invited.invitation)
        .await;
    let mut browser = Browser::new(&world.gateway);
    let asked = browser.get("/ui/account?from=here").await;
    assert_eq!(
        asked.leads_to(),
        "/ui/login?next=%2Fui%2Faccount%3Ffrom%3Dhere"
    );
    let place = asked.leads_to().to_owned();
    let page = browser.get(&place).await;
    let wrong = [
        ("email", invited.email.as_str()),
        ("password", "not the right one"),
    ];
    let refused = browser.submit(&page, "/ui/login", &wrong).await;
    assert_eq!(refused.status(), 401);
    let unknown = [("email", "nobody@clinic.example"), ("password", PASSWORD)];
    let also = browser.submit(&refused, "/ui/login", &unknown).await;
    assert_eq!(also.status(), 401);
    let message = "Address and password do not belong together.";
    assert!(refused.text.contains(message) && also.text.contains(message));

    let upper = invited.email.to_uppercase();
    let right = [("email", upper.as_str()), ("password", PASSWORD)];
    let done = browser.submit(&also, "/ui/login", &right).await;
    assert_eq!(done.leads_to(), "/ui/account?from=here");
    let account = browser.get("/ui/account").await;
    assert!(account.text.contains(&invited.email), "{}", account.text);

    let left = browser.submit(&account, "/ui/logout", &[]).await;
    assert_eq!(left.leads_to(), "/ui/login");
    assert!(!browser.cookies.contains_key("svc_session"));
    assert_eq!(
        events(world, &invited.id).await[2..],
        ["user.sign_in_failed", "user.signed_in", "user.signed_out"]
    );
}

async fn a_session_is_another_one_after_every_step(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let first = browser.cookies["svc_session"].clone();
    let again = browser.get("/ui/login").await;
    assert_eq!(again.leads_to(), "/ui", "who is in need not sign in");

    let account = browser.get("/ui/account").await;
    let mut elsewhere = Browser::new(&world.gateway);
    elsewhere.sign_in(&invited.email, PASSWORD).await.leads_to();
    let next = "another sentence nobody guesses";
    let change = [("current", PASSWORD), ("password", next), ("again", next)];
    let changed = browser
        .submit(&account, "/ui/account/password", &change)
        .await;
    assert_eq!(changed.leads_to(), "/ui/account?done=password");
    assert_ne!(browser.cookies["svc_session"], first);
    assert_eq!(browser.get("/ui/account").await.status(), 200);
    assert_eq!(
        elsewhere.get("/ui/account").await.status(),
        303,
        "out everywhere else"
    );
    browser.cookies.insert("svc_session".to_owned(), first);
    assert_eq!(browser.get("/ui/account").await.status(), 303);

    let refused = elsewhere.sign_in(&invited.email, PASSWORD).await;
    assert_eq!(refused.status(), 401, "the old password is gone");
    elsewhere.sign_in(&invited.email, next).await.leads_to();
    let account = elsewhere.get("/ui/account").await;
    let wrong = [("current", PASSWORD), ("password", next), ("again", next)];
    let refused = elsewhere
        .submit(&account, "/ui/account/password", &wrong)
        .await;
    assert_eq!(refused.status(), 422);
    assert!(refused.text.contains("This is not your password."));
}

async fn an_idle_session_and_an_old_one_are_over(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let database = &world.gateway.database;
    // 31 minutes without a request.
    let idle = "UPDATE sessions SET seen_at = seen_at - 1860000 WHERE user_id = $1";
    database.change(idle, &[&invited.id]).await;
    assert_eq!(browser.get("/ui/account").await.status(), 303);
    browser.sign_in(&invited.email, PASSWORD).await.leads_to();
    // Half an hour since the last request that was noted, and perhaps less since the last one.
    let lately = "UPDATE sessions SET seen_at = seen_at - 1800500 WHERE user_id = $1";
    database.change(lately, &[&invited.id]).await;
    assert_eq!(browser.get("/ui/account").await.status(), 200);
    let old = "UPDATE sessions SET expires_at = created_at WHERE user_id = $1";
    database.change(old, &[&invited.id]).await;
    assert_eq!(browser.get("/ui/account").await.status(), 303);
}

async fn guessing_closes_an_account_for_a_while(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    Browser::new(&world.gateway)
        .accept(&invited.invitation)
        .await;
    let mut browser = Browser::new(&world.gateway);
    for attempt in 0..10 {
        let refused = browser
            .sign_in(&invited.email, "a wild guess of mine")
            .await;
        assert_eq!(refused.status(), 401, "{attempt}");
    }
    let closed = browser.sign_in(&invited.email, PASSWORD).await;
    assert_eq!(closed.status(), 429, "not even with the right one");
    assert!(
        closed.text.contains("Try again in 1 minute."),
        "{}",
        closed.text
    );
    // What was typed for a name is nowhere.
    let rows = world
        .gateway
        .database
        .rows("SELECT bucket FROM login_attempts", &[])
        .await;
    assert!(
        rows.iter()
            .all(|row| row["bucket"].as_str().unwrap().len() == 64)
    );
}

async fn guessing_from_one_network_is_counted_over_accounts(world: &World) {
    let mut browser = Browser::new(&world.gateway);
    let mut statuses = Vec::new();
    for attempt in 0..101 {
        let email = format!("nobody-{attempt}@clinic.example");
        let page = browser.sign_in(&email, "a wild guess of mine").await;
        statuses.push(page.status());
    }
    assert_eq!(statuses.pop(), Some(429));
    assert!(statuses.iter().all(|status| *status == 401), "{statuses:?}");
}

async fn guesses_at_once_are_no_more_than_guesses_in_a_row(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    Browser::new(&world.gateway)
        .accept(&invited.invitation)
        .await;
    let guesses = (0..14).map(async |_| {
        let mut browser = Browser::new(&world.gateway);
        let page = browser.sign_in(&invited.email, "a wild guess of mine");
        page.await.status()
    });
    let statuses = futures_util::future::join_all(guesses).await;
    let judged = statuses.iter().filter(|status| **status == 401).count();
    let waiting = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!((judged, waiting), (10, 4), "{statuses:?}");
}

async fn a_reset_ends_every_session(world: &World) {
    let invited = invite(world, &world.organization(), "admin");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let mut command = world.gateway.command();
    command.args([
        "admin",
        "reset-password",
        "--json",
        "--email",
        &invited.email,
    ]);
    let said: Value = serde_json::from_str(&program::output_of(&mut command)).unwrap();
    assert_eq!(
        browser.get("/ui/account").await.status(),
        200,
        "until it is used"
    );
    let mut other = Browser::new(&world.gateway);
    let path = other.path(said["reset_url"].as_str().unwrap()).to_owned();
    let page = other.get(&path).await;
    let next = "a third sentence nobody guesses";
    let done = other
        .submit(&page, &path, &[("password", next), ("again", next)])
        .await;
    assert_eq!(done.leads_to(), "/ui");
    assert_eq!(browser.get("/ui/account").await.status(), 303);
    assert_eq!(
        events(world, &invited.id).await,
        [
            "user.created",
            "user.password_changed",
            "user.password_reset_issued",
            "user.password_changed"
        ]
    );
}

async fn somebody_who_is_suspended_is_out_at_once(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let sql = "UPDATE users SET status = 'suspended' WHERE id = $1";
    world.gateway.database.change(sql, &[&invited.id]).await;
    assert_eq!(browser.get("/ui/account").await.status(), 303);
    let refused = browser.sign_in(&invited.email, PASSWORD).await;
    assert_eq!(refused.status(), 401);
}
