//! Scripts that put no space between words, and the marks of all scripts.

/// Whether a letter is of a script that puts no space between words, or that glues endings to them (Thai, Lao, Burmese,
/// Khmer, Han, kana, Hangul): each is a word by itself, as a value may end behind any.
pub fn stands_alone(letter: char) -> bool {
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
