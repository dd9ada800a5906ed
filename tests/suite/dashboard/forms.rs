//! What every page and form has: headers, proofs against forgery, and texts that stay texts.

use svc_tests::browser::{Browser, PASSWORD};
use svc_tests::program;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::invite;
use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    a_forged_form_does_nothing,
}

on_sqlite! {
    pages_are_sent_with_their_headers,
    files_are_kept_by_browsers,
    a_name_stays_a_text,
}

async fn a_forged_form_does_nothing(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let account = browser.get("/ui/account").await;
    let next = "a sentence of somebody else";
    let change = [("current", PASSWORD), ("password", next), ("again", next)];
    let hidden = account.hidden("/ui/account/password");
    let fields = |token: &str| {
        let mut fields = vec![("csrf".to_owned(), token.to_owned())];
        fields.extend(change.map(|(name, value)| (name.to_owned(), value.to_owned())));
        fields
    };
    let action = "/ui/account/password";
    for token in ["", "x", "0000000000000000000000000000000000000000000"] {
        assert_eq!(
            browser.post(action, &fields(token)).await.status(),
            403,
            "{token:?}"
        );
    }
    let mut none = fields("");
    none.remove(0);
    assert_eq!(browser.post(action, &none).await.status(), 403);
    let right = fields(&hidden[0].1);
    for (name, value) in [
        ("Origin", "https://evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        let mut forger = Browser::new(&world.gateway).header(name, value);
        forger.cookies = browser.cookies.clone();
        assert_eq!(
            forger.post(action, &right).await.status(),
            403,
            "{name}: {value}"
        );
    }
    // Another visitor's proof is worth nothing.
    let other = invite(world, &world.organization(), "member");
    let mut stranger = Browser::new(&world.gateway);
    stranger.accept(&other.invitation).await;
    assert_eq!(stranger.post(action, &right).await.status(), 403);
    // Nor is a sign-in that somebody else's page sends.
    let mut fresh = Browser::new(&world.gateway);
    let typed = [("email", invited.email.as_str()), ("password", PASSWORD)];
    let typed = typed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(fresh.post("/ui/login", &typed).await.status(), 403);
    assert_eq!(
        fresh.sign_in(&invited.email, PASSWORD).await.leads_to(),
        "/ui"
    );
}

async fn pages_are_sent_with_their_headers(world: &World) {
    let mut browser = Browser::owner(&world.gateway, &world.organization()).await;
    for path in ["/ui/account", "/ui/reset/nothing"] {
        let page = browser.get(path).await;
        let policy = page.answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "form-action 'self'",
        ] {
            assert!(
                policy.split("; ").any(|found| found == part),
                "{part} in {policy}"
            );
        }
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(page.answer.header(name), Some(value), "{path}");
        }
        for inline in ["<script>", " style=", "<style", " onclick=", "javascript:"] {
            assert!(!page.text.contains(inline), "{inline} in {path}");
        }
    }
}

async fn files_are_kept_by_browsers(world: &World) {
    let page = Browser::new(&world.gateway).get("/ui/login").await;
    let (_, rest) = page.text.split_once("/ui/assets/site.css").unwrap();
    let version = rest.split_once('"').unwrap().0;
    let path = format!("/ui/assets/site.css{version}");
    let answer = world.gateway.answer(&Request::new("GET", &path)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/css; charset=utf-8")
    );
    let kept = answer.header("cache-control").unwrap();
    assert!(kept.contains("immutable"), "{kept}");
    let tag = answer.header("etag").unwrap();
    let again = Request::new("GET", "/ui/assets/site.css").header("If-None-Match", tag);
    let again = world.gateway.answer(&again).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let missing = world
        .gateway
        .answer(&Request::new("GET", "/ui/assets/.."))
        .await;
    assert_eq!(missing.status, 404);
}

async fn a_name_stays_a_text(world: &World) {
    let organization = world.organization_with(&["--name", "<script>alert(1)</script>"]);
    let mut command = world.gateway.command();
    let name = "<img src=x onerror=alert(2)>";
    let email = format!("{}@clinic.example", svc_tests::fake::mark().to_lowercase());
    command.args([
        "admin",
        "create-user",
        "--json",
        "--role",
        "viewer",
        "--name",
        name,
    ]);
    command.args(["--email", &email, "--organization", &organization.id]);
    let said: serde_json::Value = serde_json::from_str(&program::output_of(&mut command)).unwrap();
    let mut browser = Browser::new(&world.gateway);
    browser
        .accept(said["invitation_url"].as_str().unwrap())
        .await;
    let page = browser.get("/ui/account").await;
    assert!(
        !page.text.contains("<script>") && !page.text.contains("<img"),
        "{}",
        page.text
    );
    assert!(page.text.contains("&#60;script&#62;"), "{}", page.text);
}
