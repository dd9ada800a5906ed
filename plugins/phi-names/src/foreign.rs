//! Words of other languages that the lists hold for names.

use phi_lexicon::language::{Language, votes};
use phi_lexicon::{Hash, look_up};

use crate::kind::Finding;

/// Bytes of a line that are looked at on either side.
const REACH: usize = 240;
/// Words that stand before names, of which they are none.
pub const TITLES: [&str; 62] = [
    "frau",
    "herr",
    "herrn",
    "fr",
    "hr",
    "familie",
    "schwester",
    "pfleger",
    "dr",
    "dres",
    "prof",
    "dra",
    "mme",
    "mlle",
    "madame",
    "monsieur",
    "docteur",
    "famille",
    "sig",
    "signor",
    "signora",
    "signore",
    "dott",
    "dottor",
    "dottoressa",
    "senhor",
    "senhora",
    "sr",
    "sra",
    "dona",
    "mevrouw",
    "meneer",
    "mevr",
    "dhr",
    "mw",
    "pan",
    "pani",
    "pana",
    "panu",
    "mr",
    "mrs",
    "ms",
    "miss",
    "nurse",
    "rn",
    "patient",
    "patientin",
    "patienten",
    "patiente",
    "paciente",
    "paziente",
    "pacjent",
    "pacjentka",
    "pacjenta",
    "pasyente",
    "pt",
    "pat",
    "client",
    "resident",
    "name",
    "nom",
    "nome",
];

/// `Bitte teilen Sie mir die Kosten mit.`: whether all of a name are words of the language that its line is in, and
/// nothing says that it is one.
pub fn is_word(text: &str, finding: &Finding) -> bool {
    let name = text.get(finding.start..finding.end).unwrap_or_default();
    let mut words = name.split(|sign: char| !sign.is_alphabetic());
    let is_foreign = |word: &str| word.is_empty() || look_up(Hash::new().over(word)).is_foreign();
    if !words.all(is_foreign) {
        return false;
    }
    let from = text.floor_char_boundary(finding.start.saturating_sub(REACH));
    let to = text.ceil_char_boundary(text.len().min(finding.end + REACH));
    let before = text.get(from..finding.start).unwrap_or_default();
    let before = before.rsplit('\n').next().unwrap_or_default();
    let behind = text.get(finding.end..to).unwrap_or_default();
    let behind = behind.split('\n').next().unwrap_or_default();
    !is_led(before) && votes(before).and(votes(behind)).language() == Some(Language::Other)
}

/// Whether a label or a title stands at the end.
fn is_led(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.trim_end_matches('.');
    let word = word
        .rsplit(|sign: char| !sign.is_alphabetic())
        .next()
        .unwrap_or_default();
    before.ends_with([':', '=', '|', ';', '\t'])
        || TITLES.iter().any(|title| title.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::NAME;

    #[test]
    fn words_of_the_language_are_no_names() {
        let is_word = |text: &str, name: &str| {
            let start = text.find(name).unwrap_or_default();
            is_word(text, &Finding::new(NAME, start, start + name.len(), 700))
        };
        assert!(is_word("Bitte teilen Sie mir vorab die Kosten mit.", "Sie"));
        assert!(is_word(
            "Mein Mann schnarcht und hat nachts Atempausen.",
            "Mann"
        ));
        assert!(!is_word(
            "Gestern war Frau Mann wieder in der Sprechstunde.",
            "Mann"
        ));
        assert!(!is_word(
            "Heute kommt Patient: Mann, der nicht mehr schlafen kann.",
            "Mann"
        ));
        assert!(!is_word(
            "Bitte rufen J\u{fc}rgen und die Tochter morgen an.",
            "J\u{fc}rgen"
        ));
        assert!(!is_word("The patient Mann was seen by his doctor.", "Mann"));
        // A name says nothing of the language that it stands in.
        assert!(!is_word(
            "Mei Chan  F  DOB 03/14/1962  MRN 00482913",
            "Mei Chan"
        ));
        assert!(!is_word("cc: Mei Lu, MD", "Mei Lu"));
        assert!(!is_word(
            "Patientin Lange klagt weiter \u{fc}ber Schmerzen",
            "Lange"
        ));
    }
}
