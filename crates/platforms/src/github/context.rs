//! What was said before on an issue or pull request, for an agent to read as data.
//!
//! Only what stood there when we were asked: what came or was changed later was not seen by who asked. Each text is made
//! visible by itself and indented, so that none can hide the next or speak as somebody else.

mod sections;
mod story;

use std::time::Duration;

use hedgerow_core::RepositoryName;
use jiff::Timestamp;

use self::sections::Reader;
use self::story::{Commented, Story, fetch_line, fetch_story};
use super::client::{CallError, Client};
use super::heard::{Asked, Spot};

/// Longest to wait for it: the question itself is worth more.
const PATIENCE: Duration = Duration::from_secs(45);
/// Most characters of it all.
const LONGEST: usize = 40_000;
/// What the parts may take that come before the conversation; it has the rest.
const LONGEST_BODY: usize = 10_000;
const LONGEST_OWN_THREAD: usize = 7_000;
const LONGEST_FILES: usize = 5_000;
const LONGEST_COMMITS: usize = 2_500;
const LONGEST_THREADS: usize = 8_000;
/// For the lines that say what was left out.
const SPARE: usize = 500;

/// Where we were asked, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) repository: &'a RepositoryName,
    pub(super) number: u64,
    pub(super) is_pull_request: bool,
    pub(super) asked: &'a Asked,
    pub(super) at: Timestamp,
}

/// What is known; `None` when nobody tells.
pub(super) async fn context(client: &Client, about: &About<'_>) -> Option<String> {
    let (repository, number) = (about.repository, about.number);
    let both =
        async { tokio::join!(fetch_story(client, repository, number, about.is_pull_request), own_line(client, about)) };
    let late = || CallError::transient("GitHub did not answer in time");
    let (story, line) = tokio::time::timeout(PATIENCE, both).await.unwrap_or_else(|_| (Err(late()), None));
    match story {
        Ok(story) => Some(written(about, &story, line.as_ref())),
        Err(error) => {
            tracing::warn!(%repository, number, %error, "what was said before is not known");
            None
        }
    }
}

/// The line of a file that we were asked about.
async fn own_line(client: &Client, about: &About<'_>) -> Option<Commented> {
    let Spot::ReviewComment { id } = about.asked.place else { return None };
    let line = fetch_line(client, about.repository, id).await;
    line.inspect_err(|error| {
        let (repository, number) = (about.repository, about.number);
        tracing::warn!(%repository, number, %error, "the line that was commented on is not known");
    })
    .ok()
}

/// All of it, in parts with a bound each.
fn written(about: &About<'_>, story: &Story, line: Option<&Commented>) -> String {
    let reader = Reader::new(about, story);
    let mut parts = vec![reader.head()];
    parts.extend(reader.own_thread(line, LONGEST_OWN_THREAD));
    parts.extend(reader.body(LONGEST_BODY));
    parts.extend(reader.files(LONGEST_FILES));
    parts.extend(reader.commits(LONGEST_COMMITS));
    parts.extend(reader.threads(LONGEST_THREADS));
    let used: usize = parts.iter().map(|part| part.chars().count() + 2).sum();
    parts.extend(reader.conversation(LONGEST.saturating_sub(used + SPARE)));
    parts.join("\n\n")
}

#[cfg(test)]
mod tests;
