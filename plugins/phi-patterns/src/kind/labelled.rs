//! Codes that a label makes identifiers, on either side: `MRN: 482913`, `482913 (MRN)`, `482913 is her record number`.

mod apart;
mod code;
mod day;
mod dotted;
mod woven;

use super::account;
use super::licence::is_npi;
use super::read_out;
use super::{DEVICE_ID, FAX, Finding, HEALTH_PLAN_ID, LICENSE_NUMBER, OTHER_ID, PHONE, SSN};
use crate::number::Numbers;
use crate::text::{begins_with, byte, byte_before, ends_with, has, is_word, starts};
use crate::trigger::{Form, TRIGGERS, Trigger};

pub(super) use code::code_end;
use code::{digits_len, is_registration, whole_end};
use woven::Lead;
pub use woven::Strength;

/// What may stand between a label and its code.
const FILLERS: [&str; 31] = [
    "number", "numbers", "num", "no", "nr", "id", "ids", "code", "is", "was", "are", "value", "of",
    "as", "listed", "on", "file", "ending", "in", "the", "reads", "string", "for", "this",
    "patient", "pt", "her", "his", "my", "their", "ref",
];
/// Bytes between a label and its code.
const MAX_FILLER_BYTES: usize = 36;
/// Further codes of a list behind one label.
const MAX_LISTED: usize = 16;
/// Digits that a code behind a word of every day has, where no sign stands between.
const MIN_BARE_DIGITS: usize = 6;

const LABEL_SCORE: u16 = 900;
const WORD_SCORE: u16 = 800;
const BEHIND_SCORE: u16 = 750;

/// The code behind the label that begins at `at` and ends at `label_end`.
pub fn find(text: &[u8], at: usize, label_end: usize, trigger: Trigger) -> Option<Finding> {
    let (kind, form, is_word_of_every_day) = trigger.code()?;
    // `70 mg/dL` is a measure.
    let head = byte_before(text, at);
    if head == b'@' || head == b'/' && is_word_of_every_day {
        return None;
    }
    let label = text.get(at..label_end)?;
    if label.eq_ignore_ascii_case(b"id") {
        return of_somebody(text, at, label_end);
    }
    let gap = Gap::behind(text, label_end);
    if is_type(text, at, label_end, gap.end) {
        return None;
    }
    if is_word_of_every_day && day::follows(text, gap.end) {
        return None;
    }
    let form = in_plan(text, at, kind, form, &gap);
    // What a word of every day ends a line with is not told by the next one.
    let is_below = || {
        let between = text.get(label_end..gap.end).unwrap_or_default();
        form == Form::Distinct && !gap.is_said && between.contains(&b'\n')
    };
    if is_tag(text, gap.end) || is_below() {
        return None;
    }
    if let Some(end) = said_end(text, gap.end, form) {
        return Some(Finding::new(kind, gap.end, end, LABEL_SCORE).contextual());
    }
    let is_counted = is_word_of_every_day && !gap.is_said;
    let strength = if is_word_of_every_day {
        Strength::Everyday
    } else {
        Strength::Sure
    };
    let lead = gap.lead(text, label_end);
    let end = apart::read_out(text, gap.end, form, is_counted)
        .or_else(|| dotted_end(text, gap.end, form, lead, strength))
        .or_else(|| code_end(text, gap.end, form))
        .or_else(|| apart::groups_end(text, gap.end, form))
        .or_else(|| woven_end(text, gap.end, (kind, form), lead, strength));
    let Some(end) = end else {
        return behind_somebody(text, label, gap.end, kind);
    };
    // Before the rest of the code is read: a word of every text may stand in it again and again.
    if is_weak(text, (at, label_end), (gap.end, end))
        || kind == OTHER_ID && is_of_code_system(text, (at, label_end), (gap.end, end))
    {
        return None;
    }
    let end = whole_end(text, gap.end, end);
    let code = text.get(gap.end..end)?;
    let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_plate = form == Form::Plate && is_registration(code);
    let is_handle = form == Form::Handle;
    let is_bare = is_word_of_every_day && !gap.is_said && !is_plate && !is_handle;
    if is_bare
        && digits < MIN_BARE_DIGITS
        && !is_lettered(code)
        && !is_abbreviated(label, code, digits)
        && !is_woven(label, code)
    {
        return None;
    }
    // `chart 2024` and `MRN in 2024` are about a year.
    if !gap.has_sign && code.len() == 4 && matches!(code, [b'1', b'9', ..] | [b'2', b'0', ..]) {
        return None;
    }
    if is_range_of_values(label, code) || is_pacing(label, code) {
        return None;
    }
    if form == Form::Handle && !account::is_one(text, (at, label_end), (gap.end, end), gap.is_said)
    {
        return None;
    }
    let end = if is_handle {
        with_number(text, end)
    } else {
        end
    };
    let score = if is_word_of_every_day {
        WORD_SCORE
    } else {
        LABEL_SCORE
    };
    Some(finding(kind, gap.end, end, score, code))
}

