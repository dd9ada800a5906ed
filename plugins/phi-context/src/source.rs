//! What is source code: names that programs give to things look like nobody's words, and like nobody's names either.
//! Rules see persons, dates and numbers in code as they see them anywhere; what the model alone takes for PHI is a
//! guess there, and kept only where somebody speaks: in comments and strings.

use core::cell::Cell;
use core::ops::Range;

use crate::token::{Token, shape};

/// Lines before and behind that tell what a line is, and bytes of them that are looked at.
const LINES: usize = 3;
const WINDOW: usize = 1200;
/// What a line and those around it must tell together, and how many of them must be what only code has: notes have
/// brackets and semicolons too, and somebody may speak of one call.
const ENOUGH: u32 = 4;
const ENOUGH_SURE: usize = 2;

/// Whether the value that `tokens[value]` are is a name in source code, and not what somebody says there. `bounds` are
/// those of the segment that it is in.
pub fn is_name(
    text: &str,
    bounds: &Range<usize>,
    tokens: &[Token],
    value: Range<usize>,
    lines: &Lines,
) -> bool {
    let words = tokens.get(value.clone()).unwrap_or_default();
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return false;
    };
    let from = text.floor_char_boundary(first.start.saturating_sub(WINDOW).max(bounds.start));
    let to = text.ceil_char_boundary((last.end + WINDOW).min(bounds.end));
    let (Some(before), Some(behind)) = (text.get(from..first.start), text.get(last.end..to)) else {
        return false;
    };
    // By bytes: a line may be all that is looked at.
    let is_break = |byte: u8| matches!(byte, b'\n' | b'\r');
    let line_start = before.bytes().rposition(is_break).map_or(0, |at| at + 1);
    let line_end = behind.bytes().position(is_break).unwrap_or(behind.len());
    let head = before.get(line_start..).unwrap_or_default();
    let tail = behind.get(..line_end).unwrap_or_default();
    let line = text
        .get(first.start - head.len()..last.end + tail.len())
        .unwrap_or_default();
    let is_identifier = is_identifier(text, words);
    let own = lines.signs(line);
    let place = || {
        if own.is_directive {
            Place::of(head.trim_start().trim_start_matches('#'), tail)
        } else {
            Place::of(head, tail)
        }
    };
    // In a span of code of a text that may be about anything.
    if head.contains('`') && place() == Place::Span {
        return is_identifier;
    }
    let is_telling = |line: &&str| !line.trim().is_empty() && !is_comment(line);
    let before = before.strip_suffix(head).unwrap_or_default();
    let behind = behind.strip_prefix(tail).unwrap_or_default();
    let around = before
        .lines()
        .rev()
        .filter(is_telling)
        .take(LINES)
        .chain(behind.lines().filter(is_telling).take(LINES))
        .map(|line| lines.signs(line));
    let (mut told, mut sure) = (own.told, usize::from(own.is_sure));
    for line in around {
        told += line.told;
        sure += usize::from(line.is_sure);
    }
    let is_source = told >= ENOUGH && sure >= ENOUGH_SURE || own.is_directive;
    // Asked for last: it reads all of the line.
    match is_source.then(place) {
        None => false,
        Some(Place::Code) if own.told == 0 && !is_identifier => false,
        Some(Place::Code) => is_of_program(text, tokens, value),
        Some(Place::String) => is_identifier || is_one_word(head, tail, words),
        Some(Place::Comment | Place::Span) => is_identifier,
    }
}

/// Whether a value that stands in code, outside of strings and comments, belongs to it. Text stands there too, over
/// several lines: what is written as names of persons are counts only where signs of code touch it, or where it is a word
/// of every day; and what an everyday word stands beside is said.
fn is_of_program(text: &str, tokens: &[Token], value: Range<usize>) -> bool {
    let words = tokens.get(value.clone()).unwrap_or_default();
    let is_said = |word: Option<&Token>, gap: Option<&Token>| {
        gap.is_some_and(|behind| behind.gap.is_space())
            && word.is_some_and(|word| {
                let written = text.get(word.start..word.end).unwrap_or_default();
                word.is_of_the_language() && !KEYWORDS.contains(&written)
            })
    };
    let before = value.start.checked_sub(1).and_then(|at| tokens.get(at));
    let behind = tokens.get(value.end);
    if is_said(before, words.first()) || is_said(behind, behind) {
        return false;
    }
    words.iter().all(|token| {
        let is_word = token.is_of_the_language();
        let is_named = token.is_listed_name() && !is_word;
        let is_small =
            matches!(token.shape, shape::SMALL | shape::CODE) || token.shape >= shape::YEAR;
        if is_named {
            return is_small && is_member(text, token);
        }
        is_small || is_word && !token.is_listed_name() || is_touched(text, token)
    }) && !is_written_out(words)
}

