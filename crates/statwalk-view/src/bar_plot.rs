// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bars with their spread, as an SVG image.

use std::fmt::Write as _;

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotBar {
    /// Its name: text of the program, never a name from a disk.
    pub label: String,
    /// Where it ends.
    pub value: f64,
    /// Where most of the values lie, from and to.
    pub spread: (f64, f64),
    /// The text behind it.
    pub text: String,
    /// Whether it is the one that others are compared with.
    pub is_base: bool,
}

const ROW: f64 = 22.0;
const LABELS: f64 = 260.0;
const BARS: f64 = 420.0;
const TEXTS: f64 = 150.0;
const TOP: f64 = 46.0;

/// Light and dark, by the scheme of the page that shows the image.
const STYLE: &str = "<style>\n\
    text { fill: #1f2328 } .page { fill: #ffffff } .bar { fill: #8db9dd } .base { fill: #1f6fb2 }\n\
    .line { stroke: #1f2328; fill: none }\n\
    @media (prefers-color-scheme: dark) {\n\
    text { fill: #e6edf3 } .page { fill: #0d1117 } .bar { fill: #3a6f9f } .base { fill: #6cb2f0 }\n\
    .line { stroke: #e6edf3 }\n\
    }\n\
    </style>";

/// Draws bars below each other, from zero to the largest.
///
/// Letters that mean something to XML are escaped here; control characters are
/// left out.
///
/// # Examples
///
/// ```
/// use statwalk_view::{PlotBar, bar_plot};
///
/// let bar = PlotBar {
///     label: "queue & stack".into(),
///     value: 0.2,
///     spread: (0.19, 0.22),
///     text: "200 ms".into(),
///     is_base: false,
/// };
/// let image = bar_plot("How long it took", &[bar]);
/// assert!(image.starts_with("<svg ") && image.contains("queue &amp; stack"));
/// ```
#[must_use]
pub fn bar_plot(title: &str, bars: &[PlotBar]) -> String {
    let largest = bars
        .iter()
        .map(|bar| bar.value.max(bar.spread.1))
        .fold(f64::MIN_POSITIVE, f64::max);
    let x = |value: f64| LABELS + BARS * (value / largest).clamp(0.0, 1.0);
    let width = LABELS + BARS + TEXTS;
    let height = TOP + ROW * bars.len() as f64 + 12.0;
    let mut image = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         {STYLE}\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n\
         <text x=\"12\" y=\"26\" font-size=\"16\">{}</text>\n",
        text(title)
    );
    for (index, bar) in bars.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        let middle = y + ROW / 2.0 - 2.0;
        let class = if bar.is_base { "base" } else { "bar" };
        let (low, high) = (x(bar.spread.0), x(bar.spread.1));
        let _ = writeln!(
            image,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LABELS}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" class=\"{class}\"/>\
             <path d=\"M{low:.1} {middle:.1}H{high:.1}M{low:.1} {:.1}v8M{high:.1} {:.1}v8\" \
             class=\"line\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LABELS - 8.0,
            middle + 4.0,
            text(&bar.label),
            x(bar.value) - LABELS,
            ROW - 6.0,
            middle - 4.0,
            middle - 4.0,
            x(bar.value.max(bar.spread.1)) + 8.0,
            middle + 4.0,
            text(&bar.text),
        );
    }
    image.push_str("</svg>\n");
    image
}

/// Text that XML takes.
fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for letter in raw.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            letter if letter.is_control() => {}
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, value: f64) -> PlotBar {
        PlotBar {
            label: label.to_owned(),
            value,
            spread: (value * 0.9, value * 1.1),
            text: format!("{value}"),
            is_base: false,
        }
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let image = bar_plot("t", &[bar("a", 1.0), bar("b", 2.0)]);
        let widths: Vec<f64> = image
            .lines()
            .filter_map(|line| line.split("<rect x=\"260\"").nth(1))
            .map(|rest| {
                let width = rest.split("width=\"").nth(1).unwrap();
                width.split('"').next().unwrap().parse().unwrap()
            })
            .collect();
        assert_eq!(widths.len(), 2);
        assert!((widths[1] / widths[0] - 2.0).abs() < 0.01, "{widths:?}");
    }

    #[test]
    fn both_schemes_have_every_colour() {
        let (light, dark) = STYLE.split_once("@media").unwrap();
        for class in ["text ", ".page ", ".bar ", ".base ", ".line "] {
            assert!(light.contains(class) && dark.contains(class), "{class}");
        }
    }

    #[test]
    fn text_cannot_leave_its_place() {
        let image = bar_plot("</text><script>\u{1b}[2J", &[bar("\"&", 1.0)]);
        assert!(!image.contains("<script>") && !image.contains('\u{1b}'));
        assert!(image.contains("&quot;&amp;"));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_image() {
        assert!(bar_plot("t", &[]).ends_with("</svg>\n"));
    }
}
