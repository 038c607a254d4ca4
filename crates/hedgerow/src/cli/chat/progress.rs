//! How a run goes, beside its words: the plan when it changes, and at the end what it took.

use std::time::Instant;

use hedgerow_core::assistant::{Step, StepState, Usage};
use hedgerow_core::platform::Glimpse;
use hedgerow_engine::replies;

/// What is known of the run that is shown.
#[derive(Debug, Default)]
pub(super) struct Progress {
    began: Option<Instant>,
    usage: Option<Usage>,
    plan: Vec<Step>,
    /// Said once the answer is.
    figures: Option<String>,
}

impl Progress {
    /// Takes what happens in; the answer are lines to be shown now.
    pub(super) fn take(&mut self, what: &Glimpse) -> Vec<String> {
        match what {
            Glimpse::Started => *self = Self { began: Some(Instant::now()), ..Self::default() },
            Glimpse::Usage(usage) => self.usage = Some(*usage),
            Glimpse::Plan(steps) if *steps != self.plan => {
                self.plan.clone_from(steps);
                return steps.iter().map(line).collect();
            }
            Glimpse::Ended => {
                let took = self.began.take().map(|began| began.elapsed()).unwrap_or_default();
                self.figures = self.usage.take().map(|usage| replies::figures(&usage, took));
            }
            Glimpse::Plan(_) | Glimpse::Text(_) | Glimpse::Tool(_) | Glimpse::Note(_) => {}
        }
        Vec::new()
    }

    /// What the run took, once, after its end; nothing where its assistant does not count.
    pub(super) fn figures(&mut self) -> Option<String> {
        self.figures.take()
    }
}

fn line(step: &Step) -> String {
    let mark = match step.state {
        StepState::Pending => ' ',
        StepState::Active => '>',
        StepState::Done => 'x',
    };
    format!("[{mark}] {}", step.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(text: &str, state: StepState) -> Step {
        Step { text: text.to_owned(), state }
    }

    #[test]
    fn a_plan_is_shown_when_it_changes_and_the_figures_once() {
        let mut progress = Progress::default();
        let usage =
            Usage { input_tokens: 12_300, cached_tokens: 10_100, output_tokens: 800, cost_micros: Some(40_000) };
        let plan = Glimpse::Plan(vec![
            step("read", StepState::Done),
            step("fix", StepState::Active),
            step("test", StepState::Pending),
        ]);
        assert!(progress.take(&Glimpse::Started).is_empty());
        assert_eq!(progress.take(&plan), ["[x] read", "[>] fix", "[ ] test"]);
        assert!(progress.take(&plan).is_empty(), "it is the same");
        assert!(progress.take(&Glimpse::Usage(usage)).is_empty() && progress.figures().is_none());
        progress.take(&Glimpse::Ended);
        assert_eq!(progress.figures().as_deref(), Some("12.3k in (10.1k cached), 0.8k out, $0.04, 0 s"));
        assert_eq!(progress.figures(), None);
        progress.take(&Glimpse::Started);
        progress.take(&Glimpse::Ended);
        assert_eq!(progress.figures(), None, "nobody counted");
    }
}