/// `pacemaker DDDR60-130`: how it paces and how often.
fn is_pacing(label: &[u8], code: &[u8]) -> bool {
    const MODES: [&[u8]; 5] = [b"DDD", b"DDDR", b"VVI", b"VVIR", b"AAI"];
    let letters = code.iter().take_while(|byte| byte.is_ascii_alphabetic());
    let mode = code.get(..letters.count()).unwrap_or_default();
    label.eq_ignore_ascii_case(b"pacemaker") && MODES.contains(&mode)
}

/// `` `fmt::Subscriber` ([#2962])``, `` `FutureExt` ([#7475])``: the end of what a program calls something, and the number
/// of a report about it.
fn is_type(text: &[u8], start: usize, end: usize, code: usize) -> bool {
    let is_report = text
        .get(..code)
        .is_some_and(|head| head.ends_with(b"[#") || head.ends_with(b"(#"));
    let is_quoted = text.get(end..code).is_some_and(|gap| gap.contains(&b'`'));
    let head = byte_before(text, start);
    is_report && is_quoted && (is_word(head) || head == b':')
}

/// Where a number with dots ends, behind a label that nothing but a code follows or behind a sign.
fn dotted_end(
    text: &[u8],
    start: usize,
    form: Form,
    lead: Lead,
    strength: Strength,
) -> Option<usize> {
    let may_be = matches!(form, Form::Code | Form::Mixed)
        && (strength == Strength::Sure || lead > Lead::Bare)
        && byte(text, start).is_ascii_digit();
    may_be.then(|| dotted::record_end(text, start))?
}

/// Where a code of letters with few digits ends, where numbers of the kind have letters.
fn woven_end(
    text: &[u8],
    start: usize,
    (kind, form): (usize, Form),
    lead: Lead,
    strength: Strength,
) -> Option<usize> {
    let may_be = match (kind, form, strength) {
        (PHONE | FAX | SSN, ..) => false,
        // Providers have numbers of digits, and what is under a license is a program too.
        (LICENSE_NUMBER, Form::Code, _) | (LICENSE_NUMBER, _, Strength::Everyday) => false,
        (_, Form::Code | Form::Mixed, _) => true,
        _ => false,
    };
    may_be.then(|| woven::end(text, start, lead, strength))?
}

