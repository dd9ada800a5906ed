//! Identifiers with a shape of their own: universally unique ones (RFC 9562, 8-4-4-4-12 hexadecimal digits), numbers of
//! aliens, places in degrees, and the names of folders that belong to somebody.

use super::{Finding, OTHER_ID};
use crate::text::{byte, byte_before, is_word};

const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
/// Those that documentation uses as its examples (RFC 9562, appendix; OpenAPI; common manuals).
const EXAMPLES: [&[u8]; 5] = [
    b"123e4567-e89b-12d3-a456-426614174000",
    b"550e8400-e29b-41d4-a716-446655440000",
    b"3fa85f64-5717-4562-b3fc-2c963f66afa6",
    b"f47ac10b-58cc-4372-a567-0e02b2c3d479",
    b"6ba7b810-9dad-11d1-80b4-00c04fd430c8",
];

pub fn find_uuid(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    if end - start != 8 || byte(text, end) != b'-' {
        return None;
    }
    let mut at = start;
    for (index, len) in GROUPS.iter().enumerate() {
        if index > 0 {
            if byte(text, at) != b'-' {
                return None;
            }
            at += 1;
        }
        if !text.get(at..at + len)?.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        at += len;
    }
    let code = text.get(start..at)?;
    let is_blank = code.iter().all(|byte| matches!(byte, b'0' | b'-'))
        || code.iter().all(|byte| matches!(byte, b'f' | b'F' | b'-'));
    let tail = byte(text, at);
    let stands_alone = !(is_word(tail) || tail == b'-' && is_word(byte(text, at + 1)));
    let is_example = EXAMPLES
        .iter()
        .any(|example| code.eq_ignore_ascii_case(example));
    (!is_blank && stands_alone && !is_example).then_some(Finding::new(OTHER_ID, start, at, 800))
}

