//! Merging, further mentions, placeholders.

use proptest::prelude::*;

use super::*;

const SSN: &str = "123-45-6789";

fn spans(text: &str, claims: &[(usize, usize, &str, u16)]) -> Vec<(String, String)> {
    let mut chat = chat(vec![user(text)]);
    let scan = TextScan::of(&mut chat);
    let claims: Vec<Candidate<'_>> = claims
        .iter()
        .enumerate()
        .map(|(detector, &(start, end, kind, score))| Candidate {
            start,
            end,
            kind,
            score,
            verified: false,
            partial: false,
            detector,
        })
        .collect();
    let counts = |claim: &Candidate<'_>, kind: &Kind| match kind.as_str() {
        "DATE" => false,
        "NAME" => claim.score >= 700,
        _ => claim.score >= 300,
    };
    merge(&scan, &claims, counts)
        .into_iter()
        .map(|finding| {
            (
                finding.kind.as_str().to_owned(),
                scan.text()[finding.start..finding.end].to_owned(),
            )
        })
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(kind, text)| ((*kind).to_owned(), (*text).to_owned()))
        .collect()
}

#[test]
fn nothing_covers_what_refuses_the_request() {
    let text = "SSN 536-22-1234 0 1 and";
    let mut claimed = chat(vec![user(text)]);
    let scan = TextScan::of(&mut claimed);
    let claim = |start, end, kind, score| Candidate {
        start,
        end,
        kind,
        score,
        verified: false,
        partial: false,
        detector: 0,
    };
    let claims = [claim(4, 15, "SSN", 900), claim(4, 19, "PHONE", 1_000)];
    let merged = |refuses: &str| {
        let weigh = |_: &Candidate<'_>, kind: &Kind| match kind.as_str() == refuses {
            true => Weight::Refuses,
            false => Weight::Counts,
        };
        let found = merge(&scan, &claims, weigh);
        let said = |finding: &Finding| format!("{} {}", finding.kind.as_str(), scan.value(finding));
        found.iter().map(said).collect::<Vec<_>>()
    };
    assert_eq!(merged("SSN"), ["SSN 536-22-1234", "PHONE 0 1"]);
    assert_eq!(merged("NAME"), ["PHONE 536-22-1234 0 1"]);
    // Nor does a mention of something longer that is known.
    let place = "John Smith Clinic";
    let mut map = PlaceholderMap::default();
    masked(place, &[("ORGANIZATION", place)], &mut map);
    let mut mentioned = chat(vec![user("He went to John Smith Clinic.")]);
    let scan = TextScan::of(&mut mentioned);
    let swept = |weight: Weight| {
        let found = merge(&scan, &[claim(11, 21, "NAME", 900)], |_, _| weight);
        let found = sweep(&scan, found, &map, &Allowed::default()).unwrap();
        let said = |finding: &Finding| format!("{} {}", finding.kind.as_str(), scan.value(finding));
        found.iter().map(said).collect::<Vec<_>>()
    };
    assert_eq!(
        swept(Weight::Refuses),
        ["NAME John Smith", "ORGANIZATION Clinic"]
    );
    assert_eq!(swept(Weight::Counts), ["ORGANIZATION John Smith Clinic"]);
}

#[test]
fn scripts_without_spaces_have_values_within_words() {
    let mut map = PlaceholderMap::default();
    let first = masked("患者王秀英入院", &[("NAME", "王秀英")], &mut map);
    assert_eq!(first, "患者[NAME_1]入院");
    assert_eq!(
        masked("今天王秀英说头疼", &[], &mut map),
        "今天[NAME_1]说头疼"
    );
    let known = masked("김민수님은 CT를", &[("NAME", "김민수")], &mut map);
    assert_eq!(known, "[NAME_2]님은 CT를");
    // Two letters say enough, one does not.
    masked(
        "医生李明和王",
        &[("NAME", "李明"), ("NAME", "王")],
        &mut map,
    );
    assert_eq!(
        masked("问李明，不问王医生", &[], &mut map),
        "问[NAME_3]，不问王医生"
    );
    // A number within them is one, but not within a longer one.
    masked("电话13800138000已", &[("PHONE", "13800138000")], &mut map);
    let again = masked("拨13800138000或138001380001", &[], &mut map);
    assert_eq!(again, "拨[PHONE_1]或138001380001");
}

#[test]
fn thresholds_hold_per_kind_and_allowed_kinds_stay() {
    let text = "John Smith on 2024-05-01";
    let claims = [
        (0, 10, "PERSON", 700),
        (14, 24, "DATE", 1000),
        (0, 4, "MRN", 299),
    ];
    assert_eq!(spans(text, &claims), pairs(&[("NAME", "John Smith")]));
    assert_eq!(spans(text, &[(0, 10, "NAME", 699)]), []);
}

