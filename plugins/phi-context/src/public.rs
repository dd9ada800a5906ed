//! What is public: countries and states of the USA, where too many people live for them to identify anybody, and the
//! societies of a whole country, of which everybody has heard.

use phi_lexicon::{Hash, peoples};

use crate::list::words;
use crate::token::{Token, shape};

/// In small letters.
const REGIONS: &[u64] = words!(
    "afghanistan|albania|algeria|andorra|angola|argentina|armenia|australia|austria|azerbaijan|bahamas|bahrain|\
    bangladesh|barbados|belarus|belgium|belize|benin|bhutan|bolivia|bosnia|botswana|brazil|britain|brunei|bulgaria|\
    burkina faso|burma|burundi|cambodia|cameroon|canada|cape verde|chad|chile|china|colombia|congo|costa rica|\
    croatia|cuba|cyprus|czechia|czech republic|denmark|djibouti|dominican republic|ecuador|egypt|el salvador|\
    england|eritrea|estonia|eswatini|ethiopia|fiji|finland|france|gabon|gambia|georgia|germany|ghana|great britain|\
    greece|grenada|guatemala|guinea|guyana|haiti|honduras|hungary|iceland|india|indonesia|iran|iraq|ireland|israel|\
    italy|ivory coast|jamaica|japan|jordan|kazakhstan|kenya|korea|kosovo|kuwait|kyrgyzstan|laos|latvia|lebanon|\
    lesotho|liberia|libya|liechtenstein|lithuania|luxembourg|madagascar|malawi|malaysia|maldives|mali|malta|\
    mauritania|mauritius|mexico|moldova|monaco|mongolia|montenegro|morocco|mozambique|myanmar|namibia|nepal|\
    netherlands|the netherlands|new zealand|nicaragua|niger|nigeria|north korea|northern ireland|norway|oman|\
    pakistan|palestine|panama|papua new guinea|paraguay|peru|philippines|the philippines|poland|portugal|\
    puerto rico|qatar|romania|russia|rwanda|samoa|saudi arabia|scotland|senegal|serbia|sierra leone|singapore|\
    slovakia|slovenia|somalia|south africa|south korea|south sudan|spain|sri lanka|sudan|suriname|sweden|\
    switzerland|syria|taiwan|tajikistan|tanzania|thailand|togo|tonga|trinidad|tunisia|turkey|turkmenistan|uganda|\
    ukraine|united arab emirates|united kingdom|united states|uruguay|uzbekistan|vanuatu|venezuela|vietnam|wales|\
    yemen|zambia|zimbabwe|uk|usa|us|u s|uae|europe|asia|africa|north america|south america|latin america|caribbean|\
    middle east|alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|\
    illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|\
    missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|north carolina|north dakota|ohio|oklahoma|\
    oregon|pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|\
    west virginia|wisconsin|wyoming|alemania|argelia|bélgica|brasil|españa|estados unidos|etiopía|filipinas|francia|\
    inglaterra|irlanda|italia|japón|marruecos|méxico|panamá|perú|polonia|república dominicana|rumanía|rusia|senegal|\
    suecia|suiza|turquía|ucrania|venezuela",
    b'|'
);

/// Whether all of a value is the name of a region.
pub fn is_region(value: &str) -> bool {
    REGIONS.contains(&Hash::new().over(value).value())
}

/// How many there are.
const AMOUNTS: &[u64] = words!(
    "many some several few most all both other others such more any every each different various muchos muchas varios varias \
    algunos algunas todos todas otros otras"
);

/// Whether a value only says how many of something there are: `many places`.
pub fn is_amount(tokens: &[Token]) -> bool {
    tokens
        .first()
        .is_some_and(|first| AMOUNTS.contains(&first.word))
}

/// What parts of a note begin with.
const HEADS: &[u64] =
    words!("ros hpi pmh psh pmhx pshx fhx shx sochx cc hx dx rx meds nkda vs pe plan labs imaging");

