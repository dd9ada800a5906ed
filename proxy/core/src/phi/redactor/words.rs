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
static COMMON: [&str; 211] = [
    "A", "About", "Absolutely", "According", "Additionally", "After", "Again", "All", "Also", "Although",
    "Always", "An", "And", "Another", "Any", "Apply", "Are", "As", "Ask", "At", "Avoid", "Based", "Be",
    "Because", "Before", "Between", "Both", "But", "By", "Call", "Can", "Certainly", "Check", "Common",
    "Consider", "Contact", "Continue", "Could", "Depending", "Determine", "Did", "Discuss", "Do", "Does",
    "Don't", "During", "Each", "Either", "Ensure", "Even", "Every", "Everything", "Explain", "Finally",
    "First", "Follow", "For", "From", "Further", "Furthermore", "Generally", "Get", "Give", "Given",
    "Good", "Great", "Had", "Has", "Have", "He", "Hello", "Help", "Her", "Here", "Here's", "Hi", "His",
    "How", "How's", "However", "I", "I'd", "I'll", "I'm", "I've", "If", "Important", "In", "Instead",
    "Is", "It", "It'll", "It's", "Its", "Just", "Keep", "Let", "Let's", "Like", "Look", "Make", "Many",
    "Maybe", "Might", "Monitor", "More", "Most", "Must", "My", "Never", "Next", "No", "Not", "Note",
    "Nothing", "Now", "OK", "Of", "Often", "Okay", "On", "Once", "One", "Only", "Or", "Other", "Our",
    "Out", "Over", "Overall", "Patient", "Patients", "Perhaps", "Please", "Possible", "Regarding",
    "Remember", "Review", "Said", "Same", "Say", "Second", "See", "Seek", "Set", "Several", "She",
    "Should", "Show", "Since", "So", "Some", "Sorry", "Start", "Stop", "Such", "Sure", "Take", "Tell",
    "Than", "Thank", "Thanks", "That", "That'll", "That's", "The", "Their", "Then", "There", "Therefore",
    "These", "They", "They're", "This", "Those", "Through", "Thus", "To", "Treatment", "Try", "Two",
    "Typically", "Under", "Unfortunately", "Until", "Up", "Use", "Very", "Was", "We", "We'll", "We're",
    "Were", "What", "What's", "When", "Where", "Whether", "Which", "While", "Who", "Why", "With",
    "Without", "Would", "Yes", "You", "You'll", "You're", "You've", "Your",
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