/// `Reference: 135-145`: what is usual for a value, from a lesser number to a greater one.
pub fn is_range_of_values(label: &[u8], code: &[u8]) -> bool {
    /// Digits of a bound that is not rounded.
    const MAX_DIGITS: usize = 3;
    let bound = |part: &[u8]| {
        let is_number = (1..=9).contains(&part.len())
            && byte(part, 0) != b'0'
            && part.iter().all(u8::is_ascii_digit);
        is_number.then(|| {
            let digit = |value: u32, digit: &u8| value * 10 + u32::from(digit - b'0');
            part.iter().fold(0, digit)
        })
    };
    let mut parts = code.split(|byte| *byte == b'-').map(bound);
    let (Some(Some(low)), Some(Some(high)), None) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_short = code.len() <= 2 * MAX_DIGITS + 1 && high < 1000;
    let is_rounded = low % 100 == 0 && high % 100 == 0;
    let is_of_reference = ["reference", "ref", "range"]
        .iter()
        .any(|word| starts(label, word.as_bytes()));
    is_of_reference && low < high && (is_short || is_rounded)
}

/// `FP-99120-A`, `LFF22019V`: capitals and digits enough for no form and no standard.
fn is_lettered(code: &[u8]) -> bool {
    const DIGITS: usize = 5;
    let capitals = code.iter().take_while(|byte| byte.is_ascii_uppercase());
    let digits = code.iter().filter(|byte| byte.is_ascii_digit());
    capitals.count() >= 2 && digits.count() >= DIGITS && !code.contains(&b' ')
}

/// `jrod#1234`: where the number behind the name of an account ends.
fn with_number(text: &[u8], end: usize) -> usize {
    const DIGITS: usize = 4;
    let is_one = byte(text, end) == b'#' && digits_len(text, end + 1) == DIGITS;
    match is_one && !is_word(byte(text, end + 1 + DIGITS)) {
        true => end + 1 + DIGITS,
        false => end,
    }
}

/// `HAR 88123`, `GRP RX7712`, `lic. A12345`, `Chart 88120`: behind an abbreviation, or the name of a file with a capital,
/// fewer digits are a number than behind a word.
fn is_abbreviated(label: &[u8], code: &[u8], digits: usize) -> bool {
    let capitals = code.iter().take_while(|byte| byte.is_ascii_uppercase());
    let least = match label {
        b"Chart" => 5,
        _ if label.len() > 3 => return false,
        // Behind the numbers of a pharmacy's plan.
        b"grp" if capitals.clone().count() >= 2 => 4,
        _ if label.iter().all(u8::is_ascii_uppercase) => match capitals.count() {
            2.. => 4,
            _ => 5,
        },
        _ if label.eq_ignore_ascii_case(b"lic") && capitals.count() > 0 => 5,
        _ => return false,
    };
    digits >= least
}

/// `SN 8GK2L1`: behind an abbreviation, capitals and digits in turns.
fn is_woven(label: &[u8], code: &[u8]) -> bool {
    const MIN_BYTES: usize = 6;
    const MIN_TURNS: usize = 3;
    let is_plain = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let turns = code
        .windows(2)
        .filter(|pair| matches!(pair, [one, two] if one.is_ascii_digit() != two.is_ascii_digit()));
    label.iter().all(|byte| is_plain(byte) || *byte == b'/')
        && code.len() >= MIN_BYTES
        && code.iter().all(is_plain)
        && turns.count() >= MIN_TURNS
}

/// `Subscriber Min-ho Bae, XYB447102938`: the number of a plan behind the name of whose it is.
fn behind_somebody(text: &[u8], label: &[u8], start: usize, kind: usize) -> Option<Finding> {
    /// Words of the name.
    const MOST: usize = 4;
    const WHOSE: [&[u8]; 6] = [
        b"subscriber",
        b"member",
        b"insured",
        b"enrollee",
        b"beneficiary",
        b"policyholder",
    ];
    if kind != HEALTH_PLAN_ID || !WHOSE.iter().any(|word| label.eq_ignore_ascii_case(word)) {
        return None;
    }
    let mut at = start;
    for _ in 0..MOST {
        let rest = text.get(at..)?;
        let letters = rest
            .iter()
            .take_while(|byte| {
                byte.is_ascii_alphabetic() || **byte >= 0x80 || b"-'.".contains(byte)
            })
            .count();
        if letters == 0 || !byte(rest, 0).is_ascii_uppercase() {
            return None;
        }
        at += letters;
        let sign = [", ", " (", " - ", "; "]
            .iter()
            .find(|sign| starts(text.get(at..).unwrap_or_default(), sign.as_bytes()));
        if let Some(sign) = sign {
            let from = at + sign.len();
            let end = code_end(text, from, Form::Distinct)?;
            let code = text.get(from..end)?;
            let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
            return (is_lettered(code) && digits >= MIN_BARE_DIGITS)
                .then_some(Finding::new(kind, from, end, WORD_SCORE).contextual());
        }
        at += usize::from(byte(text, at) == b' ');
    }
    None
}

