//! One text with its segments: sequences of tokens, how likely each is to be PHI, and the findings that follow.

use detector_kit::{Finding, Segment};
use phi_lexicon::language::Language;

use core::ops::Range;

use crate::feature::Sequence;
use crate::language::{self, Stretch};
use crate::model::{Chain, Other, Own, Row};
use crate::source::Lines;
use crate::tag::{NOTHING, SORTS, Sort, first, inside};
use crate::token::{self, Token, shape};
use crate::{age, catalog, code, date, everybody, measure, number, public, said, share, source};

/// Words of the language that a text has which says something.
const LEAST_WORDS: usize = 2;
/// Tokens that are judged together, at least where a line ends.
const TOGETHER: usize = 256;
/// As many, wherever.
const MOST_TOGETHER: usize = 1024;
/// A token is PHI that is more likely to be some than not.
const LIKELY: f32 = 0.5;
/// Headings look like organizations more than like anything else.
const LIKELY_ORGANIZATION: f32 = 0.9;
/// And one that is as likely as this beside one that is, of the same sort: values are seldom left half way.
const LIKELY_BESIDE: f32 = 0.2;
/// The scores of what is just so likely, and of what is beyond doubt. A rule that sees the same value has more: it knows
/// better what the value is.
const LEAST_SCORE: u16 = 500;
const MOST_SCORE: u16 = 640;

/// Appends the findings of all segments, sorted by start.
pub fn scan(text: &str, segments: &[Segment], findings: &mut Vec<Finding>) {
    let mut chains = Chains::default();
    let mut tokens = Vec::with_capacity(text.len() / 4);
    for (at, segment) in segments.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| segments.get(before));
        said::each(text, before, segment, |bounds| {
            tokens.clear();
            token::read(text, bounds.start, bounds.end, &mut tokens);
            let stretches = language::tell(&mut tokens);
            // What stands alone has no words around it to be judged by.
            let says = |token: &&Token| token.is_of_the_language() || token.tongue.is_of_script;
            if tokens.iter().filter(says).count() < LEAST_WORDS {
                return;
            }
            let first = findings.len();
            judge(text, &bounds, &tokens, &stretches, &mut chains, findings);
            catalog::drop(text, &bounds, first, findings);
        });
    }
}

/// The models at work; most texts need only the first.
#[derive(Default)]
struct Chains {
    own: Chain<Own>,
    other: Option<Chain<Other>>,
}

impl Chains {
    fn begin(&mut self) {
        self.own.begin();
        if let Some(other) = &mut self.other {
            other.begin();
        }
    }

    fn read(&mut self, language: Language, sequence: &Sequence, range: Range<usize>) -> &[Row] {
        match language {
            Language::Own => self.own.read(sequence, range),
            Language::Other => {
                let other = self.other.get_or_insert_default();
                other.read(sequence, range)
            }
        }
    }
}

fn judge(
    text: &str,
    bounds: &Range<usize>,
    tokens: &[Token],
    stretches: &[Stretch],
    chains: &mut Chains,
    findings: &mut Vec<Finding>,
) {
    let sequence = Sequence::new(tokens);
    chains.begin();
    let lines = Lines::default();
    for stretch in stretches {
        let mut from = stretch.range.start;
        while from < stretch.range.end {
            let to = end_of_part(tokens, from, stretch.range.end);
            let rows = chains.read(stretch.language, &sequence, from..to);
            let part = Part {
                text,
                bounds,
                language: stretch.language,
                tokens: tokens.get(from..to).unwrap_or_default(),
                lines: &lines,
            };
            part.collect(rows, findings);
            from = to;
        }
    }
}

/// A long text is judged in parts that end where a line does.
fn end_of_part(tokens: &[Token], from: usize, end: usize) -> usize {
    let most = end.min(from + MOST_TOGETHER);
    (from + TOGETHER..most)
        .find(|at| tokens.get(*at).is_some_and(|token| token.gap.is_line()))
        .unwrap_or(most)
}

/// A value on its way: tokens that belong together.
struct Value {
    sort: usize,
    first: usize,
    end: usize,
    /// From its first to its last token that is likely by itself: what the value is judged by.
    core: Range<usize>,
    likely: f32,
}

