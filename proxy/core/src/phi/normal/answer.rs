//! Questions and what answers them: `Your MRN, please?` in one line or turn, `Sure, it's 4471223` in the next.

use std::ops::Range;

/// A question as far as it says what is asked for, and the answer without what leads to it. Bytes of their texts.
pub(in crate::phi) struct Answer {
    pub(in crate::phi) question: Range<usize>,
    pub(in crate::phi) answer: Range<usize>,
}

/// Bytes of a question that are read, from its end; of an answer, from its start.
const MAX_BYTES: usize = 96;

/// Bytes that are looked at for an answer: who says it and what leads to it come before it.
const MAX_LOOKED_AT_BYTES: usize = 4 * MAX_BYTES;

/// Bytes of a speaker's name and the time before it.
const MAX_SPEAKER_BYTES: usize = 40;

/// Questions of a text that are read with their answers: more than people ask.
const MIN_ANSWERS: usize = 64;
const BYTES_PER_ANSWER: usize = 32;

/// What a question ends with behind what is asked for.
const POLITE: [&str; 9] = [
    "please",
    "for me",
    "again",
    "sir",
    "ma'am",
    "ma\u{2019}am",
    "on file",
    "if you have it",
    "thanks",
];

/// What asks without a question mark.
const ASKING: [&str; 13] = [
    "please", "what", "provide", "enter", "tell me", "give me", "need", "share", "confirm",
    "verify", "type", "spell", "send",
];

/// What leads to an answer.
const LEADING: [&str; 41] = [
    "yes",
    "yeah",
    "yep",
    "sure",
    "ok",
    "okay",
    "um",
    "uh",
    "hmm",
    "oh",
    "well",
    "so",
    "it",
    "it's",
    "it\u{2019}s",
    "its",
    "is",
    "that",
    "that's",
    "that\u{2019}s",
    "would",
    "be",
    "this",
    "i'm",
    "i\u{2019}m",
    "one",
    "second",
    "moment",
    "hold",
    "on",
    "let",
    "me",
    "see",
    "of",
    "course",
    "here",
    "you",
    "go",
    "thanks",
    "certainly",
    "right",
];

/// What divides the parts of a question, and those of an answer.
const DIVIDING: [&str; 6] = [", and ", " and ", " & ", ", ", "; ", "\n"];

/// Parts of a question that are read with those of its answer.
const MAX_PARTS: usize = 8;

impl Answer {
    /// The whole, and where several things were asked for and as many said, each with its own.
    fn divided(self, asking: &str, answering: &str) -> Vec<Self> {
        let mut all = Vec::new();
        let asked = parts(asking, &self.question);
        let said = if asked.len() > 1 {
            parts(answering, &self.answer)
        } else {
            Vec::new()
        };
        if asked.len() == said.len() {
            let pairs = asked.into_iter().zip(said);
            all.extend(pairs.map(|(question, answer)| Self { question, answer }));
        }
        all.push(self);
        all
    }
}

/// The parts of a stretch of a text; more than [`MAX_PARTS`] are none.
fn parts(text: &str, stretch: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = stretch.start;
    while let Some(rest) = text.get(start..stretch.end) {
        let divided = DIVIDING
            .iter()
            .filter_map(|sign| Some((rest.find(sign)?, sign.len())));
        // Of signs at one place the longest: `, and `.
        let Some((at, length)) =
            divided.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
        else {
            parts.push(start..stretch.end);
            break;
        };
        parts.push(start..start + at);
        start += at + length;
    }
    if parts.len() > MAX_PARTS {
        Vec::new()
    } else {
        parts
    }
}

/// All questions of a text that something in it answers, in the same line or in the next one.
pub(in crate::phi) fn answers(text: &str) -> impl Iterator<Item = Answer> {
    let marks = memchr::memchr_iter(b'?', text.as_bytes());
    let answers = marks.filter_map(move |mark| {
        let question = question_before(text, mark)?;
        let rest = text.get(mark + 1..)?;
        // What closes the question: a quote, a bracket, a mark of Markdown.
        let rest =
            rest.trim_start_matches(|sign: char| !sign.is_alphanumeric() && !sign.is_whitespace());
        let answer = answer_in(rest)?;
        let from = text.len() - rest.len();
        Some(Answer {
            question,
            answer: from + answer.start..from + answer.end,
        })
    });
    let divided = answers.flat_map(move |answer| answer.divided(text, text));
    divided.take(MIN_ANSWERS + text.len() / BYTES_PER_ANSWER)
}

