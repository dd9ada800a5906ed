//! What holds for every input of the decoders: they end, they never panic, and what they read is what was
//! written. `make fuzz` runs the same properties with many more cases.

#![allow(clippy::expect_used, clippy::unwrap_used)]

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use svc_core::fault::{Code, Problems};
use svc_core::id::IdKind;
use svc_core::json;
use svc_core::money::{MICRO, Micro};
use svc_core::sse::{Frame, FrameError, Framer};
use svc_core::surface::fields::Path;
use svc_core::surface::{blocks, native};
use svc_core::time::Timestamp;

/// Feeds a stream in pieces that end at the given places.
fn frames(stream: &[u8], cuts: &[usize]) -> Result<Vec<(String, String)>, FrameError> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    cuts.sort_unstable();
    let (mut framer, mut frames, mut from) = (Framer::default(), Vec::new(), 0);
    for to in cuts.into_iter().chain([stream.len()]) {
        framer.push(stream.get(from..to).unwrap(), &mut frames)?;
        from = to;
    }
    framer.finish(&mut frames)?;
    let pair = |Frame { name, data }| (name, data);
    Ok(frames.into_iter().map(pair).collect())
}

/// Bytes that look like a stream: line ends, colons and field names are frequent.
fn stream_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b": ".to_vec()),
        Just(b"data".to_vec()),
        Just(b"event".to_vec()),
        Just(b"id:".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        Just("é😀".as_bytes().to_vec()),
        vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// JSON text without what the gateway refuses on purpose (NUL characters, too many levels).
fn json_value() -> impl Strategy<Value = Value> {
    let text = "[^\u{0}]{0,12}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e12..1e12_f64).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(text, inner, 0..6).prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

/// An object whose fields have known names and any values.
fn object_of(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    btree_map(proptest::sample::select(names), json_value(), 0..8).prop_map(|fields| {
        let named = fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        Value::Object(named.collect())
    })
}

const NATIVE_FIELDS: &[&str] = &[
    "message",
    "model",
    "stream",
    "conversation_id",
    "store",
    "system",
    "max_tokens",
    "tools",
    "tool_choice",
    "tool_results",
];

const BLOCK_FIELDS: &[&str] = &[
    "text",
    "thinking",
    "signature",
    "data",
    "source",
    "title",
    "id",
    "name",
    "input",
    "tool_use_id",
    "content",
    "is_error",
    "cache_control",
];

const BLOCK_TYPES: &[&str] = &[
    "text",
    "image",
    "document",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "unheard_of",
];

/// A content block of a known type; often one that can be read.
fn block() -> impl Strategy<Value = Value> {
    let wild = (
        proptest::sample::select(BLOCK_TYPES),
        object_of(BLOCK_FIELDS),
    )
        .prop_map(|(kind, mut fields)| {
            fields
                .as_object_mut()
                .unwrap()
                .insert("type".into(), kind.into());
            fields
        });
    let text = "[^\u{0}]{1,20}";
    prop_oneof![
        wild,
        text.prop_map(|text| json!({"type": "text", "text": text})),
        (text, text).prop_map(|(thinking, signature)| {
            json!({"type": "thinking", "thinking": thinking, "signature": signature})
        }),
        ("[a-zA-Z0-9_-]{1,12}", "[a-z_]{1,12}", object_of(BLOCK_FIELDS))
            .prop_map(|(id, name, input)| json!({"type": "tool_use", "id": id, "name": name, "input": input})),
        ("[a-zA-Z0-9_-]{1,12}", text, any::<bool>()).prop_map(|(id, content, is_error)| {
            json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
        }),
    ]
}

proptest! {
    #[test]
    fn a_stream_cut_anywhere_gives_the_same_events(
        stream in stream_like(),
        cuts in vec(any::<usize>(), 0..6),
    ) {
        prop_assert_eq!(frames(&stream, &cuts), frames(&stream, &[]));
    }

    #[test]
    fn events_survive_every_legal_framing(
        events in vec(("[a-z_]{0,8}", vec("[^\r\n]{0,12}", 1..4)), 0..8),
        end in proptest::sample::select(vec!["\n", "\r\n", "\r"]),
        comment in any::<bool>(),
        terminated in any::<bool>(),
        cuts in vec(any::<usize>(), 0..6),
    ) {
        let mut lines = Vec::new();
        for (name, data) in &events {
            if comment {
                lines.push(": still here".to_owned());
            }
            if !name.is_empty() {
                lines.push(format!("event: {name}"));
            }
            lines.extend(data.iter().map(|line| format!("data: {line}")));
            lines.push(String::new());
        }
        let mut stream = lines.join(end);
        if terminated {
            stream.push_str(end);
        }
        let expected: Vec<_> = events.into_iter().map(|(name, data)| (name, data.join("\n"))).collect();
        prop_assert_eq!(frames(stream.as_bytes(), &cuts), Ok(expected));
    }

    #[test]
    fn strict_json_reads_what_was_written(fields in btree_map("[^\u{0}]{0,8}", json_value(), 0..6)) {
        let object = Value::Object(Map::from_iter(fields));
        let read = json::object(object.to_string().as_bytes());
        prop_assert_eq!(read.ok().map(Value::Object), Some(object));
    }

    #[test]
    fn strict_json_ends_on_anything(bytes in vec(any::<u8>(), 0..200), text in "[\\[\\]{}\",:0-9a-f\\\\ue.-]{0,60}") {
        for input in [bytes.as_slice(), text.as_bytes()] {
            if let Ok(read) = json::object(input) {
                prop_assert_eq!(serde_json::from_slice::<Value>(input).ok(), Some(Value::Object(read)));
            }
        }
    }

    #[test]
    fn a_key_twice_is_refused_at_any_depth(key in "[a-z]{1,6}", depth in 0_usize..20, one in json_value(), other in json_value()) {
        let key = json!(key);
        let inner = format!("{{{key}:{one},{key}:{other}}}");
        let text = format!("{}{inner}{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        prop_assert!(json::object(text.as_bytes()).is_err());
    }

    #[test]
    fn a_native_body_is_read_or_refused_by_name(body in object_of(NATIVE_FIELDS), extra in proptest::option::of("[a-z]{3,8}_x")) {
        let mut body = body;
        if let Some(name) = &extra {
            body.as_object_mut().unwrap().insert(name.clone(), json!(1));
        }
        match native::decode(body.to_string().as_bytes()) {
            Ok(read) => {
                prop_assert!(extra.is_none());
                prop_assert_eq!(read.chat.messages.len(), 1);
            }
            Err(fault) => {
                let known = [Code::ValidationFailed, Code::UnsupportedParameter];
                prop_assert!(known.contains(&fault.code), "{}", fault.code.word());
                // Below its own fields there are unknown ones too.
                prop_assert!(extra.is_none() || fault.code == Code::UnsupportedParameter);
            }
        }
    }

    #[test]
    fn a_block_that_is_read_is_written_the_same_twice(block in block()) {
        let mut problems = Problems::default();
        if let Some(part) = blocks::decode(block, Path::Name("block"), &mut problems) {
            let written = blocks::encode(&part);
            let mut problems = Problems::default();
            let again = blocks::decode(written.clone(), Path::Name("block"), &mut problems);
            prop_assert_eq!(again.map(|part| blocks::encode(&part)), Some(written));
        }
    }

    #[test]
    fn money_reads_back_exactly(micro in -9_000_000_000_000_000_i64..9_000_000_000_000_000) {
        let sign = if micro < 0 { "-" } else { "" };
        let (whole, fraction) = (micro.abs() / MICRO, micro.abs() % MICRO);
        prop_assert_eq!(Micro::parse(&format!("{sign}{whole}.{fraction:06}")), Some(Micro(micro)));
    }

    #[test]
    fn instants_read_back_and_lie_in_their_cycle(ms in 0_i64..253_402_300_799_999, anchor in 1_i8..=28) {
        let at = Timestamp(ms);
        prop_assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
        let (start, end) = at.cycle(anchor);
        // The last cycle of year 9999 ends beyond what can be shown.
        prop_assume!(ms < 253_370_764_800_000);
        prop_assert!(start <= at && at < end);
    }

    #[test]
    fn words_that_name_nothing_are_refused_quietly(text in "\\PC{0,40}") {
        let _ = (Micro::parse(&text), Timestamp::parse(&text), svc_core::version::ApiVersion::parse(&text));
        let _ = (svc_core::secret::api_key_mode(&text), svc_core::secret::hint(&text));
        if let Some(id) = IdKind::Message.accept(&text) {
            prop_assert!(id.ends_with(&text) || id == text);
        }
    }

    #[test]
    fn ids_read_back(ms in 0_i64..281_474_976_710_655, random in any::<u128>()) {
        let id = IdKind::Conversation.make(Timestamp(ms), random);
        prop_assert_eq!(IdKind::Conversation.accept(&id), Some(id));
    }
}