#[test]
fn the_longest_claim_wins_and_the_rest_of_the_loser_stays_covered() {
    let text = "John Smith, MRN 12345 ok";
    assert_eq!(
        spans(text, &[(0, 10, "NAME", 900), (5, 21, "MRN", 400)]),
        pairs(&[("NAME", "John"), ("MRN", "Smith, MRN 12345")])
    );
    assert_eq!(
        spans(text, &[(0, 21, "MRN", 400), (5, 10, "NAME", 900)]),
        pairs(&[("MRN", "John Smith, MRN 12345")])
    );
    // Equal length: the higher score, then the earlier detector.
    assert_eq!(
        spans(text, &[(16, 21, "MRN", 400), (16, 21, "PHONE", 500)])[0].0,
        "PHONE"
    );
    assert_eq!(
        spans(text, &[(16, 21, "MRN", 400), (16, 21, "PHONE", 400)])[0].0,
        "MRN"
    );
    // One kind: joined where it overlaps, apart where it only touches.
    assert_eq!(
        spans(text, &[(0, 7, "NAME", 900), (5, 10, "NAME", 900)]),
        pairs(&[("NAME", "John Smith")])
    );
    assert_eq!(
        spans(text, &[(0, 4, "NAME", 900), (5, 10, "NAME", 900)]).len(),
        2
    );
}

#[test]
fn claims_are_cut_at_segments_and_widened_to_characters() {
    let mut chat = chat(vec![user("José"), user("Müller")]);
    let scan = TextScan::of(&mut chat);
    let claim = Candidate {
        start: 4,
        end: 8,
        kind: "NAME",
        score: 900,
        verified: true,
        partial: false,
        detector: 0,
    };
    let found: Vec<_> = merge(
        &scan,
        &[
            claim,
            Candidate {
                end: usize::MAX,
                start: usize::MAX,
                ..claim
            },
        ],
        |_, _| true,
    )
    .into_iter()
    .map(|finding| {
        (
            finding.segment,
            scan.text()[finding.start..finding.end].to_owned(),
        )
    })
    .collect();
    assert_eq!(found, [(0, "é".to_owned()), (1, "Mü".to_owned())]);
}

#[test]
fn one_value_has_one_placeholder_and_two_values_have_two() {
    let mut map = PlaceholderMap::default();
    let values = [
        ("NAME", "Jane Doe"),
        ("NAME", "JANE DOE"),
        ("NAME", "Janet Doe"),
        ("SSN", SSN),
    ];
    assert_eq!(
        masked(
            "Jane Doe, JANE DOE and Janet Doe: 123-45-6789",
            &values,
            &mut map
        ),
        "[NAME_1], [NAME_1] and [NAME_2]: [SSN_1]"
    );
    assert_eq!(masked("Janet Doe", &values, &mut map), "[NAME_2]");
}

#[test]
fn numbers_of_json_become_strings() {
    let values = [("MRN", "440182"), ("AGE", "93")];
    for (text, seen) in [
        (
            r#"{"mrn": 440182, "age":93}"#,
            r#"{"mrn": "[MRN_1]", "age":"[AGE_1]"}"#,
        ),
        (
            r#"see {"a": [93, 440182 ], "note": "of 440182, or 93"}: 440182, 93"#,
            r#"see {"a": ["[AGE_1]", "[MRN_1]" ], "note": "of [MRN_1], or [AGE_1]"}: [MRN_1], [AGE_1]"#,
        ),
        ("mrn: 440182, age: 93, or", "mrn: [MRN_1], age: [AGE_1], or"),
    ] {
        let mut map = PlaceholderMap::default();
        assert_eq!(masked(text, &values, &mut map), seen);
    }
}

#[test]
fn numbers_stay_while_a_resent_conversation_grows() {
    let values = [("NAME", "Ann Poe"), ("NAME", "Bob Roe"), ("SSN", SSN)];
    let mut short = chat(vec![user("Ann Poe"), assistant("Ann Poe has 123-45-6789")]);
    short.metadata.insert("who".into(), "Bob Roe".into());
    let mut long = short.clone();
    long.messages.push(user("Bob Roe asks for Cy Coe"));
    guard(&mut short, &values, &mut PlaceholderMap::default());
    guard(
        &mut long,
        &[&values[..], &[("NAME", "Cy Coe")]].concat(),
        &mut PlaceholderMap::default(),
    );
    assert_eq!(said(&short, 0), said(&long, 0));
    assert_eq!(said(&short, 1), said(&long, 1));
    assert_eq!(said(&long, 2), "[NAME_1] asks for [NAME_3]");
}

