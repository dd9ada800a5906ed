//! Authenticator apps and recovery codes.

use svc_tests::browser::{Browser, PASSWORD, Page};
use svc_tests::world::World;
use totp_rs::{Builder, Secret};

use super::{events, invite};
use crate::engines::on_both_engines;

on_both_engines! {
    an_app_is_asked_for_from_its_confirmation_on,
    recovery_codes_work_once_each,
    wrong_codes_close_the_second_step,
}

/// What the app shows `steps` after now.
pub(super) fn code(secret: &str, steps: i64) -> String {
    let secret = Secret::try_from_base32(secret).unwrap();
    let totp = Builder::new().with_secret(secret).build().unwrap();
    #[expect(clippy::disallowed_methods, reason = "an app has a clock of its own")]
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    totp.generate(now.saturating_add_signed(30 * steps))
        .to_string()
}

fn between<'a>(page: &'a Page, start: &str, end: &str) -> Vec<&'a str> {
    let parts = page.text.split(start).skip(1);
    parts.map(|part| part.split_once(end).unwrap().0).collect()
}

/// Sets an app up; gives its secret and the recovery codes.
pub(super) async fn enrol(browser: &mut Browser<'_>) -> (String, Vec<String>) {
    let (secret, codes, _) = enrol_with(browser).await;
    (secret, codes)
}

/// As [`enrol`]; gives the code too that confirmed it.
async fn enrol_with(browser: &mut Browser<'_>) -> (String, Vec<String>, String) {
    let account = browser.get("/ui/account").await;
    let password = [("beginning", PASSWORD)];
    let begun = browser
        .submit(&account, "/ui/account/totp", &password)
        .await;
    assert_eq!(begun.leads_to(), "/ui/account/totp");
    let page = browser.get("/ui/account/totp").await;
    assert!(page.text.contains("<svg"), "{}", page.text);
    let secret = between(&page, "<code class=\"secret\">", "</code>")[0].to_owned();
    let confirm = "/ui/account/totp/confirm";
    let wrong = browser.submit(&page, confirm, &[("code", "12345")]).await;
    assert_eq!(wrong.status(), 422);
    let used = code(&secret, -1);
    let shown = browser.submit(&wrong, confirm, &[("code", &used)]).await;
    assert_eq!(shown.status(), 200, "{}", shown.text);
    let codes = between(&shown, "<li><code>", "</code>");
    let codes: Vec<String> = codes.into_iter().map(str::to_owned).collect();
    assert_eq!(codes.len(), 10);
    // As a reload sends it: the code is used up, and the codes are the same.
    let again = browser.submit(&wrong, confirm, &[("code", &used)]).await;
    assert_eq!(between(&again, "<li><code>", "</code>"), codes);
    (secret, codes, used)
}

async fn an_app_is_asked_for_from_its_confirmation_on(world: &World) {
    let invited = invite(world, &world.organization(), "owner");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let account = browser.get("/ui/account").await;
    for typed in ["", "not it at all"] {
        let refused = browser
            .submit(&account, "/ui/account/totp", &[("beginning", typed)])
            .await;
        assert_eq!(refused.status(), 422, "{}", refused.text);
    }
    assert_eq!(
        browser.get("/ui/account/totp").await.leads_to(),
        "/ui/account"
    );
    // Half a minute later the code before the present one is another.
    let (secret, _, used) = enrol_with(&mut browser).await;
    for column in ["secret", "wrapped_key"] {
        let sql = format!("SELECT {column} AS sealed FROM second_factors WHERE user_id = $1");
        let rows = world.gateway.database.rows(&sql, &[&invited.id]).await;
        let sealed = hex::decode(rows[0]["sealed"].as_str().unwrap()).unwrap();
        assert!(
            !sealed
                .windows(secret.len())
                .any(|part| part == secret.as_bytes())
        );
    }

    let mut other = Browser::new(&world.gateway);
    let half = other.sign_in(&invited.email, PASSWORD).await;
    assert_eq!(half.leads_to(), "/ui/login/totp?next=%2Fui");
    let half_cookie = other.cookies["svc_session"].clone();
    assert_eq!(other.get("/ui/account").await.status(), 303, "not in yet");
    let page = other.get("/ui/login/totp").await;
    let refused = other
        .submit(&page, "/ui/login/totp", &[("code", &used)])
        .await;
    assert_eq!(refused.status(), 401, "no code works twice");
    let now = code(&secret, 0);
    let done = other
        .submit(&refused, "/ui/login/totp", &[("code", &now)])
        .await;
    assert_eq!(done.leads_to(), "/ui");
    assert_ne!(other.cookies["svc_session"], half_cookie);
    assert_eq!(other.get("/ui/account").await.status(), 200);

    let account = other.get("/ui/account").await;
    let remove = "/ui/account/totp/remove";
    let refused = other
        .submit(&account, remove, &[("removing", "not it at all")])
        .await;
    assert_eq!(refused.status(), 422);
    let removed = other
        .submit(&account, remove, &[("removing", PASSWORD)])
        .await;
    assert_eq!(removed.leads_to(), "/ui/account?done=second-factor-removed");
    let mut third = Browser::new(&world.gateway);
    assert_eq!(
        third.sign_in(&invited.email, PASSWORD).await.leads_to(),
        "/ui"
    );
    assert_eq!(
        events(world, &invited.id).await[2..],
        [
            "user.denied",
            "user.denied",
            "user.second_factor_begun",
            "user.second_factor_enabled",
            "user.sign_in_failed",
            "user.signed_in",
            "user.denied",
            "user.second_factor_removed",
            "user.signed_in",
        ]
    );
}

async fn recovery_codes_work_once_each(world: &World) {
    let invited = invite(world, &world.organization(), "owner");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let (_, codes) = enrol(&mut browser).await;
    for expected in [303, 401] {
        let mut other = Browser::new(&world.gateway);
        other.sign_in(&invited.email, PASSWORD).await.leads_to();
        let page = other.get("/ui/login/totp").await;
        let typed = codes[3].to_uppercase().replace('-', " ");
        let done = other
            .submit(&page, "/ui/login/totp", &[("code", &typed)])
            .await;
        assert_eq!(done.status(), expected, "{}", done.text);
    }
    let account = browser.get("/ui/account").await;
    assert!(
        account.text.contains("You have 9 recovery codes left."),
        "{}",
        account.text
    );
    let renewed = browser
        .submit(
            &account,
            "/ui/account/recovery-codes",
            &[("renewing", PASSWORD)],
        )
        .await;
    assert_eq!(renewed.status(), 200);
    assert!(!codes.iter().any(|code| renewed.text.contains(code)));
}

async fn wrong_codes_close_the_second_step(world: &World) {
    let invited = invite(world, &world.organization(), "owner");
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    let (secret, _) = enrol(&mut browser).await;
    let mut other = Browser::new(&world.gateway);
    other.sign_in(&invited.email, PASSWORD).await.leads_to();
    let page = other.get("/ui/login/totp").await;
    for _ in 0..5 {
        let refused = other
            .submit(&page, "/ui/login/totp", &[("code", "00000")])
            .await;
        assert_eq!(refused.status(), 401);
    }
    let right = code(&secret, 0);
    let closed = other
        .submit(&page, "/ui/login/totp", &[("code", &right)])
        .await;
    assert_eq!(closed.status(), 429);
    let wait = closed.answer.header("retry-after").expect("how long");
    assert!((1..=60).contains(&wait.parse().unwrap()), "{wait}");
}
