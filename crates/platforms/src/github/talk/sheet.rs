//! What is known of a run while it works, and how a live comment shows it.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use hedgerow_core::assistant::{Step, StepState};
use hedgerow_core::platform::Glimpse;
use hedgerow_core::untrusted::fenced;

use super::super::format::{one_line, plain};

const MOST_STEPS: usize = 12;
const MOST_TOOLS: usize = 8;
const MOST_NOTES: usize = 2;
/// Most characters of a line.
const LONGEST_LINE: usize = 160;
const LONGEST_NOTE: usize = 300;

#[derive(Debug, Clone, Default)]
pub(super) struct Sheet {
    plan: Vec<Step>,
    tools: VecDeque<String>,
    notes: VecDeque<String>,
    /// How often there was something new to show.
    pub(super) revision: u64,
    pub(super) is_over: bool,
}

impl Sheet {
    /// Takes in what happened. `false` when it changes nothing here.
    pub(super) fn see(&mut self, what: &Glimpse) -> bool {
        let is_new = match what {
            Glimpse::Tool(line) => keep(&mut self.tools, one_line(line, LONGEST_LINE), MOST_TOOLS),
            Glimpse::Note(note) => keep(&mut self.notes, plain(note, LONGEST_NOTE), MOST_NOTES),
            Glimpse::Plan(steps) if *steps != self.plan => {
                self.plan.clone_from(steps);
                true
            }
            Glimpse::Ended => {
                self.is_over = true;
                true
            }
            Glimpse::Started | Glimpse::Text(_) | Glimpse::Plan(_) | Glimpse::Usage(_) => false,
        };
        self.revision += u64::from(is_new);
        is_new
    }

    /// As the text of a comment.
    pub(super) fn text(&self, elapsed: Duration, bot_name: &str) -> String {
        let mut text = format!("**Working…** {}\n\n", time(elapsed));
        if !self.plan.is_empty() {
            text.push_str(&self.plan_text());
            text.push('\n');
        }
        if !self.tools.is_empty() {
            let lines: Vec<&str> = self.tools.iter().map(String::as_str).collect();
            let _ = write!(text, "{}\n\n", fenced(&lines.join("\n")));
        }
        for note in &self.notes {
            let _ = write!(text, "{note}\n\n");
        }
        let _ = write!(text, "To stop it, comment `@{bot_name} /stop`.");
        text
    }

    fn plan_text(&self) -> String {
        // What is done is left out first.
        let is_done = |step: &&Step| step.state == StepState::Done;
        let done = self.plan.iter().take_while(is_done).count();
        let from = done.saturating_sub(2).min(self.plan.len().saturating_sub(MOST_STEPS));
        let mut text = String::new();
        for step in self.plan.iter().skip(from).take(MOST_STEPS) {
            let words = plain(&step.text, LONGEST_LINE);
            let _ = match step.state {
                StepState::Done => writeln!(text, "- [x] {words}"),
                StepState::Active => writeln!(text, "- [ ] **{words}**"),
                StepState::Pending => writeln!(text, "- [ ] {words}"),
            };
        }
        let left = self.plan.len().saturating_sub(from + MOST_STEPS);
        if left > 0 {
            let _ = writeln!(text, "- and {left} more");
        }
        text
    }
}

fn keep(lines: &mut VecDeque<String>, line: String, most: usize) -> bool {
    if line.is_empty() {
        return false;
    }
    lines.push_back(line);
    if lines.len() > most {
        lines.pop_front();
    }
    true
}

fn time(elapsed: Duration) -> String {
    match elapsed.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(text: &str, state: StepState) -> Step {
        Step { text: text.to_owned(), state }
    }

    #[test]
    fn a_live_comment_shows_the_plan_the_latest_tools_and_how_to_stop() {
        let mut sheet = Sheet::default();
        assert!(!sheet.see(&Glimpse::Started) && !sheet.see(&Glimpse::Text("words".to_owned())));
        let plan = vec![step("read `it`", StepState::Done), step("fix @alice", StepState::Active)];
        assert!(
            sheet.see(&Glimpse::Plan(plan.clone())) && !sheet.see(&Glimpse::Plan(plan)),
            "the same plan is no news"
        );
        assert!(sheet.see(&Glimpse::Tool("Bash: echo ```\n@bob <!-- x".to_owned())));
        assert!(sheet.see(&Glimpse::Note("<b>slow</b> today".to_owned())));
        let text = sheet.text(Duration::from_secs(130), "hedgerow");
        let expected = "**Working…** 2 min\n\n- [x] read \\`it\\`\n- [ ] **fix @\u{200b}alice**\n\n\
            ````\nBash: echo ``` @bob <!-- x\n````\n\n\\<b\\>slow\\</b\\> today\n\nTo stop it, comment `@hedgerow /stop`.";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_live_comment_stays_short() {
        let mut sheet = Sheet::default();
        for number in 0..100 {
            sheet.see(&Glimpse::Tool(format!("{number} {}", "x".repeat(5_000))));
            sheet.see(&Glimpse::Note("n".repeat(5_000)));
        }
        let mut plan = vec![step("done", StepState::Done); 40];
        plan.push(step("now", StepState::Active));
        plan.extend(vec![step("later", StepState::Pending); 40]);
        sheet.see(&Glimpse::Plan(plan));
        let text = sheet.text(Duration::from_secs(7_300), "hedgerow");
        assert!(text.starts_with("**Working…** 2 h 1 min\n\n- [x] done\n- [x] done\n- [ ] **now**\n"), "{text}");
        assert!(text.contains("- and 31 more\n") && text.contains("\n99 xx") && !text.contains("\n91 xx"), "{text}");
        assert!(text.lines().count() <= 36 && text.len() < 5_000, "{} lines", text.lines().count());
    }
}
