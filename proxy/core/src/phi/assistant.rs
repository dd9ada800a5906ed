//! Names of models and of the programs that use them: `You are Claude`, `ask Copilot`. Who has an AI gateway speaks of
//! them in every other prompt, and they are nobody. Some are people's names too: these count as somebody's, unless the
//! text is about programs and names nobody else so.

use super::merge::{CERTAIN, Finding};
use super::scan::TextScan;

/// What nobody is called.
const PROGRAMS: [&str; 21] = [
    "gemini",
    "copilot",
    "chatgpt",
    "codex",
    "qwen",
    "llama",
    "grok",
    "deepseek",
    "langchain",
    "langgraph",
    "llamaindex",
    "ollama",
    "openai",
    "anthropic",
    "midjourney",
    "openhands",
    "litellm",
    "opencode",
    "huggingface",
    "perl",
    "instagram",
];

/// What people are called as well.
const NAMESAKES: [&str; 12] = [
    CLAUDE, "devin", "cline", "manus", "letta", "gemma", "jules", "aider", "alexa", "siri", "jina",
    "mistral",
];

/// The one of them that texts speak of most.
const CLAUDE: &str = "claude";

/// What stands behind one of them, and is nobody's surname.
const BEHIND: [&str; 19] = [
    "llc", "oauth", "catalog", "code", "model", "models", "opus", "sonnet", "haiku", "instant",
    "cli", "sdk", "api", "desktop", "agent", "agents", "ai", "flow", "plugin",
];

/// What a text says that is about programs: whole words.
const SIGNS: [&str; 11] = [
    "openai",
    "language model",
    "language models",
    "llm",
    "llms",
    "ai assistant",
    "coding assistant",
    "system prompt",
    "the assistant can",
    "the assistant should",
    "npm",
];
/// The same, of [`CLAUDE`] alone.
const SIGNS_OF_CLAUDE: [&str; 8] = [
    "anthropic",
    "claude code",
    "claude.md",
    ".claude",
    "claude-code",
    "claude-opus",
    "claude-sonnet",
    "claude-haiku",
];

/// Words before a name that make it somebody's. One mention of somebody is enough: every other one is sought then.
const OF_PERSONS: [&str; 39] = [
    "mom",
    "mum",
    "dad",
    "grandma",
    "grandpa",
    "cousin",
    "baby",
    "kid",
    "stepson",
    "stepdaughter",
    "patient",
    "pt",
    "mr",
    "mrs",
    "ms",
    "miss",
    "dr",
    "mme",
    "m",
    "name",
    "son",
    "daughter",
    "husband",
    "wife",
    "brother",
    "sister",
    "mother",
    "father",
    "uncle",
    "aunt",
    "nurse",
    "friend",
    "client",
    "partner",
    "boyfriend",
    "girlfriend",
    "dear",
    "saw",
    "doctor",
];
/// The same, but for the assistant that everybody greets.
const GREETINGS: [&str; 4] = ["hi", "hello", "hey", "good"];
/// Words behind a name that only people do.
const BY_PERSONS: [&str; 8] = [
    "denies",
    "denied",
    "complains",
    "complained",
    "coughs",
    "presented",
    "came",
    "limps",
];
/// Kinds that programs are taken for.
const KINDS: [&str; 3] = ["NAME", "ORGANIZATION", "LOCATION"];
/// Scores from which on something says more than that a word may be a name: a title, a field.
const TOLD: u16 = 850;

