//! Readings of disguised text, and the way back.
#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;

use super::*;

fn folded(text: &str) -> String {
    readings(text)
        .folded
        .map_or_else(|| text.to_owned(), |reading| reading.text().to_owned())
}

fn decoded(text: &str) -> String {
    readings(text)
        .decoded
        .map_or_else(|| folded(text), |reading| reading.text().to_owned())
}

fn divided(text: &str) -> Option<String> {
    readings(text)
        .divided
        .map(|reading| reading.text().to_owned())
}

/// What of the source is replaced when `value` is found in the decoded reading.
fn behind<'t>(text: &'t str, value: &str) -> &'t str {
    let all = readings(text);
    let reading = all.decoded.or(all.folded).unwrap();
    let at = reading
        .text()
        .find(value)
        .unwrap_or_else(|| panic!("{value:?} is not in {:?}", reading.text()));
    &text[reading.source_of(at..at + value.len())]
}

#[test]
fn plain_text_has_no_other_reading() {
    for text in [
        "",
        "The patient was seen on 2024-05-01 at 12:30; BP 120/80, 50% of dose, A & B, x = 5.",
        "José Müller, naïve café, Ωmega",
        "Пациент Иванов осмотрен",
        "患者は来院した",
        "{\"a\": [1, 2], \"b\": \"c\"}",
        "MSH|^~\\&|APP|FAC",
        "I a 5 mg of X b.i.d.",
        "pneumonoultramicroscopicsilicovolcanoconiosis hydroxychloroquine",
    ] {
        let all = readings(text);
        assert!(all.folded.is_none(), "folded {text}");
        assert!(all.divided.is_none(), "divided {text}");
        assert!(
            all.decoded
                .as_ref()
                .is_none_or(|d| text.contains('\\') && d.text().len() < text.len()),
            "decoded {text}: {}",
            all.decoded.unwrap().text()
        );
    }
}

#[test]
fn what_is_not_seen_goes() {
    for text in [
        "Ja\u{200b}ne D\u{ad}oe",
        "\u{202a}Jane\u{202c} Doe\u{feff}",
        "J\u{2060}ane\u{fe0f} Doe",
        "Ja\0ne Doe",
        "Ja\u{fffd}ne D\u{fffd}oe",
        "Ｊａｎｅ　Ｄｏｅ",
        "𝐉𝐚𝐧𝐞 𝒟ℴℯ",
        "Ⓙⓐⓝⓔ Ⓓⓞⓔ",
        "J\u{336}a\u{336}n\u{336}e\u{336} Doe",
        "Јаnе Dое",
        "Jane\u{a0}Doe",
    ] {
        assert_eq!(folded(text), "Jane Doe", "{text:?}");
    }
    assert_eq!(folded("\u{1f159}\u{1f150}"), "JA");
    assert_eq!(folded("x\u{e0031}\u{e0032}"), "x12");
    assert_eq!(folded("Jose\u{301}"), "José");
    assert_eq!(folded("123\u{2013}45\u{2011}6789"), "123-45-6789");
    assert_eq!(folded("١٢٣-٤٥-٦٧٨٩"), "123-45-6789");
    assert_eq!(folded("१२३४ 𝟙𝟚𝟛"), "1234 123");
    assert_eq!(folded("O’Brien"), "O'Brien");
}

#[test]
fn real_words_of_other_scripts_stay() {
    for text in ["Мария Петрова и Οδυσσέας", "Анна со сна: оса, кот"]
    {
        assert_eq!(folded(text), text);
    }
    // All look-alikes among plain words.
    assert_eq!(folded("call Аnnа Сох today"), "call Anna Cox today");
    assert_eq!(folded("call СОХ today"), "call COX today");
}

