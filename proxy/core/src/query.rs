//! The parameters of an address: those of its query, taken apart in one way wherever unknown ones are refused (contract
//! 1.2), and those of its path.

use url::form_urlencoded;

use crate::json::NUL;

/// One parameter, its escapes undone.
#[derive(Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub value: String,
    /// What is wrong with it, whatever it means: strings are UTF-8 without NUL (contract 1.2). What is no text stands
    /// in `name` and `value` as well as it can be read.
    pub problem: Option<&'static str>,
}

/// What is wrong with a parameter that is no text.
pub const NOT_TEXT: &str = "must be percent-encoded UTF-8";

/// Longest name that an error repeats.
const MAX_NAME_BYTES: usize = 64;

/// The parameters of a query, in its order.
pub fn parameters(query: &str) -> impl Iterator<Item = Parameter> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.filter_map(|pair| {
        let (name, value) = form_urlencoded::parse(pair.as_bytes()).next()?;
        let has_nul = value.contains('\0').then_some(NUL);
        Some(Parameter {
            problem: (!is_text(pair)).then_some(NOT_TEXT).or(has_nul),
            name: name.into_owned(),
            value: value.into_owned(),
        })
    })
}

/// Whether every percent sign begins an escape, and what is escaped is UTF-8. The parser lets the one stand and puts a
/// mark in the place of the other: both would be searched for as what nobody sent.
fn is_text(pair: &str) -> bool {
    let mut bytes = Vec::with_capacity(pair.len());
    let mut pieces = pair.split('%');
    bytes.extend(pieces.next().unwrap_or_default().bytes());
    for piece in pieces {
        let Some((digits, rest)) = piece.as_bytes().split_at_checked(2) else {
            return false;
        };
        let mut byte = [0];
        if hex::decode_to_slice(digits, &mut byte).is_err() {
            return false;
        }
        bytes.extend(byte);
        bytes.extend(rest);
    }
    std::str::from_utf8(&bytes).is_ok()
}

/// A part of a path as it is compared: escaped or not, unreserved characters are the same (RFC 3986, 2.3 and 6.2.2.2).
/// Every other escape stays as it was sent: it stands for no character of an identifier, and undone it could end the
/// part.
pub fn part(sent: &str) -> String {
    let mut pieces = sent.split('%');
    let mut part = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let mut byte = [0];
        let split = piece.split_at_checked(2).filter(|(digits, _)| {
            hex::decode_to_slice(digits, &mut byte).is_ok() && is_unreserved(byte[0])
        });
        match split {
            Some((_, rest)) => {
                part.push(char::from(byte[0]));
                part.push_str(rest);
            }
            None => {
                part.push('%');
                part.push_str(piece);
            }
        }
    }
    part
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// A name of the address as an error repeats it.
pub fn shown(name: &str) -> &str {
    const HIDDEN: &str = "…";
    let is_name = name.len() <= MAX_NAME_BYTES && name.bytes().all(|byte| byte.is_ascii_graphic());
    if is_name { name } else { HIDDEN }
}

/// Where an error finds a parameter.
pub fn path(name: &str) -> String {
    format!("$query.{}", shown(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told_from_text() {
        for (query, problem) in [
            ("name=caf%C3%A9+%e2%82%ac", None),
            ("name=", None),
            ("name", None),
            ("n%61me=100%25", None),
            ("name=%ff", Some(NOT_TEXT)),
            ("name=%c3%28", Some(NOT_TEXT)),
            ("name=%ed%a0%80", Some(NOT_TEXT)),
            ("name=%c3=%a9", Some(NOT_TEXT)),
            ("name=%zz", Some(NOT_TEXT)),
            ("name=%+1", Some(NOT_TEXT)),
            ("name=%1", Some(NOT_TEXT)),
            ("name=%", Some(NOT_TEXT)),
            ("name%ff=x", Some(NOT_TEXT)),
            ("%=x", Some(NOT_TEXT)),
            ("name=%00", Some(NUL)),
        ] {
            let found: Vec<_> = parameters(query).map(|one| one.problem).collect();
            assert_eq!(found, [problem], "{query}");
        }
    }

    #[test]
    fn unreserved_characters_are_the_same_escaped_or_not() {
        for (sent, compared) in [
            ("agt%5F01M8%2d%7E%2E", "agt_01M8-~."),
            ("%61%4A%39", "aJ9"),
            ("plain", "plain"),
            ("", ""),
            ("a%2Fb%2f", "a%2Fb%2f"),
            ("%00%FF%C3%A9%20%25", "%00%FF%C3%A9%20%25"),
            ("%2541", "%2541"),
            ("%", "%"),
            ("%5", "%5"),
            ("%5é%zz%+5", "%5é%zz%+5"),
        ] {
            assert_eq!(part(sent), compared, "{sent}");
        }
    }

    #[test]
    fn parameters_stand_in_their_order() {
        let found = parameters("&b=1&&a=x+y%3D&b&").map(|one| (one.name, one.value));
        let wanted = [("b", "1"), ("a", "x y="), ("b", "")];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn strange_names_are_not_repeated() {
        assert_eq!(path("dry"), "$query.dry");
        for name in ["a b", "ä", &"x".repeat(MAX_NAME_BYTES + 1)] {
            assert_eq!(path(name), "$query.…");
        }
    }
}
