//! Stored turns in an order that a model accepts. Turns of one conversation that are asked for at the same time are
//! stored as they end, and so a turn may come between a tool call and its result, or a result twice.

use svc_core::chat::{Message, Part, Role};

/// The exchanges (what was asked, and the reply) so that each tool call has its result right behind it, but for the
/// calls at the end, which are still open. What came between moves in front of the round of calls, which it knew
/// nothing of. A second answer to a call is left out, and so is a call that can no longer be answered.
pub(super) fn in_order(turns: Vec<Message>) -> Vec<Message> {
    let of_tools = |part: &Part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_));
    if !turns.iter().any(|turn| turn.content.iter().any(of_tools)) {
        return turns;
    }
    let mut ordered: Vec<Message> = Vec::with_capacity(turns.len());
    let mut turns = turns.into_iter().peekable();
    while let Some(asked) = turns.next() {
        let reply = turns.next_if(|next| next.role == Role::Assistant);
        let open = ordered.last().map(calls).unwrap_or_default();
        let results = results(&asked);
        if results.is_empty() && !open.is_empty() {
            let Some(reply) = reply.and_then(without_calls) else {
                continue;
            };
            let at = round_start(&ordered);
            ordered.splice(at..at, [asked, reply]);
        } else if results.iter().all(|id| open.contains(id)) && results.len() == open.len() {
            ordered.push(asked);
            ordered.extend(reply);
        }
    }
    ordered
}

fn calls(turn: &Message) -> Vec<String> {
    let of_call = |part: &Part| match part {
        Part::ToolCall(call) => Some(call.id.clone()),
        _ => None,
    };
    turn.content.iter().filter_map(of_call).collect()
}

fn results(turn: &Message) -> Vec<String> {
    let of_result = |part: &Part| match part {
        Part::ToolResult(result) => Some(result.call_id.clone()),
        _ => None,
    };
    turn.content.iter().filter_map(of_result).collect()
}

/// A reply whose calls nobody will answer any more; nothing where it said nothing else.
fn without_calls(mut reply: Message) -> Option<Message> {
    reply
        .content
        .retain(|part| !matches!(part, Part::ToolCall(_)));
    let says = |part: &Part| matches!(part, Part::Text { .. });
    reply.content.iter().any(says).then_some(reply)
}

/// Where the round of calls begins whose last ones are open: with the first turn that answers none.
fn round_start(ordered: &[Message]) -> usize {
    let is_start = |turn: &Message| turn.role == Role::User && results(turn).is_empty();
    ordered.iter().rposition(is_start).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use svc_core::chat::{ToolCall, ToolResult};

    use super::*;

    /// `u:hi`, `u:=a` (a result), `a:text`, `a:+a+b` (calls), `a:text+a`.
    fn turn(text: &str) -> Message {
        let (role, said) = text.split_once(':').unwrap_or_default();
        let mut content = Vec::new();
        for (at, word) in said.split('+').enumerate() {
            content.extend(match (at, word.strip_prefix('=')) {
                (_, Some(id)) => Some(Part::ToolResult(ToolResult {
                    call_id: id.into(),
                    is_error: false,
                    content: Vec::new(),
                    cache_mark: None,
                })),
                (0, None) => (!word.is_empty()).then(|| Part::text(word)),
                (_, None) => Some(Part::ToolCall(ToolCall {
                    id: word.into(),
                    name: "f".into(),
                    arguments: json!({}),
                    cache_mark: None,
                })),
            });
        }
        let role = if role == "u" {
            Role::User
        } else {
            Role::Assistant
        };
        Message {
            role,
            content,
            name: None,
        }
    }

    fn ordered(turns: &str) -> String {
        let word = |turn: Message| {
            let role = if turn.role == Role::User { "u:" } else { "a:" };
            let parts = turn.content.iter().map(|part| match part {
                Part::ToolCall(call) => format!("+{}", call.id),
                Part::ToolResult(result) => format!("={}", result.call_id),
                Part::Text { text, .. } => text.clone(),
                _ => String::new(),
            });
            format!("{role}{}", parts.collect::<String>())
        };
        let turns = turns.split(' ').map(turn).collect();
        let words: Vec<String> = in_order(turns).into_iter().map(word).collect();
        words.join(" ")
    }

    #[test]
    fn turns_one_after_the_other_stay() {
        for turns in [
            "u:q a:x",
            "u:q a:x u:r a:+a",
            "u:q a:+a u:=a a:x+b+c u:=b+=c a:y u:r a:z",
        ] {
            assert_eq!(ordered(turns), turns.replace("+=", "="));
        }
    }

    #[test]
    fn what_came_between_a_call_and_its_result_stands_before_the_round() {
        assert_eq!(ordered("u:q a:+a u:r a:x"), "u:r a:x u:q a:+a");
        assert_eq!(
            ordered("u:q a:+a u:=a a:+b u:r a:x u:=b a:y"),
            "u:r a:x u:q a:+a u:=a a:+b u:=b a:y"
        );
        assert_eq!(
            ordered("u:p a:w u:q a:+a u:r a:x"),
            "u:p a:w u:r a:x u:q a:+a"
        );
    }

    #[test]
    fn a_second_answer_and_a_call_that_is_lost_are_left_out() {
        assert_eq!(ordered("u:q a:+a u:=a a:x u:=a a:y"), "u:q a:+a u:=a a:x");
        assert_eq!(ordered("u:q a:+a u:r a:x+b"), "u:r a:x u:q a:+a");
        assert_eq!(ordered("u:q a:+a u:r a:+b u:=a a:x"), "u:q a:+a u:=a a:x");
    }
}
