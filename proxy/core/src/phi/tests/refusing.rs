//! What a refusal says, and what it does not.

use serde_json::json;

use super::*;
use crate::chat::{Media, Tool, ToolCall};

fn tool(name: &str, description: &str, input_schema: serde_json::Value) -> Tool {
    Tool {
        name: name.into(),
        description: Some(description.into()),
        input_schema,
        input_examples: None,
        strict: None,
        cache_mark: None,
    }
}

fn refused_at(tools: Vec<Tool>, values: Values<'_>) -> Option<String> {
    let mut request = chat(vec![user("Will has 536-22-8714")]);
    request.tools = tools;
    let scan = TextScan::of(&mut request);
    let found = findings(&scan, values, &PlaceholderMap::default());
    refusal::in_tool_definition(&mut request, &scan, &found).map(|fault| {
        assert_eq!(fault.code.word(), "PHI_IN_TOOL_SCHEMA");
        fault.param.unwrap()
    })
}

#[test]
fn a_tool_definition_is_named_by_tool_and_pointer() {
    let clean = || tool("f", "Looks up", json!({"type": "object"}));
    let ssn = [("SSN", "536-22-8714"), ("NAME", "Will")];
    let at = |tool: Tool| refused_at(vec![clean(), tool], &ssn);
    let described = json!({"properties": {"x": {"description": "as 536-22-8714"}}});
    assert_eq!(
        at(tool("g", "G", described)).as_deref(),
        Some("tools[1]/input_schema/properties/x/description")
    );
    assert_eq!(
        at(tool(
            "g",
            "G",
            json!({"properties": {"536-22-8714": {"a": "536-22-8714"}}})
        ))
        .as_deref(),
        Some("tools[1]/input_schema/properties")
    );
    assert_eq!(
        at(tool("g", "G", json!({"a/b": {"~": [0, 536_228_714]}}))).as_deref(),
        Some("tools[1]/input_schema/a~1b/~0/1")
    );
    assert_eq!(
        at(tool("g", "of 536-22-8714", json!({}))).as_deref(),
        Some("tools[1]/description")
    );
    assert_eq!(
        at(tool("g536-22-8714", "G", json!({}))).as_deref(),
        Some("tools[1]/name")
    );
}

/// What the conversation has is sought in definitions too, but for what they have anyway.
#[test]
fn limits_and_samples_of_a_definition_are_not_of_the_conversation() {
    let values = [
        ("MRN", "30000"),
        ("SSN", "123-45-6789"),
        ("NAME", "John Smith"),
        ("MRN", "88231407"),
    ];
    let refused = |schema: serde_json::Value| {
        let said = "John Smith has 30000 and 123-45-6789 and 88231407";
        let mut request = chat(vec![user(said)]);
        request.tools = vec![tool("f", "G", schema)];
        let scan = TextScan::of(&mut request);
        let (text, _) = scan.reading();
        let start = text.find(said).unwrap();
        let mut claims = candidates(text, &values);
        claims.retain(|claim| (start..start + said.len()).contains(&claim.start));
        let merged = merge(&scan, &claims, |_, _| true);
        let map = PlaceholderMap::default();
        let found = sweep(&scan, merged, &map, &Allowed::default()).unwrap();
        refusal::in_tool_definition(&mut request, &scan, &found).is_some()
    };
    assert!(!refused(json!({"default": 30_000})));
    assert!(!refused(json!({"x": "e.g. 123-45-6789"})));
    assert!(!refused(json!({"x": "like 'John Smith'"})));
    assert!(refused(json!({"enum": ["88231407"]})));
}

#[test]
fn a_clean_tool_definition_is_not_refused_for_a_name_elsewhere() {
    let ssn = [("SSN", "123-45-6789")];
    assert_eq!(refused_at(vec![tool("f", "G", json!({}))], &ssn), None);
    let mut request = chat(vec![user("Will")]);
    request.tools = vec![tool("f", "Will look up.", json!({}))];
    let scan = TextScan::of(&mut request);
    let at = scan.text().rfind("Will").unwrap();
    let claim = Candidate {
        start: at,
        end: at + 4,
        kind: "NAME",
        score: 900,
        verified: false,
        partial: false,
        detector: 0,
    };
    let merged = merge(&scan, &[claim], |_, _| true);
    let found = sweep(
        &scan,
        merged,
        &PlaceholderMap::default(),
        &Allowed::default(),
    )
    .unwrap();
    assert_eq!(refusal::first_in_tools(&mut request, &scan, &found), None);
}

#[test]
fn a_pointer_stays_short() {
    let mut schema = json!("123-45-6789");
    for _ in 0..50 {
        schema = json!({"a".repeat(100): schema});
    }
    let at = refused_at(vec![tool("f", "G", schema)], &[("SSN", "123-45-6789")]).unwrap();
    assert!(
        at.starts_with("tools[0]/input_schema/aaa") && at.len() <= 256,
        "{at}"
    );
}

#[test]
fn a_blocked_request_hears_kinds_counts_and_places_only() {
    let mut request = chat(vec![user("hi"), user("Jane Doe, Jane Doe, 123-45-6789")]);
    request.metadata.insert("Jane Doe".into(), "x".into());
    request.messages[0].content.push(Part::ToolCall(ToolCall {
        id: "1".into(),
        name: "f".into(),
        arguments: json!({"Jane Doe": {"y": "Jane Doe"}}),
        cache_mark: None,
    }));
    let values = [("NAME", "Jane Doe"), ("SSN", "123-45-6789")];
    let scan = TextScan::of(&mut request);
    let found = findings(&scan, &values, &PlaceholderMap::default());
    let fault = refusal::blocked(&mut request, &found);
    assert_eq!(fault.code.word(), "PHI_BLOCKED");
    assert_eq!(
        fault.details_value(),
        json!({
            "entity_types": ["NAME", "SSN"],
            "counts": {"NAME": 5, "SSN": 1},
            "locations": ["metadata", "messages[0].content[1].arguments", "messages[1].content"],
        })
    );
}

