//! Words that decide how soon a reply can go on. No list of names: who decides about PHI are the detectors.

/// Whether a word with a capital is one that begins sentences and names nobody.
pub(super) fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

/// Whether a reply that begins with these letters may send them before the word is complete. Names that begin
/// so lose these letters only.
pub(super) fn is_opening(word: &str) -> bool {
    OPENING.binary_search(&word).is_ok()
}

/// Whether a word in small letters is often part of a date, a number, an address or a name.
pub(super) fn is_wary(word: &str) -> bool {
    let mut lower = [0; LONGEST_WARY_BYTES];
    let bytes = word.as_bytes();
    let Some(lower) = lower.get_mut(..bytes.len()) else {
        return false;
    };
    lower.copy_from_slice(bytes);
    lower.make_ascii_lowercase();
    let is_letter = matches!(lower, [letter] if *letter != b'a' && *letter != b'i');
    is_letter || std::str::from_utf8(lower).is_ok_and(|word| WARY.binary_search(&word).is_ok())
}

const LONGEST_WARY_BYTES: usize = 9;

/// Sorted.
#[rustfmt::skip]
static OPENING: [&str; 21] = [
    "Absolutely", "According", "Based", "Before", "Certainly", "Hello", "However", "Okay", "Patients",
    "Please", "Thank", "That", "The", "There", "These", "This", "Unfortunately", "What", "When", "While",
    "Your",
];

/// Sorted.
#[rustfmt::skip]
static COMMON: [&str; 138] = [
    "A", "About", "Absolutely", "According", "Additionally", "After", "All", "Also", "Although",
    "Always", "An", "And", "Any", "Are", "As", "At", "Based", "Be", "Because", "Before", "Both", "But",
    "By", "Can", "Certainly", "Consider", "Could", "Did", "Do", "Does", "Don't", "During", "Each",
    "Either", "Ensure", "Every", "First", "For", "From", "Generally", "Given", "Great", "Had", "Has",
    "Have", "He", "Hello", "Her", "Here", "Here's", "Hi", "His", "How", "However", "I", "I'd", "I'll",
    "I'm", "I've", "If", "In", "Instead", "Is", "It", "It's", "Its", "Let", "Let's", "Many", "More",
    "Most", "My", "Never", "No", "Not", "Note", "Now", "OK", "Of", "Often", "Okay", "On", "Once", "One",
    "Only", "Or", "Other", "Our", "Overall", "Patient", "Patients", "Please", "Second", "See", "She",
    "Should", "Since", "So", "Some", "Sorry", "Such", "Sure", "Take", "Than", "Thank", "Thanks", "That",
    "That's", "The", "Their", "Then", "There", "Therefore", "These", "They", "This", "Those", "To",
    "Typically", "Unfortunately", "Use", "Was", "We", "Were", "What", "When", "Where", "Which", "While",
    "Who", "Why", "With", "Without", "Would", "Yes", "You", "You're", "Your",
];

/// Sorted.
#[rustfmt::skip]
static WARY: [&str; 61] = [
    "apr", "april", "aug", "august", "ave", "avenue", "dec", "december", "dot", "dr", "drive", "eight",
    "eighteen", "eighty", "eleven", "feb", "february", "fifty", "five", "forty", "four", "friday", "jan",
    "january", "july", "june", "lane", "monday", "mr", "mrs", "ms", "nine", "ninety", "nov", "november",
    "oct", "october", "one", "road", "saturday", "sep", "sept", "september", "seven", "seventy", "six",
    "sixty", "st", "street", "sunday", "ten", "thirty", "three", "thursday", "tuesday", "twelve",
    "twenty", "two", "wednesday", "zero", "zip",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_as_long_as_said() {
        for list in [&OPENING[..], &COMMON[..], &WARY[..]] {
            assert!(
                list.is_sorted(),
                "{:?}",
                list.windows(2).find(|pair| pair[0] > pair[1])
            );
        }
        assert!(WARY.iter().all(|word| word.len() <= LONGEST_WARY_BYTES));
        assert!(is_wary("Friday") && is_wary("x") && !is_wary("a") && !is_wary("patient"));
    }
}
