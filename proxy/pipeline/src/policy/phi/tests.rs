//! Profiles, and what is wrong with a file.
#![allow(clippy::unwrap_used)]

use super::*;

const ORG: &str = "org_01M7YT30ARKHN4SPHGEK4YVZTP";

fn built(text: &str) -> (PhiPolicy, Vec<String>) {
    let file: File = toml::from_str(text).unwrap();
    let mut findings = Findings::default();
    let source = Source {
        file: "phi.toml",
        text,
    };
    let policy = PhiPolicy::build(file, source, &mut findings);
    let problems = findings.0.iter().map(ToString::to_string).collect();
    (policy, problems)
}

fn with(rest: &str) -> (PhiPolicy, Vec<String>) {
    built(&format!("{HEAD}{rest}"))
}

const HEAD: &str = "detectors = [\"d\"]\ndefaults = { action = \"redact\", threshold = 500 }\n";

fn good(rest: &str) -> PhiPolicy {
    let (policy, problems) = with(rest);
    assert_eq!(problems, Vec::<String>::new());
    policy
}

fn action(
    policy: &PhiPolicy,
    profile: ProfileId,
    kind: &str,
    narrow: Option<&'static str>,
) -> Action {
    policy.rule(profile, kind, || narrow).action
}

#[test]
fn a_file_without_profiles_is_safe_harbor() {
    let policy = good("[kinds.DATE]\nthreshold = 700\n");
    let profile = policy.profile_in_force();
    assert_eq!(policy.profile_name(profile), SAFE_HARBOR);
    assert_eq!(policy.rule(profile, "DATE", || None).threshold, 700);
    assert_eq!(policy.rule(profile, "NAME", || None).threshold, 500);
    assert_eq!(policy.profile_of(ORG), profile);
}

#[test]
fn a_profile_stands_over_the_base_and_below_nothing() {
    let policy = good(
        "profile = \"keep\"\n[kinds.NAME]\nthreshold = 800\n\
         [profiles.keep.kinds.PROVIDER_NAME]\naction = \"allow\"\n\
         [profiles.strict.kinds.SSN]\naction = \"block\"\n",
    );
    let keep = policy.profile_in_force();
    let strict = policy.profile_named("strict").unwrap();
    assert_eq!(
        action(&policy, keep, "NAME", Some("PROVIDER_NAME")),
        Action::Allow
    );
    assert_eq!(action(&policy, keep, "NAME", None), Action::Redact);
    assert_eq!(
        policy
            .rule(keep, "NAME", || Some("PROVIDER_NAME"))
            .threshold,
        800
    );
    assert_eq!(
        action(&policy, strict, "NAME", Some("PROVIDER_NAME")),
        Action::Redact
    );
    assert_eq!(action(&policy, strict, "SSN", None), Action::Block);
    assert_eq!(action(&policy, keep, "SSN", None), Action::Redact);
}

#[test]
fn an_organization_may_have_a_profile_of_its_own() {
    let policy = good(&format!(
        "profile = \"a\"\n[profiles.a]\n[profiles.b]\n[organizations]\n{ORG} = \"b\"\n"
    ));
    assert_eq!(Some(policy.profile_of(ORG)), policy.profile_named("b"));
    assert_eq!(
        Some(policy.profile_of("org_other")),
        policy.profile_named("a")
    );
}

/// What is wrong with it, each on its own line of the file.
#[test]
fn names_that_nothing_has_are_refused_with_their_line() {
    for (rest, expected) in [
        (
            "[kinds.NAMES]\n",
            "line 3: unknown kind NAMES; known are NAME, ADDRESS, ",
        ),
        ("[kinds.US_SSN]\n", "line 3: kind US_SSN is called SSN here"),
        ("[kinds.name]\n", "line 3: kind name is called NAME here"),
        (
            "further_kinds = [\"WARD\"]\n[kinds.WARDS]\n",
            "FACILITY, WARD, and what",
        ),
        (
            "further_kinds = [\"person\"]\n",
            "line 3: further_kinds: findings of person count as NAME",
        ),
        (
            "further_kinds = [\"SSN\"]\n",
            "line 3: further_kinds: SSN is a kind already",
        ),
        (
            "further_kinds = [\"ward\"]\n",
            "findings of ward count as WARD",
        ),
        (
            "[profiles.a]\n\n[profiles.a.kinds.AGE]\n",
            "line 5: unknown kind AGE;",
        ),
        (
            "profile = \"b\"\n[profiles.a]\n",
            "line 3: unknown profile b; known are a",
        ),
        (
            "profile = \"a\"\n[profiles.a]\n[organizations]\norg_1 = \"a\"\n",
            "line 6: org_1 is no id of an organization",
        ),
        (
            "[kinds.DATE]\nthreshold = 1001\n",
            "line 3: DATE: threshold is above 1000",
        ),
        (
            "[kinds.DATE]\naction = \"allow\"\n",
            "profile safe-harbor leaves DATE in the text",
        ),
        (
            "[profiles.safe-harbor.kinds.FACILITY]\naction = \"allow\"\n",
            "leaves FACILITY in the text",
        ),
        (
            "[kinds.DATE]\nthreshold = 901\n",
            "profile safe-harbor leaves DATE in the text",
        ),
        (
            "fixed_text_may_hold = [\"DATE\", \"SSN\"]\n",
            "line 3: fixed_text_may_hold: SSN identifies a person; of our kinds it may name LOCATION, ORGANIZATION, DATE",
        ),
        (
            "fixed_text_may_hold = [\"FACILITY\"]\n",
            "line 3: fixed_text_may_hold: findings of FACILITY are ORGANIZATION",
        ),
        (
            "replies_may_hold = [\"NAME\"]\n",
            "line 3: replies_may_hold: NAME identifies a person; of our kinds it may name LOCATION, ORGANIZATION, DATE",
        ),
    ] {
        let (_, problems) = with(rest);
        assert_eq!(problems.len(), 1, "{rest}: {problems:?}");
        let problem = problems.first().unwrap();
        assert!(
            problem.starts_with("phi.toml: ") && problem.contains(expected),
            "{rest}: {problem}"
        );
    }
    for defaults in ["\"allow\", threshold = 500", "\"redact\", threshold = 901"] {
        let file = |rest: &str| {
            built(&format!(
                "detectors = [\"d\"]\ndefaults = {{ action = {defaults} }}\n{rest}"
            ))
        };
        assert_eq!(
            file("").1,
            [
                "phi.toml: profile safe-harbor leaves what no rule names in the text; a profile that does needs another name"
            ]
        );
        assert_eq!(file("profile = \"a\"\n[profiles.a]\n").1, [""; 0]);
    }
    let org = format!("profile = \"a\"\n[profiles.a]\n[organizations]\n{ORG} = \"b\"\n");
    assert_eq!(
        with(&org).1,
        ["phi.toml: line 6: unknown profile b; known are a"]
    );
}

#[test]
fn kinds_of_others_may_be_named_once_they_are_declared() {
    let policy = good(
        "further_kinds = [\"WARD\"]\nfixed_text_may_hold = [\"WARD\"]\n[kinds.WARD]\naction = \"block\"\n",
    );
    assert!(policy.fixed_text_may_hold("WARD") && !policy.fixed_text_may_hold("DATE"));
    assert!(!policy.replies_may_hold("WARD"));
    let replies = good("replies_may_hold = [\"DATE\"]\n");
    assert!(replies.replies_may_hold("DATE") && !replies.fixed_text_may_hold("DATE"));
    assert_eq!(
        action(&policy, policy.profile_in_force(), "WARD", None),
        Action::Block
    );
}
