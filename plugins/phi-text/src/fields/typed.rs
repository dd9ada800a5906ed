//! Names of variables that have their type between them and their value: `DECLARE @mrn varchar(20) = '60417'`,
//! `v_mrn VARCHAR2(10) := '60417'`, `let mrn: &str = "60417"`, `Dim mrn As String = "60417"`. Reads no value.

use super::is_label;

/// Types of texts, numbers and days.
const TYPES: [&[u8]; 24] = [
    b"varchar",
    b"varchar2",
    b"nvarchar",
    b"nvarchar2",
    b"char",
    b"nchar",
    b"bpchar",
    b"text",
    b"ntext",
    b"string",
    b"str",
    b"int",
    b"integer",
    b"bigint",
    b"number",
    b"numeric",
    b"decimal",
    b"date",
    b"datetime",
    b"datetime2",
    b"localdate",
    b"uniqueidentifier",
    b"sysname",
    b"any",
];

/// The name whose type `head` ends with.
pub(super) fn name(head: &[u8]) -> Option<&[u8]> {
    let head = head.trim_ascii_end();
    let head = match head.strip_suffix(b")") {
        // `varchar(20)`, `varchar(max)`
        Some(inside) => {
            let open = inside.iter().rposition(|byte| *byte == b'(')?;
            let is_size = |byte: &u8| byte.is_ascii_alphanumeric() || b", ".contains(byte);
            inside.get(open + 1..)?.iter().all(is_size).then_some(())?;
            inside.get(..open)?.trim_ascii_end()
        }
        None => head.strip_suffix(b"?").unwrap_or(head),
    };
    let (head, kind) = last_word(head)?;
    if !TYPES.iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        return None;
    }
    let head = head.trim_ascii_end();
    let head = head.strip_suffix(b"&").unwrap_or(head).trim_ascii_end();
    let (head, is_apart) = match head.strip_suffix(b":") {
        Some(head) => (head.trim_ascii_end(), true),
        None => (head, false),
    };
    let (before, word) = last_word(head)?;
    let is_filler = !is_apart
        && [&b"as"[..], b"constant"]
            .iter()
            .any(|filler| word.eq_ignore_ascii_case(filler));
    let word = if is_filler {
        last_word(before.trim_ascii_end())?.1
    } else {
        word
    };
    is_label(word).then_some(word)
}

/// What stands before the last word, and the word.
fn last_word(head: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = head.iter().rev().take_while(is_of_word).count();
    (len > 0).then(|| head.split_at_checked(head.len() - len))?
}
