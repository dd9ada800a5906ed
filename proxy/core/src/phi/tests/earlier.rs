//! What earlier turns leave in the history: placeholders that were shown, and those of reasoning that comes back sealed.

use super::*;
use crate::chat::ToolCall;

/// The same request with two values, where an earlier reply shows a placeholder of its own.
fn told(listener: Listener) -> (ChatRequest, PlaceholderMap) {
    let mut chat = chat(vec![
        user("Show 88123. Helen has MRN 5550123."),
        assistant("Her sister (MRN [MRN_2]) is not allergic."),
        user("MRN 88123 is stable."),
    ]);
    let scan = TextScan::of(&mut chat);
    let mut map = PlaceholderMap::default();
    let values = [("MRN", "88123"), ("MRN", "5550123")];
    let found = findings(&scan, &values, &map);
    redact(&mut chat, &scan, &found, &mut map, listener).unwrap();
    (chat, map)
}

#[test]
fn what_a_reply_has_hidden_never_becomes_somebody_else() {
    let (chat, map) = told(RESTORED);
    assert_eq!(said(&chat, 0), "Show [MRN_1]. Helen has MRN [MRN_3].");
    assert_eq!(said(&chat, 1), "Her sister (MRN [MRN_2]) is not allergic.");
    assert_eq!(unmasked("MRN [MRN_2]", &map), "MRN [MRN_2]");
    assert_eq!(unmasked("MRN [MRN_3]", &map), "MRN 5550123");
}

#[test]
fn what_was_not_restored_may_come_back() {
    let (chat, _) = told(Listener::default());
    assert_eq!(said(&chat, 0), "Show [MRN_1]. Helen has MRN [MRN_2].");
}

/// Values of a system prompt stay placeholders in text, and keep their numbers.
#[test]
fn a_system_prompt_keeps_its_numbers() {
    let mut chat = chat(vec![user("Who is on duty?"), assistant("[NAME_1] is.")]);
    chat.system = vec![Part::text("On duty: Ann Poe.")];
    let scan = TextScan::of(&mut chat);
    let mut map = PlaceholderMap::default();
    let found = findings(&scan, &[("NAME", "Ann Poe")], &map);
    redact(&mut chat, &scan, &found, &mut map, RESTORED).unwrap();
    assert!(matches!(&chat.system[0], Part::Text { text, .. } if text == "On duty: [NAME_1]."));
}

#[test]
fn sealed_placeholders_stand_for_what_they_stood_for() {
    let thought = "[NAME_2] takes warfarin, [NAME_1] does not. Nor does [NAME_7].";
    let mut before = PlaceholderMap::default();
    let values = [("NAME", "Helen Marsh"), ("NAME", "Robert Willis")];
    masked("Helen Marsh. Robert Willis.", &values, &mut before);
    let kept = before.kept(thought);
    assert_eq!(kept.len(), 2);

    // The client has dropped the turn that named the first of them, and names a third.
    let mut map = PlaceholderMap::default();
    let shown = "Robert Willis takes warfarin, as Helen Marshall does";
    let taken = map.take_back(thought, &kept, shown);
    assert_eq!(taken, Ok(()));
    let values = [("NAME", "Rose Tyler"), ("NAME", "Robert Willis")];
    let masked = masked("Rose Tyler asks for Robert Willis.", &values, &mut map);
    assert_eq!(masked, "[NAME_3] asks for [NAME_2].");
    assert_eq!(unmasked("[NAME_2]", &map), "Robert Willis");
    // Nobody has said this one in the request that comes now.
    assert_eq!(unmasked("[NAME_1]", &map), "[NAME_1]");
    for number in 4..=8 {
        map.issue(
            &Kind::named("NAME"),
            &format!("Name {number}"),
            "n",
            Speaker::Caller,
        );
    }
    assert_eq!(unmasked("[NAME_7]", &map), "[NAME_7]");
}

#[test]
fn placeholders_that_contradict_each_other_are_told() {
    let thought = "[MRN_1] is allergic.";
    let kept = |value: &str| {
        let mut map = PlaceholderMap::default();
        masked(value, &[("MRN", value)], &mut map);
        map.kept(thought)
    };
    let mut map = PlaceholderMap::default();
    let nowhere = "";
    assert_eq!(map.take_back(thought, &kept("5550123"), nowhere), Ok(()));
    assert_eq!(map.take_back(thought, &kept("5550123"), nowhere), Ok(()));
    let other = map.take_back(thought, &kept("88123"), nowhere);
    assert_eq!(other, Err(Contradicted));
    let unbound = PlaceholderMap::default().kept(thought);
    assert!(unbound.is_empty());
}

