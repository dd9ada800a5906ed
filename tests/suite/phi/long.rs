//! Texts that are longer than a detector takes at once: the last row of a table is read under its header like the first.

use std::ops::Range;

use super::quality::{Found, scan};

/// Bytes of a text: more than two windows of the shipped detectors have.
const BYTES: usize = 700_000;

/// A table in one notation, of ASCII alone, and where the numbers stand that are somebody's.
struct Table {
    text: String,
    numbers: Vec<Range<usize>>,
}

impl Table {
    fn new(head: &str, row: impl Fn(&str, &str) -> String) -> Self {
        let (mut text, mut numbers) = (head.to_owned(), Vec::new());
        while text.len() < BYTES {
            // No number that the words around it would not make one.
            let number = (4_100_007 + numbers.len() * 37).to_string();
            let name = ["Zyqla Orvane", "Ibrel Toskwen"][numbers.len() % 2];
            let row = row(&number, name);
            let start = text.len() + row.find(&number).unwrap();
            numbers.push(start..start + number.len());
            text.push_str(&row);
        }
        Self { text, numbers }
    }

    /// How many numbers there are of which a digit stays.
    fn missed(&self, found: &[Found]) -> usize {
        let mut is_covered = vec![false; self.text.len()];
        for span in found {
            is_covered[span.start..span.end].fill(true);
        }
        let is_missed = |number: &&Range<usize>| is_covered[(*number).clone()].contains(&false);
        self.numbers.iter().filter(is_missed).count()
    }
}

#[test]
fn every_row_of_a_long_table_has_its_header() {
    let cell = |number: &str, name: &str, sign: &str| format!("{number}{sign}{name}{sign}stable\n");
    let tables = [
        Table::new("The census:\n\nmrn,name,state\n", |number, name| {
            cell(number, name, ",")
        }),
        Table::new("mrn\tname\tstate\r\n", |number, name| {
            cell(number, name, "\t").replace('\n', "\r\n")
        }),
        Table::new("| MRN | Name | State |\n|---|---|---|\n", |number, name| {
            format!("| {number} | {name} | stable |\n")
        }),
        Table::new("MRN       Name           State\n", |number, name| {
            format!("{number}   {name:14} stable\n")
        }),
        Table::new("INSERT INTO stays (mrn, name) VALUES ", |number, name| {
            format!("({number}, '{name}'), ")
        }),
        Table::new(
            "{\"columns\":[\"mrn\",\"name\"],\"data\":[",
            |number, name| format!("[{number},\"{name}\"],"),
        ),
        Table::new(
            "<table><tr><th>MRN</th><th>Name</th><th>State</th></tr>",
            |number, name| {
                format!("<tr>\n <td>{number}</td>\n <td>{name}</td>\n <td>stable</td>\n</tr>\n")
            },
        ),
        Table::new("MSH|^~\\&|ADT\r", |number, name| {
            let (given, family) = name.split_once(' ').unwrap();
            format!("PID|1||{number}^^^MERCY^MR||{family}^{given}\rPV1|1|I\r")
        }),
    ];
    let found = scan(tables.iter().map(|table| table.text.as_str()));
    for (table, found) in tables.iter().zip(&found) {
        let (missed, all) = (table.missed(found), table.numbers.len());
        assert_eq!(missed, 0, "of {all}: {}", &table.text[..20]);
    }
}
