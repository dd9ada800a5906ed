//! What peoples and those of a faith are called, and their languages: many bear one, so by itself it names nobody. Some are
//! given names and surnames as well.

/// Bytes of the longest.
const LONGEST: usize = 16;

/// Whether a word is what a people, its language or those of a faith are called, and hardly a name.
pub fn is_people(word: &str) -> bool {
    is_in(&PEOPLES, word)
}

/// As [`is_people`], but a name as often: `Christian`, `French`.
pub fn is_perhaps_people(word: &str) -> bool {
    is_in(&PERHAPS, word)
}

/// What stands behind one of a people who is not named: `a Christian patient`.
pub fn is_somebody(word: &str) -> bool {
    is_in(&SOMEBODY, word)
}

/// What a list says of somebody without a name, before its sign: `Religion: Christian`.
pub fn is_trait(word: &str) -> bool {
    is_in(&TRAITS, word)
}

fn is_in(list: &[&str], word: &str) -> bool {
    word.len() <= LONGEST && list.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Sorted, as the others.
#[rustfmt::skip]
static PEOPLES: [&str; 245] = [
    "afghan", "african", "albanian", "algerian", "amish", "anabaptist", "angolan", "apache", "arab", "arabic",
    "argentine", "argentinian", "armenian", "ashkenazi", "ashkenazic", "asian", "australian", "austrian",
    "azerbaijani", "aztec", "bahamian", "bangladeshi", "baptist", "barbadian", "basque", "belarusian", "belgian",
    "belizean", "bengali", "berber", "bhutanese", "bolivian", "bosnian", "brazilian", "british", "buddhist",
    "bulgarian", "burmese", "cambodian", "cameroonian", "canadian", "cantonese", "caribbean", "castilian", "catalan",
    "catholic", "caucasian", "chamorro", "cherokee", "chickasaw", "chilean", "chinese", "choctaw", "colombian",
    "congolese", "copt", "coptic", "croatian", "cuban", "czech", "danish", "dari", "dominican", "dutch", "ecuadorean",
    "ecuadorian", "egyptian", "emirati", "episcopalian", "eritrean", "eskimo", "estonian", "ethiopian", "european",
    "evangelical", "farsi", "fijian", "filipina", "filipino", "finnish", "flemish", "galician", "gambian", "georgian",
    "ghanaian", "greek", "guamanian", "guatemalan", "guinean", "guyanese", "gypsy", "haitian", "hasidic", "hawaiian",
    "hebrew", "hindu", "hispanic", "hmong", "honduran", "hungarian", "icelandic", "igbo", "indian", "indonesian",
    "inuit", "iranian", "iraqi", "irish", "islamic", "israeli", "italian", "jamaican", "japanese", "jew", "jewish",
    "jordanian", "kazakh", "kenyan", "khmer", "korean", "kosovar", "kurd", "kurdish", "kuwaiti", "lakota", "laotian",
    "latina", "latino", "latinx", "latvian", "lebanese", "liberian", "libyan", "lithuanian", "lutheran", "macedonian",
    "malay", "malaysian", "malian", "maltese", "mandarin", "maori", "marshallese", "mayan", "mennonite", "methodist",
    "mexican", "micronesian", "moldovan", "mongolian", "mormon", "moroccan", "mozambican", "muslim", "namibian",
    "navajo", "nepalese", "nepali", "nicaraguan", "nigerian", "norwegian", "ojibwe", "orthodox", "pakistani",
    "palestinian", "panamanian", "paraguayan", "pashto", "pashtun", "pentecostal", "persian", "peruvian", "polish",
    "polynesian", "portuguese", "presbyterian", "protestant", "punjabi", "quaker", "ramadan", "romani", "romanian",
    "russian", "rwandan", "salvadoran", "salvadorean", "samoan", "sardinian", "saudi", "scandinavian", "scottish",
    "senegalese", "sephardi", "sephardic", "serbian", "shia", "shiite", "sicilian", "sikh", "singaporean",
    "sinhalese", "sioux", "slavic", "slovak", "slovakian", "slovenian", "somali", "spaniard", "spanish", "sudanese",
    "sunni", "swahili", "swede", "swedish", "swiss", "syrian", "tagalog", "tahitian", "taiwanese", "tamil",
    "tanzanian", "tatar", "telugu", "thai", "tibetan", "tongan", "trinidadian", "tunisian", "turkish", "ugandan",
    "ukrainian", "unitarian", "urdu", "uruguayan", "uyghur", "uzbek", "venezuelan", "vietnamese", "wiccan", "yemeni",
    "yiddish", "yoruba", "zambian", "zimbabwean", "zulu",
];

#[rustfmt::skip]
static PERHAPS: [&str; 10] = [
    "christian", "english", "finn", "french", "german", "jain", "lao", "roman", "turk", "welsh",
];

#[rustfmt::skip]
static SOMEBODY: [&str; 37] = [
    "adult", "ancestry", "background", "beliefs", "boy", "church", "community", "couple", "culture", "descent",
    "faith", "family", "female", "food", "girl", "heritage", "infant", "interpreter", "language", "man", "men",
    "nurse", "origin", "patient", "patients", "people", "person", "pt", "speaker", "speaking", "student", "tradition",
    "traditions", "values", "woman", "women", "worker",
];

#[rustfmt::skip]
static TRAITS: [&str; 12] = [
    "background", "ethnicity", "faith", "heritage", "interp", "interpreter", "language", "nationality", "origin",
    "race", "religion", "speaks",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peoples_are_known_and_names_are_not() {
        for list in [&PEOPLES[..], &PERHAPS[..], &SOMEBODY[..], &TRAITS[..]] {
            assert!(list.is_sorted());
            assert!(list.iter().all(|word| word.len() <= LONGEST));
        }
        assert!(is_people("Irish") && is_people("VIETNAMESE") && is_people("hmong"));
        assert!(!is_people("Karen") && !is_people("Christian") && is_perhaps_people("Christian"));
        assert!(is_somebody("patient") && is_trait("Religion") && !is_trait("Name"));
    }
}