/// A model puts placeholders right beside letters and beside each other.
#[test]
fn a_value_that_was_restored_beside_something_is_known_there() {
    let values = [
        ("MRN", "4471223"),
        ("SSN", "536-22-8714"),
        ("NAME", "Maria Gonzalez"),
        ("DATE", "03/14/1961"),
        ("PHONE", "(415) 823-4467"),
    ];
    let asked = "Maria Gonzalez 4471223 536-22-8714 03/14/1961 (415) 823-4467. ";
    for (glued, hidden) in [
        ("P4471223", "P[MRN_1]"),
        ("v4471223a", "v[MRN_1]a"),
        ("pt4471223_Maria Gonzalez.pdf", "pt[MRN_1]_[NAME_1].pdf"),
        ("4471223Maria Gonzalez.pdf", "[MRN_1][NAME_1].pdf"),
        ("536-22-871403/14/1961", "[SSN_1][DATE_1]"),
        ("4471223x4471223", "[MRN_1]x[MRN_1]"),
        ("03/14/196103/14/1961", "[DATE_1][DATE_1]"),
        ("tel(415) 823-4467x", "tel[PHONE_1]x"),
        ("Maria GonzalezMaria Gonzalez", "[NAME_1][NAME_1]"),
        ("note5362287140", "note5362287140"),
    ] {
        // Detectors see them in the first sentence alone.
        let text = format!("{asked}{glued}");
        let mut chat = chat(vec![user(&text)]);
        let scan = TextScan::of(&mut chat);
        let mut map = PlaceholderMap::default();
        let seen: Vec<_> = candidates(scan.reading().0, &values)
            .into_iter()
            .filter(|candidate| candidate.end <= asked.len())
            .collect();
        let found = merge(&scan, &seen, |claim, _| claim.score >= 500);
        let found = sweep(&scan, found, &map, &Allowed::default()).unwrap();
        redact(&mut chat, &scan, &found, &mut map, RESTORED).unwrap();
        let said = said(&chat, 0);
        assert!(said.ends_with(&format!(". {hidden}")), "{said}");
    }
}

#[test]
fn a_number_without_signs_is_known_beside_letters() {
    let mut map = PlaceholderMap::default();
    let number = [("SSN", "536228714")];
    masked("536228714", &number, &mut map);
    assert_eq!(masked("note536228714", &[], &mut map), "note[SSN_1]");
}

#[test]
fn a_part_of_something_else_is_no_mention() {
    let values = [("MRN", "4471223"), ("NAME", "Ann Lee"), ("MRN", "88123")];
    for other in [
        "44712235",
        "14471223",
        "Joann Leeward",
        "Ann Leeds",
        "x88123y",
    ] {
        let text = format!("Ann Lee 4471223 88123: {other}");
        let mut map = PlaceholderMap::default();
        let mut chat = chat(vec![user(&text)]);
        let scan = TextScan::of(&mut chat);
        let seen: Vec<_> = candidates(scan.reading().0, &values)
            .into_iter()
            .filter(|candidate| candidate.end <= "Ann Lee 4471223 88123".len())
            .collect();
        let found = merge(&scan, &seen, |claim, _| claim.score >= 500);
        let found = sweep(&scan, found, &map, &Allowed::default()).unwrap();
        redact(&mut chat, &scan, &found, &mut map, RESTORED).unwrap();
        let said = said(&chat, 0);
        assert!(said.ends_with(other), "{said}");
    }
}

#[test]
fn signs_tell_values_apart() {
    let kind = Kind::named("OTHER_ID");
    let mut map = PlaceholderMap::default();
    let mut issued = |value: &str| map.issue(&kind, value, value, Speaker::Caller);
    assert_eq!(issued("jess_r94"), 1);
    assert_eq!(issued("jess.r94"), 2);
    assert_eq!(issued("24-1123"), 3);
    assert_eq!(issued("241-123"), 4);
    // Without signs it is the first that it could be, and with others than it was written with at first too.
    assert_eq!(issued("241123"), 3);
    assert_eq!(issued("JESS_R94"), 1);
    assert_eq!(issued("AB1234"), 5);
    assert_eq!(issued("ab-12 34"), 5);
    assert_eq!(issued("00:1A:2B"), 6);
    assert_eq!(issued("00-1a-2b"), 6);
    let again = PlaceholderMap::from_json(&map.to_json()).unwrap();
    assert!(again == map);
}

