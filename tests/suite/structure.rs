//! What can be checked about the house itself: who may name what, what every file says.

use std::path::{Path, PathBuf};

use svc_tests::program;

/// Every file of the repository below these folders that has this ending, with its text.
fn files(folders: &[&str], ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in folders {
        walk(&program::repository().join(folder), ending, &mut found);
    }
    assert!(!found.is_empty(), "no *{ending} in {folders:?}");
    found
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<(PathBuf, String)>) {
    for entry in
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != "dist" && name != "node_modules" {
            walk(&path, ending, found);
        } else if name.ends_with(ending) {
            found.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// A file without its comments: they may name anything.
fn code(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn names_crate(text: &str, name: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.match_indices(name).any(|(at, _)| {
        let before = at
            .checked_sub(1)
            .and_then(|before| text.as_bytes().get(before))
            .is_some_and(|byte| word(*byte));
        !before
            && (text[at + name.len()..].starts_with("::")
                || text[at + name.len()..].starts_with('_'))
    })
}

#[test]
fn heavy_crates_have_one_home() {
    for (name, home) in [
        ("sqlx", "store"),
        ("redis", "store"),
        ("wasmtime", "plugin"),
        ("pingora", "edge"),
    ] {
        let home = program::repository().join("proxy").join(home);
        for (path, text) in files(&["proxy"], "Cargo.toml") {
            let named = text
                .lines()
                .any(|line| line.split(['.', ' ', '=', '-', '_']).next() == Some(name));
            assert_eq!(
                named,
                path.starts_with(&home),
                "{name} in {}",
                path.display()
            );
        }
        for (path, text) in files(&["proxy"], ".rs") {
            if !path.starts_with(&home) {
                assert!(
                    !names_crate(&code(&text), name),
                    "{name} is named in {}",
                    path.display()
                );
            }
        }
    }
}

/// The chain of crates (architecture, 1): each may name those before it, never one of its own step.
#[test]
fn crates_depend_in_one_direction() {
    let steps: [&[&str]; 7] = [
        &["core"],
        &["store", "plugin", "solver"],
        &["pipeline"],
        &["control", "webhook", "edge"],
        &["dashboard"],
        &["gateway"],
        &["tests"],
    ];
    for (step, names) in steps.iter().enumerate() {
        for name in *names {
            let folder = if *name == "tests" {
                "tests".to_owned()
            } else {
                format!("proxy/{name}")
            };
            let manifest = program::repository().join(folder).join("Cargo.toml");
            let text = std::fs::read_to_string(manifest).unwrap();
            for later in steps
                .iter()
                .skip(step)
                .flat_map(|names| names.iter())
                .filter(|later| later != &name)
            {
                assert!(
                    !text.contains(&format!("svc-{later}.")),
                    "{name} depends on {later}"
                );
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_stays_small() {
    /// Style: most files stay under 400 lines, and 800 is a smell.
    const MOST_LINES: usize = 800;
    let unfinished = [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["XX", "X:"].concat(),
    ];
    for (path, text) in files(&["proxy", "plugins", "tests"], ".rs") {
        assert!(
            text.starts_with("//!"),
            "{} does not say what it is for",
            path.display()
        );
        assert!(
            text.lines().count() < MOST_LINES,
            "{} is too long",
            path.display()
        );
        for word in &unfinished {
            assert!(
                !text.contains(word.as_str()),
                "{word} in {}",
                path.display()
            );
        }
        let ignored = ["#[ign", "ore"].concat();
        assert!(
            !text.contains(&ignored),
            "a test is ignored in {}",
            path.display()
        );
    }
}

#[test]
fn nothing_names_a_machine() {
    let paths = [
        ["/wo", "rk/"].concat(),
        ["/ro", "ot/"].concat(),
        ["/ho", "me/"].concat(),
    ];
    for ending in [".rs", ".toml", ".md", ".wit", ".sql", ".txt", ""] {
        let folders = [
            "proxy", "plugins", "policies", "wit", "config", "tests", "docs",
        ];
        if ending.is_empty() {
            for file in ["README.md", "Makefile", "Cargo.toml", "clippy.toml"] {
                let text =
                    std::fs::read_to_string(program::repository().join(file)).unwrap_or_default();
                assert!(
                    !paths.iter().any(|path| text.contains(path.as_str())),
                    "{file}"
                );
            }
            continue;
        }
        for folder in folders {
            let mut found = Vec::new();
            walk(&program::repository().join(folder), ending, &mut found);
            for (file, text) in found {
                // Of labeled texts: the home of whoever is marked in them, and nobody has lived there.
                let text = text.replace(&[paths[2].as_str(), "\u{27e6}"].concat(), "");
                let named = paths.iter().find(|path| text.contains(path.as_str()));
                assert!(named.is_none(), "{named:?} in {}", file.display());
            }
        }
    }
}

/// A plugin ships when its folder has a manifest: a guest for tests or benches that had one would be admitted everywhere.
#[test]
fn guests_of_tests_and_benches_do_not_ship() {
    let plugins = program::repository().join("plugins");
    for guest in ["evil", "evil-driver", "quiet"] {
        let folder = plugins.join(guest);
        assert!(folder.join("Cargo.toml").exists(), "{guest} is no guest");
        assert!(!folder.join("plugin.toml").exists(), "{guest} ships");
    }
}

/// The section of the contract that a text cites behind this place: the number before any dot, or `X`.
fn section(behind: &str) -> Option<String> {
    let behind = behind.strip_prefix("section ").unwrap_or(behind);
    if let Some(choice) = behind.strip_prefix('X') {
        let is_choice = choice.starts_with(|next: char| next.is_ascii_digit());
        return is_choice.then(|| "X".to_owned());
    }
    let digits = behind.split(|next: char| !next.is_ascii_digit()).next()?;
    (!digits.is_empty()).then(|| digits.to_owned())
}

/// What comments cite is told to readers somewhere, and the page of the architecture says where.
#[test]
fn every_cited_section_of_the_contract_has_a_page() {
    let page = program::repository().join("docs/ARCHITECTURE.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split("## What comments cite").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    for (path, text) in [".rs", ".toml", ".sql", ".wit"]
        .into_iter()
        .flat_map(|ending| files(&["proxy", "plugins", "policies", "wit", "tests"], ending))
    {
        let cited = ["contract ", "Contract "].into_iter();
        let places =
            cited.flat_map(|word| text.match_indices(word).map(|(at, word)| at + word.len()));
        for section in places.filter_map(|at| section(&text[at..])) {
            let row = match section.as_str() {
                "X" => "| `contract X".to_owned(),
                number => format!("| contract {number} |"),
            };
            assert!(
                table.contains(&row),
                "{} cites contract {section}, of which docs/ARCHITECTURE.md says nothing",
                path.display()
            );
        }
    }
}
