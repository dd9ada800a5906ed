//! Scripts that put no space between words.

/// Whether a letter is of a script that puts no space between words, or that glues endings to them (Thai, Lao, Burmese,
/// Khmer, Han, kana, Hangul): each is taken for a word, as a value may begin and end beside any.
pub(super) fn is_word_alone(letter: char) -> bool {
    let is_of_script = matches!(
        letter,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3041}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{323af}'
    );
    is_of_script && letter.is_alphabetic()
}

/// How much a value says, as a number of letters and digits. One of Han says as much as two others: `李明` is a name.
pub(super) fn weight(value: &str) -> usize {
    let is_han = |letter: char| matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}');
    let letters = value.chars().filter(|letter| letter.is_alphanumeric());
    letters
        .map(|letter| if is_han(letter) { 2 } else { 1 })
        .sum()
}
