//! Ways back: to the page that a form stood on, to the beginning of a list, and what is said where there is none.

use serde_json::json;
use svc_tests::browser::{Browser, PASSWORD};
use svc_tests::organization::Organization;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::invite;
use super::pages::{between, somebody};
use crate::engines::on_sqlite;

on_sqlite! {
    a_form_of_a_session_that_is_over_says_that_nothing_was_saved,
    every_page_of_a_list_leads_to_its_first_one,
    a_link_that_was_used_is_called_so,
    who_cannot_sign_is_not_told_to,
    a_cap_beyond_all_numbers_is_told_its_limit,
}

async fn a_form_of_a_session_that_is_over_says_that_nothing_was_saved(world: &World) {
    let organization = world.organization();
    let invited = invite(world, &organization, "member");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let page = browser.get("/ui/agents").await;
    browser.submit(&page, "/ui/logout", &[]).await.leads_to();
    let sent = browser
        .submit(&page, "/ui/agents", &[("name", "Lost")])
        .await;
    let place = sent.leads_to().to_owned();
    assert_eq!(place, "/ui/login?next=%2Fui%2Fagents&lost=1");
    let login = browser.get(&place).await;
    let said = "You were signed out. Nothing was saved.";
    assert!(login.text.contains(said), "{}", login.text);
    assert!(!browser.get("/ui/login").await.text.contains(said));
    let typed = [("email", invited.email.as_str()), ("password", PASSWORD)];
    let back = browser.submit(&login, "/ui/login", &typed).await;
    assert_eq!(back.leads_to(), "/ui/agents");
    // Who wants to leave has left.
    browser.submit(&page, "/ui/logout", &[]).await;
    let mut stranger = Browser::new(&world.gateway);
    let left = stranger.submit(&page, "/ui/logout", &[]).await;
    assert_eq!(left.leads_to(), "/ui/login");
}

async fn make_keys(world: &World, organization: &Organization, count: usize) {
    for number in 0..count {
        let body = json!({"name": format!("key {number}"), "scopes": ["control:read"]});
        let request = Request::new("POST", "/v1/api_keys").bearer(&organization.key);
        let made = world.gateway.answer(&request.json(&body)).await;
        assert_eq!(made.status, 201, "{}", made.text());
    }
}

async fn every_page_of_a_list_leads_to_its_first_one(world: &World) {
    let organization = world.organization();
    make_keys(world, &organization, 20).await;
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let first = browser.get("/ui/keys").await;
    assert!(!first.text.contains("First page"), "{}", first.text);
    let next = between(&first, "rel=\"next\" href=\"", "\"").to_owned();
    let second = browser.get(&next).await;
    assert_eq!(between(&second, "rel=\"first\" href=\"", "\""), "/ui/keys");
    assert!(!second.text.contains("rel=\"next\""), "{}", second.text);
}

async fn a_link_that_was_used_is_called_so(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let path = browser.path(&invited.invitation).to_owned();
    let used = Browser::new(&world.gateway).get(&path).await;
    assert_eq!(used.status(), 404);
    assert!(
        used.text.contains("This link does not work any more"),
        "{}",
        used.text
    );
    assert!(
        !used.text.contains("There is no such page"),
        "{}",
        used.text
    );
}

async fn who_cannot_sign_is_not_told_to(world: &World) {
    let organization = world.organization_with(&["--no-baa"]);
    let said = "Read and sign it";
    let mut owner = Browser::owner(&world.gateway, &organization).await;
    assert!(owner.get("/ui").await.text.contains(said));
    let mut viewer = somebody(world, &organization, "viewer").await;
    let overview = viewer.get("/ui").await;
    assert!(!overview.text.contains(said), "{}", overview.text);
    assert!(
        overview.text.contains("an administrator can sign it"),
        "{}",
        overview.text
    );
}

async fn a_cap_beyond_all_numbers_is_told_its_limit(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/usage").await;
    let wanted = [
        ("monthly_credit_cap", "99999999999999999999"),
        ("alert_thresholds", "0.5"),
    ];
    let refused = browser.submit(&page, "/ui/usage/budget", &wanted).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
    let told = between(&refused, "id=\"e-monthly_credit_cap\">", "</p>");
    assert_eq!(told, "must be at most 9223372036854.775");
    // One with more digits than a number keeps is not taken for the next one.
    let wanted = [
        ("monthly_credit_cap", "9999999999.123456"),
        ("alert_thresholds", "0.5"),
    ];
    let refused = browser.submit(&page, "/ui/usage/budget", &wanted).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
}
