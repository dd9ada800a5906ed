//! Names of language models and of their tools, which a gateway sees more of than anybody. Many have the day of their
//! release in them, which is nobody's: `gpt-4o-2024-08-06`, `text_editor_20250728`.

use std::ops::Range;

use super::kind::Kind;

/// What such names begin with. A first name alone (`claude-`) is none.
const FAMILIES: &[&str] = &[
    "gpt-",
    "chatgpt-",
    "o1-",
    "o3-",
    "o4-",
    "codex-",
    "text-embedding-",
    "dall-e-",
    "whisper-",
    "tts-",
    "omni-moderation-",
    "claude-opus-",
    "claude-sonnet-",
    "claude-haiku-",
    "claude-instant-",
    "claude-2",
    "claude-3",
    "claude-4",
    "gemini-",
    "gemma-",
    "llama-",
    "mistral-",
    "mixtral-",
    "codestral-",
    "qwen",
    "deepseek-",
    "command-r",
    "grok-",
    "text_editor_",
    "code_execution_",
    "web_search_",
    "web_fetch_",
    "bash_",
    "computer_",
    "memory_",
    "agent_toolset_",
];

/// Bytes of the longest name.
const LONGEST: usize = 64;

/// Whether a finding is inside of such a name. Of kinds that such names never look like, none is.
pub(super) fn has(text: &str, place: &Range<usize>, kind: &Kind) -> bool {
    match kind.as_str() {
        "DATE" | "OTHER_ID" | "NAME" | "ORGANIZATION" | "LOCATION" => {}
        // `o1-2024-12-17` looks like one.
        "PHONE" if has_day(text.get(place.clone()).unwrap_or_default()) => {}
        _ => return false,
    }
    let Range { start, end } = *place;
    let text = text.as_bytes();
    let is_part =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'-' | b'_' | b'.' | b'@');
    let before = text.get(..start).unwrap_or_default();
    let head = before
        .iter()
        .rev()
        .take(LONGEST)
        .take_while(is_part)
        .count();
    let from = start - head;
    let rest = text.get(from..).unwrap_or_default();
    let len = rest.iter().take(LONGEST).take_while(is_part).count();
    let Some(name) = rest.get(..len).filter(|_| end <= from + len) else {
        return false;
    };
    // `us.anthropic.claude-sonnet-4-20250514-v1`
    let mut tail = Some(name);
    while let Some(name) = tail {
        let begun = from + len - name.len();
        if begun > start {
            break;
        }
        let is_of = |family: &&str| {
            let head = name.get(..family.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(family.as_bytes()))
        };
        if FAMILIES.iter().any(is_of) {
            return true;
        }
        let dot = name.iter().position(|byte| *byte == b'.');
        tail = dot.and_then(|dot| name.get(dot + 1..));
    }
    false
}

/// Whether some of the digits are a day with its year, or the year of one.
fn has_day(text: &str) -> bool {
    let mut groups = text.split(|sign: char| !sign.is_ascii_digit());
    groups.any(|digits| matches!(digits.len(), 4 | 8) && digits.starts_with("20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_in_the_name_of_a_model_is_known() {
        let is_known = |text: &str, day: &str| {
            let start = text.find(day).unwrap_or_default();
            has(text, &(start..start + day.len()), &Kind::named("DATE"))
        };
        for (text, day) in [
            ("use gpt-4o-2024-08-06, please", "2024-08-06"),
            ("\"o1-2024-12-17\"", "2024-12-17"),
            ("us.anthropic.claude-sonnet-4-20250514-v1:0", "20250514"),
            ("{\"type\": \"text_editor_20250728\"}", "20250728"),
            ("vertex_ai/claude-opus-4-5@20251101", "20251101"),
            ("gpt-4o-mini-2024-07-18", "2024-07-18"),
            ("GPT-4o", "GPT-4o"),
        ] {
            assert!(is_known(text, day), "{text}");
        }
        for (text, day) in [
            ("claude-1985-03-04.pdf", "1985-03-04"),
            ("claude-lopez-1985-03-04", "1985-03-04"),
            ("visit 2024-08-06", "2024-08-06"),
            ("gpt-4o on 2024-08-06", "2024-08-06"),
            ("mri-2024-08-06", "2024-08-06"),
            ("2024-08-06.gpt-4o", "2024-08-06"),
        ] {
            assert!(!is_known(text, day), "{text}");
        }
    }

    #[test]
    fn what_is_no_name_of_a_model_counts() {
        let is_known = |text: &str, place, kind| has(text, &place, &Kind::named(kind));
        assert!(is_known("o1-2024-12-17", 0..13, "PHONE"));
        assert!(is_known("claude-3-5-haiku-20241022", 7..25, "PHONE"));
        assert!(!is_known("o1-614-555-0192", 3..15, "PHONE"));
        assert!(!is_known("gpt-536-22-1234", 4..15, "SSN"));
    }
}