/// Takes out what names a program and nobody. What an organization denies stays.
pub(super) fn drop(scan: &TextScan, findings: &mut Vec<Finding>) {
    let named = |finding: &Finding| {
        let named =
            named_in(scan.value(finding)).filter(|_| KINDS.contains(&finding.kind.as_str()));
        let most = match &named {
            Some(named) if named.is_product => CERTAIN,
            _ => TOLD,
        };
        named.filter(|_| finding.score < most)
    };
    if !findings.iter().any(|finding| named(finding).is_some()) {
        return;
    }
    // Somebody of the name with a surname is meant by the name alone, too.
    let people: Vec<String> = findings
        .iter()
        .filter(|finding| finding.kind.as_str() == "NAME" && named(finding).is_none())
        // `API, Claude` is nobody's surname and given name.
        .filter(|finding| {
            let mut said = words(scan.value(finding));
            said.clone().count() == 1 || said.any(|word| !is_of_program(&word))
        })
        .flat_map(|finding| words(scan.value(finding)))
        .collect();
    let small = scan.text().to_ascii_lowercase();
    let is_about_programs = SIGNS.iter().any(|sign| says(&small, sign));
    let is_about_claude = SIGNS_OF_CLAUDE.iter().any(|sign| says(&small, sign));
    // `You are Claude.`
    let addressed = NAMESAKES
        .iter()
        .filter(|name| says(&small, &format!("you are {name}")));
    let addressed: Vec<&str> = addressed.copied().collect();
    let is_one_of = |word: Option<&str>, words: &[&str]| {
        word.is_some_and(|word| words.contains(&word.to_lowercase().as_str()))
    };
    let is_nobody = |finding: &Finding| {
        let Some(name) = named(finding) else {
            return false;
        };
        let is_word = |word: &&str| !word.is_empty();
        let before = scan.text().get(..finding.start).unwrap_or_default();
        let last = before
            .rsplit(|sign: char| !sign.is_alphanumeric())
            .find(is_word);
        let behind = scan.text().get(finding.end..).unwrap_or_default();
        let next = behind
            .split(|sign: char| !sign.is_alphanumeric())
            .find(is_word);
        if is_one_of(last, &OF_PERSONS)
            || is_one_of(last, &GREETINGS) && name.word != CLAUDE
            || is_one_of(next, &BY_PERSONS)
            || is_told_of(behind)
            || people.contains(&name.word)
        {
            return false;
        }
        !name.is_namesake
            || is_about_programs
            || is_about_claude && name.word == CLAUDE
            || addressed.contains(&name.word.as_str())
    };
    findings.retain(|finding| !is_nobody(finding));
}

/// `Claude is a 45 yo`, `Devin, 31, …`, `Gemma's wife`: how old somebody is, and whose.
fn is_told_of(behind: &str) -> bool {
    const OF_SOMEBODY: [&str; 6] = [
        "'s wife",
        "'s husband",
        "'s mother",
        "'s mom",
        " & her ",
        " is my ",
    ];
    let has_age = [" is a ", " is ", ", ", " ("].iter().any(|joint| {
        let rest = behind.strip_prefix(joint).unwrap_or_default();
        rest.starts_with(|sign: char| sign.is_ascii_digit())
    });
    has_age || OF_SOMEBODY.iter().any(|said| behind.starts_with(said))
}

/// The name of a program in small letters.
struct Named {
    word: String,
    is_namesake: bool,
    /// Whether more words say what it is.
    is_product: bool,
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
    let mut count = 0;
    let is_program = is_namesake || PROGRAMS.contains(&word.as_str());
    let is_all = words.inspect(|_| count += 1).all(is_behind);
    (is_program && is_all).then_some(Named {
        word,
        is_namesake,
        is_product: count > 0,
    })
}

fn is_of_program(word: &str) -> bool {
    PROGRAMS.contains(&word) || NAMESAKES.contains(&word) || BEHIND.contains(&word)
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

fn words(value: &str) -> impl Iterator<Item = String> + Clone {
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
        assert_eq!(left("ask Copilot about it", &["Copilot"], 700), none);
        assert_eq!(
            left("You are Claude. Claude helps.", &["Claude"], 700),
            none
        );
        for somebody in [
            "You are Claude. Alexa helps.",
            "Using an LLM to summarise: Devin came in today",
            "LLM: Mrs. Mistral is here",
            "an LLM wrote: Devin is a 45 yo with asthma",
            "an AI assistant. my mom Gemma has a cough",
            "system prompt: a scribe. Hi Devin, how are you?",
            "LLM: Devin's wife agrees",
            "an LLM for my friend Gemma",
        ] {
            let names = ["Alexa", "Devin", "Mistral", "Gemma"];
            assert_eq!(left(somebody, &names, 700).len(), 1, "{somebody}");
        }
        assert_eq!(left("use Claude Code, an LLM", &["Claude Code"], 800), none);
        assert_eq!(
            left("Claude came in with a cough", &["Claude"], 800),
            ["Claude"]
        );
        let about = "You are Claude. Patient Claude is here.";
        assert_eq!(left(about, &["Claude"], 700), ["Claude"]);
        let both = "You are Claude. Claude Dubois coughs. Claude helps.";
        assert_eq!(left(both, &["Claude Dubois", "Claude"], 700).len(), 3);
        assert_eq!(left("You are Claude.", &["Claude"], CERTAIN), ["Claude"]);
        for text in [
            "enrollment of Claude",
            "I saw Claude.",
            "Claude-Marie, Claude",
        ] {
            assert!(!left(text, &["Claude"], 700).is_empty(), "{text}");
        }
        assert_eq!(
            left("an LLM says Claude Monet", &["Claude Monet"], 800),
            ["Claude Monet"]
        );
    }
}