#[test]
fn locations_are_bounded() {
    let mut request = chat((0..500).map(|_| user("Jane Doe")).collect());
    let scan = TextScan::of(&mut request);
    let found = findings(&scan, &[("NAME", "Jane Doe")], &PlaceholderMap::default());
    assert_eq!(found.len(), 500);
    assert_eq!(
        refusal::locations(&mut request, &found).len(),
        refusal::MAX_LOCATIONS
    );
}

#[test]
fn an_address_is_no_finding_but_what_stands_in_it_is() {
    let uuid = "7d0ad8f0-8c1f-4b8b-9d9d-0d6a2f3c4e5b";
    let address = format!("https://cdn.example/{uuid}/Jane_Doe%2Dct.png");
    let mut request = chat(vec![user("hi")]);
    request.messages[0]
        .content
        .push(Part::Image(Media::Url(address.clone()).into()));
    let found = |request: &mut ChatRequest, values: Values<'_>| {
        let scan = TextScan::of(request);
        let found = findings(&scan, values, &PlaceholderMap::default());
        let fault = refusal::in_address(request, &scan, &found);
        (fault.is_some(), found.len())
    };
    let own = [("URL", "cdn.example"), ("OTHER_ID", uuid)];
    assert_eq!(found(&mut request, &own), (false, 0));
    // As words, and with what is encoded in it opened.
    for (kind, value) in [("NAME", "Jane Doe"), ("MRN", "Doe-ct")] {
        assert_eq!(found(&mut request, &[(kind, value)]), (true, 1), "{value}");
    }
    // A word alone is a name where one elsewhere has it.
    let words = [("NAME", "Doe"), ("NAME", "Ms. Doe")];
    assert_eq!(found(&mut request, &words), (false, 0));
    request.messages.push(user("Ms. Doe was seen"));
    assert_eq!(found(&mut request, &words), (true, 2));
    let text = [("URL", "https://cdn.example/x")];
    let mut elsewhere = chat(vec![user("see https://cdn.example/x")]);
    assert_eq!(found(&mut elsewhere, &text), (false, 1));
}

#[test]
fn fixed_text_keeps_what_it_may_hold_unless_it_is_denied() {
    let mut request = chat(vec![user("in Paris")]);
    request.tools = vec![tool(
        "look",
        "looks",
        json!({"description": "such as Paris"}),
    )];
    let scan = TextScan::of(&mut request);
    let values = [("LOCATION", "Paris")];
    let left = |kind: &'static str, denied: &[std::ops::Range<usize>]| {
        let mut found = findings(&scan, &values, &PlaceholderMap::default());
        leave_in_fixed_text(&scan, &mut found, |found| found.as_str() == kind, denied);
        found.len()
    };
    assert_eq!((left("LOCATION", &[]), left("DATE", &[])), (1, 2));
    let at = scan.text().find("Paris").unwrap();
    let denied: Vec<_> = std::iter::once(at..at + 5).collect();
    assert_eq!(left("LOCATION", &denied), 2);
}

#[test]
fn an_id_of_a_user_stays_unless_the_prompt_speaks_of_it_or_it_is_denied() {
    let left = |words: &str, id: &str, kind: &'static str, is_denied: bool| {
        let mut request = chat(vec![user(words)]);
        request.metadata.insert("user_id".into(), id.into());
        let scan = TextScan::of(&mut request);
        let mut found = findings(&scan, &[(kind, "u-17")], &PlaceholderMap::default());
        let at = scan.text().find(id).unwrap_or_default();
        let denied: Vec<_> = is_denied.then_some(at..at + id.len()).into_iter().collect();
        leave_pseudonyms(&scan, &mut found, &PlaceholderMap::default(), &denied);
        found.len()
    };
    assert_eq!(left("so", "u-17", "OTHER_ID", false), 0);
    assert_eq!(left("so", "u-17", "OTHER_ID", true), 1);
    assert_eq!(left("so", "u-17", "MRN", false), 1);
    assert_eq!(left("so", "ward u-17", "OTHER_ID", false), 1);
    assert_eq!(left("of u-17", "u-17", "OTHER_ID", false), 2);
    let left = |words: &str, id: &'static str, value: (&'static str, &'static str)| {
        let mut request = chat(vec![user(words)]);
        request.metadata.insert("user_id".into(), id.into());
        let scan = TextScan::of(&mut request);
        let values = [value, ("OTHER_ID", id)];
        let mut found = findings(&scan, &values, &PlaceholderMap::default());
        leave_pseudonyms(&scan, &mut found, &PlaceholderMap::default(), &[]);
        let is_id = |finding: &&Finding| scan.value(finding) == id;
        found.iter().filter(is_id).count()
    };
    let name = ("NAME", "Zelig Brandt");
    assert_eq!(left("Zelig Brandt came", "brandt-77", name), 1);
    assert_eq!(left("Zelig Brandt came", "u-77", name), 0);
    assert_eq!(left("so", "mrn-4471223", name), 1);
    assert_eq!(left("so", "u-4471223", name), 0);
}
