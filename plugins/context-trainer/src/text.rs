//! Labeled texts: `=== group` begins one, `⟦KIND|value⟧` marks what is PHI in it.

use std::error::Error;
use std::path::Path;

use phi_context::tag::{SORTS, Sort};
use phi_lexicon::language::Language;

/// A text as pieces: what is marked has a sort.
#[derive(Clone, Debug)]
pub struct Text {
    pub group: String,
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
pub struct Piece {
    pub text: String,
    pub sort: Option<usize>,
}

impl Text {
    /// With digits of all scripts as the host gives them to detectors: those of ASCII.
    pub fn with_plain_digits(mut self) -> Self {
        for piece in &mut self.pieces {
            piece.text = piece.text.chars().map(digit).collect();
        }
        self
    }

    /// Which of the models learns from it.
    pub fn language(&self) -> Language {
        if self.group.starts_with("language") || self.group.starts_with("script") {
            Language::Other
        } else {
            Language::Own
        }
    }
}

/// All texts of the files of a folder, in the order of their names.
pub fn read(folder: &Path) -> Result<Vec<Text>, Box<dyn Error>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        let file = std::fs::read_to_string(&path)?;
        for part in format!("\n{file}").split("\n=== ").skip(1) {
            let (group, text) = part.split_once('\n').unwrap_or((part, ""));
            let pieces = pieces(text.trim_end_matches('\n'))
                .map_err(|problem| format!("{}: {group}: {problem}", path.display()))?;
            texts.push(Text {
                group: group.to_owned(),
                pieces,
            });
        }
    }
    Ok(texts)
}

/// Ten digits of a script stand together.
fn digit(letter: char) -> char {
    const ZEROS: [char; 16] = [
        '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{be6}', '\u{c66}',
        '\u{ce6}', '\u{d66}', '\u{e50}', '\u{ed0}', '\u{1040}', '\u{17e0}', '\u{ff10}', '\u{b66}',
    ];
    let at = |zero: &char| {
        u32::from(letter)
            .checked_sub((*zero).into())
            .filter(|at| *at < 10)
    };
    let value = ZEROS.iter().find_map(at);
    value
        .and_then(|value| char::from_digit(value, 10))
        .unwrap_or(letter)
}

fn pieces(mut text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    while let Some((plain, rest)) = text.split_once('⟦') {
        let (marked, rest) = rest.split_once('⟧').ok_or("a mark does not end")?;
        let (kind, value) = marked.split_once('|').ok_or("a mark without a kind")?;
        pieces.push(Piece {
            text: plain.to_owned(),
            sort: None,
        });
        pieces.push(Piece {
            text: value.to_owned(),
            sort: Some(sort(kind)?),
        });
        text = rest;
    }
    pieces.push(Piece {
        text: text.to_owned(),
        sort: None,
    });
    Ok(pieces)
}

/// Position in [`SORTS`] of what a kind is learnt as.
fn sort(kind: &str) -> Result<usize, String> {
    let sort = match kind {
        "NAME" => Sort::Name,
        "LOCATION" => Sort::Location,
        "ADDRESS" => Sort::Address,
        "ORGANIZATION" => Sort::Organization,
        "DATE" => Sort::Date,
        "AGE_OVER_89" => Sort::Age,
        "PHONE" | "FAX" | "EMAIL" | "SSN" | "MRN" | "HEALTH_PLAN_ID" | "ACCOUNT_NUMBER"
        | "CREDIT_CARD" | "LICENSE_NUMBER" | "VEHICLE_ID" | "DEVICE_ID" | "URL" | "IP_ADDRESS"
        | "BIOMETRIC_ID" | "OTHER_ID" => Sort::Code,
        _ => return Err(format!("{kind} is no kind")),
    };
    SORTS
        .iter()
        .position(|other| *other == sort)
        .ok_or_else(|| format!("{kind} has no sort"))
}