/// Whether the label is a word of every text, and the code is none that it has: `sample 250000 rows`, `lead 12`.
fn is_weak(text: &[u8], label: (usize, usize), code: (usize, usize)) -> bool {
    const LETTERED: &[&str] = &["sample", "lead", "leads", "subj"];
    let word = text.get(label.0..label.1).unwrap_or_default();
    let between = text.get(label.1..code.0).unwrap_or_default();
    let number = text.get(code.0..code.1).unwrap_or_default();
    let is_one_of = |words: &[&str]| {
        words
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    };
    // `Subj 014-0023`: a site and the subject's number there.
    let is_of_site = || {
        let dash = number.iter().position(|byte| *byte == b'-').unwrap_or(0);
        is_one_of(&["subj"])
            && matches!(dash, 2..=4)
            && matches!(number.len() - dash, 4..=6)
            && number
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'-')
            && number.starts_with(b"0")
    };
    // `Rx BIN 004336` is no prescription.
    if is_one_of(&["rx"]) {
        return !number.iter().all(u8::is_ascii_digit);
    }
    if is_one_of(LETTERED) {
        return !is_of_site() && !number.iter().any(u8::is_ascii_uppercase) || between != b" ";
    }
    // `Patient 0048812`, and no day and no telephone.
    let is_day = number.len() == 8 && matches!(number, [b'1', b'9', ..] | [b'2', b'0', ..]);
    let is_number = (6..=8).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
    is_one_of(&["patient"])
        && (between != b" " || !is_number || is_day || !byte(word, 0).is_ascii_uppercase())
}

/// `auth for CPT 72148`, `authorization for J1745`, `order for 70553`: what is done, by the number that all have for it.
fn is_of_code_system(text: &[u8], label: (usize, usize), (start, end): (usize, usize)) -> bool {
    const SYSTEMS: &[&str] = &[
        "cpt", "hcpcs", "icd", "icd10", "ndc", "loinc", "drg", "snomed", "rxnorm",
    ];
    let (between, code) = (text.get(label.1..start), text.get(start..end));
    let (between, code) = (between.unwrap_or_default(), code.unwrap_or_default());
    let is_procedure = match code {
        [first, digits @ ..] => {
            (first.is_ascii_uppercase() || first.is_ascii_digit())
                && digits.len() == 4
                && digits.iter().all(u8::is_ascii_digit)
        }
        [] => false,
    };
    // `Case number for her: 48213` and `Accession for her: A4812` are somebody's; `authorization for her J1745` is not.
    let label = text.get(label.0..label.1).unwrap_or_default();
    let is_numbered = || [label, between].iter().any(|part| has(part, NUMBERED));
    let is_for_somebody = || {
        byte(code, 0).is_ascii_uppercase()
            && ends_with(label, REQUESTS)
            && begins_with(between, &["for"])
            && !is_numbered()
            && !between.iter().any(|byte| b":#=".contains(byte))
    };
    begins_with(code, SYSTEMS)
        || ends_with(between, SYSTEMS)
        || is_procedure && (between.trim_ascii().eq_ignore_ascii_case(b"for") || is_for_somebody())
}

