//! Names of models and of the programs that use them: `You are Claude`, `ask Copilot`. Who has an AI gateway speaks of
//! them in every other prompt, and they are nobody. Some are people's names too: these count as somebody's, unless the
//! text is about programs and names nobody else so.

use super::merge::{CERTAIN, Finding};
use super::scan::TextScan;

/// What nobody is called.
const PROGRAMS: [&str; 24] = [
    "gemini",
    "copilot",
    "chatgpt",
    "codex",
    "qwen",
    "llama",
    "grok",
    "mistral",
    "deepseek",
    "langchain",
    "langgraph",
    "llamaindex",
    "ollama",
    "openai",
    "anthropic",
    "midjourney",
    "openhands",
    "dall",
    "gpt",
    "litellm",
    "opencode",
    "huggingface",
    "perl",
    "instagram",
];

/// What people are called as well.
const NAMESAKES: [&str; 11] = [
    "claude", "devin", "cline", "manus", "letta", "gemma", "jules", "aider", "alexa", "siri",
    "jina",
];

/// What stands behind one of them.
const BEHIND: [&str; 33] = [
    "llc", "oauth", "catalog", "code", "model", "models", "opus", "sonnet", "haiku", "instant",
    "fable", "cli", "sdk", "api", "desktop", "pro", "max", "agent", "agents", "ai", "flash",
    "ultra", "nano", "mini", "team", "skills", "reader", "family", "flow", "studio", "e", "chat",
    "plugin",
];

/// What a text says that is about programs: whole words.
const SIGNS: [&str; 21] = [
    "anthropic",
    "openai",
    "language model",
    "language models",
    "llm",
    "llms",
    "ai assistant",
    "ai model",
    "ai models",
    "coding assistant",
    "system prompt",
    "the assistant can",
    "the assistant should",
    "npm",
    "claude code",
    "claude.md",
    ".claude",
    "claude-code",
    "claude-opus",
    "claude-sonnet",
    "claude-haiku",
];

/// Words before a name that make it somebody's.
const OF_PERSONS: [&str; 22] = [
    "patient", "pt", "mr", "mrs", "ms", "miss", "dr", "mme", "m", "named", "name", "son",
    "daughter", "husband", "wife", "brother", "sister", "mother", "father", "uncle", "aunt",
    "nurse",
];

/// Takes out what names a program and nobody. What an organization denies stays.
pub(super) fn drop(scan: &TextScan, findings: &mut Vec<Finding>) {
    let named = |finding: &Finding| match finding.score < CERTAIN {
        true => named_in(scan.value(finding)),
        false => None,
    };
    let mut candidates = findings.iter().filter_map(named).peekable();
    if candidates.peek().is_none() {
        return;
    }
    // Somebody of the name with a surname is meant by the name alone, too.
    let people: Vec<String> = findings
        .iter()
        .filter(|finding| finding.kind.as_str() == "NAME" && named(finding).is_none())
        .flat_map(|finding| words(scan.value(finding)))
        .collect();
    let small = scan.text().to_ascii_lowercase();
    let is_about_programs = SIGNS.iter().any(|sign| says(&small, sign));
    // `You are Claude.`
    let addressed = NAMESAKES
        .iter()
        .filter(|name| says(&small, &format!("you are {name}")));
    let addressed: Vec<&str> = addressed.copied().collect();
    let is_nobody = |finding: &Finding| {
        let Some(name) = named(finding) else {
            return false;
        };
        if !name.is_namesake {
            return true;
        }
        let before = scan.text().get(..finding.start).unwrap_or_default();
        let mut before = before.rsplit(|sign: char| !sign.is_alphanumeric());
        let last = before.find(|word| !word.is_empty());
        let is_person = last.is_some_and(|word| OF_PERSONS.contains(&word.to_lowercase().as_str()));
        !is_person
            && !people.contains(&name.word)
            && (is_about_programs || addressed.contains(&name.word.as_str()))
    };
    findings.retain(|finding| !is_nobody(finding));
}

/// The name of a program in small letters.
struct Named {
    word: String,
    is_namesake: bool,
}

/// The program that a value names and nothing else: `Claude`, `claude-flow`, `CLAUDE_CODE`, `Claude 3 Opus`.
fn named_in(value: &str) -> Option<Named> {
    /// Bytes of the longest.
    const LONGEST: usize = 40;
    if value.len() > LONGEST {
        return None;
    }
    let mut words = words(value);
    let word = words.next()?;
    let is_namesake = NAMESAKES.contains(&word.as_str());
    let is_behind = |word: String| {
        BEHIND.contains(&word.as_str())
            || word.len() < 3 && word.bytes().all(|byte| byte.is_ascii_digit())
    };
    ((is_namesake || PROGRAMS.contains(&word.as_str())) && words.all(is_behind))
        .then_some(Named { word, is_namesake })
}

/// Whether a text has words with neither letters nor digits around them.
fn says(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let behind = text
            .get(at + words.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !behind.is_some_and(char::is_alphanumeric)
    })
}

fn words(value: &str) -> impl Iterator<Item = String> {
    value
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::ChatRequest;
    use crate::phi::merge::{Candidate, merge};

    fn left(text: &str, names: &[&str], score: u16) -> Vec<String> {
        let scan = TextScan::of(&mut ChatRequest::of_user_text(text));
        let claims: Vec<Candidate<'_>> = names
            .iter()
            .flat_map(|name| text.match_indices(name))
            .map(|(start, name)| Candidate {
                start,
                end: start + name.len(),
                kind: "NAME",
                score,
                verified: false,
                partial: false,
                detector: 0,
            })
            .collect();
        let found = merge(&scan, &claims, |_, _| true);
        found.iter().map(|one| scan.value(one).to_owned()).collect()
    }

    #[test]
    fn programs_are_nobody_and_their_namesakes_somebody() {
        let none: [String; 0] = [];
        assert_eq!(left("ask Copilot about it", &["Copilot"], 800), none);
        assert_eq!(
            left("You are Claude. Claude helps.", &["Claude"], 800),
            none
        );
        assert_eq!(left("use Claude Code, an LLM", &["Claude Code"], 800), none);
        assert_eq!(
            left("Claude came in with a cough", &["Claude"], 800),
            ["Claude"]
        );
        let about = "You are Claude. Patient Claude is here.";
        assert_eq!(left(about, &["Claude"], 800), ["Claude"]);
        let both = "You are Claude. Claude Dubois coughs. Claude sleeps.";
        assert_eq!(left(both, &["Claude Dubois", "Claude"], 800).len(), 3);
        assert_eq!(left("You are Claude.", &["Claude"], CERTAIN), ["Claude"]);
        for text in [
            "enrollment of Claude",
            "I saw Claude.",
            "Claude-Marie, Claude",
        ] {
            assert!(!left(text, &["Claude"], 800).is_empty(), "{text}");
        }
        assert_eq!(
            left("an LLM says Claude Monet", &["Claude Monet"], 800),
            ["Claude Monet"]
        );
    }
}