/// Tokens that are judged together.
struct Part<'t> {
    text: &'t str,
    /// Of the segment.
    bounds: &'t Range<usize>,
    language: Language,
    tokens: &'t [Token],
    lines: &'t Lines,
}

impl Part<'_> {
    fn collect(&self, rows: &[Row], findings: &mut Vec<Finding>) {
        let (text, tokens) = (self.text, self.tokens);
        let mut open: Option<Value> = None;
        for (at, row) in rows.iter().enumerate() {
            let likely = 1.0 - row[NOTHING];
            let is_likely = likely >= LIKELY;
            let judged =
                (is_likely || is_beside(tokens, rows, at)).then(|| best(row, tokens.get(at)));
            let judged = judged.filter(|(sort, begins)| {
                let is_next_line = !begins && self.is_word_of_next_line(at, *sort);
                !is_next_line && !joins_codes(text, tokens, at, *sort)
            });
            let core_end = if is_likely { at + 1 } else { at };
            match (&mut open, judged) {
                (Some(value), Some((sort, begins)))
                    if value.sort == sort
                        && !is_beside_address(text, tokens, at, sort)
                        && if is_likely && !value.core.is_empty() {
                            !begins && !is_divided(tokens, at, sort)
                        } else {
                            goes_with_last(tokens, at, sort)
                        } =>
                {
                    value.end = at + 1;
                    value.likely = value.likely.max(likely);
                    if is_likely {
                        let start = if value.core.is_empty() {
                            at
                        } else {
                            value.core.start
                        };
                        value.core = start..core_end;
                    }
                }
                (_, judged) => {
                    if let Some(value) = open.take() {
                        findings.extend(self.finding(&value));
                    }
                    open = judged.map(|(sort, _)| Value {
                        sort,
                        first: at,
                        end: at + 1,
                        core: at..core_end,
                        likely,
                    });
                }
            }
        }
        if let Some(value) = open {
            findings.extend(self.finding(&value));
        }
    }

    /// `Lorenzo Bevilacqua`, and `Diagnosi` in the line behind: the label of what comes is no part of a name.
    fn is_word_of_next_line(&self, at: usize, sort: usize) -> bool {
        self.language == Language::Other
            && matches!(SORTS.get(sort), Some(Sort::Name | Sort::Location))
            && self.tokens.get(at).is_some_and(|token| {
                token.gap.is_line() && token.tongue.is_foreign && !token.is_listed_name()
            })
    }

    fn finding(&self, value: &Value) -> Option<Finding> {
        let (text, tokens) = (self.text, self.tokens);
        let (mut whole, mut of) = (
            tokens.get(value.first..value.end)?,
            tokens.get(value.core.clone())?,
        );
        if SORTS.get(value.sort) == Some(&Sort::Code) {
            let value = |tokens| code::without_words(code::without_label(text, tokens));
            (whole, of) = (value(whole), value(of));
        }
        // What stands beside a value and has not become a part of it has no core, and is none.
        let (start, end) = (of.first()?.start, of.last()?.end);
        let before = tokens.get(..value.core.start)?;
        let behind = tokens.get(value.core.end..)?;
        let kind = match SORTS.get(value.sort)? {
            _ if number::is_of_code(text, of) || is_prefix(text, of) => return None,
            _ if is_tag(text, start, end) => return None,
            sort if everybody::is_one(text, *sort, before, of) => return None,
            sort if is_key(text, of, *sort != Sort::Name) => return None,
            Sort::Code | Sort::Organization if is_in_public_address(text, start, end) => {
                return None;
            }
            Sort::Name | Sort::Location | Sort::Organization | Sort::Code
                if code::is_made_up(tokens, value.core.start, value.core.end) =>
            {
                return None;
            }
            // Whether a number alone is anybody's is said elsewhere: rules read the question that it answers.
            Sort::Code | Sort::Date | Sort::Name if code::is_of_a_manual(text, start, end) => {
                return None;
            }
            Sort::Code if is_version_in_address(text, start, end) => return None,
            // But rules read no questions of other languages.
            Sort::Code
                if self.language == Language::Own
                    && is_alone(tokens, value)
                    && code::cue(before).is_none() =>
            {
                return None;
            }
            Sort::Code if code::is_of_a_standard(text, start, end) || code::counts(text, of) => {
                return None;
            }
            Sort::Code | Sort::Date if of.iter().skip(1).any(|token| token.gap.is_equation()) => {
                return None;
            }
            Sort::Code => code::kind(text, before, of)?,
            Sort::Address if !may_be_address(text, of) => return None,
            Sort::Age
                if !age::is_over_89(text, self.language, of)
                    || measure::is_one(before, of, behind) =>
            {
                return None;
            }
            Sort::Date
                if number::is_in_list(text, start, end)
                    || date::is_of_formula(text, start)
                    || share::is_one(text, before, of, behind)
                    || !date::may_be(text, self.language, before.last(), of) =>
            {
                return None;
            }
            Sort::Name if code::is_digest(text.get(start..end)?) || !may_be_name(text, of) => {
                return None;
            }
            Sort::Name if public::is_of_people(text, before.last(), of) => return None,
            Sort::Organization if public::is_cited(of) => return None,
            Sort::Location | Sort::Name
                if of.iter().all(Token::is_plain) || public::is_amount(of) =>
            {
                return None;
            }
            Sort::Name | Sort::Organization if public::is_head(text, of) => return None,
            Sort::Location | Sort::Name if public::is_region(text.get(start..end)?) => return None,
            Sort::Organization
                if value.likely < LIKELY_ORGANIZATION && is_in_heading(text, start) =>
            {
                return None;
            }
            Sort::Organization if public::is_body(text.get(start..end)?) => return None,
            sort => crate::kind_of(*sort),
        };
        if !is_written_in_numbers(of)
            && source::is_name(text, self.bounds, tokens, value.core.clone(), self.lines)
        {
            return None;
        }
        // From 0 to 140.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let surer =
            ((value.likely - LIKELY) / (1.0 - LIKELY) * f32::from(MOST_SCORE - LEAST_SCORE)) as u16;
        let score = LEAST_SCORE + surer;
        let (start, mut end) = (whole.first()?.start, whole.last()?.end);
        if SORTS.get(value.sort) == Some(&Sort::Date) {
            end = date::without_hour(text, end);
        }
        Some(Finding::new(kind, start, end, score).contextual())
    }
}

