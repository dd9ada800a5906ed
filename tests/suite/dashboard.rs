//! The pages that people see: forms over HTTP as a browser without scripts sends them, rows in the audit log, on both
//! engines.

mod accounts;
mod agents;
mod at_once;
mod edits;
mod forms;
mod links;
mod openid;
mod pages;
mod refusals;
mod second_factor;
mod ways;

use serde_json::Value;
use svc_tests::browser::Browser;
use svc_tests::organization::Organization;
use svc_tests::program;
use svc_tests::world::World;

/// Somebody of an organization, and their invitation.
struct Invited {
    id: String,
    email: String,
    invitation: String,
}

/// `admin create-user`.
fn invite(world: &World, organization: &Organization, role: &str) -> Invited {
    let mark = svc_tests::fake::mark();
    let email = format!("{}@clinic.example", mark.to_lowercase());
    let mut command = world.gateway.command();
    command.args(["admin", "create-user", "--json", "--role", role]);
    command.args(["--email", &email, "--organization", &organization.id]);
    let said: Value = serde_json::from_str(&program::output_of(&mut command)).expect("JSON");
    Invited {
        id: said["user_id"].as_str().expect("an id").to_owned(),
        email,
        invitation: said["invitation_url"].as_str().expect("a link").to_owned(),
    }
}

/// A new app of the browser's organization: the address of its page.
async fn new_app(browser: &mut Browser<'_>) -> String {
    let page = browser.get("/ui/apps").await;
    let made = browser
        .submit(&page, "/ui/apps", &[("name", "Intake")])
        .await;
    let (place, _) = made.leads_to().split_once('?').expect("what was done");
    place.to_owned()
}

/// The events of an organization's log that are about a user, oldest first.
async fn events(world: &World, user_id: &str) -> Vec<String> {
    let sql = "SELECT event FROM audit WHERE target_type = 'user' AND target_id = $1 ORDER BY occurred_at, id";
    let rows = world.gateway.database.rows(sql, &[user_id]).await;
    let words = rows
        .iter()
        .map(|row| row["event"].as_str().expect("a word"));
    words.map(str::to_owned).collect()
}
