//! What happens to one account at the same time: everything is judged by what stands when it takes effect.

use futures_util::future::join_all;
use svc_tests::browser::{Browser, PASSWORD};
use svc_tests::world::World;

use super::invite;
use crate::engines::on_both_engines;

on_both_engines! {
    no_session_of_an_old_password_outlives_its_change,
    of_two_changes_of_a_password_one_is_done,
    no_admin_changes_an_owner,
}

async fn no_session_of_an_old_password_outlives_its_change(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    let mut owner = Browser::new(&world.gateway);
    owner.accept(&invited.invitation).await;
    let mut old = PASSWORD.to_owned();
    for round in 0..3 {
        let account = owner.get("/ui/account").await;
        let new = format!("sentence {round} that nobody guesses");
        let fields = [
            ("current", old.as_str()),
            ("password", new.as_str()),
            ("again", new.as_str()),
        ];
        let sign_ins = (0..4).map(async |_| {
            let mut browser = Browser::new(&world.gateway);
            let status = browser.sign_in(&invited.email, &old).await.status();
            assert!([303, 401].contains(&status), "{status}");
            browser
        });
        let (changed, browsers) = tokio::join!(
            owner.submit(&account, "/ui/account/password", &fields),
            join_all(sign_ins)
        );
        assert_eq!(changed.leads_to(), "/ui/account?done=password");
        for mut browser in browsers {
            let page = browser.get("/ui/account").await;
            assert_eq!(page.status(), 303, "{round}");
        }
        old = new;
        // The attempts of this round are forgiven.
        let mut again = Browser::new(&world.gateway);
        again.sign_in(&invited.email, &old).await.leads_to();
    }
}

async fn of_two_changes_of_a_password_one_is_done(world: &World) {
    let invited = invite(world, &world.organization(), "member");
    let mut first = Browser::new(&world.gateway);
    first.accept(&invited.invitation).await;
    let mut second = Browser::new(&world.gateway);
    second.sign_in(&invited.email, PASSWORD).await.leads_to();
    let mut changes = Vec::new();
    for (number, browser) in [&mut first, &mut second].into_iter().enumerate() {
        let account = browser.get("/ui/account").await;
        changes.push(async move {
            let new = format!("sentence {number} that nobody guesses");
            let fields = [
                ("current", PASSWORD),
                ("password", new.as_str()),
                ("again", new.as_str()),
            ];
            let path = "/ui/account/password";
            let done = browser.submit(&account, path, &fields).await;
            // Whose session was over before the form was read is sent to sign in.
            let place = done.answer.header("location").map(str::to_owned);
            (place.as_deref() == Some("/ui/account?done=password"), new)
        });
    }
    let done = join_all(changes).await;
    let changed: Vec<&String> = done
        .iter()
        .filter_map(|(is_done, new)| is_done.then_some(new))
        .collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    let mut other = Browser::new(&world.gateway);
    other.sign_in(&invited.email, changed[0]).await.leads_to();
}

async fn no_admin_changes_an_owner(world: &World) {
    let organization = world.organization();
    let mut owner = Browser::owner(&world.gateway, &organization).await;
    let mut admin = Browser::new(&world.gateway);
    let invited = invite(world, &organization, "admin");
    admin.accept(&invited.invitation).await;
    let id = invite(world, &organization, "member").id;
    let role = format!("/ui/users/{id}/role");
    let suspend = format!("/ui/users/{id}/suspend");
    for _ in 0..10 {
        let (of_owner, of_admin) = (owner.get("/ui/users").await, admin.get("/ui/users").await);
        let (promoted, suspended) = tokio::join!(
            owner.submit(&of_owner, &role, &[("role", "owner")]),
            admin.submit(&of_admin, &suspend, &[])
        );
        promoted.leads_to();
        let was_first = suspended.status() == 303;
        assert!(was_first || suspended.status() == 403, "{}", suspended.text);
        let page = owner.get("/ui/users").await;
        if was_first {
            let reinstate = format!("/ui/users/{id}/reinstate");
            owner.submit(&page, &reinstate, &[]).await.leads_to();
        }
        let demoted = owner.submit(&page, &role, &[("role", "member")]).await;
        demoted.leads_to();
    }
    let sql = "SELECT document FROM audit WHERE event = 'user.suspended' AND target_id = $1";
    for row in world.gateway.database.rows(sql, &[&id]).await {
        let document = row["document"].as_str().unwrap();
        assert!(document.contains("\"old_role\":\"member\""), "{document}");
    }
}