/// What one turn asks last and the next one answers; empty where nothing is.
pub(in crate::phi) fn answered(asking: &str, answering: &str) -> Vec<Answer> {
    let answer = answer_of(asking, answering);
    answer.map_or_else(Vec::new, |answer| answer.divided(asking, answering))
}

fn answer_of(asking: &str, answering: &str) -> Option<Answer> {
    let asking = asking.trim_end_matches(|sign: char| {
        sign.is_whitespace() || matches!(sign, '*' | '_' | '"' | ')')
    });
    let end = asking.trim_end_matches(['?', '.', ':', '!']).len();
    let question = question_before(asking, end)?;
    let is_asked = asking.ends_with(['?', ':']) || {
        let sentence = asking
            .get(sentence_start(asking, end)..end)?
            .to_ascii_lowercase();
        ASKING.iter().any(|word| sentence.contains(word))
    };
    let answer = answer_in(answering)?;
    is_asked.then_some(Answer { question, answer })
}

/// The question that ends at `mark`, without polite words; nothing where no word is left.
fn question_before(text: &str, mark: usize) -> Option<Range<usize>> {
    let start = sentence_start(text, mark);
    let mut end = mark;
    loop {
        let asked = text.get(start..end)?.trim_end_matches([' ', ',', '*', '_']);
        let polite = POLITE.iter().find(|word| ends_with_word(asked, word));
        end = start + asked.len() - polite.map_or(0, |word| word.len());
        if polite.is_none() {
            break;
        }
    }
    text.get(start..end)?
        .contains(char::is_alphabetic)
        .then_some(start..end)
}

/// Where the sentence begins that ends at `end`, or the part of it that is read.
fn sentence_start(text: &str, end: usize) -> usize {
    let least = text.floor_char_boundary(end.saturating_sub(MAX_BYTES));
    let tail = text.get(least..end).unwrap_or_default();
    let begins = tail.rfind(['\n', '?', '!']).map_or(0, |at| at + 1);
    let begins = begins.max(tail.rfind(". ").map_or(0, |at| at + 2));
    if begins > 0 || least == 0 {
        return least + begins;
    }
    // Of a longer one the last clause: what is cut off elsewhere reads as something else.
    let clause = tail.rfind(", ").map(|at| at + 2);
    least + clause.or(tail.find(' ')).unwrap_or(tail.len())
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let Some(head) = text.len().checked_sub(word.len()) else {
        return false;
    };
    let ends = text
        .get(head..)
        .is_some_and(|tail| tail.eq_ignore_ascii_case(word));
    ends && !text
        .get(..head)
        .is_some_and(|before| before.ends_with(char::is_alphanumeric))
}

/// The answer that a text begins with: its first line, up to a question, without who says it and what leads to it.
fn answer_in(text: &str) -> Option<Range<usize>> {
    let begins = text.len() - text.trim_start().len();
    let looked_at = text.floor_char_boundary(begins + MAX_LOOKED_AT_BYTES);
    let line = text.get(begins..looked_at)?.split(['\n', '\r']).next()?;
    let mut from = begins + speaker_len(line);
    let end = begins + line.find('?').unwrap_or(line.len());
    loop {
        let rest = text.get(from..end)?;
        let word = rest.trim_start_matches(|sign: char| {
            !sign.is_alphanumeric() && !matches!(sign, '+' | '(' | '#')
        });
        from = end - word.len();
        let Some(length) = leading_len(word) else {
            break;
        };
        from += length;
    }
    let mut to = end;
    let is_cut = end == looked_at && looked_at < text.len();
    if to - from > MAX_BYTES || is_cut {
        let most = text.floor_char_boundary(from + MAX_BYTES).min(end);
        to = from + text.get(from..most)?.rfind(char::is_whitespace)?;
    }
    (from < to).then_some(from..to)
}

/// Bytes of `[00:12] Caller: `, `**A:** `, `> Speaker 2: `; 0 where none speaks.
fn speaker_len(line: &str) -> usize {
    let is_sign = |sign: char| !sign.is_alphanumeric();
    let mut name = line.trim_start_matches(is_sign);
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        // The time.
        let time = name
            .trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, ':' | '.'));
        name = time.trim_start_matches(is_sign);
    }
    let head: usize = name
        .bytes()
        .take(MAX_SPEAKER_BYTES)
        .take_while(|byte| *byte != b':')
        .count();
    let is_name = name.starts_with(char::is_alphabetic) && name.as_bytes().get(head) == Some(&b':');
    let behind = name.get(head + 1..).unwrap_or_default();
    let behind = behind.trim_start_matches(['*', '_']);
    if is_name && behind.starts_with([' ', '\t']) {
        line.len() - behind.len()
    } else {
        0
    }
}

