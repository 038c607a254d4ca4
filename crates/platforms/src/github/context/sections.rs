//! The parts of what an agent is told about an issue or pull request.

use super::About;
use super::story::{Commented, Remark, Story, Thread, moment};
use crate::github::graph::{Nodes, each};
use crate::github::heard::Spot;
use crate::github::text::{code_lines, cut, indented, lines, one_line};

/// Longest text of one person.
const LONGEST_REMARK: usize = 4_000;
/// Lines of what we said ourselves, and of what is settled.
const FIRST_LINES: usize = 3;
/// Lines of a file before the one that was commented on.
const LAST_LINES: usize = 30;
const LONGEST_HUNK: usize = 2_000;
const LONGEST_TITLE: usize = 300;
const LONGEST_PATH: usize = 200;
/// How our own comments begin.
const OUR_MARK: &str = "<!-- hedgerow:";

/// Reads a story as it was when we were asked.
pub(super) struct Reader<'a> {
    about: &'a About<'a>,
    story: &'a Story,
    /// The review that asked, or that the asking comment is a part of: it was said as one.
    own_review: Option<&'a str>,
}

/// Whether something is read.
enum Standing {
    Read,
    /// It was changed after we were asked.
    Changed,
    /// It came later, or is hidden, or is what asked us.
    Out,
}

impl<'a> Reader<'a> {
    pub(super) fn new(about: &'a About<'a>, story: &'a Story) -> Self {
        let mut reader = Self { about, story, own_review: None };
        let own = each(story.review_threads.as_ref()).flat_map(|thread| each(thread.comments.as_ref()));
        let review =
            own.filter(|remark| reader.is_trigger(remark)).find_map(|remark| remark.pull_request_review.as_ref());
        reader.own_review = match about.asked.place {
            Spot::Review { .. } => Some(&about.asked.node_id),
            _ => review.map(|review| review.id.as_str()),
        };
        reader
    }

    /// What it is, by whom, and how it stands.
    pub(super) fn head(&self) -> String {
        let (story, about) = (self.story, self.about);
        let kind = if about.is_pull_request { "Pull request" } else { "Issue" };
        let state = story.state.to_ascii_lowercase();
        let draft = if story.is_draft { ", a draft" } else { "" };
        let mut lines = vec![format!("{kind} #{} of {}: {}", about.number, about.repository, self.title())];
        lines.push(format!("State: {}{draft}", one_line(&state, 20)));
        let by = person(story.author.as_ref().map(|author| author.login.as_str()), &story.author_association);
        lines.push(format!("Opened by {by}, {}", one_line(&story.created_at, 30)));
        let labels: Vec<String> = each(story.labels.as_ref()).map(|label| one_line(&label.name, 50)).collect();
        if !labels.is_empty() {
            lines.push(format!("Labels: {}", labels.join(", ")));
        }
        lines.join("\n")
    }

    /// The title as it was then.
    fn title(&self) -> String {
        let later = each(self.story.timeline_items.as_ref()).filter(|renamed| self.is_later(&renamed.created_at));
        let first = later.min_by(|one, other| one.created_at.cmp(&other.created_at));
        one_line(first.map_or(&self.story.title, |renamed| &renamed.previous_title), LONGEST_TITLE)
    }

    pub(super) fn body(&self, most: usize) -> Option<String> {
        let text = lines(self.story.body.as_deref().unwrap_or_default());
        let is_the_ask = self.about.asked.place == Spot::Body && !self.about.asked.is_anothers;
        if is_the_ask || text.is_empty() {
            return None;
        }
        if self.story.last_edited_at.as_deref().is_some_and(|edited| self.is_later(edited)) {
            return Some("Its text may have been changed after you were asked, so it is left out.".to_owned());
        }
        Some(format!("Its text:\n{}", cut(&indented(&text), most)))
    }

    /// Where we were asked, when that is a line of a file.
    pub(super) fn own_thread(&self, line: Option<&Commented>, most: usize) -> Option<String> {
        let is_own = |thread: &&Thread| each(thread.comments.as_ref()).any(|remark| self.is_trigger(remark));
        let thread = each(self.story.review_threads.as_ref()).find(is_own);
        let place = match (line, thread) {
            (Some(line), _) => place(&line.path, line.line.or(line.original_line)),
            (None, Some(thread)) => place(&thread.path, thread.line.or(thread.original_line)),
            (None, None) => return None,
        };
        let mut parts = vec![format!("You were asked at {place}")];
        if let Some(hunk) = line.map(|line| hunk(&line.diff_hunk)).filter(|hunk| !hunk.is_empty()) {
            parts.push(format!("The change there:\n{}", indented(&hunk)));
        }
        let said = thread.map(|thread| self.remarks(thread.comments.as_ref())).unwrap_or_default();
        if !said.is_empty() {
            let used: usize = parts.iter().map(|part| part.chars().count() + 1).sum();
            let left_out = thread.map_or(0, |thread| missing(thread.comments.as_ref()));
            parts.push(listed("Said there before", said, left_out, most.saturating_sub(used)));
        }
        Some(parts.join("\n"))
    }

