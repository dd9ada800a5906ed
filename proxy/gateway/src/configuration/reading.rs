//! Reading a configuration file key by key: one that is not known, or has a value of another type, is told and left
//! out, and the others are read all the same.

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::Configuration;

/// What can be read of a file's text, and what is wrong with the rest of it, each with its line.
///
/// # Errors
/// A text that is no TOML.
pub(super) fn read(text: &str) -> Result<(Configuration, Vec<String>), Error> {
    let root = DeTable::parse(text)?;
    let span = root.span();
    let in_file = |table| Spanned::new(span.clone(), table);
    let mut wrong = Vec::new();
    let kept = readable(root.get_ref(), &in_file, text, &mut wrong);
    Ok((parse(in_file(kept), text)?, wrong))
}

/// The entries of a table that can be read. `placed` puts a table where this one stands.
fn readable<'t>(
    table: &DeTable<'t>,
    placed: &dyn Fn(DeTable<'t>) -> Spanned<DeTable<'t>>,
    text: &str,
    wrong: &mut Vec<String>,
) -> DeTable<'t> {
    let mut kept = DeTable::new();
    for (key, value) in table {
        let alone = |value: Spanned<DeValue<'t>>| {
            let mut table = DeTable::new();
            table.insert(key.clone(), value);
            placed(table)
        };
        let Err(error) = parse(alone(value.clone()), text) else {
            kept.insert(key.clone(), value.clone());
            continue;
        };
        let DeValue::Table(inner) = value.get_ref() else {
            // Nothing is wrong with a key that cannot be alone: what it needs may stand beside it.
            if needs_others(&error) {
                kept.insert(key.clone(), value.clone());
            } else {
                tell(wrong, &error);
            }
            continue;
        };
        let told = wrong.len();
        let nested = |inner: DeTable<'t>| alone(Spanned::new(value.span(), DeValue::Table(inner)));
        let inner = readable(inner, &nested, text, wrong);
        let inner = Spanned::new(value.span(), DeValue::Table(inner));
        match parse(alone(inner.clone()), text) {
            Ok(_) => drop(kept.insert(key.clone(), inner)),
            // What is missing may be what was just told of.
            Err(error) if needs_others(&error) && wrong.len() > told => {}
            Err(error) => tell(wrong, &error),
        }
    }
    kept
}

fn parse(table: Spanned<DeTable<'_>>, text: &str) -> Result<Configuration, Error> {
    Configuration::deserialize(Deserializer::from(table)).map_err(|mut error| {
        error.set_input(Some(text));
        error
    })
}

/// Serde's words for a key that must be there.
fn needs_others(error: &Error) -> bool {
    error.message().starts_with("missing field")
}

/// Every key of an unknown table has the same thing wrong with it.
fn tell(wrong: &mut Vec<String>, error: &Error) {
    let why = error.to_string().trim_end().to_owned();
    if !wrong.contains(&why) {
        wrong.push(why);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_key_that_cannot_be_read_is_told_and_the_others_count() {
        let text = "[limits]\nfoo = 1\nheader_ms = 7\nbody_ms = 'x'\n[server]\nthreads = 3\nbar = 2\n\
                    [nothing]\na = 1\nb = 2\n[providers.gamma]\nbase_url = 'http://a.example'\nconnect_mz = 5\n\
                    [server.tls]\ncertificate = 4\nkey = 'k'\n";
        let (read, wrong) = read(text).unwrap();
        for (why, line) in [
            ("`foo`", 2),
            ("invalid type: string", 4),
            ("`bar`", 7),
            ("`nothing`", 8),
            ("`connect_mz`", 13),
            ("invalid type: integer", 15),
        ] {
            let line = format!("at line {line},");
            let told = |one: &&String| one.contains(why) && one.contains(&line);
            assert_eq!(wrong.iter().filter(told).count(), 1, "{why}: {wrong:#?}");
        }
        assert_eq!(wrong.len(), 6, "{wrong:#?}");
        assert_eq!((read.limits.header_ms, read.server.threads), (7, 3));
        assert!(read.providers["gamma"].base_url.is_some());
        assert!(read.server.tls.is_none());
    }

    #[test]
    fn what_is_missing_is_told_once_and_what_is_sound_is_kept() {
        let (whole, wrong) = read("[server.tls]\ncertificate = 'c'\nkey = 'k'\n").unwrap();
        assert!(whole.server.tls.is_some() && wrong.is_empty(), "{wrong:#?}");
        let (part, wrong) = read("[server.tls]\ncertificate = 'c'\n").unwrap();
        assert!(part.server.tls.is_none());
        assert!(matches!(&wrong[..], [one] if one.contains("missing field `key`")));
        assert!(read("[server").is_err());
    }
}
