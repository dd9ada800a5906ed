//! Values that an organization has listed.

use proptest::prelude::*;

use super::*;

fn lists(entries: &[(&str, Option<&str>)]) -> ValueLists {
    let key = ListKey::new(&[7; DIGEST_BYTES]);
    let entries: Vec<ListEntry> = entries
        .iter()
        .map(|(value, kind)| {
            let value = ListedValue::of(value).unwrap();
            ListEntry {
                digest: value.digest(&key),
                bytes: value.bytes(),
                listing: kind.map_or(Listing::Allow, |kind| Listing::Deny(Kind::named(kind))),
            }
        })
        .collect();
    ValueLists::new(key, entries)
}

/// What the guard makes of a text: what detectors know, and what the organization lists.
fn found(
    text: &str,
    entries: &[(&str, Option<&str>)],
    values: Values<'_>,
) -> Vec<(String, String)> {
    let mut chat = chat(vec![user(text)]);
    let scan = TextScan::of(&mut chat);
    let mentions = lists(entries).find(&scan);
    let mut claims = candidates(scan.reading().0, values);
    let listed = claims.len();
    claims.extend(mentions.denied.iter().map(|(range, kind)| Candidate {
        start: range.start,
        end: range.end,
        kind: kind.as_str(),
        score: 1_000,
        verified: true,
        partial: false,
        detector: listed,
    }));
    let counts = |claim: &Candidate<'_>, _: &Kind| {
        claim.detector == listed || !mentions.allowed.covers(claim.start, claim.end)
    };
    let merged = merge(&scan, &claims, counts);
    sweep(&scan, merged, &PlaceholderMap::default(), &mentions.allowed)
        .unwrap()
        .into_iter()
        .map(|finding| {
            let written = &scan.text()[finding.start..finding.end];
            (finding.kind.as_str().to_owned(), written.to_owned())
        })
        .collect()
}

#[test]
fn listed_values_of_scripts_without_spaces_are_found_within_words() {
    let denied = [("王秀英", Some("NAME")), ("李明", Some("NAME"))];
    assert_eq!(
        found("患者王秀英，由李明医生CT检查", &denied, &[]),
        [pair("NAME", "王秀英"), pair("NAME", "李明")]
    );
    let place = "上海市第六人民医院临港院区急诊内科一病区东";
    assert_eq!(
        found(
            &format!("转{place}。"),
            &[(place, Some("ORGANIZATION"))],
            &[]
        ),
        [pair("ORGANIZATION", place)]
    );
    assert!(
        found(
            "协和医院",
            &[("协和医院", None)],
            &[("ORGANIZATION", "协和医院")]
        )
        .is_empty()
    );
}

fn pair(kind: &str, value: &str) -> (String, String) {
    (kind.to_owned(), value.to_owned())
}

#[test]
fn an_allowed_value_stays_with_the_signs_around_it() {
    let allowed = [("919-555-0100", None)];
    for text in ["919.555.0100", "(919) 555-0100", "call (919) 555-0100."] {
        let number = text.trim_start_matches("call ").trim_end_matches('.');
        assert_eq!(found(text, &allowed, &[("PHONE", number)]), [], "{text}");
    }
    let other = [("PHONE", "919-555-0100 x7")];
    assert_eq!(found("919-555-0100 x7", &allowed, &other).len(), 1);
}

#[test]
fn a_denied_value_goes_in_every_spelling() {
    let denied = [
        ("Blue Falcon", Some("OTHER_ID")),
        ("415-823-4467", Some("PHONE")),
    ];
    for (text, kind, value) in [
        ("project blue falcon is late", "OTHER_ID", "blue falcon"),
        ("BLUE-FALCON", "OTHER_ID", "BLUE-FALCON"),
        ("blue falco n", "OTHER_ID", "blue falco n"),
        ("blue_falcon's", "OTHER_ID", "blue_falcon"),
        ("(\u{ff42}lue) falcon", "OTHER_ID", "\u{ff42}lue) falcon"),
        ("bl\u{200b}ue falcon", "OTHER_ID", "bl\u{200b}ue falcon"),
        ("call (415) 823 4467 now", "PHONE", "415) 823 4467"),
        ("4158234467", "PHONE", "4158234467"),
        (
            "see Qmx1ZSBGYWxjb24gaXMgbGF0ZSBhZ2Fpbg==",
            "OTHER_ID",
            "Qmx1ZSBGYWxjb24gaXMgbGF0ZSBhZ2Fpbg==",
        ),
    ] {
        assert_eq!(found(text, &denied, &[]), [pair(kind, value)], "{text}");
    }
    for text in [
        "bluefalcons",
        "blue. . . . . falcon",
        "falcon blue",
        "14158234467",
    ] {
        assert_eq!(found(text, &denied, &[]), [], "{text}");
    }
}