    /// What a pull request changes.
    pub(super) fn files(&self, most: usize) -> Option<String> {
        let files = self.story.files.as_ref()?;
        let line = |path: &str, more: u64, less: u64| format!("    {} +{more} -{less}", one_line(path, LONGEST_PATH));
        let all: Vec<String> = each(Some(files)).map(|file| line(&file.path, file.additions, file.deletions)).collect();
        let count = files.total_count.max(all.len());
        let head = format!("Files changed: {count}, +{} -{}", self.story.additions, self.story.deletions);
        Some(first_that_fit(head, &all, count, most))
    }

    /// The titles of its commits.
    pub(super) fn commits(&self, most: usize) -> Option<String> {
        let commits = self.story.commits.as_ref()?;
        let lines = each(Some(commits)).map(|node| {
            let sha = one_line(&node.commit.abbreviated_oid, 12);
            format!("    {sha} {}", one_line(&node.commit.message_headline, 150))
        });
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| listed("Commits", lines, missing(Some(commits)), most))
    }

    /// What was said about other lines. What is settled goes first when there is no room.
    pub(super) fn threads(&self, most: usize) -> Option<String> {
        let threads = self.story.review_threads.as_ref()?;
        let others = each(Some(threads)).filter(|thread| !each(thread.comments.as_ref()).any(|it| self.is_trigger(it)));
        let (settled, open): (Vec<_>, Vec<_>) = others.partition(|thread| thread.is_resolved);
        let written: Vec<String> = settled.into_iter().chain(open).filter_map(|thread| self.thread(thread)).collect();
        (!written.is_empty()).then(|| listed("Said about lines of files", written, missing(Some(threads)), most))
    }

    fn thread(&self, thread: &Thread) -> Option<String> {
        let mut said = self.remarks(thread.comments.as_ref());
        let (count, all) = (said.len(), missing(thread.comments.as_ref()));
        let first = said.first()?.clone();
        let marks = match (thread.is_resolved, thread.is_outdated) {
            (true, _) => " (resolved)",
            (false, true) => " (outdated)",
            (false, false) => "",
        };
        if thread.is_resolved {
            said = vec![first_lines(&first, FIRST_LINES + 1)];
        }
        let left_out = all + count - said.len();
        let mut parts = vec![format!("At {}{marks}:", place(&thread.path, thread.line.or(thread.original_line)))];
        parts.extend(said);
        if left_out > 0 {
            parts.push(format!("[{left_out} more there left out]"));
        }
        Some(cut(&parts.join("\n"), LONGEST_REMARK))
    }

    /// Comments and reviews, in the order they were said.
    pub(super) fn conversation(&self, most: usize) -> Option<String> {
        let (comments, reviews) = (self.story.comments.as_ref(), self.story.reviews.as_ref());
        // A review without words is only the cover of what it says about lines.
        let is_said = |review: &&Remark| {
            let state = review.state.as_deref().unwrap_or_default();
            state != "PENDING" && (state != "COMMENTED" || !lines(&review.body).is_empty())
        };
        let mut all: Vec<&Remark> = each(comments).chain(each(reviews).filter(is_said)).collect();
        all.sort_by_key(|remark| moment(said_at(remark)));
        let said: Vec<String> = all.into_iter().filter_map(|remark| self.remark(remark)).collect();
        let left_out = missing(comments) + missing(reviews);
        (!said.is_empty()).then(|| listed("Said before, the newest last", said, left_out, most))
    }

    fn remarks(&self, remarks: Option<&Nodes<Remark>>) -> Vec<String> {
        each(remarks).filter_map(|remark| self.remark(remark)).collect()
    }

    /// Who said what, when.
    fn remark(&self, remark: &Remark) -> Option<String> {
        let who = person(remark.author.as_ref().map(|author| author.login.as_str()), &remark.author_association);
        let verdict = match remark.state.as_deref() {
            Some("APPROVED") => ", approves",
            Some("CHANGES_REQUESTED") => ", requests changes",
            Some("DISMISSED") => ", a review that was dismissed",
            Some(_) => ", a review",
            None => "",
        };
        let head = format!("{who}, {}{verdict}:", one_line(said_at(remark), 30));
        let text = match self.standing(remark) {
            Standing::Out => return None,
            Standing::Changed => return Some(format!("{head}\n[changed after you were asked, so it is left out]")),
            Standing::Read => lines(&remark.body),
        };
        let text = if remark.body.starts_with(OUR_MARK) { first_lines(&text, FIRST_LINES) } else { text };
        Some(format!("{head}\n{}", cut(&indented(&text), LONGEST_REMARK)).trim_end().to_owned())
    }

    fn standing(&self, remark: &Remark) -> Standing {
        let review = remark.pull_request_review.as_ref().map(|review| review.id.as_str());
        let is_own_review = review.is_some() && review == self.own_review;
        let is_the_ask = self.is_trigger(remark) && !self.about.asked.is_anothers;
        if remark.is_minimized || is_the_ask || (self.is_later(said_at(remark)) && !is_own_review) {
            return Standing::Out;
        }
        let is_changed = remark.last_edited_at.as_deref().is_some_and(|edited| self.is_later(edited));
        if is_changed { Standing::Changed } else { Standing::Read }
    }

    /// What cannot be read as a time counts as later.
    fn is_later(&self, time: &str) -> bool {
        moment(time).is_none_or(|time| time > self.about.at)
    }

    /// Whether it is what asked us. Its address tells too, for the names of GitHub have two forms.
    fn is_trigger(&self, remark: &Remark) -> bool {
        let end = match self.about.asked.place {
            Spot::Body => return false,
            Spot::Comment { id } => format!("#issuecomment-{id}"),
            Spot::ReviewComment { id } => format!("#discussion_r{id}"),
            Spot::Review { id } => format!("#pullrequestreview-{id}"),
        };
        remark.id == self.about.asked.node_id || remark.url.ends_with(&end)
    }
}