/// Whether a token that is not likely enough by itself stands beside one that is, of the same sort.
fn is_beside(tokens: &[Token], rows: &[Row], at: usize) -> bool {
    let likely = |at: usize| rows.get(at).map_or(0.0, |row| 1.0 - row[NOTHING]);
    let sort = |at: usize| rows.get(at).map(|row| best(row, tokens.get(at)).0);
    let joins = |beside: usize, second: usize| {
        likely(beside) >= LIKELY
            && sort(at)
                .is_some_and(|of| sort(beside) == Some(of) && goes_with_last(tokens, second, of))
    };
    likely(at) >= LIKELY_BESIDE
        && (at.checked_sub(1).is_some_and(|before| joins(before, at)) || joins(at + 1, at + 1))
}

/// Whether a token is close to the one before. Nobody is named half in small letters: `chart Hernandez`.
fn goes_with_last(tokens: &[Token], at: usize, sort: usize) -> bool {
    let Some([last, token]) = at.checked_sub(1).and_then(|last| tokens.get(last..=at)) else {
        return false;
    };
    let is_small = |token: &Token| token.shape == shape::SMALL;
    token.gap.is_close()
        && (SORTS.get(sort) != Some(&Sort::Name) || is_small(last) == is_small(token))
}

/// Whether a value ends before the token: lists and tables have one behind the other, and so has JSON.
fn is_divided(tokens: &[Token], at: usize, sort: usize) -> bool {
    /// Digits of a time of day.
    const TIME: usize = 4;
    let Some(token) = tokens.get(at) else {
        return false;
    };
    let is_of_its_own = match SORTS.get(sort) {
        // `555 0184. 1015 to MRI`: a time begins the next sentence.
        Some(Sort::Code) if token.gap.ends_a_sentence() && token.end - token.start == TIME => {
            return true;
        }
        Some(Sort::Code | Sort::Organization) => true,
        // A long number is no part of the date before it: `3/4/61, 88213004`. Nor are the numbers of a list one date.
        Some(Sort::Date) if token.is_long_number() || is_next_item(token) => true,
        // `2024, 0, 15))).toBe`.
        Some(Sort::Date) if token.gap.closes_a_call() => return true,
        _ => false,
    };
    // `Elko</City><State>`, and what follows a placeholder: `[DATE 2]. S`.
    if token.gap.is_of_markup() || SORTS.get(sort) == Some(&Sort::Date) && token.gap.is_square() {
        return true;
    }
    // `zip=52501&name=…`
    let begins_a_setting = token.gap.is_only('&')
        && tokens
            .get(at + 1)
            .is_some_and(|value| value.gap.is_only('='));
    // But in mails: `Fran=C3=A7oise`.
    let is_set = token.gap.is_only('=') && token.shape != shape::CODE;
    token.gap.ends_a_value() || is_set || begins_a_setting || is_of_its_own && token.gap.divides()
}