/// Whether a sign touches a word that only code has there.
fn is_touched(text: &str, token: &Token) -> bool {
    let before = text.get(..token.start).unwrap_or_default();
    let behind = text.get(token.end..).unwrap_or_default();
    before.ends_with(['_', '(', '[', '&', '*', '$', '<', '!', '{'])
        || before.ends_with("->")
        || before.ends_with("::")
        || before.ends_with('.') && !before.ends_with("..")
        || behind.starts_with(['_', '(', '[', '<', '>', '{', ']'])
        || behind.starts_with("->")
        || behind.starts_with("::")
        || behind
            .strip_prefix('.')
            .is_some_and(|behind| behind.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// Whether a word is taken from a thing, or a thing is taken from it: `tree->adler`, `&adler`, `adler[0]`.
fn is_member(text: &str, token: &Token) -> bool {
    let before = text.get(..token.start).unwrap_or_default();
    let behind = text.get(token.end..).unwrap_or_default();
    let is_alphabetic = |first: char| first.is_ascii_alphabetic();
    ["->", "::", "&", "*"]
        .iter()
        .any(|sign| before.ends_with(sign))
        || ["->", "::", "["]
            .iter()
            .any(|sign| behind.starts_with(sign))
        || behind
            .strip_prefix('.')
            .is_some_and(|behind| behind.starts_with(is_alphabetic))
        || before
            .strip_suffix('.')
            .is_some_and(|before| before.ends_with(is_alphabetic))
}

/// Words of programming languages that are words of every day as well.
const KEYWORDS: [&str; 44] = [
    "as",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "class",
    "const",
    "def",
    "double",
    "else",
    "enum",
    "export",
    "extends",
    "extern",
    "final",
    "float",
    "fn",
    "func",
    "function",
    "global",
    "import",
    "inline",
    "int",
    "interface",
    "let",
    "long",
    "mut",
    "new",
    "package",
    "private",
    "protected",
    "pub",
    "public",
    "return",
    "short",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "var",
    "void",
];

/// Where in a line of code something stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Code,
    String,
    /// Between backticks.
    Span,
    Comment,
}

impl Place {
    /// By what stands before it and behind it in its line.
    fn of(head: &str, tail: &str) -> Self {
        if is_comment(head) {
            return Self::Comment;
        }
        let mut open = None;
        let (mut before, mut last) = (' ', ' ');
        let mut letters = head.chars().peekable();
        while let Some(letter) = letters.next() {
            match open {
                Some(_) if letter == '\\' => {
                    letters.next();
                }
                Some(quote) if letter == quote => open = None,
                Some(_) => {}
                // An apostrophe is no quote.
                None if matches!(letter, '"' | '`')
                    || letter == '\''
                        && !matches!(last, '<' | '&')
                        && (!last.is_alphanumeric() || !before.is_alphanumeric()) =>
                {
                    open = Some(letter);
                }
                None if letter == '/'
                    && matches!(letters.peek(), Some('/' | '*'))
                    && last != ':' =>
                {
                    return Self::Comment;
                }
                None if letter == '#'
                    && last.is_whitespace()
                    && letters.peek().is_some_and(|next| next.is_whitespace()) =>
                {
                    return Self::Comment;
                }
                None => {}
            }
            (before, last) = (last, letter);
        }
        match open {
            Some('`') => Self::Span,
            Some(_) => Self::String,
            None if is_value(head, tail) => Self::String,
            None => Self::Code,
        }
    }
}

/// Whether something behind `head` is the value of a setting (`site=Ely`) or text between tags (`<city>Ely`).
fn is_value(head: &str, tail: &str) -> bool {
    let word = head
        .rsplit([' ', '\t', '(', ','])
        .next()
        .unwrap_or_default();
    let is_set = word.rsplit_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_.-@:".contains(&byte))
    });
    let is_text = head.rsplit_once('>').is_some_and(|(head, inside)| {
        !inside.contains(['<', ';', '{', '('])
            && head.rsplit_once('<').is_some_and(|(before, tag)| {
                tag.len() > 1
                    && !before.ends_with(|last: char| last.is_ascii_alphanumeric() || last == ':')
            })
    });
    let is_last = head.trim_end().ends_with('=') && tail.trim().is_empty();
    is_set || is_text || is_last
}

