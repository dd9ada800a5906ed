//! Links that set a password are worth no more than the account that they lead to, and whoever issued them.

use svc_tests::browser::{Browser, PASSWORD, Page};
use svc_tests::world::World;

use super::pages::between;
use super::{Invited, invite};
use crate::engines::on_both_engines;

on_both_engines! {
    a_link_ends_with_every_change_of_its_account,
    a_link_is_worth_what_its_issuer_may,
}

/// A new link for somebody, as a page shows it: its path.
async fn issue(browser: &mut Browser<'_>, id: &str) -> String {
    let page = browser.get("/ui/users").await;
    let issued = browser
        .submit(&page, &format!("/ui/users/{id}/link"), &[])
        .await;
    assert_eq!(issued.status(), 201, "{}", issued.text);
    let url = between(&issued, "id=\"new-link\">", "</code>");
    browser.path(url).to_owned()
}

/// The page that a link leads to, as somebody sees it who has nothing else.
async fn follow(world: &World, path: &str) -> Page {
    Browser::new(&world.gateway).get(path).await
}

/// Changes somebody at the page of users.
async fn change(browser: &mut Browser<'_>, id: &str, what: &str, fields: &[(&str, &str)]) {
    let page = browser.get("/ui/users").await;
    let action = format!("/ui/users/{id}/{what}");
    browser.submit(&page, &action, fields).await.leads_to();
}

async fn joined<'w>(world: &'w World, invited: &Invited) -> Browser<'w> {
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    browser
}

async fn a_link_ends_with_every_change_of_its_account(world: &World) {
    let organization = world.organization();
    let mut owner = Browser::owner(&world.gateway, &organization).await;
    let admin = invite(world, &organization, "admin");
    let mut admin = joined(world, &admin).await;
    let member = invite(world, &organization, "member");
    let mut own = joined(world, &member).await;

    // Whoever could reset a member is not to become the owner that the member became.
    let path = issue(&mut admin, &member.id).await;
    let mut thief = Browser::new(&world.gateway);
    let page = thief.get(&path).await;
    assert_eq!(page.status(), 200, "{}", page.text);
    change(&mut owner, &member.id, "role", &[("role", "owner")]).await;
    assert_eq!(follow(world, &path).await.status(), 404);
    let set = [("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(thief.submit(&page, &path, &set).await.status(), 404);

    let path = issue(&mut owner, &member.id).await;
    change(&mut owner, &member.id, "suspend", &[]).await;
    change(&mut owner, &member.id, "reinstate", &[]).await;
    assert_eq!(follow(world, &path).await.status(), 404);

    let path = issue(&mut owner, &member.id).await;
    own.sign_in(&member.email, PASSWORD).await.leads_to();
    let account = own.get("/ui/account").await;
    let next = "another sentence nobody guesses";
    let fields = [("current", PASSWORD), ("password", next), ("again", next)];
    let changed = own.submit(&account, "/ui/account/password", &fields).await;
    assert_eq!(changed.leads_to(), "/ui/account?done=password");
    assert_eq!(follow(world, &path).await.status(), 404);

    // An invitation that nobody has followed yet, too.
    let invited = invite(world, &organization, "viewer");
    let path = owner.path(&invited.invitation).to_owned();
    assert_eq!(follow(world, &path).await.status(), 200);
    change(&mut owner, &invited.id, "role", &[("role", "member")]).await;
    assert_eq!(follow(world, &path).await.status(), 404);
}

async fn a_link_is_worth_what_its_issuer_may(world: &World) {
    let organization = world.organization();
    let mut owner = Browser::owner(&world.gateway, &organization).await;
    let admin = invite(world, &organization, "admin");
    let mut issuer = joined(world, &admin).await;
    let (one, other) = (
        invite(world, &organization, "member"),
        invite(world, &organization, "member"),
    );
    let path = issue(&mut issuer, &one.id).await;
    let of_owner = issue(&mut owner, &other.id).await;
    change(&mut owner, &admin.id, "suspend", &[]).await;
    assert_eq!(follow(world, &path).await.status(), 404);
    assert_eq!(follow(world, &of_owner).await.status(), 200);

    // Between the page and its form.
    change(&mut owner, &admin.id, "reinstate", &[]).await;
    let mut thief = Browser::new(&world.gateway);
    let page = thief.get(&path).await;
    assert_eq!(page.status(), 200, "{}", page.text);
    change(&mut owner, &admin.id, "role", &[("role", "member")]).await;
    let set = [("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(thief.submit(&page, &path, &set).await.status(), 404);

    // An owner who is an admin now has the links of an admin.
    let second = invite(world, &organization, "owner");
    let mut issuer = joined(world, &second).await;
    let third = invite(world, &organization, "owner");
    let to_owner = issue(&mut issuer, &third.id).await;
    let to_member = issue(&mut issuer, &one.id).await;
    change(&mut owner, &second.id, "role", &[("role", "admin")]).await;
    assert_eq!(follow(world, &to_owner).await.status(), 404);
    assert_eq!(follow(world, &to_member).await.status(), 200);
}
