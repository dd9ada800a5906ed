//! Values right beside letters of scripts that put no space between words: `卡号4111111111111111`.

use phi_text::script::stands_alone;

use crate::kind::Finding;
use crate::scan;

/// Adds what is found beside such letters to what was found in the text, sorted by start.
pub fn scan(text: &str, found: &mut Vec<Finding>) {
    let Some(apart) = apart(text) else {
        return;
    };
    let mut more = Vec::new();
    scan::scan(&apart, &mut more);
    // What runs through letters is whole in the text itself: an address has them, too.
    more.retain(|finding| {
        let overlaps = |other: &Finding| other.start < finding.end && finding.start < other.end;
        !found.iter().any(overlaps)
    });
    if !more.is_empty() {
        found.append(&mut more);
        found.sort_by_key(|finding| finding.start);
    }
}

/// The text with a space for each such letter right beside a letter or digit of ASCII, byte for byte as long; nothing,
/// if there is none.
fn apart(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes
        .iter()
        .any(|byte| matches!(byte, 0xe0 | 0xe1 | 0xe3..=0xed | 0xef..))
    {
        return None;
    }
    let is_plain = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_alphanumeric)
    };
    let mut apart = None;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        if stands_alone(letter) && (is_plain(at.checked_sub(1)) || is_plain(Some(end))) {
            let room = apart.get_or_insert_with(|| bytes.to_vec()).get_mut(at..end);
            room.unwrap_or_default().fill(b' ');
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beside_values_become_spaces() {
        assert_eq!(apart("caf\u{e9} 12\u{2013}14"), None);
        assert_eq!(apart("\u{5361}\u{53f7} 41"), None);
        let spaced = apart("\u{5361}\u{53f7}41\u{5df2}\u{8fc7}");
        assert_eq!(
            spaced.as_deref(),
            Some("\u{5361}   41   \u{8fc7}".as_bytes())
        );
    }

    #[test]
    fn values_beside_letters_are_found_and_addresses_stay_whole() {
        let found = |text: &str| {
            let mut found = Vec::new();
            scan::scan(text.as_bytes(), &mut found);
            super::scan(text, &mut found);
            let part = |finding: &Finding| text[finding.start..finding.end].to_owned();
            found.iter().map(part).collect::<Vec<_>>()
        };
        assert_eq!(
            found("\u{5361}\u{53f7}4111111111111111\u{5df2}"),
            ["4111111111111111"]
        );
        let address = "https://portal.lakeside-clinic.com/u/\u{60a3}\u{8005}jane/2024";
        assert_eq!(found(address), [address]);
    }
}