/// `A089-123-456`, the number of an alien (8 CFR 264.1), in a row only by its label.
pub fn find_alien(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    const BYTES: usize = 12;
    let code = text
        .get(start..start + BYTES)
        .filter(|_| end == start + 4)?;
    let [b'A', digits @ ..] = code else {
        return None;
    };
    let fits = digits.iter().enumerate().all(|(at, byte)| match at {
        3 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let tail = byte(text, start + BYTES);
    (fits && !is_word(tail) && tail != b'-').then_some(Finding::new(
        OTHER_ID,
        start,
        start + BYTES,
        750,
    ))
}

/// `GPS 42.3601, -71.0589`: degrees that name a place within a mile or less. Gives the place behind them.
pub fn find_place(text: &[u8], label_end: usize, findings: &mut Vec<Finding>) -> Option<usize> {
    const MAX_GAP_BYTES: usize = 24;
    let rest = text.get(label_end..text.len().min(label_end + MAX_GAP_BYTES))?;
    let gap = rest
        .iter()
        .position(|byte| byte.is_ascii_digit() || *byte == b'-')
        .filter(|gap| !rest.iter().take(*gap).any(|byte| b".;\n\"'".contains(byte)))?;
    let start = label_end + gap;
    if let Some(first) = minutes_end(text, start) {
        let gap = text
            .get(first..)?
            .iter()
            .take_while(|byte| b", /".contains(byte));
        let end = minutes_end(text, first + gap.count()).unwrap_or(first);
        findings.push(Finding::new(OTHER_ID, start, end, 850).contextual());
        return Some(end);
    }
    let first = degrees_end(text, start)?;
    let rest = text.get(first..)?;
    let gap = rest
        .iter()
        .take(MAX_GAP_BYTES)
        .position(|byte| byte.is_ascii_digit() || *byte == b'-')
        // Two fields of JSON stay two.
        .filter(|gap| is_between_degrees(rest.get(..*gap).unwrap_or_default()))?;
    let end = degrees_end(text, first + gap)?;
    // `{ lat: 42.3601, lng: -71.0589 }`: the name between stays.
    let is_named = rest.get(..gap)?.contains(&b':');
    let (first_end, second) = match is_named {
        true => (first, Some(first + gap)),
        false => (end, None),
    };
    let ranges = std::iter::once((start, first_end)).chain(second.map(|start| (start, end)));
    findings
        .extend(ranges.map(|(start, end)| Finding::new(OTHER_ID, start, end, 850).contextual()));
    Some(end)
}

/// What stands between the degrees of one place: signs, and words for the second of them.
fn is_between_degrees(gap: &[u8]) -> bool {
    const WORDS: [&str; 10] = [
        "lon",
        "long",
        "lng",
        "longitude",
        "and",
        "n",
        "s",
        "e",
        "w",
        "deg",
    ];
    gap.split(|byte| !byte.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .all(|word| {
            WORDS
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
        })
        && !gap.iter().any(|byte| b"\"'\n".contains(byte))
}

/// Where degrees with their minutes end: `40°26'46"N`.
fn minutes_end(text: &[u8], start: usize) -> Option<usize> {
    const DEGREE: &[u8] = "\u{b0}".as_bytes();
    const MINUTE: [&[u8]; 3] = [b"'", "\u{2032}".as_bytes(), "\u{2019}".as_bytes()];
    const SECOND: [&[u8]; 3] = [b"\"", "\u{2033}".as_bytes(), "\u{201d}".as_bytes()];
    let number_end = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let is_of_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        from + rest.iter().take_while(is_of_number).count()
    };
    let sign_end = |from: usize, signs: &[&[u8]]| {
        let rest = text.get(from..)?;
        let sign = signs.iter().find(|sign| rest.starts_with(sign))?;
        Some(from + sign.len())
    };
    let behind_space = |at: usize| at + usize::from(byte(text, at) == b' ');
    let minutes = behind_space(sign_end(number_end(start), &[DEGREE])?);
    let minutes_end = number_end(minutes);
    let end = sign_end(minutes_end, &MINUTE).filter(|_| minutes_end > minutes)?;
    let seconds = number_end(behind_space(end));
    let end = sign_end(seconds, &SECOND).unwrap_or(end);
    let letter = behind_space(end);
    Some(match byte(text, letter) {
        b'N' | b'S' | b'E' | b'W' => letter + 1,
        _ => end,
    })
}

/// Where degrees with three decimals or more end.
fn degrees_end(text: &[u8], start: usize) -> Option<usize> {
    const DECIMALS: std::ops::RangeInclusive<usize> = 3..=10;
    let from = start + usize::from(byte(text, start) == b'-');
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let whole = digits(from);
    let decimals = digits(from + whole + 1);
    let is_degrees = (1..=3).contains(&whole)
        && byte(text, from + whole) == b'.'
        && DECIMALS.contains(&decimals);
    is_degrees.then_some(from + whole + 1 + decimals)
}

/// `C:\\Users\\jdelgado\\`, the like below `home`: whose folder it is. `at..label_end` is the folder that has them all.
pub fn find_owner(text: &[u8], at: usize, label_end: usize) -> Option<Finding> {
    const NAME: std::ops::RangeInclusive<usize> = 4..=32;
    let sign = byte_before(text, at);
    let folder = text.get(at..label_end)?;
    let start = label_end
        + text
            .get(label_end..)?
            .iter()
            .take_while(|byte| **byte == sign)
            .count();
    let is_root = match sign {
        b'\\' => folder.eq_ignore_ascii_case(b"users"),
        b'/' => {
            let head = byte_before(text, at - 1);
            matches!(folder, b"Users" | b"home") && !is_word(head) && !b".-_}>/".contains(&head)
        }
        _ => false,
    };
    if !is_root || start == label_end {
        return None;
    }
    let rest = text.get(start..)?;
    let len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
        .count();
    let name = rest.get(..len)?;
    let digits = name
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let called = name.get(..len - digits)?;
    let is_nobodys = NOBODYS
        .iter()
        .any(|other| called.eq_ignore_ascii_case(other.as_bytes()));
    let is_owner = NAME.contains(&len)
        && byte(rest, len) == sign
        && byte(name, 0).is_ascii_alphabetic()
        && !is_nobodys;
    is_owner.then_some(Finding::new(OTHER_ID, start, start + len, 700).contextual())
}

/// Names of folders that programs and documentation have there.
const NOBODYS: &[&str] = &[
    "user",
    "users",
    "username",
    "your-username",
    "yourname",
    "your-name",
    "name",
    "openhands",
    "public",
    "default",
    "administrator",
    "admin",
    "root",
    "ubuntu",
    "debian",
    "ec2-user",
    "vagrant",
    "node",
    "runner",
    "jenkins",
    "vscode",
    "docker",
    "appuser",
    "deploy",
    "deployer",
    "developer",
    "service",
    "shared",
    "guest",
    "test",
    "tester",
    "demo",
    "example",
    "alice",
    "bob",
    "john",
    "jane",
    "somebody",
    "someone",
    "circleci",
    "travis",
    "gitlab-runner",
    "postgres",
    "www",
    "work",
    "workspace",
    "project",
    "projects",
    "code",
    "data",
    "linuxbrew",
    "codespace",
    "gitpod",
    "jovyan",
    "coder",
    "dashboard",
    "settings",
    "profile",
    "index",
    "page",
    "pages",
    "components",
    "assets",
    "about",
];