/// Whether a line begins as a comment does, or a line of a long one.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "/*", "* ", "*/", "--", "# ", "\"\"\"", "'''"]
        .iter()
        .any(|sign| line.starts_with(sign))
        || line == "#"
        || line == "*"
}

/// Two words with capitals and nothing but space between them are a name that somebody has written.
fn is_written_out(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| match pair {
        [first, second] => {
            first.shape == shape::CAPITAL && second.shape == shape::CAPITAL && second.gap.is_space()
        }
        _ => false,
    })
}

/// Whether each word is written as a program writes names. A rare word that signs join to another may be somebody's:
/// `zykowski_chart`.
fn is_identifier(text: &str, tokens: &[Token]) -> bool {
    /// Letters of the longest abbreviation.
    const SHORT: usize = 4;
    tokens.iter().all(|token| {
        let word = text.get(token.start..token.end).unwrap_or_default();
        let before = text.get(..token.start).unwrap_or_default();
        let behind = text.get(token.end..).unwrap_or_default();
        let is_word = |letter: char| letter.is_ascii_alphanumeric();
        let joins = |joint: &str| {
            before
                .strip_suffix(joint)
                .is_some_and(|before| before.ends_with(is_word))
                || behind
                    .strip_prefix(joint)
                    .is_some_and(|behind| behind.starts_with(is_word))
        };
        let is_known = token.is_of_the_language();
        if token.is_listed_name() && !is_known {
            return false;
        }
        let is_joined =
            joins("_") || joins("::") || joins("->") || before.ends_with(['_', '\\', '$']);
        is_humped(word)
            || is_short_code(word)
            || (is_known || word.len() <= SHORT) && is_joined
            || before.ends_with('@') && DOC_TAGS.contains(&word)
            || behind.starts_with("()") && (is_known || is_joined)
    })
}

/// What comments of programs mark their parts with.
const DOC_TAGS: [&str; 14] = [
    "brief",
    "deprecated",
    "example",
    "internal",
    "override",
    "param",
    "private",
    "property",
    "returns",
    "see",
    "since",
    "template",
    "throws",
    "type",
];

/// `modelId`, `toUpper`, `BetaManagedKey`: capitals inside of a word that begins small, or that has three of them.
pub fn is_humped(word: &str) -> bool {
    /// `McDonald` and `DeShawn` have two.
    const MANY: usize = 3;
    let capitals = word.bytes().filter(u8::is_ascii_uppercase).count();
    let smalls = word.bytes().filter(u8::is_ascii_lowercase).count();
    smalls > 0
        && (capitals >= MANY
            || capitals > 0 && word.starts_with(|first: char| first.is_ascii_lowercase()))
}