/// What is asked for somebody, and named by its procedure.
const REQUESTS: &[&str] = &[
    "auth",
    "authorization",
    "order",
    "referral",
    "request",
    "claim",
];
/// Words that lead to a code of somebody.
const NUMBERED: &[&str] = &["number", "numbers", "num", "no", "nr", "id", "code", "ref"];

/// Words before `ID` that say whose it is.
#[rustfmt::skip]
const PLAN_WORDS: &[&str] = &[
    "member", "subscriber", "insured", "insurance", "plan", "payer", "policy", "enrollee", "beneficiary", "rx",
    "coverage", "carrier", "aetna", "cigna", "bcbs", "humana", "medicaid", "medicare", "denied", "claim", "pcn",
    "grp", "payor", "mbr", "ins", "highmark", "premera", "regence", "carefirst", "molina", "centene", "ambetter",
    "wellcare", "wellpoint", "emblemhealth",
];
const PERSON_WORDS: &[&str] = &[
    "patient", "pt", "name", "her", "his", "client", "resident", "dob",
];

/// `Member: Rosa Diaz  ID: 9920118842`: any record of a program has an `id`, only somebody's counts, in capitals.
fn of_somebody(text: &[u8], at: usize, label_end: usize) -> Option<Finding> {
    /// Bytes of a name with its label.
    const NEAR_BYTES: usize = 64;
    let is_label = text.get(at..label_end) == Some(b"ID")
        && matches!(byte(text, label_end), b':' | b'#' | b' ')
        && matches!(byte_before(text, at), b' ' | b'\t' | b'(' | b'|');
    if !is_label {
        return None;
    }
    let near = text.get(at.saturating_sub(NEAR_BYTES)..at)?;
    let line = near.rsplit(|byte| *byte == b'\n').next().unwrap_or(near);
    let kind = if has(line, PLAN_WORDS) {
        HEALTH_PLAN_ID
    } else if has(line, PERSON_WORDS) || is_in_aside(text, at, label_end) {
        OTHER_ID
    } else {
        return None;
    };
    let gap = Gap::behind(text, label_end);
    let end = code_end(text, gap.end, Form::Distinct)
        .or_else(|| apart::groups_end(text, gap.end, Form::Distinct))?;
    Some(Finding::new(kind, gap.end, end, WORD_SCORE).contextual())
}

/// `(ID MCD-77120093)`: alone in brackets, with a code that is long and has letters.
fn is_in_aside(text: &[u8], at: usize, label_end: usize) -> bool {
    let rest = text.get(label_end + 1..).unwrap_or_default();
    let len = rest
        .iter()
        .take_while(|byte| is_word(**byte) || **byte == b'-')
        .count();
    let code = rest.get(..len).unwrap_or_default();
    byte_before(text, at) == b'(' && byte(rest, len) == b')' && code.len() > 7 && is_lettered(code)
}

/// `Member: … Group: 70012`: beside another number of a plan, a group is one of its, whatever it looks like.
fn in_plan(text: &[u8], at: usize, kind: usize, form: Form, gap: &Gap) -> Form {
    /// Bytes of the other number with its label.
    const NEAR_BYTES: usize = 80;
    if kind != HEALTH_PLAN_ID || form != Form::Distinct || !gap.has_sign {
        return form;
    }
    // `group: 1000 members` counts.
    let rest = text.get(gap.end..).unwrap_or_default();
    let code = rest.iter().take_while(|byte| is_word(**byte)).count();
    let behind = rest.get(code..).unwrap_or_default();
    if begins_with(
        behind,
        &[
            "members",
            "patients",
            "people",
            "employees",
            "enrollees",
            "of",
        ],
    ) {
        return form;
    }
    let near = text.get(at.saturating_sub(NEAR_BYTES)..at);
    if near.is_some_and(|near| has(near, PLAN_WORDS)) {
        Form::Mixed
    } else {
        form
    }
}

