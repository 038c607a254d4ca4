//! Numbers for Prometheus.
//!
//! A few counters and one histogram do not need a library: what is counted lives here, and what the store knows is
//! asked for at each scrape.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use hedgerow_core::message::Accepted;
use hedgerow_core::run::RunState;

/// Upper bounds of the histogram, in microseconds.
const BUCKETS: [u64; 11] = [500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000];

/// What this process has counted since it started.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    accepted: AtomicU64,
    duplicate: AtomicU64,
    busy: AtomicU64,
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    /// One for each bucket, and one for what is slower than all.
    acceptance: [AtomicU64; BUCKETS.len() + 1],
    acceptance_micros: AtomicU64,
}

/// What is asked for at a scrape.
#[derive(Debug)]
pub(crate) struct Gauges {
    pub(crate) waiting: u64,
    /// Runs that are remembered, by how they stand.
    pub(crate) runs: Vec<(RunState, u64)>,
    pub(crate) environments: usize,
    pub(crate) followers: usize,
}

impl Metrics {
    pub(crate) fn message(&self, became: Accepted, took: Duration) {
        let counter = match became {
            Accepted::Queued(_) => &self.accepted,
            Accepted::Duplicate(_) => &self.duplicate,
            Accepted::Busy => &self.busy,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|most| micros <= *most).unwrap_or(BUCKETS.len());
        self.acceptance[bucket].fetch_add(1, Ordering::Relaxed);
        self.acceptance_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn answered(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).min(self.answers.len() - 1);
        self.answers[class].fetch_add(1, Ordering::Relaxed);
    }

    /// Everything, in the text format.
    pub(crate) fn render(&self, gauges: &Gauges) -> String {
        let mut page = Page::default();
        page.head("hedgerow_build_info", "gauge", "The version that runs.");
        page.line("hedgerow_build_info", &format!("version=\"{}\"", env!("CARGO_PKG_VERSION")), 1);
        page.head("hedgerow_messages_total", "counter", "Messages that came over HTTP, by what became of them.");
        for (outcome, counter) in [("accepted", &self.accepted), ("duplicate", &self.duplicate), ("busy", &self.busy)] {
            page.line("hedgerow_messages_total", &format!("outcome=\"{outcome}\""), load(counter));
        }
        page.head("hedgerow_http_answers_total", "counter", "Answers, by the class of their status.");
        for (class, counter) in self.answers.iter().enumerate().skip(1) {
            page.line("hedgerow_http_answers_total", &format!("class=\"{class}xx\""), load(counter));
        }
        for (name, value, help) in [
            ("hedgerow_messages_waiting", gauges.waiting, "Messages that wait for their turn."),
            ("hedgerow_environments_live", count(gauges.environments), "Environments that are not removed."),
            ("hedgerow_event_followers", count(gauges.followers), "Connections that follow the events."),
        ] {
            page.head(name, "gauge", help);
            page.line(name, "", value);
        }
        page.head(
            "hedgerow_runs",
            "gauge",
            "Runs of every machine of this store that are remembered, by how they stand.",
        );
        for state in RunState::ALL {
            let many = gauges.runs.iter().find(|(found, _)| found == state).map_or(0, |(_, many)| *many);
            page.line("hedgerow_runs", &format!("state=\"{state}\""), many);
        }
        self.histogram(&mut page);
        page.text
    }

    fn histogram(&self, page: &mut Page) {
        const NAME: &str = "hedgerow_message_acceptance_seconds";
        page.head(NAME, "histogram", "From a message's arrival until it is safe on disk.");
        let mut so_far = 0;
        for (position, counter) in self.acceptance.iter().enumerate() {
            so_far += load(counter);
            let most = BUCKETS.get(position).map_or_else(|| "+Inf".to_owned(), |micros| seconds(*micros));
            page.line(&format!("{NAME}_bucket"), &format!("le=\"{most}\""), so_far);
        }
        page.line(&format!("{NAME}_sum"), "", seconds(load(&self.acceptance_micros)));
        page.line(&format!("{NAME}_count"), "", so_far);
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        _ = writeln!(self.text, "{name}{labels} {value}");
    }
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// `2500` microseconds are `0.0025`.
fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_written_as_prometheus_reads_them() {
        for (micros, text) in [(0, "0"), (500, "0.0005"), (1_000_000, "1"), (5_000_000, "5"), (1_250_000, "1.25")] {
            assert_eq!(seconds(micros), text);
        }
    }

    #[test]
    fn a_bucket_counts_all_that_was_quicker() {
        let metrics = Metrics::default();
        for micros in [100, 600, 10_000_000] {
            metrics.message(Accepted::Busy, Duration::from_micros(micros));
        }
        let page =
            metrics.render(&Gauges { waiting: 3, runs: vec![(RunState::Done, 4)], environments: 0, followers: 0 });
        for line in [
            "hedgerow_message_acceptance_seconds_bucket{le=\"0.0005\"} 1",
            "hedgerow_message_acceptance_seconds_bucket{le=\"0.001\"} 2",
            "hedgerow_message_acceptance_seconds_bucket{le=\"5\"} 2",
            "hedgerow_message_acceptance_seconds_bucket{le=\"+Inf\"} 3",
            "hedgerow_message_acceptance_seconds_count 3",
            "hedgerow_message_acceptance_seconds_sum 10.0007",
            "hedgerow_messages_total{outcome=\"busy\"} 3",
            "hedgerow_messages_waiting 3",
            "hedgerow_runs{state=\"running\"} 0",
            "hedgerow_runs{state=\"done\"} 4",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}