/// `360-555-0198 (jo@example.com`, `jo@example.com al@example.com`: an address of mail or of the web has no spaces, and
/// is a value of its own.
fn is_beside_address(text: &str, tokens: &[Token], at: usize, sort: usize) -> bool {
    if SORTS.get(sort) != Some(&Sort::Code) {
        return false;
    }
    let Some([last, token]) = at.checked_sub(1).and_then(|last| tokens.get(last..=at)) else {
        return false;
    };
    let is_border = |sign: char| sign.is_whitespace() || "()[]<>".contains(sign);
    let gap = text.get(last.end..token.start).unwrap_or_default();
    if !gap.contains(is_border) {
        return false;
    }
    /// Bytes of an address on either side.
    const REACH: usize = 256;
    let from = text.floor_char_boundary(last.end.saturating_sub(REACH));
    let to = text.ceil_char_boundary(text.len().min(token.start + REACH));
    let head = text
        .get(from..last.end)
        .and_then(|head| head.rsplit(is_border).next());
    let tail = text
        .get(token.start..to)
        .and_then(|tail| tail.split(is_border).next());
    let is_address = |part: &str| {
        part.contains("://")
            || part
                .split_once('@')
                .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
    };
    head.is_some_and(is_address) || tail.is_some_and(is_address)
}

/// Whether a value is what a tag of markup is called: `</City`, or `<City` where the element ends near by.
fn is_tag(text: &str, start: usize, end: usize) -> bool {
    /// Bytes of an element that is one value.
    const NEAR: usize = 400;
    /// Elements that need no end.
    const HTML: [&str; 14] = [
        "p", "br", "li", "td", "th", "tr", "em", "b", "i", "h1", "h2", "h3", "hr", "ul",
    ];
    let (head, value) = (text.get(..start), text.get(start..end));
    let (head, value) = (head.unwrap_or_default(), value.unwrap_or_default());
    if head.ends_with("</") {
        return true;
    }
    if !head.ends_with('<') {
        return false;
    }
    let to = text.ceil_char_boundary(text.len().min(end + NEAR));
    let behind = text.get(end..to).unwrap_or_default();
    if HTML.contains(&value) && behind.starts_with(['>', '/', ' ']) {
        return true;
    }
    let mut ends = behind.split("</").skip(1);
    ends.any(|rest| {
        rest.strip_prefix(value)
            .is_some_and(|rest| rest.starts_with('>'))
    })
}

/// `jo@example.com or al@example.com`: two values with a word between them.
fn joins_codes(text: &str, tokens: &[Token], at: usize, sort: usize) -> bool {
    const WORDS: [&str; 6] = ["and", "or", "und", "oder", "et", "ou"];
    SORTS.get(sort) == Some(&Sort::Code)
        && tokens.get(at).is_some_and(|token| {
            token.gap.is_space()
                && WORDS.contains(&text.get(token.start..token.end).unwrap_or_default())
        })
        && tokens.get(at + 1).is_some_and(|token| token.gap.is_space())
}

/// A number in a line of its own, behind a comma; a year may stand so, where a line is full.
fn is_next_item(token: &Token) -> bool {
    token.gap.is_line() && token.gap.has_comma() && token.shape > shape::NUMBER
}

