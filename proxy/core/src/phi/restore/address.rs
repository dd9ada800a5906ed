//! Whether the text is inside an address (URL or link target) at this character. It errs towards yes: a
//! placeholder that stays is ugly, a value in a fetched address is a leak.

/// Follows a text character by character.
pub(super) struct AddressWatch {
    state: State,
    before: char,
    /// Whether a letter, a digit or a placeholder came last.
    after_word: bool,
    /// The letters of the word so far, in small letters; longer words are no scheme.
    word: String,
    /// What stands behind an opening bracket, where it may be the placeholder of an address.
    bracketed: Option<String>,
    domain: Domain,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// An address in running text, up to white space, quotes or angle brackets.
    Running,
    /// `](` of a Markdown link, up to its closing bracket or an empty line.
    Target {
        depth: u32,
        line_is_empty: bool,
        angle: Angle,
    },
}

impl State {
    /// Behind the bracket that opens a link's target.
    const TARGET: Self = Self::Target {
        depth: 1,
        line_is_empty: false,
        angle: Angle::Possible,
    };
}

/// A link target may stand in `<>`, where brackets do not count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Angle {
    Possible,
    Open,
    Past,
}

/// `host.tld` before `/` or `?`: many readers make a link of it without any scheme.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    None,
    Dot,
    Complete,
}

/// Words that begin an address, before a colon.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];
/// Letters of the longest of them.
const MAX_SCHEME_LETTERS: usize = 6;
/// Letters of the longest placeholder of an address.
const MAX_BRACKETED: usize = 16;

impl Default for AddressWatch {
    fn default() -> Self {
        Self {
            state: State::Free,
            before: ' ',
            after_word: false,
            word: String::new(),
            bracketed: None,
            domain: Domain::None,
        }
    }
}

/// Whether whatever follows a text is a part of an address.
pub(in crate::phi) fn ends_inside(text: &str) -> bool {
    let mut watch = AddressWatch::default();
    text.chars().for_each(|letter| watch.see(letter));
    watch.inside()
}

impl AddressWatch {
    pub(super) fn inside(&self) -> bool {
        self.state != State::Free
    }

    /// A placeholder was replaced: it counts as a word, unless its value is an address, which goes on. Its brackets are
    /// gone, so none opens the target of a link.
    pub(super) fn see_placeholder(&mut self, value: &str) {
        let domain = match self.domain {
            Domain::Dot => Domain::Complete,
            Domain::None | Domain::Complete => self.domain,
        };
        for letter in value.chars() {
            self.see(letter);
        }
        if !self.inside() {
            self.after_word = true;
            self.word.clear();
            self.domain = domain;
        }
    }

    pub(super) fn see(&mut self, letter: char) {
        match self.state {
            State::Free => self.see_free(letter),
            State::Running if self.opens_target(letter) => self.state = State::TARGET,
            State::Running => {
                if ends_running(letter) {
                    self.reset();
                }
            }
            State::Target { .. } => self.see_target(letter),
        }
        self.before = letter;
        self.after_word = letter.is_alphanumeric();
    }

    fn opens_target(&self, letter: char) -> bool {
        letter == '(' && self.before == ']'
    }

    fn see_free(&mut self, letter: char) {
        let scheme = letter == ':' && SCHEMES.contains(&self.word.as_str());
        let host = letter == '.' && self.word == "www";
        let slashes = letter == '/' && self.before == '/';
        let path = (letter == '/' || letter == '?') && self.domain == Domain::Complete;
        if self.opens_target(letter) {
            self.state = State::TARGET;
        } else if scheme || host || slashes || path {
            self.state = State::Running;
        }
        self.follow_word(letter);
        self.follow_bracket(letter);
    }

    /// An address that was taken out of the reply goes on behind its placeholder: `[URL_1]…`, `[EMAIL_1]?body=…`.
    fn follow_bracket(&mut self, letter: char) {
        match (letter, &mut self.bracketed) {
            ('[', bracketed) => *bracketed = Some(String::new()),
            (']', Some(inside)) => {
                if inside.starts_with("URL_") {
                    self.state = State::Running;
                } else if inside.starts_with("EMAIL_") {
                    self.domain = Domain::Complete;
                }
                self.bracketed = None;
            }
            (letter, Some(inside)) if inside.len() < MAX_BRACKETED && letter.is_ascii() => {
                inside.push(letter);
            }
            (_, bracketed) => *bracketed = None,
        }
    }

    fn follow_word(&mut self, letter: char) {
        if letter.is_ascii_alphabetic() {
            if self.word.len() <= MAX_SCHEME_LETTERS {
                self.word.push(letter.to_ascii_lowercase());
            }
        } else {
            self.word.clear();
        }
        self.domain = match letter {
            '.' if self.after_word => Domain::Dot,
            _ if letter.is_alphanumeric() && self.domain == Domain::Dot => Domain::Complete,
            // Ports, and the letters that hosts have.
            _ if letter.is_alphanumeric() || letter == '-' || letter == ':' => self.domain,
            _ => Domain::None,
        };
    }

    fn see_target(&mut self, letter: char) {
        let State::Target {
            depth,
            line_is_empty,
            angle,
        } = &mut self.state
        else {
            return;
        };
        let escaped = self.before == '\\';
        match letter {
            '\n' if *line_is_empty => self.reset(),
            '\n' => *line_is_empty = true,
            _ if letter.is_whitespace() => {}
            '<' if *angle == Angle::Possible => {
                *angle = Angle::Open;
                *line_is_empty = false;
            }
            _ => {
                *line_is_empty = false;
                match (letter, *angle) {
                    _ if escaped => {}
                    ('>', Angle::Open) => *angle = Angle::Past,
                    (_, Angle::Open) => {}
                    ('(', _) => *depth = depth.saturating_add(1),
                    (')', _) if *depth <= 1 => {
                        self.reset();
                        return;
                    }
                    (')', _) => *depth -= 1,
                    _ => {}
                }
                if *angle == Angle::Possible {
                    *angle = Angle::Past;
                }
            }
        }
    }

    fn reset(&mut self) {
        self.state = State::Free;
        self.word.clear();
        self.bracketed = None;
        self.domain = Domain::None;
    }
}

/// ASCII white space only: other spaces do not end an address for every reader.
fn ends_running(letter: char) -> bool {
    letter.is_ascii_whitespace() || matches!(letter, '<' | '>' | '"' | '`')
}