fn said_at(remark: &Remark) -> &str {
    remark.published_at.as_deref().unwrap_or(&remark.created_at)
}

/// `alice (member)`. Whoever left GitHub is a ghost there.
fn person(login: Option<&str>, association: &str) -> String {
    let login = one_line(login.unwrap_or("ghost"), 100);
    match one_line(&association.to_ascii_lowercase(), 40).replace('_', " ") {
        none if none.is_empty() || none == "none" => format!("{login} (no member)"),
        association => format!("{login} ({association})"),
    }
}

fn place(path: &str, line: Option<u64>) -> String {
    let path = one_line(path, LONGEST_PATH);
    line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"))
}

/// The end of a change: the line that was commented on is its last.
fn hunk(diff: &str) -> String {
    let text = code_lines(diff);
    let all: Vec<&str> = text.split('\n').collect();
    let last = all[all.len().saturating_sub(LAST_LINES)..].join("\n");
    let from = last.char_indices().rev().nth(LONGEST_HUNK - 1).map_or(0, |(at, _)| at);
    last[from..].to_owned()
}

fn first_lines(text: &str, most: usize) -> String {
    match text.split('\n').nth(most) {
        Some(_) => format!("{}\n[… shortened]", text.split('\n').take(most).collect::<Vec<_>>().join("\n")),
        None => text.to_owned(),
    }
}

/// How many entries of a list GitHub did not show.
fn missing<T>(list: Option<&Nodes<T>>) -> usize {
    list.map_or(0, |list| list.total_count.saturating_sub(each(Some(list)).count()))
}

/// The newest that fit, under a heading that says how many do not.
fn listed(heading: &str, mut items: Vec<String>, mut left_out: usize, most: usize) -> String {
    let mut used = 0;
    let fits = |item: &&String| {
        used += item.chars().count() + 1;
        used <= most
    };
    let count = items.iter().rev().take_while(fits).count();
    left_out += items.len() - count;
    let kept = items.split_off(items.len() - count);
    let note = if left_out > 0 { format!(" ({left_out} more left out)") } else { String::new() };
    [vec![format!("{heading}{note}:")], kept].concat().join("\n")
}

/// The first that fit, and a line that says how many do not.
fn first_that_fit(head: String, items: &[String], count: usize, most: usize) -> String {
    let mut used = head.chars().count();
    let fits = |item: &&String| {
        used += item.chars().count() + 1;
        used <= most
    };
    let kept: Vec<String> = items.iter().take_while(fits).cloned().collect();
    let left_out = count - kept.len();
    let note = (left_out > 0).then(|| format!("    [… {left_out} more files left out]"));
    std::iter::once(head).chain(kept).chain(note).collect::<Vec<_>>().join("\n")
}
