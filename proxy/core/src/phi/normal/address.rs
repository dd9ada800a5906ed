//! The words of a web address: between its parts stand line breaks, between the words of a part spaces.

use super::rewrite::{Rewrite, Rewriter};

/// Takes an address apart; nothing where it is one word.
pub(super) fn words(address: &str) -> Option<Rewrite> {
    let mut rewriter = Rewriter::new(address);
    let scheme = address.find("://").map_or(0, |colon| colon + "://".len());
    if scheme > 0 {
        rewriter.replace(0..scheme, "\n");
    }
    let is_letter = |at: Option<usize>| {
        let byte = at.and_then(|at| address.as_bytes().get(at));
        byte.is_some_and(u8::is_ascii_alphabetic)
    };
    for (at, letter) in address.char_indices().skip_while(|(at, _)| *at < scheme) {
        let read = match letter {
            '/' | '?' | '&' | '#' | ';' => "\n",
            '_' | '+' => " ",
            // Words, and not the groups of a number or a date.
            '-' if is_letter(at.checked_sub(1)) && is_letter(Some(at + 1)) => " ",
            _ => continue,
        };
        rewriter.replace(at..at + 1, read);
    }
    rewriter.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_lines_and_their_words_stand_apart() {
        let read = words("https://a.example/scans/Jane_Doe.png?mrn=1&at=x+y#z");
        let text = read.as_ref().map(Rewrite::text);
        let lines = "\na.example\nscans\nJane Doe.png\nmrn=1\nat=x y\nz";
        assert_eq!(text, Some(lines));
        let whole = read.map(|read| {
            read.source_of(lines.find("Jane").unwrap_or(0)..lines.find(".png").unwrap_or(0))
        });
        assert_eq!(whole, Some(24..32));
        let text = words("John-Smith-1961-04-12").map(|read| read.text().to_owned());
        assert_eq!(text.as_deref(), Some("John Smith-1961-04-12"));
        assert!(words("word").is_none());
    }
}
