//! Turns of a request that carries its whole conversation, before they become messages: each with its place
//! in the body, so that what is wrong can be named. It reads roles and tool ids and changes nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use super::blocks::{MAX_MESSAGES, at_most};
use super::places::{PartPlace, TurnPlace};
use crate::chat::{Message, Part, Role};
use crate::fault::Problems;

/// One entry of `messages` that is no system prompt.
pub(super) struct Turn {
    /// Its index in the caller's array.
    pub(super) at: usize,
    pub(super) message: Message,
    /// Of each part of the message.
    pub(super) places: Vec<PartPlace>,
}

/// The turns of `messages`, and whether nothing was left out as unreadable. `read_entry` reads one entry and keeps what
/// is no turn for itself.
pub(super) fn read(
    items: Vec<Value>,
    problems: &mut Problems,
    mut read_entry: impl FnMut(usize, Value, &mut Problems) -> Option<Turn>,
) -> (Vec<Turn>, bool) {
    let before = problems.len();
    let items = at_most(MAX_MESSAGES, "messages", items, "messages", problems);
    let mut are_whole = problems.len() == before;
    let mut turns = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let found = problems.len();
        let turn = read_entry(at, item, problems);
        let is_whole = problems.len() == found;
        are_whole &= is_whole;
        let Some(turn) = turn else {
            continue;
        };
        // An assistant turn without content says nothing and may.
        if is_whole && turn.message.role == Role::User && says_nothing(&turn.message.content) {
            problems.add(format!("messages[{at}].content"), "must not be blank");
        }
        turns.push(turn);
    }
    (turns, are_whole)
}

/// A tool call of the assistant turn before.
struct Open {
    at: usize,
    answered: bool,
}

/// Whether a turn says nothing: a provider that leaves out blank text would have nothing to answer
/// (wire.md 2, point 15).
pub(super) fn says_nothing(content: &[Part]) -> bool {
    content
        .iter()
        .all(|part| matches!(part, Part::Text { text, .. } if text.trim().is_empty()))
}

/// Every tool call needs its result in the turn behind it, and every result its call in the turn before: a
/// dangling one is refused by both provider kinds (wire.md 2, point 5). Neighbours of one role are one turn
/// (point 17).
pub(super) fn check_calls(turns: &[Turn], problems: &mut Problems) {
    let mut open: BTreeMap<&str, Open> = BTreeMap::new();
    let mut before = Role::User;
    for turn in turns {
        let Turn { at, message, .. } = turn;
        if message.role == Role::Assistant && before == Role::User {
            unanswered(&open, problems);
            open.clear();
        }
        before = message.role;
        for part in &message.content {
            match part {
                Part::ToolCall(call) => {
                    let asked = Open {
                        at: *at,
                        answered: false,
                    };
                    if open.insert(&call.id, asked).is_some() {
                        problems.add(format!("messages[{at}]"), "has two tool calls of one id");
                    }
                }
                Part::ToolResult(result) => {
                    let answered = open
                        .get_mut(result.call_id.as_str())
                        .map(|call| std::mem::replace(&mut call.answered, true));
                    let wrong = match answered {
                        None => "has a tool result without its call in the turn before",
                        Some(true) => "has a second result for one tool call",
                        Some(false) => continue,
                    };
                    problems.add(format!("messages[{at}]"), wrong);
                }
                _ => {}
            }
        }
    }
    unanswered(&open, problems);
}

fn unanswered(open: &BTreeMap<&str, Open>, problems: &mut Problems) {
    for call in open.values().filter(|call| !call.answered) {
        problems.add(
            format!("messages[{}]", call.at),
            "has a tool call without its result in the next turn",
        );
    }
}

/// Who may have said the last words of a conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastWord {
    /// The assistant's would be a beginning of the reply, which models were able to go on with (prefill): newer models
    /// of kind A refuse it and kind B has no such thing (wire.md 2, point 46).
    OfUser,
    /// The assistant's are one more turn, or nothing is said next.
    OfAnyone,
}

/// The turns as canonical messages, and where these stand.
pub(super) fn into_messages(turns: Vec<Turn>) -> (Vec<Message>, Vec<TurnPlace>) {
    let split = |turn: Turn| {
        let Turn {
            at,
            message,
            places,
        } = turn;
        (message, TurnPlace { at, parts: places })
    };
    turns.into_iter().map(split).unzip()
}