/// The likeliest sort, and whether a value of it begins here. A long number is nobody's name, but a code beside one, as in
/// tables.
fn best(row: &Row, token: Option<&Token>) -> (usize, bool) {
    const CODE: usize = SORTS.len() - 1;
    const { assert!(matches!(SORTS[CODE], Sort::Code)) };
    let share = |tag: usize| row.get(tag).copied().unwrap_or_default();
    let of = |sort: &usize| share(first(*sort)) + share(inside(*sort));
    let sort = (0..SORTS.len())
        .max_by(|a, b| of(a).total_cmp(&of(b)))
        .unwrap_or_default();
    if token.is_some_and(Token::is_long_number) && SORTS.get(sort) == Some(&Sort::Name) {
        return (CODE, true);
    }
    (sort, share(first(sort)) > share(inside(sort)))
}

/// Whether a value is inside of an address that is public, which rules know.
fn is_in_public_address(text: &str, at: usize, end: usize) -> bool {
    const LONGEST: usize = 256;
    /// What runs at the caller's own place knows its patients.
    const OWN: [&str; 5] = [
        "localhost",
        "127.",
        "0.0.0.0",
        "host.docker.",
        "api.example.",
    ];
    let ends = |sign: char| sign.is_whitespace() || "\"'`<>()[]{},;|".contains(sign);
    let from = text.floor_char_boundary(at.saturating_sub(LONGEST));
    let to = text.ceil_char_boundary(text.len().min(at + LONGEST));
    let head = text.get(from..at).unwrap_or_default();
    let head = head.rsplit(ends).next().unwrap_or_default();
    // Most words are in none, and end here.
    if !head.contains('/') && !text.get(at..end).is_some_and(|value| value.contains("://")) {
        return false;
    }
    let begun = at - head.len();
    let address = text.get(begun..to).unwrap_or_default();
    let address = address.split(ends).next().unwrap_or_default();
    let is_inside = end - begun <= address.len();
    let address = address
        .split_once("://")
        .map_or(address, |(_, behind)| behind);
    is_inside
        && !OWN.iter().any(|own| address.starts_with(own))
        && phi_text::address::is_public(address.as_bytes())
}

/// Whether a value stands in a heading of Markdown: `## Nephrotoxic Drug Management`.
fn is_in_heading(text: &str, at: usize) -> bool {
    /// Bytes of the longest heading.
    const LONGEST: usize = 120;
    let from = text.floor_char_boundary(at.saturating_sub(LONGEST));
    let head = text.get(from..at).unwrap_or_default();
    let line = head.rsplit('\n').next().unwrap_or_default();
    line.starts_with('#')
}

/// `https://github.com/o/r/compare/2.9.0...2.9.1`: a part of an address without a number that may be anybody's.
fn is_version_in_address(text: &str, start: usize, end: usize) -> bool {
    const LONGEST: usize = 256;
    /// Digits in a row that may be somebody's number.
    const NUMBER: usize = 4;
    let value = text.get(start..end).unwrap_or_default();
    if !value.contains('/') {
        return false;
    }
    let from = text.floor_char_boundary(start.saturating_sub(LONGEST));
    let head = text.get(from..start).unwrap_or_default();
    let head = head.rsplit(char::is_whitespace).next().unwrap_or_default();
    let mut runs = value.split(|sign: char| !sign.is_ascii_digit());
    head.contains("://") && runs.all(|run| run.len() < NUMBER)
}

/// `{"street": …}`, `lastName: '…'`, `&city=`: an everyday word in small letters by which a program calls a value, if
/// these count, or a word that only programs write.
fn is_key(text: &str, tokens: &[Token], counts_words: bool) -> bool {
    let [words @ .., token] = tokens else {
        return false;
    };
    let behind = text.get(token.end..).unwrap_or_default();
    let behind = behind.strip_prefix('\\').unwrap_or(behind);
    let quoted = behind.strip_prefix(['"', '\'']).map(str::trim_ascii_start);
    let names_a_value = match quoted {
        Some(behind) => behind.starts_with(':') || behind.starts_with("=>"),
        None => {
            let value = behind.strip_prefix(':').map(str::trim_ascii_start);
            value.is_some_and(|value| value.starts_with(['"', '\'']))
                || behind.strip_prefix('=').is_some_and(|value| {
                    value.starts_with(['"', '\'']) || value.starts_with(char::is_alphanumeric)
                })
        }
    };
    // `CONTACT_2_STREET="…"`
    let is_joined = !words.is_empty() && tokens.iter().skip(1).all(|token| token.gap.is_only('_'));
    let is_word = token.shape == shape::SMALL && token.is_of_the_language() && words.is_empty();
    let is_humped = || source::is_humped(text.get(token.start..token.end).unwrap_or_default());
    names_a_value
        && (counts_words && (is_word || is_joined && token.is_of_the_language())
            || words.is_empty() && is_humped())
}