/// The next code of a list: `MRNs 48291, 48292 and 48293`.
pub fn find_next(text: &[u8], last: &Finding, form: Form) -> Option<Finding> {
    let rest = text.get(last.end..)?;
    let sign = [", and ", " and ", ", ", "; ", " & ", "/", ","];
    let sign = sign.iter().find(|sign| starts(rest, sign.as_bytes()))?;
    let start = last.end + sign.len();
    let end = code_end(text, start, form)
        .or_else(|| woven_end(text, start, (last.kind, form), Lead::Bare, Strength::Sure))?;
    let end = whole_end(text, start, end);
    let is_alike = (end - start).abs_diff(last.end - last.start) <= 1
        && byte(text, start).is_ascii_digit() == byte(text, last.start).is_ascii_digit();
    is_alike.then_some(Finding::new(last.kind, start, end, last.score).contextual())
}

/// All codes behind the label at `at`, the first first.
pub fn find_all(
    text: &[u8],
    at: usize,
    label_end: usize,
    trigger: Trigger,
    findings: &mut Vec<Finding>,
) -> Option<usize> {
    let (Trigger::Label(_, form) | Trigger::Word(_, form)) = trigger else {
        return None;
    };
    let mut last = find(text, at, label_end, trigger)?;
    findings.push(last);
    for _ in 0..MAX_LISTED {
        let Some(next) = find_next(text, &last, form) else {
            break;
        };
        findings.push(next);
        last = next;
    }
    Some(last.end)
}

/// A number of five digits or more with its label behind it.
pub fn find_behind(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    /// Digits of the shortest number whose label is looked for behind it.
    const MIN_DIGITS: usize = 5;
    let group = numbers.group(at);
    if let Some(found) = apart::in_brackets(numbers, at) {
        return Some(found);
    }
    if group.len() < MIN_DIGITS
        || is_word(byte_before(numbers.text, group.start))
        || is_word(byte(numbers.text, group.end))
    {
        return None;
    }
    let text = numbers.text;
    let mut label = group.end;
    if byte(text, label) == b'"' {
        label += 1;
    }
    label += usize::from(byte(text, label) == b' ');
    let is_in_brackets = byte(text, label) == b'(';
    if is_in_brackets {
        label += 1;
    } else {
        let said = ["is ", "was ", "= ", "as ", "- "]
            .iter()
            .find(|said| starts(text.get(label..).unwrap_or_default(), said.as_bytes()))?;
        label += said.len();
    }
    for word in [
        "the ",
        "her ",
        "his ",
        "my ",
        "their ",
        "patient's ",
        "patient ",
        "your ",
    ] {
        if starts(text.get(label..).unwrap_or_default(), word.as_bytes()) {
            label += word.len();
            break;
        }
    }
    let rest = text.get(label..).unwrap_or_default();
    if ["ssn", "social"]
        .iter()
        .any(|word| starts(rest, word.as_bytes()))
        && group.len() == 9
    {
        return Some(Finding::new(SSN, group.start, group.end, BEHIND_SCORE).contextual());
    }
    if ["cell", "phone", "mobile", "tel"]
        .iter()
        .any(|word| starts(rest, word.as_bytes()))
        && group.len() >= 7
    {
        return Some(Finding::new(PHONE, group.start, group.end, BEHIND_SCORE).contextual());
    }
    if starts(rest, b"fax") && group.len() >= 7 {
        return Some(Finding::new(FAX, group.start, group.end, BEHIND_SCORE).contextual());
    }
    let found = TRIGGERS.longest_at(text, label)?;
    // `52144 (workstation WS-0441)`: the label has its own code.
    let is_closed = byte(text, found.0) == b')';
    if is_in_brackets && !is_closed && find(text, label, found.0, *found.1).is_some() {
        return None;
    }
    match found {
        (_, Trigger::Label(_, Form::Said(_)) | Trigger::Word(_, Form::Distinct)) => None,
        (_, Trigger::Label(kind, _) | Trigger::Word(kind, _)) => {
            Some(Finding::new(*kind, group.start, group.end, BEHIND_SCORE).contextual())
        }
        _ => None,
    }
}

