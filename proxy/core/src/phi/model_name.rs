//! Names of language models and of their tools, which a gateway sees more of than anybody. Many have the day of their
//! release in them, which is nobody's: `gpt-4o-2024-08-06`, `text_editor_20250728`.

use std::ops::Range;

use super::kind::Kind;

/// What names of models begin with. A first name alone (`claude-`) is none.
const FAMILIES: &[&str] = &[
    "gpt-",
    "chatgpt-",
    "o1-",
    "o3-",
    "o4-",
    "codex-",
    "text-embedding-",
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
];

/// Words that go on such a name.
const WORDS: &[&str] = &[
    "ada",
    "audio",
    "base",
    "chat",
    "coder",
    "codex",
    "deep",
    "exp",
    "fast",
    "flash",
    "haiku",
    "high",
    "hd",
    "image",
    "instant",
    "instruct",
    "it",
    "large",
    "latest",
    "lite",
    "low",
    "max",
    "medium",
    "mini",
    "nano",
    "opus",
    "oss",
    "plus",
    "preview",
    "pro",
    "realtime",
    "reasoner",
    "reasoning",
    "research",
    "search",
    "small",
    "sonnet",
    "thinking",
    "transcribe",
    "tts",
    "turbo",
    "ultra",
    "vision",
];

/// What types of tools begin with; a day follows, and nothing else.
const TOOLS: &[&str] = &[
    "agent_toolset_",
    "bash_",
    "code_execution_",
    "computer_",
    "memory_",
    "text_editor_",
    "web_fetch_",
    "web_search_",
];

/// Bytes of the longest name.
const LONGEST: usize = 64;

/// Whether a finding is inside of such a name. Of kinds that such names never look like, none is.
pub(super) fn has(text: &str, place: &Range<usize>, kind: &Kind) -> bool {
    if !matches!(kind.as_str(), "DATE" | "OTHER_ID" | "PHONE") {
        return false;
    }
    let bytes = text.as_bytes();
    let is_part =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'-' | b'_' | b'.' | b'@');
    let before = bytes.get(..place.start).unwrap_or_default();
    let head = before.iter().rev().take(LONGEST).take_while(is_part);
    let from = place.start - head.count();
    let rest = bytes.get(from..).unwrap_or_default();
    let len = rest.iter().take(LONGEST).take_while(is_part).count();
    let Some(chain) = text
        .get(from..from + len)
        .filter(|_| place.end <= from + len)
    else {
        return false;
    };
    // The sentence ends.
    let chain = chain.trim_end_matches('.');
    // `us.anthropic.claude-sonnet-4-20250514-v1`
    let mut begins = std::iter::once(0).chain(chain.match_indices('.').map(|(at, _)| at + 1));
    begins.any(|at| {
        let name = chain.get(at..).unwrap_or_default();
        from + at <= place.start && place.end <= from + chain.len() && is_name(name)
    })
}

fn is_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let behind = |starts: &[&str]| starts.iter().find_map(|start| name.strip_prefix(start));
    if let Some(day) = behind(TOOLS) {
        return day.len() == 8 && is_day(day);
    }
    behind(FAMILIES).is_some_and(|tail| {
        let tail = without_day(tail);
        let mut parts = tail.split(['-', '_', '@']).filter(|part| !part.is_empty());
        parts.all(|part| WORDS.contains(&part) || is_version(part))
    })
}

/// What stands before the day of a release, `2024-08-06` or `20240806`, and a revision behind it.
fn without_day(tail: &str) -> &str {
    let base = tail
        .rsplit_once('-')
        .filter(|(_, revision)| {
            let digits = revision.strip_prefix('v').unwrap_or_default();
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
        .map_or(tail, |(base, _)| base);
    for len in [10, 8] {
        let at = base.len().saturating_sub(len);
        if let Some((head, day)) = base.split_at_checked(at)
            && is_day(day)
            && (head.is_empty() || head.ends_with(['-', '@', '_']))
        {
            return head;
        }
    }
    base
}

/// `2024-08-06`, `20240806`.
fn is_day(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let is_written = match text.len() {
        8 => digits.len() == 8,
        10 => text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        }),
        _ => false,
    };
    let within = |range: Range<usize>, most: u32| {
        let number = digits.get(range).and_then(|digits| digits.parse().ok());
        number.is_some_and(|number: u32| (1..=most).contains(&number))
    };
    is_written && digits.starts_with("202") && within(4..6, 12) && within(6..8, 31)
}