#[test]
fn a_known_value_goes_where_no_detector_saw_it() {
    let mut map = PlaceholderMap::default();
    let values = [
        ("NAME", "Jane Doe"),
        ("SSN", SSN),
        ("PHONE", "(212) 555-0187"),
        ("MRN", "AB-77812"),
    ];
    masked(
        "Jane Doe, 123-45-6789, (212) 555-0187, AB-77812",
        &values,
        &mut map,
    );
    let blind: Values<'_> = &[];
    assert_eq!(
        masked(
            "jane doe 123456789 +1 212-555-0187 x ab-77812.",
            blind,
            &mut map
        ),
        "[NAME_1] [SSN_1] +[PHONE_1] x [MRN_1]."
    );
    assert_eq!(
        masked(
            "Jane Doering 1234567891 A123456789 XAB-77812",
            blind,
            &mut map
        ),
        "Jane Doering 1234567891 A123456789 XAB-77812"
    );
    let mut request = chat(Vec::new());
    request.ext.insert("ssn".into(), 123_456_789.into());
    guard(&mut request, blind, &mut map);
    assert_eq!(request.ext["ssn"], "[SSN_1]");
}

#[test]
fn a_longer_neighbour_does_not_hide_a_known_value() {
    let mut map = PlaceholderMap::default();
    masked(
        "Ann Lee met Ann.",
        &[("NAME", "Ann Lee"), ("NAME", "Ann")],
        &mut map,
    );
    assert_eq!(masked("Ann Leeds", &[], &mut map), "[NAME_2] Leeds");
}

#[test]
fn a_name_that_is_a_word_is_no_name_in_small_letters() {
    let values = [("NAME", "Will")];
    let mut map = PlaceholderMap::default();
    assert_eq!(masked("Will said", &values, &mut map), "[NAME_1] said");
    assert_eq!(masked("he will; WILL", &[], &mut map), "he will; [NAME_1]");
    assert_eq!(
        masked("free will, Goodwill", &[], &mut map),
        "free will, Goodwill"
    );
}

#[test]
fn ages_are_never_looked_for_elsewhere() {
    let mut map = PlaceholderMap::default();
    assert_eq!(
        masked("aged 93, 93 mg", &[("AGE_OVER_89", "93,")], &mut map),
        "aged [AGE_OVER_89_1] 93 mg"
    );
    assert_eq!(masked("93 mg", &[], &mut map), "93 mg");
}

#[test]
fn text_that_looks_like_a_placeholder_never_becomes_a_value() {
    let values = [("SSN", SSN), ("NAME", "Jane Doe")];
    for text in [
        "[SSN_1] is mine: 123-45-6789",
        "123-45-6789 is mine, not [SSN_1] nor [ssn 2] nor [SSN\\_3]",
    ] {
        let mut map = PlaceholderMap::default();
        let sent = masked(text, &values, &mut map);
        assert!(!sent.contains(SSN));
        assert_eq!(unmasked(&sent, &map), text);
    }
    // Nor where it comes from a tool or the system prompt, behind the value.
    let mut map = PlaceholderMap::default();
    let mut request = chat(vec![user("Jane Doe"), user("say [NAME_1]")]);
    request.system = vec![Part::text("Call people [NAME_2].")];
    guard(&mut request, &values, &mut map);
    assert_eq!(said(&request, 0), "[NAME_3]");
    assert_eq!(
        unmasked("[NAME_1] [NAME_2] [NAME_3]", &map),
        "[NAME_1] [NAME_2] Jane Doe"
    );
    // Nor where a later turn brings the value.
    assert_eq!(
        masked("Jim Poe", &[("NAME", "Jim Poe")], &mut map),
        "[NAME_4]"
    );
}

#[test]
fn placeholders_that_come_back_stay_themselves() {
    let values = [("NAME", "Jane Doe"), ("NAME", "Jim Poe")];
    // Stored: the map has issued them.
    let mut map = PlaceholderMap::default();
    masked("Jane Doe", &values, &mut map);
    assert_eq!(
        masked("[NAME_1] and Jim Poe", &values, &mut map),
        "[NAME_1] and [NAME_2]"
    );
    assert_eq!(unmasked("[NAME_1]", &map), "Jane Doe");
    // Stateless with restoring off: the assistant said it first, the user takes it up.
    let mut map = PlaceholderMap::default();
    let mut request = chat(vec![
        user("Jane Doe"),
        assistant("[NAME_1] is well"),
        user("[NAME_1]? And Jim Poe?"),
    ]);
    guard(&mut request, &values, &mut map);
    assert_eq!(said(&request, 0), "[NAME_1]");
    assert_eq!(said(&request, 2), "[NAME_1]? And [NAME_2]?");
    // The assistant masked somebody new: the number is taken.
    let mut map = PlaceholderMap::default();
    let mut request = chat(vec![assistant("[NAME_1] is well"), user("Jane Doe")]);
    guard(&mut request, &values, &mut map);
    assert_eq!(said(&request, 1), "[NAME_2]");
}

