//! Directives in the text of a request, for demos and for tests that can only talk: `[[fake:WORD …]]`.
//!
//! `tool NAME {json}`, `text …`, `thinking …`, `stop REASON`, `status CODE`, `delay MS` (between events).
//! Several may stand in one text. A directive that cannot be read is ordinary text, and so is everything before the
//! last 16 KiB.

use serde_json::Value;

use crate::fake_provider::script::{Behaviour, ToolCall};

const OPEN: &str = "[[fake:";
const CLOSE: &str = "]]";

/// What is read of a text, from its end: longer replies than this are ordered by script. Directives that do not end
/// cost the square of it.
const MAX_BYTES: usize = 16 * 1024;

/// The behaviour that a text asks for; none without a directive.
pub(crate) fn read(text: &str) -> Option<Behaviour> {
    let mut behaviour = Behaviour::default();
    let mut found = false;
    let begin = text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES));
    let mut rest = text.get(begin..)?;
    while let Some((_, behind)) = rest.split_once(OPEN) {
        rest = behind;
        if let Some(after) = take(behind, &mut behaviour) {
            found = true;
            rest = after;
        }
    }
    found.then_some(behaviour)
}

/// Applies the directive at the start of `text`, and gives the text behind it.
fn take<'t>(text: &'t str, behaviour: &mut Behaviour) -> Option<&'t str> {
    let (word, rest) = text.split_once(' ')?;
    if word == "tool" {
        let (call, rest) = tool_call(rest)?;
        behaviour.tools.push(call);
        return Some(rest);
    }
    let (argument, rest) = rest.split_once(CLOSE)?;
    match word {
        "text" => behaviour.text = Some(argument.to_owned()),
        "thinking" => behaviour.thinking = Some(argument.to_owned()),
        "stop" => behaviour.stop_reason = Some(argument.trim().to_owned()),
        "status" => behaviour.status = Some(argument.trim().parse().ok()?),
        "delay" => behaviour.delay_between_events_ms = Some(argument.trim().parse().ok()?),
        _ => return None,
    }
    Some(rest)
}

fn tool_call(text: &str) -> Option<(ToolCall, &str)> {
    let (name, rest) = text.split_at(text.find([' ', ']'])?);
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    // Not `split_once(CLOSE)`: the input may end in `]]` itself.
    let (input, rest) = match values.next() {
        Some(Ok(input)) => (input, rest.get(values.byte_offset()..)?),
        _ => (Value::Object(serde_json::Map::new()), rest),
    };
    let rest = rest.trim_start().strip_prefix(CLOSE)?;
    let name = name.to_owned();
    Some((
        ToolCall {
            name,
            input,
            id: None,
        },
        rest,
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn directives_are_read_from_the_middle_of_a_text() {
        let behaviour = read(
            r#"Please [[fake:tool look {"ids": [[1], [2]]}]] and [[fake:tool ping]][[fake:stop pause_turn]]."#,
        )
        .unwrap();
        assert_eq!(behaviour.tools[0].name, "look");
        assert_eq!(behaviour.tools[0].input["ids"][1][0], 2);
        assert_eq!(behaviour.tools[1].name, "ping");
        assert_eq!(behaviour.stop_reason.as_deref(), Some("pause_turn"));
    }

    #[test]
    fn what_cannot_be_read_is_text() {
        for text in [
            "nothing",
            "[[fake:tool x {]]",
            "[[fake:status soon]]",
            "[[fake:",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_long_text_is_read_from_its_end() {
        let far = format!(
            "[[fake:stop far]]{}[[fake:text near]]",
            "é".repeat(MAX_BYTES)
        );
        let behaviour = read(&far).unwrap();
        assert_eq!(behaviour.text.as_deref(), Some("near"));
        assert!(behaviour.stop_reason.is_none());
    }
}