/// The turns' own rules, for turns of which nothing was left out as unreadable: what goes missing breaks rules that the
/// caller did not break.
pub(super) fn check_order(turns: &[Turn], last: LastWord, problems: &mut Problems) {
    check_calls(turns, problems);
    let is_silent =
        |turn: &Turn| turn.message.role == Role::Assistant && turn.message.content.is_empty();
    // One that is silent begins no reply.
    match turns.iter().rfind(|turn| !is_silent(turn)) {
        None => problems.add("messages", "must hold a user message"),
        // An open tool call at the end has its own problem.
        Some(Turn { at, message, .. })
            if last == LastWord::OfUser
                && message.role == Role::Assistant
                && !message
                    .content
                    .iter()
                    .any(|part| matches!(part, Part::ToolCall(_))) =>
        {
            problems.add_foreign(
                format!("messages[{at}]"),
                "must not be an assistant message",
            );
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::{ToolCall, ToolResult};

    fn turn(at: usize, role: Role, content: Vec<Part>) -> Turn {
        let message = Message {
            role,
            content,
            name: None,
        };
        Turn {
            at,
            message,
            places: Vec::new(),
        }
    }

    fn call(id: &str) -> Part {
        Part::ToolCall(ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: json!({}),
            cache_mark: None,
        })
    }

    fn result(id: &str) -> Part {
        Part::ToolResult(ToolResult {
            call_id: id.into(),
            is_error: false,
            content: Vec::new(),
            cache_mark: None,
        })
    }

    fn problems(turns: &[Turn]) -> Vec<String> {
        let mut problems = Problems::default();
        check_calls(turns, &mut problems);
        problems
            .into_result()
            .err()
            .map_or_else(Vec::new, |fault| fault.details.keys().cloned().collect())
    }

    #[test]
    fn answered_calls_pass_in_one_turn_or_several() {
        let good = [
            turn(0, Role::User, vec![Part::text("q")]),
            turn(1, Role::Assistant, vec![call("a")]),
            turn(2, Role::Assistant, vec![call("b")]),
            turn(3, Role::User, vec![result("b")]),
            turn(4, Role::User, vec![result("a")]),
            turn(5, Role::Assistant, vec![call("a")]),
            turn(6, Role::User, vec![result("a")]),
        ];
        assert!(problems(&good).is_empty());
    }

    #[test]
    fn dangling_calls_and_results_are_named() {
        let user = || turn(0, Role::User, vec![Part::text("q")]);
        let dangling = [user(), turn(1, Role::Assistant, vec![call("a")])];
        assert_eq!(problems(&dangling), ["messages[1]"]);
        let late = [
            user(),
            turn(1, Role::Assistant, vec![call("a")]),
            turn(2, Role::User, vec![Part::text("wait")]),
            turn(3, Role::Assistant, vec![Part::text("ok")]),
            turn(4, Role::User, vec![result("a")]),
        ];
        assert_eq!(problems(&late), ["messages[1]", "messages[4]"]);
        let twice = [
            user(),
            turn(1, Role::Assistant, vec![call("a")]),
            turn(2, Role::User, vec![result("a"), result("a")]),
        ];
        assert_eq!(problems(&twice), ["messages[2]"]);
        let same = [
            user(),
            turn(1, Role::Assistant, vec![call("a"), call("a")]),
            turn(2, Role::User, vec![result("a")]),
        ];
        assert_eq!(problems(&same), ["messages[1]"]);
    }

    #[test]
    fn a_last_turn_that_says_nothing_begins_no_reply() {
        let user = || turn(0, Role::User, vec![Part::text("q")]);
        let silent = |at| turn(at, Role::Assistant, Vec::new());
        let begun = || turn(1, Role::Assistant, vec![Part::text("so")]);
        for (turns, expected) in [
            (vec![user(), silent(1)], None),
            (vec![user(), silent(1), silent(2)], None),
            (vec![user(), begun()], Some("messages[1]")),
            (vec![user(), begun(), silent(2)], Some("messages[1]")),
            (vec![silent(0)], Some("messages")),
        ] {
            let mut problems = Problems::default();
            check_order(&turns, LastWord::OfUser, &mut problems);
            let fault = problems.into_compat_result().err();
            assert_eq!(fault.and_then(|fault| fault.param).as_deref(), expected);
        }
    }

    #[test]
    fn more_messages_than_may_be_are_one_problem() {
        let read = |count: usize| {
            let mut problems = Problems::default();
            let mut entries = 0;
            let (turns, are_whole) = read(vec![json!(0); count], &mut problems, |at, _, _| {
                entries += 1;
                Some(turn(at, Role::Assistant, Vec::new()))
            });
            let fault = problems.into_result().err();
            (
                turns.len(),
                are_whole,
                entries,
                fault.map(|fault| fault.details_value()),
            )
        };
        assert_eq!(read(MAX_MESSAGES), (MAX_MESSAGES, true, MAX_MESSAGES, None));
        let refused = json!({"messages": ["may hold at most 100000 messages"]});
        assert_eq!(read(MAX_MESSAGES + 1), (0, false, 0, Some(refused)));
    }
}