#[test]
fn what_is_masked_is_not_masked_again() {
    let mut map = PlaceholderMap::default();
    let values = [("NAME", "Jane Doe"), ("MRN", "7781234")];
    let once = masked("Jane Doe, MRN 7781234", &values, &mut map);
    // A detector that takes placeholders for PHI, in whole and in part.
    let greedy = [
        ("OTHER_ID", "[NAME_1], MRN [MRN_1]"),
        ("MRN", "MRN_1"),
        ("NAME", "NAME_1]"),
    ];
    let twice = masked(&once, &greedy, &mut map);
    assert_eq!(twice, "[NAME_1][OTHER_ID_1] [MRN_1]");
    assert_eq!(unmasked(&twice, &map), "Jane Doe, MRN 7781234");
    let clean = map.clone();
    assert_eq!(masked(&once, &greedy[1..], &mut map), once);
    assert!(map == clean);
}

#[test]
fn an_identifier_in_the_shape_of_a_placeholder_is_replaced() {
    let mut map = PlaceholderMap::default();
    let sent = masked("[MRN_12345678]", &[("MRN", "12345678")], &mut map);
    assert_eq!(sent, "[MRN_[MRN_1]]");
    assert_eq!(unmasked(&sent, &map), "[MRN_12345678]");
}

#[test]
fn a_request_that_changed_since_its_scan_is_refused() {
    let mut request = chat(vec![user("Jane Doe")]);
    let scan = TextScan::of(&mut request);
    let mut map = PlaceholderMap::default();
    let found = findings(&scan, &[("NAME", "Jane Doe")], &map);
    request.messages.push(user("Jane Doe"));
    assert_eq!(
        redact(&mut request, &scan, &found, &mut map, Listener::default()),
        Err(Shifted { segment: 1 })
    );
}

#[test]
fn too_many_mentions_are_refused() {
    // Values inside values, each mentioned at every step.
    let values: Vec<String> = (2..60).map(|words| vec!["aaa"; words].join(" ")).collect();
    let mut map = PlaceholderMap::default();
    for value in &values {
        let mut request = chat(vec![user(value)]);
        let scan = TextScan::of(&mut request);
        let whole = Candidate {
            start: 0,
            end: value.len(),
            kind: "NAME",
            score: 900,
            verified: false,
            partial: false,
            detector: 0,
        };
        let found = merge(&scan, &[whole], |_, _| true);
        redact(&mut request, &scan, &found, &mut map, Listener::default()).unwrap();
    }
    let mut request = chat(vec![user(&vec!["aaa"; 1000].join(" "))]);
    let scan = TextScan::of(&mut request);
    assert!(sweep(&scan, Vec::new(), &map, &Allowed::default()).is_err());
}

/// What a detector read at many places and found at one is left at the others, unless it was sure there.
#[test]
fn a_guess_that_is_passed_over_elsewhere_stays_where_it_was_found() {
    let mentioned = |word: &str, mentions: usize, found: usize, score: u16| {
        let text = vec![word; mentions].join(" and ");
        let mut request = chat(vec![user(&text)]);
        let scan = TextScan::of(&mut request);
        let starts = text.match_indices(word).map(|(start, _)| start);
        let claims: Vec<Candidate<'_>> = starts
            .take(found)
            .map(|start| Candidate {
                start,
                end: start + word.len(),
                kind: "NAME",
                score,
                verified: false,
                partial: false,
                detector: 0,
            })
            .collect();
        let merged = merge(&scan, &claims, |_, _| true);
        let map = PlaceholderMap::default();
        sweep(&scan, merged, &map, &Allowed::default())
            .unwrap()
            .len()
    };
    assert_eq!(mentioned("excludes", 12, 1, 600), 1);
    assert_eq!(mentioned("excludes", 12, 2, 600), 2);
    assert_eq!(mentioned("excludes", 12, 3, 600), 12);
    assert_eq!(mentioned("excludes", 11, 1, 600), 11);
    assert_eq!(mentioned("excludes", 12, 1, 700), 12);
    // What is written as a name is has to be said more often.
    assert_eq!(mentioned("Excludes", 19, 1, 600), 19);
    assert_eq!(mentioned("Excludes", 20, 1, 600), 1);
    assert_eq!(mentioned("Excludes", 20, 2, 600), 20);
    // Digits are no word of every day.
    assert_eq!(mentioned("px44712", 12, 1, 600), 12);
}