pub(super) fn finding(kind: usize, start: usize, end: usize, score: u16, code: &[u8]) -> Finding {
    let finding = Finding::new(kind, start, end, score).contextual();
    let is_verified =
        kind == LICENSE_NUMBER && is_npi(code) || kind == DEVICE_ID && super::device::is_imei(code);
    if is_verified {
        finding.verified()
    } else {
        finding
    }
}

/// Where a number ends that is said in words. Codes of an institution have five digits or more.
fn said_end(text: &[u8], start: usize, form: Form) -> Option<usize> {
    const LEAST: usize = 5;
    let least = match form {
        Form::Said(least) => least,
        Form::Code | Form::Mixed | Form::Nine => LEAST,
        _ => return None,
    };
    byte(text, start)
        .is_ascii_alphabetic()
        .then(|| read_out::end(text, start, least))?
}

/// What stands between a label and its code.
struct Gap {
    end: usize,
    /// `:`, `#`, `=` or a quote.
    has_sign: bool,
    /// A sign, or a word such as `is`.
    is_said: bool,
}

impl Gap {
    fn lead(&self, text: &[u8], label_end: usize) -> Lead {
        let from = label_end.saturating_sub(1);
        let between = text.get(from..self.end).unwrap_or_default();
        if between.iter().any(|byte| b":=#".contains(byte)) {
            Lead::Signed
        } else {
            Lead::Bare
        }
    }

    fn behind(text: &[u8], label_end: usize) -> Self {
        let mut gap = Self {
            end: code_start(text, label_end),
            // `MR#` ends with its sign.
            has_sign: byte_before(text, label_end) == b'#',
            is_said: byte_before(text, label_end) == b'#',
        };
        let limit = label_end + MAX_FILLER_BYTES;
        let mut closed_line = false;
        while gap.end < limit {
            let rest = text.get(gap.end..).unwrap_or_default();
            let is_fresh = gap.end != label_end || !is_word(byte(rest, 0));
            let word = FILLERS.iter().find(|word| {
                // `IS-4471` is no `is`.
                is_fresh
                    && starts(rest, word.as_bytes())
                    && !is_word(byte(rest, word.len()))
                    && !rest.starts_with(b"IS-")
            });
            let sign = byte(rest, 0);
            if let Some(word) = word {
                gap.end += word.len();
                gap.is_said = true;
            } else if let Some(aside) = aside_len(rest) {
                gap.end += aside;
                gap.has_sign |= sign == b'<';
                gap.is_said |= sign == b'<';
            } else if b":#=\"'>|`?".contains(&sign) || is_handle_sign(text, gap.end) {
                gap.end += 1;
                gap.has_sign = true;
                gap.is_said = true;
            } else if b" -_.()[]*\t\\,".contains(&sign) {
                gap.end += 1;
            } else if matches!(sign, b'\n' | b'\r') && !closed_line {
                // A code may stand on the line below its label.
                closed_line = true;
                gap.end += 1;
            } else {
                break;
            }
        }
        gap
    }
}

/// Where the code begins that the label runs into: the `S` of `MRN S978323` is none of `MRNs`.
fn code_start(text: &[u8], label_end: usize) -> usize {
    let head = text.get(..label_end).unwrap_or_default();
    let is_glued = matches!(head, [.., b' ', last] if last.is_ascii_uppercase())
        && byte(text, label_end).is_ascii_digit();
    label_end - usize::from(is_glued)
}

/// The `@` of `Instagram @nkem.obiora`, which `user@host` has not, and the `$` of `Cash App $nkem`.
fn is_handle_sign(text: &[u8], at: usize) -> bool {
    matches!(byte(text, at), b'@' | b'$')
        && byte_before(text, at) == b' '
        && byte(text, at + 1).is_ascii_alphabetic()
}

