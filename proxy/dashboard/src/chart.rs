//! Charts, drawn here as SVG: no script, no style of their own, and every number in a title for whoever cannot see
//! them. Pure.

use std::fmt::Write;

/// One bar.
pub(crate) struct Bar {
    /// Below the bar, and in its title.
    pub(crate) label: String,
    pub(crate) value: f64,
    /// The value in words.
    pub(crate) shown: String,
}

/// Units of the drawing; browsers scale it to the width that there is.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 26.0;
const TOP: f64 = 12.0;
/// The part of its place that a bar leaves free.
const GAP: f64 = 0.22;
/// Labels below the bars; with more bars only every n-th has one.
const MAX_LABELS: usize = 12;
/// Lines across.
const LINES: u32 = 4;

/// Bars side by side.
pub(crate) fn bars(title: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let top = ceiling(most);
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escaped(title)
    );
    let height = HEIGHT - TOP - BOTTOM;
    for line in 0..=LINES {
        let share = f64::from(line) / f64::from(LINES);
        let y = TOP + height * (1.0 - share);
        // Writing to a String cannot fail.
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            short(top * share)
        );
    }
    let step = (WIDTH - LEFT) / (bars.len().max(1) as f64);
    let every = bars.len().div_ceil(MAX_LABELS).max(1);
    for (at, bar) in bars.iter().enumerate() {
        let x = LEFT + step * (at as f64 + GAP / 2.0);
        let tall = if top > 0.0 {
            height * (bar.value / top).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let width = step * (1.0 - GAP);
        let y = TOP + height - tall;
        let _ = write!(
            svg,
            "<g><title>{}: {}</title><rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{tall:.1}\"/></g>",
            escaped(&bar.label),
            escaped(&bar.shown)
        );
        if at % every == 0 {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x + width / 2.0,
                HEIGHT - 8.0,
                escaped(&bar.label)
            );
        }
    }
    svg.push_str("</svg>");
    svg
}

/// The next round number: 1, 2 or 5 with zeros.
fn ceiling(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let magnitude = 10_f64.powf(most.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|step| step * magnitude);
    round
        .into_iter()
        .find(|round| *round >= most)
        .unwrap_or(most)
}

/// A number in the room beside an axis.
fn short(number: f64) -> String {
    let (scaled, unit) = match number {
        n if n >= 1e9 => (n / 1e9, "G"),
        n if n >= 1e6 => (n / 1e6, "M"),
        n if n >= 1e3 => (n / 1e3, "k"),
        n => (n, ""),
    };
    let text = format!("{scaled:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, value: f64) -> Bar {
        Bar {
            label: label.to_owned(),
            value,
            shown: format!("{value} credits"),
        }
    }

    #[test]
    fn a_chart_says_its_numbers_and_escapes_its_words() {
        let svg = bars("Credits <by> day", &[bar("a\"<b>", 3.0), bar("c", 1.5)]);
        assert!(svg.starts_with("<svg class=\"chart\"") && svg.ends_with("</svg>"));
        assert!(svg.contains("aria-label=\"Credits &lt;by&gt; day\""));
        assert!(svg.contains("<title>a&quot;&lt;b&gt;: 3 credits</title>"));
        assert!(!svg.contains("style"));
        assert_eq!(svg.matches("<rect").count(), 2);
    }

    #[test]
    fn axes_end_in_round_numbers() {
        for (most, top) in [
            (0.0, 1.0),
            (0.7, 1.0),
            (1.0, 1.0),
            (3.0, 5.0),
            (51.0, 100.0),
            (1234.0, 2000.0),
        ] {
            assert!((ceiling(most) - top).abs() < 1e-9, "{most}");
        }
        assert_eq!(
            [short(0.0), short(0.25), short(2_000.0), short(1_500_000.0)],
            ["0", "0.25", "2k", "1.5M"]
        );
    }

    #[test]
    fn many_bars_share_a_few_labels() {
        let many: Vec<Bar> = (0..31)
            .map(|day| bar(&day.to_string(), f64::from(day)))
            .collect();
        let labels = bars("Days", &many)
            .matches("text-anchor=\"middle\"")
            .count();
        assert!((8..=MAX_LABELS).contains(&labels), "{labels}");
        assert!(bars("Nothing", &[]).contains("</svg>"));
    }
}
