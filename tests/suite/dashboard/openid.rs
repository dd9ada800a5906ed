//! Signing in at an OpenID provider: who gets in, who does not, and what a lie costs.

use std::time::Duration;

use svc_tests::browser::{Browser, Page};
use svc_tests::openid::{CLIENT_ID, CLIENT_SECRET, Lie, Person, Provider};
use svc_tests::world::World;
use svc_tests::{postgres, program};

use super::second_factor::{code, enrol};
use super::{Invited, events, invite};

/// A gateway whose people may sign in at a provider.
struct Clinic {
    provider: Provider,
    world: World,
    _secret: tempfile::TempDir,
}

const CALLBACK: &str = "/ui/login/openid/callback";

impl Clinic {
    async fn open(database_url: Option<String>, domains: &[&str]) -> Self {
        let provider = Provider::start().await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, format!("{CLIENT_SECRET}\n")).unwrap();
        let mut openid = toml::Table::new();
        for (key, value) in [
            ("issuer", provider.issuer()),
            ("client_id", CLIENT_ID.to_owned()),
            ("client_secret_file", file.display().to_string()),
            ("label", "the clinic's account".to_owned()),
        ] {
            openid.insert(key.into(), value.into());
        }
        let domains: Vec<toml::Value> = domains.iter().map(|&word| word.into()).collect();
        openid.insert("email_domains".into(), domains.into());
        let world = World::with(|setup| setup.on(database_url).key("dashboard", "openid", openid));
        Self {
            world: world.await,
            provider,
            _secret: folder,
        }
    }

    async fn sqlite() -> Self {
        Self::open(None, &[]).await
    }

    async fn postgres() -> Self {
        let database = tokio::task::spawn_blocking(postgres::database).await;
        Self::open(Some(database.unwrap()), &[]).await
    }

    fn browser(&self) -> Browser<'_> {
        Browser::new(&self.world.gateway)
    }

    fn invite(&self) -> Invited {
        invite(&self.world, &self.world.organization(), "member")
    }

    /// From the sign-in page to the provider and back.
    async fn sign_in(&self, browser: &mut Browser<'_>, person: &Person) -> Page {
        let query = self.go(browser, person).await;
        browser.get(&format!("{CALLBACK}?{query}")).await
    }

    /// As far as the provider; gives what it sends the browser back with.
    async fn go(&self, browser: &mut Browser<'_>, person: &Person) -> String {
        let sent = browser.get("/ui/login/openid?next=%2Fui%2Faccount").await;
        self.provider.sign_in(sent.leads_to(), person)
    }
}

fn person(subject: &str, email: &str) -> Person {
    Person {
        subject: subject.to_owned(),
        email: email.to_owned(),
        verified: true,
    }
}

mod an_account_is_known_by_its_address_once_and_then_by_its_owner {
    #[tokio::test]
    async fn sqlite() {
        super::an_account_is_known(&super::Clinic::sqlite().await).await;
    }

    #[tokio::test]
    async fn postgres() {
        super::an_account_is_known(&super::Clinic::postgres().await).await;
    }
}

async fn an_account_is_known(clinic: &Clinic) {
    let invited = clinic.invite();
    let mut browser = clinic.browser();
    let page = browser.get("/ui/login?next=%2Fui%2Faccount").await;
    assert!(
        page.text.contains("Sign in with the clinic&#39;s account"),
        "{}",
        page.text
    );
    assert!(
        page.text
            .contains("href=\"/ui/login/openid?next=%2Fui%2Faccount\"")
    );

    let upper = person("subject-1", &invited.email.to_uppercase());
    let done = clinic.sign_in(&mut browser, &upper).await;
    assert_eq!(done.leads_to(), "/ui/account");
    let account = browser.get("/ui/account").await;
    assert!(account.text.contains(&invited.email), "{}", account.text);

    // Addresses change hands at a provider; subjects do not.
    let renamed = person("subject-1", "another@clinic.example");
    let mut elsewhere = clinic.browser();
    let done = clinic.sign_in(&mut elsewhere, &renamed).await;
    assert_eq!(done.leads_to(), "/ui/account");
    let heir = person("subject-2", &invited.email);
    let mut foreign = clinic.browser();
    let refused = clinic.sign_in(&mut foreign, &heir).await;
    assert_eq!(refused.status(), 403, "{}", refused.text);
    assert!(!foreign.cookies.contains_key("svc_session"));

    let mut reset = clinic.world.gateway.command();
    reset.args([
        "admin",
        "reset-password",
        "--json",
        "--email",
        &invited.email,
    ]);
    program::output_of(&mut reset);
    let done = clinic.sign_in(&mut foreign, &heir).await;
    assert_eq!(done.leads_to(), "/ui/account");
    assert_eq!(
        events(&clinic.world, &invited.id).await,
        [
            "user.created",
            "user.signed_in",
            "user.signed_in",
            "user.sign_in_failed",
            "user.password_reset_issued",
            "user.signed_in"
        ]
    );
    // Who was in before is out.
    for mut before in [browser, elsewhere] {
        assert_eq!(before.get("/ui/account").await.status(), 303);
    }
    let sql = "SELECT document FROM audit WHERE target_id = $1 AND event = 'user.signed_in'";
    for row in clinic
        .world
        .gateway
        .database
        .rows(sql, &[&invited.id])
        .await
    {
        assert!(
            row["document"]
                .as_str()
                .unwrap()
                .contains("\"by\":\"openid\""),
            "{row:?}"
        );
    }
}