/// Whether a value is the head of a part of a note: `ROS: negative`.
pub fn is_head(text: &str, tokens: &[Token]) -> bool {
    let [token] = tokens else {
        return false;
    };
    token.shape == shape::UPPER
        && HEADS.contains(&token.word)
        && text
            .get(token.end..)
            .is_some_and(|behind| behind.starts_with(':'))
}

/// Words that the names of societies of a country or of the world begin with.
const WIDE: &[u64] = words!(
    "american british canadian australian european national international world royal global us u federal united \
    german french"
);
/// And what such societies are.
const BODIES: &[u64] = words!(
    "association society societies college academy foundation agency council committee federation organization \
    organisation institute institutes network task board union alliance registry collaboration consortium \
    administration service"
);

/// Suppliers and departments that everybody has.
const EVERYBODYS: &[u64] = words!(
    "cardinal health|interventional radiology|nuclear medicine|labor and delivery|emergency medicine",
    b'|'
);

/// Whether a value is the name of a society of a country: `American Diabetes Association`.
pub fn is_body(value: &str) -> bool {
    let mut words = value
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("the"));
    let is_of = |list: &[u64], word: &str| list.contains(&Hash::new().over(word).value());
    if is_of(EVERYBODYS, value) {
        return true;
    }
    words.next().is_some_and(|first| is_of(WIDE, first)) && words.any(|word| is_of(BODIES, word))
}

/// Titles, behind which what a people is called is a surname.
const TITLES: &[u64] = words!("mr mrs ms miss dr prof sr sra");

/// Whether a value is only what peoples and those of a faith are called: `Ashkenazi Jewish`. `before` is the token before
/// it.
pub fn is_of_people(text: &str, before: Option<&Token>, tokens: &[Token]) -> bool {
    let is_people = |token: &Token| {
        let word = text.get(token.start..token.end).unwrap_or_default();
        peoples::is_people(word)
    };
    tokens.iter().all(is_people) && before.is_none_or(|before| !TITLES.contains(&before.word))
}

/// `410 U.S. 113`: where a court's words are printed, and no organization.
pub fn is_cited(tokens: &[Token]) -> bool {
    let is_short = |token: &Token| token.end - token.start == 1 || token.shape >= shape::YEAR;
    tokens.iter().all(is_short) && tokens.iter().any(|token| token.shape >= shape::YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_notes_are_nobody() {
        let is_head = |text: &str| {
            let mut tokens = Vec::new();
            crate::token::read(text, 0, text.len(), &mut tokens);
            is_head(text, tokens.get(..1).unwrap_or_default())
        };
        assert!(is_head("ROS: negative for fever"));
        assert!(!is_head("ROS was here") && !is_head("ROSS: negative") && !is_head("Ros: hi"));
    }

    #[test]
    fn peoples_and_reports_of_courts_are_nobody() {
        let read = |text: &str| {
            let mut tokens = Vec::new();
            crate::token::read(text, 0, text.len(), &mut tokens);
            tokens
        };
        let is_people = |text: &str, first: usize| {
            let tokens = read(text);
            let before = first.checked_sub(1).and_then(|at| tokens.get(at));
            is_of_people(text, before, &tokens[first..])
        };
        assert!(is_people("of Ashkenazi Jewish", 1) && is_people("Korean", 0));
        assert!(!is_people("Dr. Irish", 1) && !is_people("Korean Lopez", 0));
        assert!(is_cited(&read("U.S. 113")) && is_cited(&read("544")));
        assert!(!is_cited(&read("U.S. Steel")) && !is_cited(&read("U S")));
    }

    #[test]
    fn what_is_public_is_known() {
        assert!(
            is_region("Ghana")
                && is_region("NEW MEXICO")
                && is_region("méxico")
                && is_region("Sri Lanka")
        );
        assert!(
            is_body("American Diabetes Association")
                && is_body("Interventional Radiology")
                && is_body("the European Society of Cardiology on heart failure")
        );
        assert!(
            !is_body("Diabetes Association of Toledo")
                && !is_body("American Steel Works")
                && !is_body("")
        );
        assert!(
            !is_region("New")
                && !is_region("Ghana Street")
                && !is_region("")
                && !is_region("Accra")
        );
    }
}
