//! Progress of what takes long, on a terminal only, gone from the screen when it is over.

use std::time::Duration;

use hedgerow_core::provider::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::escape::escape;

/// A line on stderr: a spinner until the step says how far it is, then a bar. indicatif draws nothing when stderr is
/// not a terminal.
#[derive(Debug)]
pub(crate) struct Meter {
    bar: ProgressBar,
}

const SPINNER: &str = "{spinner} {msg}";
const BAR: &str = "{spinner} {msg} [{bar:30}] {pos} %";

impl Meter {
    pub(crate) fn new(is_quiet: bool) -> Self {
        let target = if is_quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Self { bar: ProgressBar::with_draw_target(Some(100), target) }
    }

    fn style(&self, template: &str) {
        self.bar.set_style(ProgressStyle::with_template(template).expect("the templates are fixed and good"));
    }
}

impl Progress for Meter {
    fn step(&self, what: &str) {
        self.style(SPINNER);
        self.bar.set_message(escape(what));
        self.bar.set_position(0);
        self.bar.enable_steady_tick(Duration::from_millis(100));
    }

    fn percent(&self, percent: u8) {
        self.style(BAR);
        self.bar.set_position(u64::from(percent.min(100)));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