/// `4`, `4.1`, `4o`, `70b`, `v2`: how far along, or how large.
fn is_version(part: &str) -> bool {
    let part = part.strip_prefix('v').unwrap_or(part);
    let (number, unit) = part.split_at(
        part.trim_end_matches(|sign: char| sign.is_ascii_alphabetic())
            .len(),
    );
    let is_number = !number.is_empty()
        && number.matches('.').count() <= 1
        && number.split('.').all(|digits| {
            digits.len() <= 3
                && !(digits.len() > 1 && digits.starts_with('0') && digits != "001")
                && digits.bytes().all(|byte| byte.is_ascii_digit())
        });
    let is_plain = number.len() == 1 || number.contains('.') || number == "001";
    is_number && (matches!(unit, "b" | "k" | "m" | "o" | "e" | "x") || unit.is_empty() && is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_known(text: &str, part: &str, kind: &str) -> bool {
        let start = text.find(part).unwrap_or_default();
        has(text, &(start..start + part.len()), &Kind::named(kind))
    }

    #[test]
    fn a_day_in_the_name_of_a_model_is_known() {
        for (text, day) in [
            ("use gpt-4o-2024-08-06, please", "2024-08-06"),
            ("use gpt-4o-2024-08-06.", "2024-08-06"),
            ("\"o1-2024-12-17\"", "2024-12-17"),
            ("o4-mini-deep-research-2025-06-26", "2025-06-26"),
            ("us.anthropic.claude-sonnet-4-20250514-v1:0", "20250514"),
            ("{\"type\": \"text_editor_20250728\"}", "20250728"),
            ("vertex_ai/claude-opus-4-5@20251101", "20251101"),
            ("gpt-4o-mini-2024-07-18", "2024-07-18"),
            ("claude-3-5-haiku-20241022", "20241022"),
            ("GPT-4o", "GPT-4o"),
            ("qwen2.5-72b-instruct", "72b"),
            ("llama-3.3-70b-instruct", "llama-3.3"),
        ] {
            assert!(is_known(text, day, "DATE"), "{text}");
        }
        assert!(is_known("o1-2024-12-17", "o1-2024-12-17", "PHONE"));
    }

    #[test]
    fn what_is_no_name_of_a_model_counts() {
        for (text, part) in [
            ("claude-1985-03-04.pdf", "1985-03-04"),
            ("claude-lopez-2025-03-04", "2025-03-04"),
            ("claude-30-06-2024", "30-06-2024"),
            ("claude-3-12-2025.pdf", "12-2025"),
            ("visit 2024-08-06", "2024-08-06"),
            ("gpt-4o on 2024-08-06", "2024-08-06"),
            ("mri-2024-08-06", "2024-08-06"),
            ("2024-08-06.gpt-4o", "2024-08-06"),
            ("gpt-4o-maria-lopez-2024-08-06", "2024-08-06"),
            ("gpt-4o-maria-lopez-2024-08-06", "maria-lopez"),
            ("GPT-notes-Maria-Lopez-2024-08-06.docx", "Maria-Lopez"),
            ("memory_clinic_maria_lopez_2025-03-04.pdf", "2025-03-04"),
            ("memory_jane_doe.txt", "jane_doe"),
            ("qwendolyn.lopez", "qwendolyn"),
            ("O4-DOB-2025-03-04", "2025-03-04"),
            ("o4-12.03.85", "12.03.85"),
            ("Gemma-03.12.85", "03.12.85"),
            ("memory_2025-03-04", "2025-03-04"),
            ("memory_20255501", "20255501"),
            ("o1-614-555-0192", "614-555-0192"),
            ("gpt-536-22-1234", "536-22-1234"),
        ] {
            assert!(!is_known(text, part, "DATE"), "{text}");
        }
        for kind in ["SSN", "NAME"] {
            assert!(!is_known("gpt-4o-2024-08-06", "2024-08-06", kind));
        }
    }
}