#[test]
fn an_allowed_value_stays_unless_something_longer_goes() {
    let allowed = [("Lakeside Clinic", None)];
    let knows: Values<'_> = &[("ORGANIZATION", "Lakeside Clinic"), ("NAME", "Lakeside")];
    assert_eq!(found("at Lakeside Clinic now", &allowed, knows), []);
    assert_eq!(
        found(
            "Lakeside called from LAKESIDE CLINIC",
            &allowed,
            &[("NAME", "Lakeside")]
        ),
        [pair("NAME", "Lakeside")],
        "a part of it goes elsewhere and stays inside it"
    );
    assert_eq!(
        found(
            "Lakeside Clinic West",
            &allowed,
            &[("ORGANIZATION", "Lakeside Clinic West")]
        ),
        [pair("ORGANIZATION", "Lakeside Clinic West")]
    );
}

#[test]
fn what_is_denied_goes_from_inside_what_is_allowed() {
    let entries = [("Lakeside Clinic", None), ("Lakeside", Some("LOCATION"))];
    assert_eq!(
        found(
            "at Lakeside Clinic",
            &entries,
            &[("ORGANIZATION", "Lakeside Clinic")]
        ),
        [pair("LOCATION", "Lakeside")]
    );
}

#[test]
fn values_that_could_never_be_told_or_found_are_refused() {
    let refused = |value: &str| ListedValue::of(value).err();
    assert_eq!(refused("a-b"), Some(Unlistable::TooShort));
    assert_eq!(refused(" - "), Some(Unlistable::TooShort));
    assert_eq!(refused(&"x".repeat(128)), Some(Unlistable::TooLong));
    assert_eq!(refused(&"ab ".repeat(17)), Some(Unlistable::TooLong));
    assert_eq!(refused(&"x".repeat(127)), None);
    assert_eq!(refused("abc"), None);
}

#[test]
fn a_digest_needs_its_key_and_not_its_spelling() {
    let of = |value: &str, key: u8| {
        ListedValue::of(value)
            .unwrap()
            .digest(&ListKey::new(&[key; 32]))
    };
    assert_eq!(of("Jane Doe", 1), of("JANE-DOE", 1));
    assert_ne!(of("Jane Doe", 1), of("Jane Doe", 2));
    assert_ne!(of("Jane Doe", 1), of("Jane Do", 1));
}

proptest! {
    /// Wherever a value stands and whatever signs divide its words, it goes whole, and nothing beside it.
    #[test]
    fn a_denied_value_is_found_between_any_words(
        before in "[a-z ]{0,40}",
        words in proptest::collection::vec("[A-Z][a-z]{2,6}", 1..5),
        sign in proptest::sample::select(vec![" ", "-", "_", ", ", " / ", "\n"]),
        behind in "[a-z ]{0,40}",
    ) {
        let value = words.join(sign);
        let text = format!("{before}. {value}! {behind}");
        let listed = words.concat().to_uppercase();
        // Nor does it stand there by chance.
        let beside = [&before, &behind].map(|text| text.replace(' ', "").to_uppercase());
        prop_assume!(beside.iter().all(|text| !text.contains(&listed)));
        prop_assert_eq!(
            found(&text, &[(&listed, Some("OTHER_ID"))], &[]),
            [pair("OTHER_ID", &value)]
        );
    }

    /// Any text is read without a fault, and what is found lies on the borders of its characters.
    #[test]
    fn any_text_is_read(text in "\\PC{0,200}", value in "\\PC{3,40}") {
        if ListedValue::of(&value).is_ok() {
            found(&format!("{text} {value}"), &[(&value, Some("NAME")), ("abc", None)], &[]);
        }
    }
}
