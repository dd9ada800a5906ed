//! The arguments of one tool call while they arrive. Reads no JSON: that is for [`super::arguments`], once they are
//! whole.

use super::surrogates::Surrogates;

/// What a model may write where it has nothing to give; blanks say the same.
const NOTHING: &str = "null";

/// Holds back what says nothing until something follows: sent on, it could not become an empty object any more.
#[derive(Default)]
pub struct Fragments {
    /// At most [`NOTHING`], without the blanks around it.
    held: String,
    has_said: bool,
    surrogates: Surrogates,
}

impl Fragments {
    /// Takes the next fragment in, and gives what may be sent on. Blanks in front of the arguments are left out.
    pub fn take(&mut self, fragment: String) -> Option<String> {
        if self.has_said {
            return self.mended(fragment);
        }
        let mut text = std::mem::take(&mut self.held);
        text.push_str(&fragment);
        let said = text.trim_ascii_start();
        let word = said.trim_ascii_end();
        if NOTHING.starts_with(said) || word == NOTHING {
            self.held = word.to_owned();
            return None;
        }
        self.has_said = true;
        self.mended(said.to_owned())
    }

    fn mended(&mut self, fragment: String) -> Option<String> {
        let mended = self.surrogates.take(fragment);
        (!mended.is_empty()).then_some(mended)
    }

    /// The call is over: what is still to be sent on, `None` where the call has said nothing at all.
    pub fn end(&mut self) -> Option<String> {
        if self.has_said {
            return Some(self.surrogates.end());
        }
        let held = std::mem::take(&mut self.held);
        let says_nothing = held.is_empty() || held == NOTHING;
        (!says_nothing).then_some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is sent on of a call, and whether it said anything.
    fn sent(pieces: &[&str]) -> (Vec<String>, bool) {
        let mut fragments = Fragments::default();
        let mut sent: Vec<String> = pieces
            .iter()
            .filter_map(|piece| fragments.take((*piece).to_owned()))
            .collect();
        let rest = fragments.end();
        let has_said = rest.is_some();
        sent.extend(rest.filter(|rest| !rest.is_empty()));
        (sent, has_said)
    }

    #[test]
    fn what_says_nothing_is_held_back_to_the_end() {
        let calls: [&[&str]; 5] = [
            &[],
            &["", ""],
            &[" ", "\n\t"],
            &["null"],
            &[" nu", "", "ll", "\n", " "],
        ];
        for pieces in calls {
            assert_eq!(sent(pieces), (Vec::new(), false), "{pieces:?}");
        }
    }

    #[test]
    fn what_says_something_goes_on_as_it_came() {
        let calls: [(&[&str], &[&str]); 6] = [
            (&["{\"a\":", " null", "}"], &["{\"a\":", " null", "}"]),
            (&[" ", "\n{}", " "], &["{}", " "]),
            (&["nu", "x", "null"], &["nux", "null"]),
            (&["nu", " ", "ll"], &["nu ", "ll"]),
            (&["nul"], &["nul"]),
            // Half a character is no text.
            (
                &["{\"a\":\"\\ud8", "3d", "\"}"],
                &["{\"a\":\"", "\\ufffd\"}"],
            ),
        ];
        for (pieces, expected) in calls {
            let (sent, has_said) = sent(pieces);
            assert_eq!(sent, expected, "{pieces:?}");
            assert!(has_said, "{pieces:?}");
        }
    }
}