/// Bytes of the word that a text begins with where it only leads to what is said.
fn leading_len(text: &str) -> Option<usize> {
    let length = text
        .find(|sign: char| !sign.is_alphabetic() && !matches!(sign, '\'' | '\u{2019}'))
        .unwrap_or(text.len());
    let word = text.get(..length)?;
    LEADING
        .iter()
        .any(|leading| word.eq_ignore_ascii_case(leading))
        .then_some(length)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        answers(text)
            .map(|Answer { question, answer }| {
                (text[question].trim().to_owned(), text[answer].to_owned())
            })
            .collect()
    }

    #[test]
    fn answers_follow_their_questions() {
        for (text, question, answer) in [
            ("What is your MRN?\n4471223", "What is your MRN", "4471223"),
            (
                "Agent: Your MRN, please?\nCaller: Sure, it's 4471223.",
                "Agent: Your MRN",
                "4471223.",
            ),
            ("**Q: MRN?**\n\n**A:** It is 4471223", "**Q: MRN", "4471223"),
            (
                "Hello. And your name?\r\n[00:12] Speaker 2: uh, Ann Lee",
                "And your name",
                "Ann Lee",
            ),
            ("\"Your zip?\" \"60614\"", "\"Your zip", "60614\""),
            ("cell for me?\n(212) 555-1234", "cell", "(212) 555-1234"),
        ] {
            assert_eq!(
                read(text),
                [(question.to_owned(), answer.to_owned())],
                "{text}"
            );
        }
        assert_eq!(read("MRN? 4471223, why? Because").len(), 2);
        for text in [
            "",
            "?",
            "??\n",
            "What is it?",
            "MRN?\n\n",
            "please?\nyes",
            "MRN?\nsure, it's",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
    }

    #[test]
    fn a_question_reads_no_further_than_its_answer_may_reach() {
        let answer = |leading: usize, answer: &str| {
            let text = format!("MRN? {}{answer}", "so, ".repeat(leading));
            read(&text).pop().map(|(_, answer)| answer)
        };
        let most = MAX_LOOKED_AT_BYTES / "so, ".len();
        assert_eq!(answer(most + 1, "4471223"), None);
        // Half a value would read as another one.
        assert_eq!(answer(most - 1, "4471223"), None);
        assert_eq!(answer(most - 1, "447 1223").as_deref(), Some("447"));
        assert_eq!(answer(most - 2, "4471223").as_deref(), Some("4471223"));
    }

    #[test]
    fn a_turn_answers_what_the_turn_before_asks_last() {
        let read = |asking: &str, answering: &str| {
            answered(asking, answering)
                .pop()
                .map(|Answer { question, answer }| {
                    (
                        asking[question].trim().to_owned(),
                        answering[answer].to_owned(),
                    )
                })
        };
        for (asking, question) in [
            ("Welcome! What is your MRN?", "What is your MRN"),
            ("Welcome.\nPlease enter your MRN.", "Please enter your MRN"),
            ("**MRN:**", "**MRN"),
        ] {
            assert_eq!(
                read(asking, "It's 4471223\nthanks").unwrap(),
                (question.to_owned(), "4471223".to_owned()),
                "{asking}"
            );
        }
        assert_eq!(read("I have your MRN.", "4471223"), None);
        assert_eq!(read("", "4471223"), None);
        let several = answered(
            "Your name, date of birth, and MRN?",
            "Zofia K, 3/4/61 and 4471223",
        );
        let several: Vec<&str> = several
            .iter()
            .map(|pair| &"Zofia K, 3/4/61 and 4471223"[pair.answer.clone()])
            .collect();
        assert_eq!(
            several,
            [
                "Zofia K",
                "3/4/61",
                "4471223",
                "Zofia K, 3/4/61 and 4471223"
            ]
        );
        let clauses = format!("{}is it cough, runny nose, or your MRN?", "so, ".repeat(20));
        assert_eq!(read(&clauses, "4471223").unwrap().0, "or your MRN");
        let long = "word ".repeat(40);
        let (question, answer) = read(&format!("{long}please: MRN?"), &long).unwrap();
        assert!(
            question.ends_with("please: MRN")
                && question.starts_with("word")
                && question.len() <= MAX_BYTES
        );
        assert!(answer.ends_with("word") && answer.len() <= MAX_BYTES);
    }
}
