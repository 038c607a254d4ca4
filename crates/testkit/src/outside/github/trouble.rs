//! What goes wrong when a test wants it to.

use std::time::Duration;

/// One way of going wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// An answer with this status and nothing done.
    Status(u16),
    /// No answer for a very long time.
    Hangs,
    /// The answer takes this long.
    Slow(Duration),
    /// The connection ends in the middle of the answer, and nothing was done.
    Drops,
    /// The same, but it was done.
    DoesAndDrops,
    /// It is done, and nobody hears of it for a very long time.
    DoesAndHangs,
    /// It is done and answered with 502: a gateway lost the answer.
    DoesAndFails,
    /// All calls of this hour are used up; more after this time.
    RateLimit(Duration),
    /// Too many calls in a short time; more after this time, and a header that says so.
    SecondaryLimit(Duration),
    /// The same without the header, as GitHub also does.
    SecondaryLimitUnsaid,
    /// All queries of this hour are used up, said with a good status; more after this time.
    QueryLimit(Duration),
    /// GitHub fails at a query, said with a good status.
    QueryFails,
}

#[derive(Debug)]
struct Rule {
    path: String,
    times: usize,
    trouble: Trouble,
}

#[derive(Debug, Default)]
pub(crate) struct Troubles(Vec<Rule>);

impl Troubles {
    pub(crate) fn add(&mut self, path: &str, times: usize, trouble: Trouble) {
        self.0.push(Rule { path: path.to_owned(), times, trouble });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The trouble of this call. Those that were told first come first.
    pub(crate) fn of(&mut self, method: &str, path: &str) -> Option<Trouble> {
        let whole = format!("{method} {path}");
        let is_meant = |rule: &Rule| path.starts_with(&rule.path) || whole.starts_with(&rule.path);
        let rule = self.0.iter_mut().find(|rule| rule.times > 0 && is_meant(rule))?;
        rule.times -= 1;
        Some(rule.trouble.clone())
    }
}