#[test]
fn escapes_are_opened_down_to_two_layers() {
    for text in [
        "jane%40x.org",
        "jane%2540x.org",
        "jane&#64;x.org",
        "jane&#x40x.org".trim_end_matches(';'),
        "jane&commat;x.org",
        "jane&amp;commat;x.org",
        r"jane\u0040x.org",
        r"jane\u{40}x.org",
        r"jane\x40x.org",
        r"jane\100x.org",
        r"jane\\u0040x.org",
        r"jane\@x.org",
        "jane=40x.org",
        "ja=\r\nne=40x.org",
        "jane%26%2364%3Bx.org",
    ] {
        assert_eq!(decoded(text), "jane@x.org", "{text}");
        assert_eq!(behind(text, "jane@x.org"), text);
    }
    assert_eq!(
        decoded("Jos%C3%A9 Jos=C3=A9 Jos\\xC3\\xA9 Jos&eacute; Jos%E9"),
        "José José José José José"
    );
    assert_eq!(decoded(r"\ud835\udc09ane"), "Jane");
    assert_eq!(
        decoded(r#"{\"name\":\"Jane\"}\nnext"#),
        "{\"name\":\"Jane\"}\nnext"
    );
    // A third layer stays closed.
    assert_eq!(decoded("jane%252540x.org"), "jane%40x.org");
}

#[test]
fn blobs_that_hold_text_are_opened_and_go_whole() {
    use base64::Engine as _;
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
    let text = "Patient Jane Doe, SSN 123-45-6789";
    let once = BASE64_STANDARD.encode(text);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wrapped = {
        let long = BASE64_STANDARD.encode(text.repeat(4));
        format!("{}\r\n{}\n{}", &long[..76], &long[76..152], &long[152..])
    };
    for blob in [
        once.clone(),
        BASE64_URL_SAFE_NO_PAD.encode(text),
        BASE64_STANDARD.encode(&once),
        hex::encode(text),
        hex::encode_upper(text),
        format!("0x{}", hex::encode(text)),
        hex::encode(&once),
        BASE64_STANDARD.encode(utf16),
        wrapped,
    ] {
        let all = format!("see {blob}.");
        assert_eq!(behind(&all, "123-45-6789"), blob, "{blob}");
    }
    let glued = format!(
        "/records/{}/x?id={}",
        BASE64_URL_SAFE_NO_PAD.encode("Jane Doe"),
        BASE64_STANDARD.encode("A123456")
    );
    assert_eq!(decoded(&glued), "/records/SmFuZSBEb2U/x?id=A123456");
    assert_eq!(decoded("SmFuZSBEb2U="), "Jane Doe");
    let mut mixed = b"\xff\xfe\x01".to_vec();
    mixed.extend_from_slice(text.as_bytes());
    assert!(decoded(&BASE64_STANDARD.encode(mixed)).contains("123-45-6789"));
}

#[test]
fn what_holds_no_text_is_no_blob() {
    for text in [
        "d41d8cd98f00b204e9800998ecf8427e",
        "4111111111111111",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "550e8400-e29b-41d4-a716-446655440000",
        "sk_live_abcdefghijklmnop",
        "getPatientByIdentifier",
        "hypertension/hyperlipidemia",
    ] {
        assert_eq!(decoded(text), text);
    }
}

#[test]
fn spaced_words_are_joined() {
    for (text, reads) in [
        ("J a n e  D o e", "Jane Doe"),
        ("J a n e D o e", "Jane Doe"),
        ("J.a.n.e D o e", "Jane D o e"),
        ("1 2 3 - 4 5 - 6 7 8 9", "123-45-6789"),
        ("it is 1-2-3-4-5-6-7-8-9, ok", "it is 123456789, ok"),
        ("a b c", "a b c"),
        ("j_a_n_e", "jane"),
    ] {
        assert_eq!(decoded(text), reads, "{text}");
    }
    assert_eq!(
        behind("SSN 1 2 3 4 5 6 7 8 9.", "123456789"),
        "1 2 3 4 5 6 7 8 9"
    );
}

#[test]
fn letters_in_numbers_are_digits() {
    for (text, reads) in [
        ("536-22-87l4", "536-22-8714"),
        ("ssn S36-22-8714", "ssn S 36-22-8714"),
        ("(4I5) 823-446O.", "(415) 823-4460."),
        ("536 22 87I4", "536 22 8714"),
        ("OOOO-11-1", "OOOO-11-1"),
        ("take 10 l of 2024", "take 10 l of 2024"),
        ("A536228714l", "A536228714l"),
        ("ill 5l", "ill 5l"),
        ("5 3 6 2 2 8 7 l 4", "536228714"),
    ] {
        assert_eq!(decoded(text), reads, "{text}");
    }
    assert_eq!(behind("is 536-22-87l4.", "536-22-8714"), "536-22-87l4");
}

#[test]
fn overrides_of_direction_are_turned_round() {
    let text = "ssn \u{202e}9876-54-321\u{202c} ok";
    assert_eq!(decoded(text), "ssn 123-45-6789 ok");
    assert_eq!(behind(text, "123-45-6789"), "\u{202e}9876-54-321\u{202c}");
}

#[test]
fn what_something_unseen_divides_is_read_whole_and_apart() {
    for (text, whole, apart) in [
        (
            "THOMAS\u{200b}BARKER",
            "THOMASBARKER",
            Some("THOMAS BARKER"),
        ),
        // Whatever else stands in the text.
        (
            "THOMAS\u{200b}BARKER &amp; team",
            "THOMASBARKER & team",
            Some("THOMAS BARKER & team"),
        ),
        (
            "thomas\u{200b}barker\\nseen\u{202e}",
            "thomasbarker\nseen",
            Some("thomas barker\nseen"),
        ),
        (
            "THOMAS%E2%80%8BBARKER",
            "THOMASBARKER",
            Some("THOMAS BARKER"),
        ),
        // In both, the other steps.
        (
            "SSN 536-22-87\u{200b}l4",
            "SSN 536-22-8714",
            Some("SSN 536-22-87 14"),
        ),
        (
            "Maria_Lo\u{200b}pez_chart",
            "Maria Lopez chart",
            Some("Maria Lo pez_chart"),
        ),
        ("MRN\u{200b}44l1223", "MRN44l1223", Some("MRN 4411223")),
        ("J a n e\u{200b}D o e", "J a n eD o e", Some("Jane Doe")),
        ("hyper\u{ad}tension", "hypertension", None),
    ] {
        assert_eq!(decoded(text), whole, "{text:?}");
        assert_eq!(divided(text).as_deref(), apart, "{text:?}");
    }
}

fn disguised() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,6}",
        "\\PC{0,3}",
        Just("%4".to_owned()),
        Just("%40".to_owned()),
        Just("\\u00".to_owned()),
        Just("41".to_owned()),
        Just("&#x".to_owned()),
        Just("=\n".to_owned()),
        Just("a b c d e".to_owned()),
        Just("SmFuZSBEb2U=".to_owned()),
        Just("U21GdVpTQkViMlU9".to_owned()),
        Just("4a616e6520446f65".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("e\u{301}\u{336}".to_owned()),
        Just("\u{200b}".to_owned()),
        Just("Ａ".to_owned()),
        Just("а".to_owned()),
        Just("_".to_owned()),
        Just("DOB1980-02-29now".to_owned()),
        Just("536_22_1234".to_owned()),
    ];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_stretch_leads_back_to_whole_characters(text in disguised()) {
        let all = readings(&text);
        for reading in [all.folded, all.decoded, all.divided].into_iter().flatten() {
            let borders: Vec<usize> = reading
                .text()
                .char_indices()
                .map(|(at, _)| at)
                .chain([reading.text().len()])
                .collect();
            let mut last = 0;
            for pair in borders.windows(2) {
                let source = reading.source_of(pair[0]..pair[1]);
                prop_assert!(text.get(source.clone()).is_some_and(|part| !part.is_empty()));
                prop_assert!(source.end >= last, "in order");
                last = source.end;
                // And forward again, at least as far.
                let reads = reading.reads_of(source);
                prop_assert!(reads.start <= pair[0] && reads.end >= pair[1]);
            }
        }
    }

    #[test]
    fn a_plain_value_in_disguised_surroundings_is_still_read(
        before in disguised(), after in disguised(),
    ) {
        // White space keeps the surroundings apart.
        let text = format!("{before}\n{{Jane Doe}}\n{after}");
        let all = readings(&text);
        let as_written = all.folded.as_ref().map_or(text.as_str(), Rewrite::text);
        prop_assert!(as_written.contains("Jane Doe"));
    }
}