/// Whether some word is long enough for a name, or as many letters stand apart as a spelled one has.
fn may_be_name(text: &str, tokens: &[Token]) -> bool {
    const LETTERS: usize = 3;
    const SPELLED: usize = 5;
    let letters = |token: &Token| {
        let word = text.get(token.start..token.end).unwrap_or_default();
        word.chars()
            .filter(|letter| letter.is_alphanumeric())
            .count()
    };
    let is_written = |token: &Token| token.shape == shape::CAPITAL && letters(token) > 1;
    tokens.len() >= SPELLED
        || tokens
            .iter()
            .any(|token| letters(token) >= LETTERS || is_written(token) || token.is_sign(text))
}

/// The letter before a string: `r"\d+"`, `N'Ely'`.
fn is_prefix(text: &str, tokens: &[Token]) -> bool {
    let [token] = tokens else {
        return false;
    };
    token.end - token.start == 1
        && text
            .get(token.end..)
            .is_some_and(|behind| behind.starts_with(['"', '\'']))
}

/// A day that is given to a program: `new DateTime(1980, 2, 29)`.
fn is_written_in_numbers(tokens: &[Token]) -> bool {
    let is_number = |token: &Token| token.shape >= shape::YEAR;
    tokens.len() == 3
        && tokens.iter().all(is_number)
        && tokens.iter().any(|token| token.shape == shape::YEAR)
}

/// `9 * 32, 2` is no street, and neither is what is left of a comment: `/* 12 */`.
fn may_be_address(text: &str, tokens: &[Token]) -> bool {
    let is_short = |token: &Token| token.end - token.start < 3;
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return false;
    };
    let is_counted = tokens.iter().skip(1).any(|token| token.gap.is_of_code());
    let in_comment = text
        .get(..first.start)
        .is_some_and(|before| before.ends_with("/* "))
        && text
            .get(last.end..)
            .is_some_and(|behind| behind.starts_with(" */"));
    !(tokens.iter().all(is_short) && is_counted || in_comment)
}