#[test]
fn ids_of_calls_that_providers_made_are_nobodys() {
    let call = |id: &str| {
        let mut message = assistant("On it.");
        message.content.push(Part::ToolCall(ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: serde_json::json!({}),
            cache_mark: None,
        }));
        let mut chat = chat(vec![user("Hi"), message]);
        let mut ids = 0;
        visit(&mut chat, &mut |_, text| {
            ids += usize::from(text == id);
            None
        });
        ids == 0
    };
    for id in [
        "toolu_01wx8tDl1v04yV9H1sIpg0Vn",
        "toolu_01OcT4L2EUbHUW5zcU961bQ5",
        "call_b7UFfTeUbMrn5WoMlWgf9rNc",
    ] {
        assert!(call(id), "{id}");
    }
    for id in [
        "call_JohnSmith19610314abcdefgh",
        "call_JohnSmithDob19610314Mrn88123",
        "call_JaneMcDoeMRN4471223Dob1961",
        "call_SSN536228714JaneDoeMRN4471223x",
        "call_MRN4471223",
        "mrn_01wx8tDl1v04yV9H1sIpg0Vn",
        "call_maria_gonzalez_1961_03_14_x",
    ] {
        assert!(!call(id), "{id}");
    }
}

/// A conversation that was stored, in which somebody who reads names writes what looks like their placeholders.
fn quoted(listener: Listener) -> (ChatRequest, PlaceholderMap) {
    let mut first = chat(vec![user("Patient Helen Marsh is allergic.")]);
    let mut map = PlaceholderMap::default();
    let names = [("NAME", "Helen Marsh"), ("NAME", "Ida Stone")];
    let scan = TextScan::of(&mut first);
    let found = findings(&scan, &names, &map);
    redact(&mut first, &scan, &found, &mut map, listener).unwrap();
    let reserved = Kind::named("NAME");
    // What a reply has brought is shown as it is, and can be asked about.
    map.issue(&reserved, "Otto Lang", "Otto Lang", Speaker::Model);
    let mut chat = chat(vec![
        user(&said(&first, 0)),
        assistant("[NAME_2] has called about [NAME_1]."),
        user("Dear [NAME_1], with [Name 1] of the form letter: who is [NAME_2]? Ida Stone asks."),
        user("https://x.example/?p=[NAME_1] is gone."),
    ]);
    let scan = TextScan::of(&mut chat);
    let found = findings(&scan, &names, &map);
    redact(&mut chat, &scan, &found, &mut map, listener).unwrap();
    (chat, map)
}

#[test]
fn who_reads_values_means_what_looks_like_their_placeholders() {
    let (chat, map) = quoted(Listener {
        stored_messages: 2,
        ..RESTORED
    });
    assert_eq!(said(&chat, 0), "Patient [NAME_1] is allergic.");
    assert_eq!(said(&chat, 1), "[NAME_2] has called about [NAME_1].");
    assert_eq!(
        said(&chat, 2),
        "Dear [NAME_3], with [NAME_4] of the form letter: who is [NAME_2]? [NAME_5] asks."
    );
    // Nothing is read in the place of what is in an address.
    assert_eq!(said(&chat, 3), "https://x.example/?p=[NAME_1] is gone.");
    assert_eq!(
        unmasked("[NAME_3], [NAME_4], [NAME_2], [NAME_5]", &map),
        "[NAME_1], [Name 1], [NAME_2], Ida Stone"
    );
    // They are nobody's name to look for.
    assert!(map.values().all(|(_, value)| !value.starts_with('[')));
    assert!(PlaceholderMap::from_json(&map.to_json()).is_ok_and(|read| read == map));
}

#[test]
fn who_reads_placeholders_means_what_they_stand_for() {
    let (chat, _) = quoted(Listener {
        gets_values: false,
        stored_messages: 2,
    });
    assert_eq!(
        said(&chat, 2),
        "Dear [NAME_1], with [Name 1] of the form letter: who is [NAME_2]? [NAME_3] asks."
    );
}
