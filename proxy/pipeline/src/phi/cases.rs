//! Tries the cases of a policy set: each text goes through the path of a request, under the case's profile.

use svc_plugin::PluginHost;

use super::{Detectors, Found, found_in};
use crate::policy::cases::{Case, Expectation, FILE};
use crate::policy::{PolicyProblem, PolicySet};

/// Every case that does not hold, and every one that could not be tried. Says where and which kinds, never the text.
pub async fn failures(set: &PolicySet, plugins: &PluginHost) -> Vec<PolicyProblem> {
    let mut problems = Vec::new();
    for case in &set.cases {
        let Case {
            name,
            line,
            profile,
            text,
            expectations,
        } = case;
        let profile_name = set.phi.profile_name(*profile);
        let mut report = |what: String| {
            problems.push(PolicyProblem {
                file: FILE.to_owned(),
                message: format!("line {line}: case \"{name}\" (profile {profile_name}): {what}"),
            });
        };
        let found = match Detectors::pin(plugins, &set.phi, *profile) {
            Ok(detectors) => found_in(text, &detectors, &set.phi).await,
            Err(fault) => Err(fault),
        };
        match found {
            Ok(found) => expectations
                .iter()
                .filter_map(|expected| broken(expected, &found))
                .for_each(&mut report),
            Err(fault) => report(format!(
                "could not be tried: {}",
                fault.cause().unwrap_or_default()
            )),
        }
    }
    problems
}

/// What is wrong with one value, if anything.
fn broken(expected: &Expectation, found: &[Found]) -> Option<String> {
    let Expectation {
        place,
        start,
        end,
        kind,
    } = expected;
    let touching = found
        .iter()
        .filter(|finding| finding.start < *end && *start < finding.end);
    let mut kinds: Vec<&str> = touching
        .clone()
        .map(|finding| finding.kind.as_str())
        .collect();
    kinds.dedup();
    let actual = match kinds.as_slice() {
        [] => "kept".to_owned(),
        kinds => kinds.join(" and "),
    };
    let Some(kind) = kind else {
        return (!kinds.is_empty()).then(|| format!("{place} is to be kept and is {actual}"));
    };
    let covered: usize = touching
        .filter(|finding| finding.kind == *kind)
        .map(|finding| finding.end.min(*end) - finding.start.max(*start))
        .sum();
    if covered == end - start {
        return None;
    }
    let part = match kinds.contains(&kind.as_str()) {
        true => " only in part",
        false => "",
    };
    Some(format!("{place} is to be {kind} and is {actual}{part}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: Option<&str>, found: &[(usize, usize, &str)]) -> Option<String> {
        let expected = Expectation {
            place: "here".to_owned(),
            start: 10,
            end: 20,
            kind: kind.map(str::to_owned),
        };
        let found: Vec<Found> = found
            .iter()
            .map(|(start, end, kind)| Found {
                start: *start,
                end: *end,
                kind: (*kind).to_owned(),
                score: 900,
            })
            .collect();
        broken(&expected, &found)
    }

    #[test]
    fn a_value_is_found_whole_and_as_its_kind() {
        let name = Some("NAME");
        assert_eq!(judged(name, &[(10, 20, "NAME")]), None);
        assert_eq!(judged(name, &[(5, 15, "NAME"), (15, 30, "NAME")]), None);
        let said = |found: &[_]| judged(name, found).unwrap_or_default();
        assert_eq!(said(&[]), "here is to be NAME and is kept");
        assert_eq!(said(&[(10, 20, "DATE")]), "here is to be NAME and is DATE");
        assert_eq!(
            said(&[(10, 19, "NAME")]),
            "here is to be NAME and is NAME only in part"
        );
        assert_eq!(
            said(&[(0, 10, "NAME"), (20, 30, "NAME")]),
            "here is to be NAME and is kept"
        );
    }

    #[test]
    fn what_is_kept_is_touched_by_nothing() {
        assert_eq!(judged(None, &[(0, 10, "NAME"), (20, 30, "DATE")]), None);
        assert_eq!(
            judged(None, &[(19, 30, "NAME"), (9, 11, "DATE")]).as_deref(),
            Some("here is to be kept and is NAME and DATE")
        );
    }
}
