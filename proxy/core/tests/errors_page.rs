//! Holds `docs/errors.md` against the fault catalogue: every code once, with what its row says.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use svc_core::fault::CATALOGUE;
use svc_core::surface::Surface;

/// The cells of the table rows whose first cell is a code.
fn rows(page: &str) -> Vec<Vec<String>> {
    let is_code = |cell: &str| {
        !cell.is_empty()
            && cell
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    page.lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| {
            line.split(" | ")
                .map(|cell| cell.trim_matches('`').to_owned())
                .collect()
        })
        .filter(|cells: &Vec<String>| cells.first().is_some_and(|cell| is_code(cell)))
        .collect()
}

#[test]
fn the_errors_page_is_the_catalogue() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let page = std::fs::read_to_string(page).unwrap();
    let found = rows(&page);
    let codes: Vec<&str> = found.iter().map(|cells| cells[0].as_str()).collect();
    let words: Vec<&str> = CATALOGUE.iter().map(|row| row.word).collect();
    assert_eq!(codes, words);
    for (cells, row) in found.iter().zip(CATALOGUE) {
        let expected = [
            row.word.to_owned(),
            row.status.to_string(),
            row.kind.word().to_owned(),
            if row.retryable { "yes" } else { "no" }.to_owned(),
            Surface::ChatCompletions.status(row.code).to_string(),
            row.meaning.to_owned(),
        ];
        assert_eq!(cells[..6], expected);
        let says_reserved = cells[6] == "reserved: raised by no route";
        assert_eq!(says_reserved, row.reserved, "{}", row.word);
        assert!(!cells[6].is_empty(), "{}", row.word);
    }
}
