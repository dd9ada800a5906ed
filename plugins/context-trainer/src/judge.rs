//! What the model finds in labeled texts: a table by group.

use std::collections::BTreeMap;

use detector_kit::{Detector, Segment, SegmentOrigin};
use phi_context::Context;
use phi_names::Names;
use phi_patterns::Patterns;

use crate::example::tagged;
use crate::text::Text;

/// That of the shipped policy.
const THRESHOLD: u16 = 500;

#[derive(Default)]
struct Counts {
    texts: usize,
    touched: usize,
    values: usize,
    whole: usize,
    letters: usize,
    leaked: usize,
    findings: usize,
    alarms: usize,
}

/// Prints a line for each group: the share of values of which nothing stays, the share of letters that stay, the share of
/// findings that meet a value, the share of texts that are touched.
pub fn print(texts: &[Text], shows_all: bool, is_together: bool) {
    let mut groups: BTreeMap<&str, Counts> = BTreeMap::new();
    for text in texts {
        let counts = groups.entry(&text.group).or_default();
        let (whole, ..) = tagged(text);
        let mut findings = found::<Context>(&whole);
        if is_together {
            findings.extend(found::<Names>(&whole));
            findings.extend(found::<Patterns>(&whole));
        }
        counts.texts += 1;
        counts.touched += usize::from(!findings.is_empty());
        let mut values = Vec::new();
        let mut at = 0;
        for piece in &text.pieces {
            let start = at;
            at += piece.text.len();
            if piece.sort.is_some() {
                values.push(start..at);
            }
        }
        for value in &values {
            let is_hidden = |at: usize| {
                findings
                    .iter()
                    .any(|finding| finding.start <= at && at < finding.end)
            };
            let letters = whole
                .get(value.clone())
                .into_iter()
                .flat_map(str::char_indices)
                .filter(|(_, letter)| letter.is_alphanumeric())
                .map(|(at, _)| value.start + at);
            let (mut all, mut leaked) = (0, 0);
            for letter in letters {
                all += 1;
                leaked += usize::from(!is_hidden(letter));
            }
            counts.values += 1;
            counts.whole += usize::from(leaked == 0);
            counts.letters += all;
            counts.leaked += leaked;
            if shows_all && leaked > 0 {
                println!(
                    "{} misses {}",
                    text.group,
                    shown(&whole, value.start, value.end)
                );
            }
        }
        for finding in &findings {
            let meets = values
                .iter()
                .any(|value| finding.start < value.end && value.start < finding.end);
            counts.findings += 1;
            counts.alarms += usize::from(!meets);
            if shows_all && !meets {
                println!(
                    "{} alarms {} {}",
                    text.group,
                    finding.name,
                    shown(&whole, finding.start, finding.end)
                );
            }
        }
    }
    for (group, counts) in groups {
        println!(
            "{group:14} texts {:4} values {:5} found {:5.1} leak {:5.1} right {:5.1} touched {:5.1}",
            counts.texts,
            counts.values,
            share(counts.whole, counts.values),
            share(counts.leaked, counts.letters),
            share(counts.findings - counts.alarms, counts.findings),
            share(counts.touched, counts.texts),
        );
    }
}

struct Found {
    start: usize,
    end: usize,
    name: &'static str,
}

fn found<D: Detector>(text: &str) -> Vec<Found> {
    let mut findings = Vec::new();
    let segment = Segment {
        start: 0,
        end: u32::try_from(text.len()).unwrap_or_default(),
        origin: SegmentOrigin::UserText,
    };
    D::find(text, &[segment], &mut findings);
    let sure = findings.iter().filter(|finding| finding.score >= THRESHOLD);
    sure.map(|finding| Found {
        start: finding.start,
        end: finding.end,
        name: D::KINDS.get(finding.kind).map_or("", |kind| kind.name),
    })
    .collect()
}

#[allow(clippy::cast_precision_loss, reason = "for a table")]
fn share(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn shown(text: &str, start: usize, end: usize) -> String {
    const AROUND: usize = 40;
    let from = text.floor_char_boundary(start.saturating_sub(AROUND));
    let to = text.ceil_char_boundary((end + AROUND).min(text.len()));
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default().replace('\n', " ");
    format!(
        "{}⟦{}⟧{}",
        part(from, start),
        part(start, end),
        part(end, to)
    )
}
