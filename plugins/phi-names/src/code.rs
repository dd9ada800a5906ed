//! Words of programs and of laboratories that the lists hold for names, or that look like some.

use phi_lexicon::{Hash, look_up};

use crate::kind::Finding;

/// Bytes from a name of an attribute back to where its tag begins.
const MAX_TAG_BYTES: usize = 256;

/// `elif x:`, `<html lang="en">`, `min-width: 3px`, `claude-opus-4`, `expect(x).toBe(y)`, `MIN_MEMORY_BYTES = 5`,
/// `- name: Install Rust`.
pub fn is_of_program(text: &str, finding: &Finding) -> bool {
    let word = text.get(finding.start..finding.end).unwrap_or_default();
    // Immunoglobulins.
    if matches!(word, "IgA" | "IgD" | "IgE" | "IgG" | "IgM") {
        return true;
    }
    let (before, behind) = text.split_at_checked(finding.start).unwrap_or_default();
    let behind = behind.get(word.len()..).unwrap_or_default();
    is_small(before, word, behind.as_bytes())
        || is_humped(word) && behind.starts_with('(')
        || is_constant(word, behind)
        || is_step(before, behind)
}

fn is_small(before: &str, word: &str, behind: &[u8]) -> bool {
    let is_small = |sign: u8| sign.is_ascii_lowercase() || sign == b'-';
    if !word.bytes().all(is_small) {
        return false;
    }
    // `<html lang="en">`
    let in_tag = || {
        let mut signs = before.bytes().rev().take(MAX_TAG_BYTES);
        signs.find(|byte| matches!(byte, b'<' | b'>')) == Some(b'<')
    };
    word == "elif"
        || word.starts_with("min-")
        || word.starts_with("max-")
        || matches!(behind, [b'-', b'0'..=b'9', ..])
        || matches!(behind, [b'=', b'"' | b'\'' | b'{', ..]) && in_tag()
}

/// One word that begins small and has a capital: `toBe`, but not `LaShawn`.
fn is_humped(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.iter().all(u8::is_ascii_alphabetic)
        && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes
            .windows(2)
            .any(|pair| matches!(pair, [small, capital] if small.is_ascii_lowercase() && capital.is_ascii_uppercase()))
}

/// Bytes of the longest type between a constant and its value.
const MAX_TYPE_BYTES: usize = 64;

/// The head of a constant of three words or more that gets its value here, or its type.
fn is_constant(word: &str, behind: &str) -> bool {
    const MIN_WORDS: usize = 3;
    let is_part = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let tail = behind.bytes().take_while(is_part).count();
    let name = behind.get(..tail).unwrap_or_default();
    name.starts_with('_')
        && word.bytes().all(|byte| is_part(&byte))
        && word.matches('_').count() + name.matches('_').count() + 1 >= MIN_WORDS
        && behind.get(tail..).is_some_and(|rest| {
            let head = rest.get(..rest.floor_char_boundary(MAX_TYPE_BYTES));
            let line = head.unwrap_or_default().lines().next();
            let is_typed = || line.is_some_and(|line| line.contains(" = "));
            rest.starts_with(" = ") || rest.starts_with(": ") && is_typed()
        })
}

/// Bytes of a step's name and of the key behind it.
const MAX_STEP_BYTES: usize = 160;

/// What a step of a pipeline, a container or the like is called: the next line says what it does.
fn is_step(before: &str, behind: &str) -> bool {
    const KEYS: [&str; 14] = [
        "uses",
        "run",
        "runs-on",
        "image",
        "command",
        "script",
        "shell",
        "with",
        "steps",
        "needs",
        "containerPort",
        "mountPath",
        "if",
        "on",
    ];
    let label = before.trim_end_matches(['"', '\'', ' ']);
    if !label.ends_with("name:") {
        return false;
    }
    let near = behind.get(..behind.floor_char_boundary(MAX_STEP_BYTES));
    let next = near.unwrap_or_default().lines().nth(1);
    let next = next.unwrap_or_default().trim_start();
    let key = next.strip_prefix("- ").unwrap_or(next).split(':').next();
    next.contains(':') && key.is_some_and(|key| KEYS.contains(&key))
}

/// `name: Senior Developer`, and `description: …` in the next line: a word of what a skill or a program is called. A
/// name is all of its line.
pub fn is_of_card(text: &str, finding: &Finding) -> bool {
    /// Bytes of the rest of what it is called.
    const NEAR: usize = 80;
    let (before, behind) = (text.get(..finding.start), text.get(finding.end..));
    let (before, behind) = (before.unwrap_or_default(), behind.unwrap_or_default());
    let is_first = before
        .trim_end_matches(['"', '\''])
        .strip_suffix("name: ")
        .is_some_and(|head| head.is_empty() || head.ends_with('\n') || head.ends_with("--- "));
    let value = text.get(finding.start..finding.end).unwrap_or_default();
    let has_given = value
        .split(|sign: char| !sign.is_alphanumeric())
        .any(|word| look_up(Hash::new().over(word)).is_given());
    // Lines may have become one where a text is read as it wraps.
    let near = behind
        .get(..behind.floor_char_boundary(NEAR))
        .unwrap_or_default();
    is_first
        && !has_given
        && near.split_once("description:").is_some_and(|(rest, _)| {
            rest.contains(char::is_alphanumeric) && rest.ends_with(['\n', ' '])
        })
}

#[cfg(test)]
mod tests {
    use crate::Names;
    use detector_kit::cases::{finds, leaves_alone};

    #[test]
    fn words_of_programs_are_nobodys() {
        leaves_alone::<Names>(&[
            "expect(result.error).toBe(\"x\")",
            "export const MIN_MEMORY_SYNC_MS = 5;",
            "pub const KERN_ANOM_MSG: u32 = 1700;",
            "    - name: Install Rust\n      uses: dtolnay/rust-toolchain@stable",
            "- name: \"Run Clippy\"\n  run: cargo clippy",
        ]);
        finds::<Names>(&[
            ("- name: Maria Lopez\n  age: 41", &["NAME:Maria Lopez"]),
            ("LOPEZ_MARIA_MRI.dcm", &["NAME:LOPEZ_MARIA"]),
            ("Dr. VanDyke(ortho) came", &["NAME:VanDyke"]),
            ("Pt: McDonald(DOB 3/4/62) seen", &["NAME:McDonald"]),
        ]);
    }
}
