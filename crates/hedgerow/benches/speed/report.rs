//! The table at the end: medians, minima, ratios, goals.

use std::fmt;
use std::time::Duration;

use crate::measure::Times;

/// What a ratio is held against.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// For information.
    None,
    AtMost(f64),
    /// Equal but for the noise of the machine.
    NoSlower,
}

/// Two runs of the same thing differ by this much on a machine that does other work as well.
const NOISE: f64 = 1.25;

#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<[String; 7]>,
}

impl Report {
    /// Hedgerow against git.
    pub(crate) fn compare(&mut self, what: &str, ours: &Times, theirs: &Times, goal: Goal) {
        self.row(what, ours, Some(theirs), goal);
    }

    /// Hedgerow against itself at another size.
    pub(crate) fn sizes(&mut self, what: &str, large: &Times, small: &Times, goal: Goal) {
        self.row(what, large, Some(small), goal);
    }

    pub(crate) fn alone(&mut self, what: &str, ours: &Times) {
        self.row(what, ours, None, Goal::None);
    }

    /// Against the time that people would wait.
    pub(crate) fn within(&mut self, what: &str, ours: &Times, most: Duration) {
        let [median, min] = shown(ours);
        let judged = format!("≤ {} ms  {}", most.as_millis(), word(ours.median() <= most));
        self.rows.push([what.to_owned(), median, min, String::new(), String::new(), String::new(), judged]);
    }

    fn row(&mut self, what: &str, ours: &Times, other: Option<&Times>, goal: Goal) {
        let ratio = other.map(|other| ours.median().as_secs_f64() / other.median().as_secs_f64());
        let [median, min] = shown(ours);
        let [other_median, other_min] = other.map(shown).unwrap_or_default();
        let judged = match (goal, ratio) {
            (Goal::AtMost(most), Some(ratio)) => format!("≤ {most:.2}  {}", word(ratio <= most)),
            (Goal::NoSlower, Some(ratio)) => format!("≤ 1 ± noise  {}", word(ratio <= NOISE)),
            _ => String::new(),
        };
        let ratio = ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        self.rows.push([what.to_owned(), median, min, other_median, other_min, ratio, judged]);
    }
}

fn shown(times: &Times) -> [String; 2] {
    [times.median(), times.min()].map(|time: Duration| format!("{:.1}", time.as_secs_f64() * 1000.0))
}

const fn word(is_met: bool) -> &'static str {
    if is_met { "pass" } else { "MISS" }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "milliseconds; the ratio is that of the medians")?;
        let head = ["", "Hedgerow", "(min)", "git", "(min)", "ratio", "goal"].map(str::to_owned);
        for [what, ours, ours_min, other, other_min, ratio, goal] in std::iter::once(&head).chain(&self.rows) {
            let line = format!("{what:<40}{ours:>10}{ours_min:>10}{other:>10}{other_min:>10}{ratio:>8}  {goal}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
