//! Names of language models and of their tools. Many have the day of their release in them, which is nobody's:
//! `gpt-4o-2024-08-06`, `text_editor_20250728`.

use crate::text::starts;

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

/// Whether `text[start..end]` is inside of such a name.
pub fn is_in_name(text: &[u8], start: usize, end: usize) -> bool {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'-' | b'_' | b'.');
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
        if FAMILIES
            .iter()
            .any(|family| starts(name, family.as_bytes()))
        {
            return true;
        }
        let dot = name.iter().position(|byte| *byte == b'.');
        tail = dot.and_then(|dot| name.get(dot + 1..));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_in_the_name_of_a_model_is_known() {
        let is_known = |text: &str, day: &str| {
            let start = text.find(day).unwrap_or_default();
            is_in_name(text.as_bytes(), start, start + day.len())
        };
        for (text, day) in [
            ("use gpt-4o-2024-08-06, please", "2024-08-06"),
            ("\"o1-2024-12-17\"", "2024-12-17"),
            ("us.anthropic.claude-sonnet-4-20250514-v1:0", "20250514"),
            ("{\"type\": \"text_editor_20250728\"}", "20250728"),
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
}
