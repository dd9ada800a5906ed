//! A run of tokens with the text between them: what the rules ask about a word and its neighbours.

use phi_text::text::byte;

use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

/// The tokens of one segment.
#[derive(Clone, Copy)]
pub struct Sentence<'t> {
    pub text: &'t str,
    pub tokens: &'t [Token],
    pub writing: Writing,
}

impl<'t> Sentence<'t> {
    pub fn token(&self, at: usize) -> Option<&'t Token> {
        self.tokens.get(at)
    }

    pub fn before(&self, at: usize) -> Option<&'t Token> {
        self.tokens.get(at.checked_sub(1)?)
    }

    /// The text between the token at `at` and the next one.
    pub fn gap(&self, at: usize) -> &'t [u8] {
        let (Some(left), Some(right)) = (self.token(at), self.token(at + 1)) else {
            return b"\n";
        };
        self.text
            .as_bytes()
            .get(left.end..right.start)
            .unwrap_or(b"\n")
    }

    /// The byte behind the token.
    pub fn sign(&self, at: usize) -> u8 {
        self.token(at)
            .map_or(0, |token| byte(self.text.as_bytes(), token.end))
    }

    /// Whether only a space, or a dot and a space, stands between the token and the next one.
    pub fn is_next_to(&self, at: usize) -> bool {
        matches!(
            self.gap(at),
            b" " | b"  " | b". " | b".  " | b" . " | b"." | b"\xc2\xa0"
        )
    }

    /// As above, without a dot: names do not go on over the end of a sentence.
    pub fn is_joined_to(&self, at: usize) -> bool {
        let is_short = self.token(at).is_some_and(|token| {
            matches!(token.shape, Shape::Initial)
                || token.is(Role::Title)
                || token.is(Role::Particle) && token.len() <= 2
        });
        match self.gap(at) {
            b" " | b"  " | b"\xc2\xa0" => true,
            b"\n" => self.is_wrapped(at),
            b". " => is_short || self.token(at).is_some_and(|token| self.is_shortened(token)),
            b"." | b" . " => is_short,
            _ => false,
        }
    }

    /// Whether the line that ends with the token was broken where it was full: behind a particle, or as long as lines
    /// of mails are.
    pub fn is_wrapped(&self, at: usize) -> bool {
        /// Bytes of a line that is full.
        const FULL: usize = 60;
        let Some(token) = self.token(at) else {
            return false;
        };
        let line = self
            .text
            .as_bytes()
            .get(token.end.saturating_sub(FULL)..token.end);
        let is_full = token.end >= FULL && line.is_some_and(|line| !line.contains(&b'\n'));
        // A label begins a line of its own.
        let is_label = self.sign(at + 1) == b':';
        is_full && !is_label || token.is(Role::Particle) && token.shape == Shape::Lower
    }

    /// `Wm. Tuttle`: a given name that is written short.
    fn is_shortened(&self, token: &Token) -> bool {
        const SHORT: [&str; 12] = [
            "Wm", "Chas", "Geo", "Thos", "Jas", "Robt", "Jos", "Benj", "Edw", "Saml", "Danl",
            "Alex",
        ];
        token.shape == Shape::Capital && SHORT.contains(&token.text(self.text))
    }

    /// Whether a sentence, a line or a field begins with the token.
    pub fn is_first(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return true;
        };
        let gap = self.gap(before);
        gap.iter().any(|byte| {
            matches!(
                byte,
                b'\n' | b'\r' | b':' | b'?' | b'!' | b';' | b'|' | b'"' | b']' | b'*' | b'#'
            )
        }) || gap.contains(&b'.') && !self.is_joined_to(before)
            || gap.contains(&b'-') && gap.len() > 1
    }
}