#[test]
fn a_map_survives_storage() {
    let mut map = PlaceholderMap::default();
    let mut request = chat(vec![user("Jane \"J\" Doe [NAME_7] 123-45-6789")]);
    request.system = vec![Part::text("Dr. Who")];
    let values = [
        ("NAME", "Jane \"J\" Doe"),
        ("SSN", SSN),
        ("BLOOD_ID", "x"),
        ("NAME", "Dr. Who"),
    ];
    guard(&mut request, &values, &mut map);
    let stored = PlaceholderMap::from_json(&map.to_json()).unwrap();
    assert!(stored == map);
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"layout":1}"#,
        r#"{"layout":1,"kinds":{"A":[{"n":-1}]}}"#,
        r#"{"layout":1,"kinds":{"A":[{"n":1,"value":"x"}]}}"#,
    ] {
        assert_eq!(
            PlaceholderMap::from_json(bad).err(),
            Some(BadMap::Layout),
            "{bad}"
        );
    }
    assert_eq!(
        PlaceholderMap::from_json(r#"{"layout":2}"#).err(),
        Some(BadMap::Unknown(2))
    );
}

/// Text of pieces that are awkward together.
fn awkward() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("Jane Doe"),
        Just("Jim Poe"),
        Just(SSN),
        Just("987-65-4321"),
        Just("[NAME_1]"),
        Just("[NAME_2]"),
        Just("[ssn 1]"),
        Just("[SSN_10]"),
        Just("["),
        Just("]"),
        Just("[NAME"),
        Just("_1]"),
        Just("\\"),
        Just(" "),
        Just("\n"),
        Just("é"),
        Just("NAME_1"),
        Just("\""),
        Just("[SSN_"),
        Just("."),
        Just("x"),
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

const AWKWARD: [(&str, &str); 4] = [
    ("NAME", "Jane Doe"),
    ("NAME", "Jim Poe"),
    ("SSN", SSN),
    ("SSN", "987-65-4321"),
];

proptest! {
    #[test]
    fn redacting_and_restoring_gives_the_original(texts in prop::collection::vec(awkward(), 1..4)) {
        // The awkward pieces make addresses too, into which nothing is restored.
        prop_assume!(texts.iter().all(|text| !text.contains("](") && !text.contains("www")));
        prop_assume!(texts.iter().all(|text| holds_no_json(text)));
        let mut map = PlaceholderMap::default();
        let mut request = chat(texts.iter().map(|text| user(text)).collect());
        guard(&mut request, &AWKWARD, &mut map);
        for (at, text) in texts.iter().enumerate() {
            let sent = said(&request, at);
            prop_assert!(AWKWARD.iter().all(|(_, value)| !sent.contains(value)), "{sent}");
            prop_assert_eq!(&unmasked(&sent, &map), text, "sent {}", sent);
        }
    }

    #[test]
    fn redacting_twice_is_redacting_once(text in awkward()) {
        let mut map = PlaceholderMap::default();
        let once = masked(&text, &AWKWARD, &mut map);
        let stored = map.clone();
        prop_assert_eq!(&masked(&once, &AWKWARD, &mut map), &once);
        prop_assert!(map == stored);
    }

    #[test]
    fn merged_findings_cover_every_claim_once(
        claims in prop::collection::vec((0_usize..40, 1_usize..12, 0_usize..3), 0..12)
    ) {
        let text = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
        let mut request = chat(vec![user(&text[..20]), user(&text[20..])]);
        let scan = TextScan::of(&mut request);
        let claims: Vec<Candidate<'_>> = claims
            .iter()
            .map(|&(start, length, kind)| Candidate {
                start, end: start + length, kind: ["NAME", "MRN", "X"][kind],
                score: 500, verified: false, partial: false, detector: kind,
            })
            .collect();
        let found = merge(&scan, &claims, |claim, _| claim.score >= 500);
        for (at, letter) in scan.text().char_indices() {
            let claimed = letter != '\n' && claims.iter().any(|c| (c.start..c.end).contains(&at));
            let covering = found.iter().filter(|f| (f.start..f.end).contains(&at)).count();
            prop_assert_eq!(covering, usize::from(claimed), "at {}", at);
        }
    }
}
