//! Ids of calls that mean nobody. Providers make them of letters and digits by chance, and some of what chance makes
//! looks like a number of somebody's: it is not read, in a reply or in the request that brings it back, because another id
//! would be another call.

use crate::id::IdKind;

/// What the id of a call begins with where the gateway gives one of its own.
pub const OUR_CALLS: &str = "call_";
/// What providers begin theirs with.
const CALLS: [&str; 5] = ["toolu_", "call_", "srvtoolu_", "fc_", "tooluse_"];
/// Letters and digits that follow.
const MIN_CHARS: usize = 22;
const MAX_CHARS: usize = 64;
/// Digits in a row that chance gives: a fifth is a number.
const MAX_DIGITS: usize = 4;
/// So many turns in so many letters. Of ids made by chance 97 in 100 have them; the others are read.
const TURNS: (usize, usize) = (2, 5);
/// The same for what is written in capitals and digits alone.
const OUR_TURNS: (usize, usize) = (1, 5);
const OUR_MAX_DIGITS: usize = 6;

/// Whether an id of a call was made by chance: no words and no numbers, so that capitals, small letters and digits take
/// turns all the way.
pub fn is_made_by_chance(id: &str) -> bool {
    is_ours(id)
        || CALLS
            .iter()
            .any(|begin| id.strip_prefix(begin).is_some_and(is_chance))
}

fn is_chance(rest: &str) -> bool {
    (MIN_CHARS..=MAX_CHARS).contains(&rest.len())
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && longest_number(rest) <= MAX_DIGITS
        && takes_turns(rest, TURNS)
}

/// Whether the gateway has made it: a time of ours, and then chance.
fn is_ours(id: &str) -> bool {
    /// The years 2016 to 2050.
    const TIMES: &str = "01";
    let rest = id
        .strip_prefix(OUR_CALLS)
        .filter(|rest| rest.starts_with(TIMES));
    rest.is_some_and(|rest| {
        IdKind::Bare.accept(rest).is_some()
            && takes_turns(rest, OUR_TURNS)
            && longest_number(rest) <= OUR_MAX_DIGITS
    })
}

fn longest_number(letters: &str) -> usize {
    let numbers = letters.split(|letter: char| !letter.is_ascii_digit());
    numbers.map(str::len).max().unwrap_or_default()
}

fn takes_turns(letters: &str, (turns, per): (usize, usize)) -> bool {
    let pairs = letters.as_bytes().windows(2);
    let taken = pairs.filter(|pair| matches!(pair, [one, next] if sort(*one) != sort(*next)));
    taken.count() * per >= letters.len() * turns
}

const fn sort(letter: u8) -> u8 {
    match letter {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chance_has_made_is_told_from_words_and_numbers() {
        for made in [
            "toolu_01A9fK2qX7bL4cV8nM3tRw",
            "call_Ab3dE6gH1jK4mN7pQ0sT2vW5",
            "tooluse_aB3cD5eF7gH9iJ1kL3mN5o",
            "call_01M8FF45RGTW868Y04VWTJ9DJX",
        ] {
            assert!(is_made_by_chance(made), "{made}");
        }
        for told in [
            "call_1",
            "call_for_john_smith_19500101",
            "toolu_JohnSmithFromSpringfield",
            "call_ab3cd5ef7gh9ij1kl3mn55512345",
            "smith_Ab3dE6gH1jK4mN7pQ0sT2vW5",
            // Our time, and words.
            "call_01MARTHASMYTHSMRNBREASTMMM",
            "call_01MRN4471223D0B19500314XYZ",
        ] {
            assert!(!is_made_by_chance(told), "{told}");
        }
    }
}