/// Bytes of a tag, or of words in brackets, that stand between a label and its code: `MRN</td><td>12345`,
/// `MRN (Mercy): 12345`.
fn aside_len(rest: &[u8]) -> Option<usize> {
    const MAX_BYTES: usize = 24;
    let close = match byte(rest, 0) {
        b'<' => b'>',
        b'(' => b')',
        _ => return None,
    };
    let end = rest
        .iter()
        .take(MAX_BYTES)
        .position(|byte| *byte == close)?;
    let inside = rest.get(1..end)?;
    let is_aside =
        !inside.iter().any(u8::is_ascii_digit) && inside.iter().any(u8::is_ascii_alphabetic);
    is_aside.then_some(end + 1)
}

/// `(0008,0050)`, the number of a field of DICOM, whose first digit is at `start`.
fn is_tag(text: &[u8], start: usize) -> bool {
    let tag = text.get(start..start + 10).unwrap_or_default();
    let is_hex = |from: usize| {
        tag.get(from..from + 4)
            .is_some_and(|part| part.iter().all(u8::is_ascii_hexdigit))
    };
    byte_before(text, start) == b'('
        && is_hex(0)
        && is_hex(5)
        && matches!(tag, [_, _, _, _, b',', .., b')'])
}

/// A field that is labelled by its place: the whole value, as far as it is of the form.
pub fn find_field(
    text: &[u8],
    start: usize,
    end: usize,
    kind: usize,
    form: Form,
    strength: Strength,
) -> Option<Finding> {
    let value = text.get(start..end)?;
    if form == Form::Dial
        && let Some((from, to)) = area_and_local(value)
    {
        return Some(Finding::new(kind, start + from, start + to, LABEL_SCORE + 20).contextual());
    }
    // HL7 components: the first is the identifier.
    let value = value.split(|byte| matches!(byte, b'^' | b'&')).next()?;
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"+").unwrap_or(value);
    let from = start
        + text
            .get(start..end)?
            .windows(value.len().max(1))
            .position(|part| part == value)?;
    let first = if form == Form::Dial {
        from
    } else {
        from + value.iter().position(|byte| is_word(*byte))?
    };
    // `order_id = order1`: behind a sign without quotes a program's own names stand.
    let head = text.get(..start)?.trim_ascii_end();
    let lead = if head.ends_with(b"=") {
        Lead::Signed
    } else {
        Lead::Field
    };
    let inside = text.get(..from + value.len())?;
    let found = dotted_end(inside, first, form, lead, strength)
        .or_else(|| code_end(inside, first, form))
        .or_else(|| woven_end(inside, first, (kind, form), lead, strength))?;
    let found = whole_end(inside, first, found);
    let code = text.get(first..found)?;
    if form == Form::Handle
        && (account::is_nobody(code) || account::is_expression(code) || found < from + value.len())
    {
        return None;
    }
    // The rest of the value would be something else than the code: `12 of 14`.
    let is_whole = found + 2 >= from + value.len() || form == Form::Dial;
    is_whole.then(|| finding(kind, first, found, LABEL_SCORE + 20, code))
}

/// `^PRN^PH^^1^559^5550142`: where the sixth and the seventh component of a telephone stand, when both are filled
/// (HL7 v2.5.1, XTN).
fn area_and_local(value: &[u8]) -> Option<(usize, usize)> {
    /// Components before the area.
    const AREA: usize = 5;
    let mut from = 0;
    for _ in 0..AREA {
        from += value.get(from..)?.iter().position(|byte| *byte == b'^')? + 1;
    }
    let area = digits_len(value, from);
    let local = digits_len(value, from + area + 1);
    let to = from + area + 1 + local;
    let fits = matches!((area, local), (3, 7)) && byte(value, from + area) == b'^';
    (fits && !is_word(byte(value, to))).then_some((from, to))
}