/// `u8`, `sha256`, `0x1F`: at most three digits behind letters, or a number of another base.
fn is_short_code(word: &str) -> bool {
    const MOST: usize = 3;
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_hex = word.starts_with("0x") || word.starts_with("0X");
    is_hex
        || digits > 0
            && digits <= MOST
            && digits < word.len()
            && word.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Whether all of a string is one everyday word in small letters that is nobody's name and no town's: `"middle"`.
fn is_one_word(head: &str, tail: &str, tokens: &[Token]) -> bool {
    let [token] = tokens else {
        return false;
    };
    token.shape == shape::SMALL
        && token.is_of_the_language()
        && !token.is_listed_name()
        && !token.is_listed_town()
        && head.ends_with(['"', '\'', '`'])
        && tail.starts_with(['"', '\'', '`'])
}

/// Whether a line is one for a preprocessor of C: `#  ifndef _WIN32`.
fn is_directive(line: &str) -> bool {
    const WORDS: [&str; 5] = ["ifdef", "ifndef", "elif", "endif", "undef"];
    /// Headings of Markdown have these: `# define the goal`.
    const TIGHT: [&str; 3] = ["include", "define", "pragma"];
    line.strip_prefix('#').is_some_and(|line| {
        let words = line.trim_start();
        let word = words
            .split(|letter: char| !letter.is_ascii_alphabetic())
            .next()
            .unwrap_or_default();
        WORDS.contains(&word) || words.len() == line.len() && TIGHT.contains(&word)
    })
}

/// What only lines of code begin with.
const SURE_STARTS: [&str; 17] = [
    "#if ",
    "#else",
    "#[",
    "#![",
    "pub ",
    "fn ",
    "def ",
    "func ",
    "function ",
    "impl ",
    "typedef ",
    "namespace ",
    "elif ",
    "import {",
    "export ",
    "async ",
    "const ",
];
/// And what sentences begin with, too.
const STARTS: [&str; 25] = [
    "if ", "if(", "for ", "for(", "while ", "while(", "switch ", "case ", "return", "else", "let ",
    "var ", "static ", "import ", "from ", "class ", "struct ", "enum ", "use ", "type ", "using ",
    "public ", "private ", "except ", "package ",
];
/// What only code has, and what notes have, too.
const SURE_OPERATORS: [&str; 9] = ["==", "!=", " && ", " || ", "+=", "-=", ":=", "|=", "::"];
const OPERATORS: [&str; 3] = ["=>", "<<", ">>"];

/// How much a line looks like code.
#[derive(Clone, Copy, Default)]
struct Signs {
    told: u32,
    /// Whether it has what only code has.
    is_sure: bool,
    is_directive: bool,
}

/// What the last lines look like: those around one finding are around the next one too.
#[derive(Default)]
pub struct Lines {
    /// By where a line begins in memory and how long it is; the oldest one is at `next`.
    known: Cell<[(usize, usize, Signs); KNOWN_LINES]>,
    next: Cell<usize>,
}

/// Those around one finding, and as many that come next.
const KNOWN_LINES: usize = 16;

impl Lines {
    fn signs(&self, line: &str) -> Signs {
        let (start, len) = (line.as_ptr().addr(), line.len());
        let mut known = self.known.get();
        let is_line = |known: &&(usize, usize, Signs)| (known.0, known.1) == (start, len);
        if let Some((_, _, signs)) = known.iter().find(is_line) {
            return *signs;
        }
        let signs = Signs::of(line);
        let next = self.next.get();
        if let Some(oldest) = known.get_mut(next) {
            *oldest = (start, len, signs);
        }
        self.known.set(known);
        self.next.set((next + 1) % KNOWN_LINES);
        signs
    }
}

/// The signs of ASCII that a line has, one bit each: most lines have none of an operator, and to search for one costs more.
struct Present(u128);

impl Present {
    fn of(line: &str) -> Self {
        let bit = |byte: u8| 1_u128.checked_shl(byte.into()).unwrap_or(0);
        Self(line.bytes().fold(0, |present, byte| present | bit(byte)))
    }

    fn may_have(&self, sign: &str) -> bool {
        sign.bytes()
            .all(|byte| !byte.is_ascii() || self.0 >> byte & 1 == 1)
    }
}

impl Signs {
    fn of(line: &str) -> Self {
        /// Bytes that are looked at.
        const MOST: usize = 240;
        let line = line.trim();
        let line = line
            .get(..line.floor_char_boundary(MOST))
            .unwrap_or_default();
        let present = Present::of(line);
        if is_directive(line) {
            return Self {
                told: ENOUGH,
                is_sure: true,
                is_directive: true,
            };
        }
        // Comments are prose, JSON and logs are data.
        if is_comment(line)
            || line.starts_with(['"', '{', '[', '\'', '|', '>'])
                && !line.ends_with(['{', ';', '('])
                && line.len() > 3
            || line.starts_with(|first: char| first.is_ascii_digit())
            || present.may_have("]: ") && line.contains("]: ")
        {
            return Self::default();
        }
        if !line.is_empty() && line.bytes().all(|byte| b"{}()[]<>;,/".contains(&byte)) {
            return Self {
                told: 2,
                is_sure: line.contains(['}', ')']),
                is_directive: false,
            };
        }
        let starts = |with: &[&str]| with.iter().any(|start| line.starts_with(start));
        let is_sure_start = starts(&SURE_STARTS);
        let has = |operators: &[&str]| {
            operators
                .iter()
                .filter(|sign| present.may_have(sign) && line.contains(**sign))
                .count()
        };
        let sure_operators = has(&SURE_OPERATORS);
        let mut signs = Self {
            told: match line.as_bytes() {
                [.., b'{'] => 2,
                [.., b')' | b']' | b'}' | b'"' | b'\'', b';' | b','] => 1,
                [.., b')', b':'] => 2,
                [.., b';' | b'(' | b'\\'] => 1,
                _ => 0,
            },
            is_sure: is_sure_start
                || sure_operators > 0
                || line.ends_with('{')
                || line.ends_with("();"),
            is_directive: false,
        };
        signs.told += if is_sure_start {
            2
        } else {
            u32::from(starts(&STARTS))
        };
        let operators = sure_operators + has(&OPERATORS);
        signs.told += u32::try_from(operators.min(2)).unwrap_or_default();
        signs.see_words(line);
        signs
    }

    /// What the words of a line tell by the signs beside them: calls, members, names of programs.
    fn see_words(&mut self, line: &str) {
        let bytes = line.as_bytes();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let (mut calls, mut names, mut members) = (false, false, false);
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if !is_word(byte) {
                members |= matches!(bytes.get(at..at + 2), Some(b"->"))
                    && at > 0
                    && bytes
                        .get(at - 1)
                        .is_some_and(|byte| is_word(byte) || *byte == b')')
                    && bytes.get(at + 2).is_some_and(is_word);
                at += 1;
                continue;
            }
            let rest = bytes.get(at..).unwrap_or_default();
            let end = at + rest.iter().take_while(|byte| is_word(byte)).count();
            let word = line.get(at..end).unwrap_or_default();
            let has_small = word.bytes().any(|byte| byte.is_ascii_lowercase());
            let is_snake = word.trim_matches('_').contains('_');
            let is_of_program = is_humped(word) || is_snake || word.starts_with("0x");
            let next = bytes.get(end);
            let is_called = next == Some(&b'(');
            names |= is_of_program;
            calls |=
                matches!(next, Some(b'(' | b'[')) && (has_small || is_of_program) && word.len() > 1;
            if is_called && bytes.get(end + 1) == Some(&b')') {
                members = true;
                // Not in a sentence: `why does load() fail`.
                self.is_sure |=
                    matches!(bytes.get(end + 2), Some(b';' | b',' | b'.' | b')' | b'{'));
            }
            // `list.push(`, `set_label(`
            let is_member = at > 0
                && bytes.get(at - 1) == Some(&b'.')
                && at > 1
                && bytes.get(at - 2).is_some_and(is_word);
            self.is_sure |= is_called && (is_snake || is_member);
            at = end;
        }
        self.told += u32::from(calls) + 2 * u32::from(members);
        // Data has such names as well: `owner_id=7`.
        if self.told > 0 {
            self.told += u32::from(names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_name_in(text: &str, value: &str) -> bool {
        let start = text.rfind(value).unwrap_or_default();
        let mut tokens = Vec::new();
        crate::token::read(text, 0, text.len(), &mut tokens);
        let first = tokens
            .iter()
            .position(|token| token.start >= start)
            .unwrap_or_default();
        let count = tokens
            .iter()
            .skip(first)
            .take_while(|token| token.end <= start + value.len())
            .count();
        let value = first..first + count;
        is_name(text, &(0..text.len()), &tokens, value, &Lines::default())
    }

    const CODE: &str = "static void ring_push(struct ring *rg, item_t it) {\n    \
                        // Zykowski asked for itemCount here\n    \
                        if (rg->head == rg->zlen) { return; }\n    \
                        set_label(rg, \"brannagh\", Corwyn);\n    \
                        print(\"seen by Zykowski\", Ann Brannagh);\n}\n";

    #[test]
    fn what_programs_call_things_is_nobodys_name() {
        for name in ["ring", "zlen", "itemCount", "set_label"] {
            assert!(is_name_in(CODE, name), "{name}");
        }
        // What somebody says stays, in comments and strings, and a name that is written out.
        for said in [
            "Zykowski asked",
            "seen by Zykowski",
            "Ann Brannagh",
            "Corwyn",
        ] {
            assert!(!is_name_in(CODE, said), "{said}");
        }
        assert!(is_name_in("#  ifndef _WIN32\nint x;", "ifndef"));
        assert!(is_name_in("Call `getOwner` first.", "getOwner"));
        assert!(is_name_in("Call `tsdn_fetch()` first.", "tsdn_fetch"));
        assert!(!is_name_in("Chart of `Brannagh` is here.", "Brannagh"));
        assert!(!is_name_in(
            "# define goals\nCorwyn wants to walk",
            "Corwyn"
        ));
    }

    #[test]
    fn what_is_said_in_and_around_code_stays() {
        for text in [
            "Why does find_patient() fail for Corwyn?",
            "loadPatient() crashes when I open Corwyn's chart",
            "```\nreturn p.bed();\n```\nadmit() fails for Corwyn.",
            "/*\n   Corwyn fell (bed 4);\n   brannagh saw it;\n*/\nint x = f();\ng();",
            "def f():\n    \"\"\"Checks it.\n\n    Written for Corwyn, who was in bed 4 (ICU),\n    \"\"\"\n    x.f()\n    y.g()",
            "<td>\nCorwyn, bed 4;\n</td>\n{list.map(x => x.f())}\nfn();",
            "#define DOCTOR \"Corwyn\"\nint x = f();\ng();",
            "#pragma note seen by Corwyn\nint x = f();\ng();",
            "admit('corwyn', 'x');\nleave();\ndone();",
            "digraph family {\n  Branch -> Corwyn [label=\"father\"];\n}",
            "@Corwyn hi\n@Brannagh hi",
            "x.f();\ny.g();\nz = admit(5) #Corwyn",
        ] {
            let name = if text.contains("Corwyn") {
                "Corwyn"
            } else {
                "corwyn"
            };
            assert!(!is_name_in(text, name), "{text}");
        }
    }

    #[test]
    fn notes_and_data_are_no_code() {
        for text in [
            "if worse call Corwyn;\nelse call Brannagh;",
            "rounds with Corwyn;\nbed 4: ok;\nbed 5: ok;\nbed 6: ok;",
            "for Corwyn: refill metformin (500 mg);\nfor Brannagh: refill lisinopril (10 mg);",
            "Vent: FiO2(40), PEEP(5), pO2(88);\nRT Corwyn, RN Hooker;\nABG(7.38/40/88);",
            "case: Corwyn;\nplan: f/u (2wk);\nsite: knee[L];",
            "title = {Case of Corwyn},\nyear = {2024},",
            "Pt c/o CP; HR>100 & BP(sys)=140; hx: MI(2019), CABG(x3); sees Corwyn;",
            "MSH|^~\\&|LAB|CORWYN|EHR|BFC|20250101||ORU^R01|1|P|2.5\nPID|1||77^^^CORWYN||LEE^ANN",
            "{\"name\": \"Ann\",\n \"town\": \"Corwyn\",\n \"tags\": []}",
            "user_id=17 pt_name=Ann town=Corwyn\nuser_id=18 pt_name=Lee town=Ely",
            "12:01:07 INFO find_patient() ok Corwyn\n12:01:08 INFO get_chart() ok",
            "jan_doe,17,Corwyn\nann_lee,18,Ely\n",
            "<name><family>Corwyn</family></name>",
        ] {
            assert!(!is_name_in(text, "Corwyn"), "{text}");
        }
    }
}