#[tokio::test]
async fn nobody_gets_in_who_was_not_invited() {
    let clinic = Clinic::sqlite().await;
    let invited = clinic.invite();
    let unverified = Person {
        verified: false,
        ..person("subject-1", &invited.email)
    };
    let stranger = person("subject-2", "stranger@clinic.example");
    for nobody in [unverified, stranger] {
        let mut browser = clinic.browser();
        let refused = clinic.sign_in(&mut browser, &nobody).await;
        assert_eq!(refused.status(), 403, "{nobody:?}");
        assert!(refused.text.contains("no account for you"));
        assert!(!browser.cookies.contains_key("svc_session"));
    }
    assert_eq!(events(&clinic.world, &invited.id).await, ["user.created"]);

    let known = person("subject-3", &invited.email);
    let mut browser = clinic.browser();
    clinic.sign_in(&mut browser, &known).await.leads_to();
    let sql = "UPDATE users SET status = 'suspended' WHERE id = $1";
    clinic
        .world
        .gateway
        .database
        .change(sql, &[&invited.id])
        .await;
    let mut again = clinic.browser();
    assert_eq!(clinic.sign_in(&mut again, &known).await.status(), 403);
    assert_eq!(
        browser.get("/ui/account").await.status(),
        303,
        "out at once"
    );
    let told = events(&clinic.world, &invited.id).await;
    assert_eq!(told.last().unwrap(), "user.sign_in_failed");
}

#[tokio::test]
async fn a_token_that_is_not_good_lets_nobody_in() {
    let clinic = Clinic::sqlite().await;
    let invited = clinic.invite();
    let known = person("subject-1", &invited.email);
    for lie in [
        Lie::Nonce,
        Lie::Audience,
        Lie::Issuer,
        Lie::Expired,
        Lie::Key,
        Lie::Unsigned,
        Lie::Symmetric,
        Lie::Missing,
    ] {
        clinic.provider.lies(lie);
        let mut browser = clinic.browser();
        let refused = clinic.sign_in(&mut browser, &known).await;
        assert_eq!(refused.status(), 401, "{lie:?}: {}", refused.text);
        assert!(!browser.cookies.contains_key("svc_session"), "{lie:?}");
    }
    clinic.provider.lies(Lie::None);
    let done = clinic.sign_in(&mut clinic.browser(), &known).await;
    assert_eq!(done.leads_to(), "/ui/account");
    let log = clinic.world.gateway.log();
    assert!(!log.contains(CLIENT_SECRET));
}

#[tokio::test]
async fn an_answer_is_good_for_the_browser_that_asked_and_once() {
    let clinic = Clinic::sqlite().await;
    let known = person("subject-1", &clinic.invite().email);
    let mut browser = clinic.browser();
    let query = clinic.go(&mut browser, &known).await;
    let back = format!("{CALLBACK}?{query}");

    let mut foreign = clinic.browser();
    assert_eq!(
        foreign.get(&back).await.status(),
        400,
        "a browser without the cookie"
    );
    foreign.get("/ui/login").await;
    assert_eq!(
        foreign.get(&back).await.status(),
        400,
        "a browser with another"
    );
    let mixed = back.replace("iss=http", "iss=https");
    assert_ne!(mixed, back);
    assert_eq!(
        browser.get(&mixed).await.status(),
        400,
        "another provider's answer"
    );
    let forged = back.replace("state=", "state=9");
    assert_eq!(
        browser.get(&forged).await.status(),
        400,
        "a state that was changed"
    );
    assert_eq!(clinic.provider.asked("/token"), 0, "nothing was redeemed");

    assert_eq!(browser.get(&back).await.leads_to(), "/ui/account");
    let mut again = clinic.browser();
    again.cookies.clone_from(&browser.cookies);
    again.cookies.remove("svc_session");
    assert_eq!(again.get(&back).await.status(), 401, "the code is used up");

    let query = clinic.go(&mut again, &known).await;
    let (_, state) = query.split_once('&').unwrap();
    let denied = again
        .get(&format!("{CALLBACK}?error=access_denied&{state}"))
        .await;
    assert_eq!(denied.status(), 401);
    let trouble = again
        .get(&format!("{CALLBACK}?error=server_error&{state}"))
        .await;
    assert_eq!(trouble.status(), 503, "{}", trouble.text);
    assert!(
        denied.text.contains("did not come about"),
        "{}",
        denied.text
    );
}

