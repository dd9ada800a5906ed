//! Profiles of the PHI policy: what each keeps, for whom, and that nothing takes effect that its cases refute.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::gateway::Setup;
use svc_tests::patience::eventually;
use svc_tests::policies::Policies;
use svc_tests::program;
use svc_tests::world::World;

const REFUSED: &str = "svc_policy_reloads_total{outcome=\"refused\"}";
const ACCEPTED: &str = "svc_policy_reloads_total{outcome=\"accepted\"}";

const TEXT: &str = "Patient Thomas Barker, 93 years old, was seen by Dr. Helen Marsh at Lakeside General Hospital.";

async fn reloads(world: &World, sample: &str) {
    eventually(sample, async || {
        (world.gateway.metric(sample).await >= 1.0).then_some(())
    })
    .await;
}

/// What the provider gets of [`TEXT`].
async fn sent(world: &World, key: &str) -> String {
    let mark = mark();
    let body = json!({"message": format!("{mark} {TEXT}")});
    let answer = world.gateway.chat(key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let received = world.fake.received(&mark).await;
    let text = received["body"]["messages"][0].to_string();
    text.split_once(&mark).unwrap().1.to_owned()
}

#[tokio::test]
async fn an_organization_has_the_profile_that_the_operator_gave_it() {
    let policies = Policies::copy();
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organizations = [
        (world.organization(), "safe-harbor", [false, false, false]),
        (
            world.organization(),
            "keep-provider-names",
            [true, false, false],
        ),
        (
            world.organization(),
            "keep-facilities",
            [false, true, false],
        ),
        (world.organization(), "keep-ages", [false, false, true]),
    ];
    let mut text = policies.read("phi.toml") + "\n[organizations]\n";
    for (organization, profile, _) in &organizations {
        text += &format!("{} = \"{profile}\"\n", organization.id);
    }
    policies.write("phi.toml", &text);
    reloads(&world, ACCEPTED).await;
    for (organization, profile, kept) in &organizations {
        let seen = sent(&world, &organization.key).await;
        assert!(!seen.contains("Barker"), "{profile}: {seen}");
        let values = ["Helen Marsh", "Lakeside General Hospital", "93"];
        let stays = values.map(|value| seen.contains(value));
        assert_eq!(stays, *kept, "{profile}: {seen}");
    }
    // Who has none of their own has the one in force.
    let another = world.organization();
    policies.edit(
        "phi.toml",
        "profile = \"safe-harbor\"",
        "profile = \"keep-ages\"",
    );
    eventually("the age stays", async || {
        sent(&world, &another.key)
            .await
            .contains("93")
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_set_whose_cases_do_not_hold_is_not_taken() {
    let policies = Policies::copy();
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = world.organization();
    let loosened = "[profiles.keep-ages.kinds.DATE]\naction = \"allow\"\n";
    let text = policies
        .read("phi.toml")
        .replace("profile = \"safe-harbor\"", "profile = \"keep-ages\"");
    policies.write("phi.toml", &format!("{text}\n{loosened}"));
    reloads(&world, REFUSED).await;
    let page = world.gateway.admin_page("/readyz").await;
    let said: Value = serde_json::from_slice(&page.body).unwrap();
    let refused = said["policy"]["refused"].to_string();
    for word in [
        "cases/phi.toml",
        "keep-ages",
        "found.DATE[0] is to be DATE and is kept",
    ] {
        assert!(refused.contains(word), "{refused}");
    }
    assert!(!refused.contains("1933"), "{refused}");
    assert!(!sent(&world, &organization.key).await.contains("93"));
}

fn checked(policies: &Policies) -> (Option<i32>, String) {
    let gateway = Setup::new("http://127.0.0.1:9")
        .policies(policies.path())
        .prepare();
    let output = program::run(gateway.command().arg("check"));
    (output.status.code(), program::text(&output.stdout))
}

#[test]
fn check_names_the_case_and_the_kinds() {
    let policies = Policies::copy();
    let text = policies.read("cases/phi.toml");
    let cases = "\n[[case]]\nname = \"upside down\"\nprofile = \"keep-ages\"\n\
                 text = \"Patient Thomas Barker is 93 years old, SSN 536-22-8714.\"\n\
                 found = { DATE = [\"Thomas Barker\"], AGE_OVER_89 = [\"93\"] }\nkept = [\"536-22-8714\"]\n";
    policies.write("cases/phi.toml", &format!("{text}{cases}"));
    let line = text.lines().count() + 2;
    let (code, out) = checked(&policies);
    assert_eq!(code, Some(1), "{out}");
    for expected in [
        "found.DATE[0] is to be DATE and is NAME",
        "found.AGE_OVER_89[0] is to be AGE_OVER_89 and is kept",
        "kept[0] is to be kept and is SSN",
    ] {
        let expected = format!(
            "cases/phi.toml: line {line}: case \"upside down\" (profile keep-ages): {expected}\n"
        );
        assert!(out.contains(&expected), "{expected}{out}");
    }
    assert!(out.ends_with("3 problems\n"), "{out}");
}

#[test]
fn check_names_what_nobody_knows() {
    let policies = Policies::copy();
    policies.edit(
        "phi.toml",
        "profiles.keep-ages.kinds.AGE_OVER_89",
        "profiles.keep-ages.kinds.AGE",
    );
    policies.edit("models.toml", "provider = \"beta\"", "provider = \"betta\"");
    let (code, out) = checked(&policies);
    assert_eq!(code, Some(1), "{out}");
    for expected in [
        "phi.toml: line ",
        "unknown kind AGE; known are NAME, ",
        "models.toml: line ",
        "unknown provider betta",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    let policies = Policies::copy();
    policies.edit(
        "phi.toml",
        "profile = ",
        "further_kinds = [\"WARD\"]\nprofile = ",
    );
    let (code, out) = checked(&policies);
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("no detector of the policy finds WARD"),
        "{out}"
    );
}
