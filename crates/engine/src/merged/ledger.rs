//! When the target took a piece of work in, and when it took it out again. The last entry counts.

use std::collections::{HashMap, HashSet};

use hedgerow_core::CommitSha;

use super::change_of;
use crate::git::merge::{Change, Digest, Outline, Patch, Step};
use crate::git::{GitResult, Repo};

/// What a branch did.
pub(super) struct Work {
    /// All of it as one change; several where there are several points of view.
    pub(super) whole: Vec<Change>,
    /// Commit by commit, oldest first.
    pub(super) each: Vec<Change>,
    /// The place in the target's history where the work came in by ancestry, if it did.
    pub(super) since: Option<usize>,
}

/// A commit of the target, at its place in the target's history, and what it changed.
pub(super) struct Event {
    at: usize,
    change: Change,
}

/// Where in the target a change occurs last.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    applied: Option<usize>,
    undone: Option<usize>,
}

pub(super) struct Ledger {
    whole: Last,
    /// One for each commit that changes anything and that the branch itself did not undo later.
    each: Vec<Last>,
    has_each: bool,
    since: Option<usize>,
    /// Names of the commits by their place.
    commits: Vec<(usize, CommitSha)>,
}

impl Ledger {
    /// Reads the patches of the work and of those events that touch the same paths.
    pub(super) async fn read(repo: &Repo, work: &Work, events: &[Event]) -> GitResult<Self> {
        let own: Vec<Change> = work.whole.iter().chain(&work.each).cloned().collect();
        let all: Vec<Change> = own.iter().cloned().chain(events.iter().map(|event| event.change.clone())).collect();
        let outlines = repo.outlines(&all).await?;
        let (own_outlines, event_outlines) = outlines.split_at(own.len());
        let candidates = candidates(own_outlines, events, event_outlines);
        let whole_count = work.whole.len();
        let mut ledger =
            Self { whole: Last::default(), each: Vec::new(), has_each: false, since: work.since, commits: Vec::new() };
        if candidates.is_empty() {
            return Ok(ledger);
        }
        let questions: Vec<Change> = own
            .iter()
            .cloned()
            .chain(own.iter().map(Change::back))
            .chain(candidates.iter().map(|event| event.change.clone()))
            .collect();
        let patches = repo.patches(&questions).await?;
        let (forth, rest) = patches.split_at(own.len());
        let (back, present) = rest.split_at(own.len());
        let find = |nth: usize| Last {
            applied: last(&candidates, present, |patch| patch.exact, forth[nth].exact),
            undone: last(&candidates, present, |patch| patch.lines, back[nth].lines),
        };
        for nth in 0..whole_count {
            let found = find(nth);
            ledger.whole.applied = ledger.whole.applied.max(found.applied);
            ledger.whole.undone = ledger.whole.undone.max(found.undone);
        }
        let with_content: Vec<usize> = (whole_count..own.len()).filter(|nth| forth[*nth].exact.is_some()).collect();
        ledger.has_each = !with_content.is_empty() && with_content.iter().all(|nth| find(*nth).applied.is_some());
        let is_own_undoing = |nth: usize| (nth + 1..own.len()).any(|later| forth[later].lines == back[nth].lines);
        ledger.each = with_content.into_iter().filter(|nth| !is_own_undoing(*nth)).map(find).collect();
        ledger.commits = candidates.iter().map(|event| (event.at, event.change.to.clone())).collect();
        Ok(ledger)
    }

    /// The commit that carries the whole work.
    pub(super) fn squash(&self) -> Option<&CommitSha> {
        self.commit(self.whole.applied?)
    }

    /// The commit that applied the last of the work's single patches, if every one of them was.
    pub(super) fn last_of_each(&self) -> Option<&CommitSha> {
        let last = self.each.iter().filter_map(|part| part.applied).max();
        self.commit(last.filter(|_| self.has_each)?)
    }

    /// The commit that took the work, or a part of it, out for good.
    pub(super) fn undone_by(&self) -> Option<&CommitSha> {
        let whole = [Last::default()];
        let parts = if self.each.is_empty() { &whole[..] } else { &self.each };
        let undoings = parts.iter().filter_map(|part| {
            let applied = part.applied.max(self.whole.applied).max(self.since);
            let undone = part.undone.max(self.whole.undone);
            undone.filter(|_| undone > applied)
        });
        self.commit(undoings.max()?)
    }

    fn commit(&self, at: usize) -> Option<&CommitSha> {
        self.commits.iter().find(|(place, _)| *place == at).map(|(_, commit)| commit)
    }
}

/// The events that touch the very paths, in the very modes, of some part of the work or of its inverse.
fn candidates<'a>(own: &[Outline], events: &'a [Event], outlines: &[Outline]) -> Vec<&'a Event> {
    let wanted: HashSet<Digest> = own.iter().flat_map(|outline| [outline.forth, outline.back]).flatten().collect();
    let touching = events.iter().zip(outlines);
    touching
        .filter(|(_, outline)| outline.forth.is_some_and(|forth| wanted.contains(&forth)))
        .map(|(event, _)| event)
        .collect()
}

fn last(
    candidates: &[&Event],
    present: &[Patch],
    view: impl Fn(&Patch) -> Option<Digest>,
    wanted: Option<Digest>,
) -> Option<usize> {
    let wanted = wanted?;
    let matching = candidates.iter().zip(present).filter(|(_, patch)| view(patch) == Some(wanted));
    matching.map(|(event, _)| event.at).max()
}

/// What counts as having happened in the target: every plain commit, and the merges on its main line. A merge on a side
/// line often only repeats what the main line has, and its place in the order says nothing about that.
pub(super) fn events(theirs: &[Step], target: &CommitSha, without: &[&Step]) -> Vec<Event> {
    let mut mainline = HashSet::new();
    let mut next = Some(target);
    for step in theirs.iter().rev() {
        if Some(&step.commit) == next {
            mainline.insert(&step.commit);
            next = step.parents.first();
        }
    }
    let counting = theirs
        .iter()
        .enumerate()
        .filter(|(_, step)| (step.parents.len() == 1 || mainline.contains(&step.commit)) && !without.contains(step));
    counting.filter_map(|(at, step)| Some(Event { at, change: change_of(step)? })).collect()
}

/// The merges by which `commit` came to the target, oldest first: the way down from the target takes the first parent
/// as long as that one has the commit. None when the target's own line runs through it.
pub(super) fn brought_by<'a>(theirs: &'a [Step], target: &CommitSha, commit: &CommitSha) -> Vec<&'a Step> {
    let mut having: HashMap<&CommitSha, &Step> = HashMap::new();
    let has = |having: &HashMap<_, _>, parent: &CommitSha| parent == commit || having.contains_key(parent);
    for step in theirs {
        if step.parents.iter().any(|parent| has(&having, parent)) {
            having.insert(&step.commit, step);
        }
    }
    let mut merges = Vec::new();
    let mut at = having.get(target);
    while let Some(step) = at {
        let Some(way) = step.parents.iter().position(|parent| has(&having, parent)) else { break };
        if way > 0 {
            merges.push(*step);
        }
        at = having.get(&step.parents[way]);
    }
    merges.reverse();
    merges
}