#[tokio::test]
async fn a_second_factor_is_asked_for_before_anybody_is_tied() {
    let clinic = Clinic::sqlite().await;
    let invited = clinic.invite();
    let mut owner = clinic.browser();
    owner.accept(&invited.invitation).await;
    let (secret, _) = enrol(&mut owner).await;

    // Somebody who has the address at the provider, and not the app.
    let mut thief = clinic.browser();
    let half = clinic
        .sign_in(&mut thief, &person("thief", &invited.email))
        .await;
    assert_eq!(half.leads_to(), "/ui/login/totp?next=%2Fui%2Faccount");
    assert_eq!(thief.get("/ui/account").await.status(), 303);
    let sql = "SELECT subject FROM identities WHERE user_id = $1";
    let database = &clinic.world.gateway.database;
    assert!(database.rows(sql, &[&invited.id]).await.is_empty());

    let mut browser = clinic.browser();
    let known = person("owner", &invited.email);
    let half = clinic.sign_in(&mut browser, &known).await;
    assert_eq!(half.leads_to(), "/ui/login/totp?next=%2Fui%2Faccount");
    let page = browser.get("/ui/login/totp?next=%2Fui%2Faccount").await;
    let shown = code(&secret, 0);
    let done = browser
        .submit(&page, "/ui/login/totp", &[("code", &shown)])
        .await;
    assert_eq!(done.leads_to(), "/ui/account", "{}", done.text);
    let tied = database.rows(sql, &[&invited.id]).await;
    assert_eq!(tied[0]["subject"], "owner");
    let sql = "SELECT document FROM audit WHERE target_id = $1 AND event = 'user.signed_in'";
    let rows = database.rows(sql, &[&invited.id]).await;
    let row = rows.last().unwrap()["document"].as_str().unwrap();
    assert!(row.contains("\"by\":\"openid\"") && row.contains("\"second_factor\":\"totp\""));
}

#[tokio::test]
async fn addresses_of_other_domains_find_no_account() {
    let clinic = Clinic::open(None, &["elsewhere.example"]).await;
    let invited = clinic.invite();
    let known = person("subject-1", &invited.email);
    let refused = clinic.sign_in(&mut clinic.browser(), &known).await;
    assert_eq!(refused.status(), 403, "{}", refused.text);
}

#[tokio::test]
async fn an_address_may_be_told_apart_from_the_token() {
    let clinic = Clinic::sqlite().await;
    clinic.provider.keeps_address();
    let known = person("subject-1", &clinic.invite().email);
    let done = clinic.sign_in(&mut clinic.browser(), &known).await;
    assert_eq!(done.leads_to(), "/ui/account");
    assert_eq!(clinic.provider.asked("/userinfo"), 1);
}

#[tokio::test]
async fn a_new_key_of_the_provider_is_found() {
    let clinic = Clinic::sqlite().await;
    let known = person("subject-1", &clinic.invite().email);
    clinic
        .sign_in(&mut clinic.browser(), &known)
        .await
        .leads_to();
    assert_eq!(clinic.provider.asked("/jwks"), 1);
    clinic.provider.changes_key();
    // Keys are looked at again after 5 s at the earliest, so that forged tokens cause no flood.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let done = clinic.sign_in(&mut clinic.browser(), &known).await;
    assert_eq!(done.leads_to(), "/ui/account", "{}", done.text);
    assert_eq!(clinic.provider.asked("/jwks"), 2);
}

#[tokio::test]
async fn a_provider_that_is_down_leaves_the_other_way_open() {
    let clinic = Clinic::sqlite().await;
    let invited = clinic.invite();
    clinic.browser().accept(&invited.invitation).await;
    let Clinic {
        provider, world, ..
    } = clinic;
    drop(provider);
    let mut browser = Browser::new(&world.gateway);
    let page = browser.get("/ui/login/openid").await;
    assert_eq!(page.status(), 503, "{}", page.text);
    let done = browser
        .sign_in(&invited.email, svc_tests::browser::PASSWORD)
        .await;
    assert_eq!(done.leads_to(), "/ui");
}

#[tokio::test]
async fn without_a_provider_there_is_no_such_page() {
    let world = World::sqlite().await;
    let mut browser = Browser::new(&world.gateway);
    assert_eq!(browser.get("/ui/login/openid").await.status(), 404);
    assert_eq!(browser.get(CALLBACK).await.status(), 404);
    let page = browser.get("/ui/login").await;
    assert!(!page.text.contains("/ui/login/openid"));
}