/// Whether a value is one number that stands in a line by itself, behind a label, or answers a question.
fn is_alone(tokens: &[Token], value: &Value) -> bool {
    let begins = |at: usize| {
        tokens.get(at).is_none_or(|token| {
            token.gap.is_line() || token.gap.is_label() || token.gap.is_question()
        })
    };
    value.core.len() == 1 && begins(value.core.start) && begins(value.core.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of words of one sort that are so likely, each given as percent; with a minus, a value begins there.
    fn found<'a>(text: &'a str, sort: Sort, percents: &[i8]) -> Vec<&'a str> {
        let mut tokens = Vec::new();
        token::read(text, 0, text.len(), &mut tokens);
        let at = SORTS.iter().position(|of| *of == sort).unwrap_or_default();
        let row = |percent: &i8| {
            let likely = f32::from(percent.unsigned_abs()) / 100.0;
            let mut row = [0.0; crate::tag::TAGS];
            row[NOTHING] = 1.0 - likely;
            row[if *percent < 0 { first(at) } else { inside(at) }] = likely;
            row
        };
        let rows: Vec<Row> = percents.iter().map(row).collect();
        let mut findings = Vec::new();
        let part = Part {
            text,
            bounds: &(0..text.len()),
            language: Language::Own,
            tokens: &tokens,
            lines: &Lines::default(),
        };
        part.collect(&rows, &mut findings);
        findings
            .iter()
            .map(|finding| &text[finding.start..finding.end])
            .collect()
    }

    #[test]
    fn what_stands_beside_a_value_needs_less() {
        let names = |text, percents: &[i8]| found(text, Sort::Name, percents).join("|");
        assert_eq!(names("Ann Poe left", &[-30, 90, 0]), "Ann Poe");
        assert_eq!(names("Ann Poe left", &[-30, -90, 0]), "Ann Poe");
        assert_eq!(names("saw Ann Poe", &[0, -90, 30]), "Ann Poe");
        assert_eq!(names("saw Ann Poe", &[0, -90, 10]), "Ann");
        assert_eq!(names("saw Ann Poe", &[0, -30, 30]), "");
        // Half in small letters, and across a sign.
        assert_eq!(names("chart Poe left", &[-30, -90, 0]), "Poe");
        assert_eq!(names("Ann, Poe left", &[-30, -90, 0]), "Poe");
        assert_eq!(names("Lee, Ann, Poe", &[-90, -30, -90]), "Lee|Poe");
        assert_eq!(names("Lee, Ann Poe", &[-90, -30, -90]), "Lee|Ann Poe");
    }

    #[test]
    fn a_value_is_judged_by_what_is_likely_by_itself() {
        // No day, whatever stands before it.
        assert!(found("at 4.1 then", Sort::Date, &[-30, -90, 90, 0]).is_empty());
        assert!(found("in Texas then", Sort::Location, &[-30, -90, 0]).is_empty());
    }

    #[test]
    fn a_value_ends_with_its_cell() {
        let names = |text, percents: &[i8]| found(text, Sort::Name, percents).join("/");
        for text in ["Ann Poe|Lee Roe", "Ann Poe\tLee Roe", "Ann Poe,Lee Roe"] {
            assert_eq!(names(text, &[-90, 90, 90, 90]), "Ann Poe/Lee Roe");
        }
        assert_eq!(names("Poe, Ann", &[-90, 90]), "Poe, Ann");
        // And before a word between two.
        let codes = |text, percents: &[i8]| found(text, Sort::Code, percents).join("/");
        let text = "call 555 0142 or 555 0143";
        assert_eq!(codes(text, &[0, -90, 90, 90, 90, 90]), "555 0142/555 0143");
    }

    #[test]
    fn a_public_address_is_left_to_rules() {
        let firms = |text, percents: &[i8]| found(text, Sort::Organization, percents).join("/");
        let at_end = [0, 0, 0, 0, 0, -90];
        assert_eq!(firms("https://www.w3.org/TR/Poe", &at_end), "");
        assert_eq!(firms("'github.com/jackc/Poe'", &at_end[2..]), "");
        assert_eq!(firms("https://www.w3.org/TR, Poe", &at_end), "Poe");
        assert_eq!(firms("https://a.org/x/Poe", &at_end[1..]), "Poe");
        assert_eq!(firms("http://localhost/x/Poe", &at_end[2..]), "Poe");
        assert_eq!(firms("and/or Poe", &at_end[3..]), "Poe");
        let names = found("https://www.w3.org/TR/Poe", Sort::Name, &at_end);
        assert_eq!(names, ["Poe"]);
    }

    #[test]
    fn a_value_ends_where_a_string_of_json_does() {
        let dates = |text, percents: &[i8]| found(text, Sort::Date, percents).join("|");
        let text = r#"{"month": "March", "visits": 14}"#;
        assert_eq!(dates(text, &[0, -90, 90, 90]), "");
        let text = r#"{"month": "March", "day": 14}"#;
        assert_eq!(dates(text, &[0, -90, 90, 90]), "March|14");
        let text = r#"{"seen": "March 14", "left": "May 2"}"#;
        assert_eq!(dates(text, &[0, -90, 90, 90, 90, 90]), "March 14|May 2");
        let places = |text, percents: &[i8]| found(text, Sort::Address, percents).join("|");
        let text = r#"{"street" : "12 Elm Street"}"#;
        assert_eq!(places(text, &[-90, 90, 90, 90]), "12 Elm Street");
        let names = |text, percents: &[i8]| found(text, Sort::Name, percents).join("|");
        let text = r#"["Ann Poe","Lee Roe"]"#;
        assert_eq!(names(text, &[-90, 90, 90, 90]), "Ann Poe|Lee Roe");
        assert_eq!(names(r#"{"jasper": "npo"}"#, &[-90, 0]), "jasper");
        let text = "{lastName: 'Poe', nick: 'Ann'}";
        assert_eq!(names(text, &[-90, 90, 0, 90]), "Poe|Ann");
        assert_eq!(names("('Poe', 'Lee')", &[-90, 90]), "Poe|Lee");
        let dates = |text, percents: &[i8]| found(text, Sort::Date, percents).join("|");
        assert_eq!(dates("14,\n15,\n16", &[-90, 90, 90]), "14|15|16");
        assert_eq!(dates("[14, 15, 16]", &[-90, 90, 90]), "");
        assert_eq!(dates("May 14, \n2024", &[-90, 90, 90]), "May 14, \n2024");
        assert_eq!(names("Ann 'Bo' Poe", &[-90, 90, 90]), "Ann 'Bo' Poe");
        assert_eq!(
            places("zip=1&street=4+Elm", &[-90, 90, 90, 90, 90]),
            "1|4+Elm"
        );
        assert_eq!(
            places("HOME_2_STREET=\"4 Elm\"", &[0, -90, 90, -90, 90]),
            "4 Elm"
        );
    }

    #[test]
    fn a_value_ends_where_a_tag_or_a_placeholder_does() {
        let places = |text, percents: &[i8]| found(text, Sort::Location, percents).join("|");
        let text = "<City>Elko</City><State>NV</State>";
        assert_eq!(places(text, &[-90, 90, 90, 90, 90, 90]), "Elko|NV");
        assert_eq!(places("<b>Elko</b>", &[0, -90, 90]), "Elko");
        assert_eq!(places("<Elko> is", &[-90, 0]), "Elko");
        assert_eq!(places("<li> is", &[-90, 0]), "");
        let dates = |text, percents: &[i8]| found(text, Sort::Date, percents).join("|");
        let text = "[DATE 2]. S: well";
        assert_eq!(dates(text, &[0, -90, 90, 0]), "2");
        assert_eq!(dates("[DATE 2]\nROS", &[0, -90, 90]), "2");
        assert_eq!(dates("[DATE 2] on MAR 3", &[0, -90, 0, -90, 90]), "2|MAR 3");
    }

    #[test]
    fn an_address_is_a_value_of_its_own() {
        let codes = |text, percents: &[i8]| found(text, Sort::Code, percents).join("|");
        let text = "360-555-0198 (zq.poe@a.net)";
        assert_eq!(
            codes(text, &[-90, 90, 90, 90, 90, 90, 90]),
            "360-555-0198|zq.poe@a.net"
        );
        let text = "j.smith@a.com j.doe@b.com";
        let all = [-90, 90, 90, 90, 90, 90, 90, 90];
        assert_eq!(codes(text, &all), "j.smith@a.com|j.doe@b.com");
        // What is written with spaces is one.
        let text = "jo4471 @ b.com 12";
        assert_eq!(codes(text, &[-90, 90, 90, 90]), "jo4471 @ b.com 12");
    }

    #[test]
    fn a_value_ends_with_its_call_and_its_sentence() {
        let dates = |text, percents: &[i8]| found(text, Sort::Date, percents).join("|");
        assert_eq!(
            dates("(2024, 5, 15))).toBe", &[-90, 90, 90, 90]),
            "2024, 5, 15"
        );
        assert_eq!(dates("day == 15", &[-90, 90]), "");
        assert_eq!(dates("May 3 (14)", &[-90, 90, 90]), "May 3 (14");
        let codes = |text, percents: &[i8]| found(text, Sort::Code, percents).join("|");
        let text = "at 956 555 0184. 1015 to";
        assert_eq!(codes(text, &[0, -90, 90, 90, 90, 0]), "956 555 0184|1015");
        let text = "K L T . . . 4 4 0 9";
        assert_eq!(codes(text, &[-90, 90, 90, 90, 90, 90, 90]), text);
    }

    #[test]
    fn a_long_number_is_a_code_beside_a_name() {
        let found = found("Poe,88213004", Sort::Name, &[-90, 90]);
        assert_eq!(found, ["Poe", "88213004"]);
    }
}
