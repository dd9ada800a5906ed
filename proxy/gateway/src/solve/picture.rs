//! A roster as a page to look at: people down, days across. One file that needs nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use svc_solver::Solved;

/// The page for a spec (the JSON that was solved) and its result.
pub(super) fn page(spec: &Value, solved: &Solved) -> String {
    let days = days(spec);
    let columns: BTreeSet<&str> = days.values().copied().collect();
    let mut cells: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (slot, people) in &solved.assignments {
        let day = days.get(slot.as_str()).copied().unwrap_or_default();
        for person in people {
            cells.entry((person, day)).or_default().push(slot);
        }
    }
    let mut html = head(solved);
    html.push_str("<table><tr><th></th>");
    for day in &columns {
        push(&mut html, "<th>", day, "</th>");
    }
    html.push_str("</tr>\n");
    for person in ids(spec, "resources") {
        push(&mut html, "<tr><th>", person, "</th>");
        for day in &columns {
            html.push_str("<td>");
            for slot in cells.get(&(person, *day)).into_iter().flatten() {
                let hue = hue(spec, slot);
                let open = format!("<span style=\"background:hsl({hue} 70% 85%)\">");
                push(&mut html, &open, slot, "</span>");
            }
            html.push_str("</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n</html>\n");
    html
}

fn head(solved: &Solved) -> String {
    let mut html = String::from(STYLE);
    let objective = solved
        .objective
        .map(|objective| format!(", penalty {objective}"));
    let status = format!("{}{}", solved.status.word(), objective.unwrap_or_default());
    push(&mut html, "<h1>", &status, "</h1>\n<ul>\n");
    for conflict in &solved.conflicts {
        let text = format!("{}: {}", conflict.id, conflict.description);
        push(&mut html, "<li>", &text, "</li>\n");
    }
    html.push_str("</ul>\n");
    html
}

const STYLE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Roster</title>\n<style>\n\
    body { font: 14px system-ui, sans-serif; margin: 2em }\n\
    table { border-collapse: collapse }\n\
    th, td { border: 1px solid #ddd; padding: 2px 6px; text-align: left; vertical-align: top }\n\
    tr > th:first-child { position: sticky; left: 0; background: #fff }\n\
    span { display: block; border-radius: 3px; margin: 1px 0; padding: 0 4px; white-space: nowrap }\n\
    </style>\n";

/// The day of each slot.
fn days(spec: &Value) -> BTreeMap<&str, &str> {
    let slots = spec["slots"].as_array().into_iter().flatten();
    slots
        .filter_map(|slot| Some((slot["id"].as_str()?, slot["day"].as_str()?)))
        .collect()
}

fn ids<'a>(spec: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    let items = spec[list].as_array().into_iter().flatten();
    items.filter_map(|item| item["id"].as_str())
}

/// Slots that look alike to the spec (attributes and times) have one colour.
fn hue(spec: &Value, id: &str) -> u32 {
    let mut slots = spec["slots"].as_array().into_iter().flatten();
    let found = slots.find(|slot| slot["id"] == id);
    let Some(slot) = found else { return 0 };
    let look = format!("{}{}", slot["attributes"], slot["start"]);
    let mixed = look.bytes().fold(7_u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(byte.into())
    });
    mixed % DEGREES
}

/// Of the circle of hues.
const DEGREES: u32 = 360;

/// Text from the spec is shown as text, whatever it holds.
fn push(html: &mut String, open: &str, text: &str, close: &str) {
    html.push_str(open);
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            other => html.push(other),
        }
    }
    html.push_str(close);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use svc_solver::Status;

    #[test]
    fn ids_are_text_and_cells_are_where_they_belong() {
        let spec = json!({
            "resources": [{"id": "<b>ana"}],
            "slots": [{"id": "late & early", "day": "2026-11-02"}],
        });
        let solved = Solved {
            status: Status::Optimal,
            assignments: vec![("late & early".into(), vec!["<b>ana".into()])],
            objective: Some(3),
            conflicts: Vec::new(),
        };
        let page = page(&spec, &solved);
        assert!(page.contains("optimal, penalty 3"));
        assert!(page.contains("<th>2026-11-02</th>"));
        assert!(page.contains("&lt;b&gt;ana") && page.contains("late &amp; early</span>"));
        assert!(!page.contains("<b>"));
    }
}
