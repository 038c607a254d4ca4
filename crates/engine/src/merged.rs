//! "Is it merged?": gathers what git can tell and asks core for the verdict.
//!
//! Cheap questions come first and the asking stops at the first answer that decides. What git cannot say stays unsaid:
//! an error, a cut-off history or too much of it end in "unknown", never in "merged".

mod ledger;

use hedgerow_core::CommitSha;
use hedgerow_core::merged::{MergeFacts, Verdict, verdict as judge};

use self::ledger::{Ledger, Work, brought_by, events};
use crate::git::merge::{Change, Merge, Sides, Step};
use crate::git::{GitResult, Repo};

/// More commits than this, on both sides together, are not read one by one.
const MAX_COMMITS: u64 = 10_000;

/// What is asked about a branch.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    pub tip: &'a CommitSha,
    /// The local base and its remote counterpart.
    pub targets: &'a [CommitSha],
    /// Where the environment began.
    pub recorded_base: Option<&'a CommitSha>,
    /// A merged pull request: its number and the head it was merged at.
    pub pr: Option<(u64, CommitSha)>,
}

impl Question<'_> {
    fn known(&self, target: Option<&CommitSha>) -> MergeFacts {
        MergeFacts {
            tip: Some(self.tip.clone()),
            target: target.cloned(),
            recorded_base: self.recorded_base.cloned(),
            pr_merged_at: self.pr.clone(),
            ..MergeFacts::default()
        }
    }
}

/// What git says about the branch and one target, as far as it is needed for a verdict.
pub async fn facts(repo: &Repo, q: &Question<'_>, target: &CommitSha) -> MergeFacts {
    Inquiry::run(repo, q, target).await.facts
}

/// The verdict over all targets: merged in one of them counts, unless another has taken the work out again.
pub async fn verdict(repo: &Repo, q: &Question<'_>) -> Verdict {
    let mut best: Option<Verdict> = None;
    for (nth, target) in q.targets.iter().enumerate() {
        if q.targets[..nth].contains(target) {
            continue;
        }
        let inquiry = Inquiry::run(repo, q, target).await;
        let (is_unchecked, verdict) = (inquiry.is_unchecked, inquiry.verdict());
        if is_unchecked || verdict == Verdict::New {
            return verdict;
        }
        best = Some(match best {
            Some(other) => weightier(other, verdict),
            None => verdict,
        });
    }
    best.unwrap_or_else(|| match judge(&q.known(None)) {
        Verdict::Unknown(_) => Verdict::Unknown("there is no base to compare it with".to_owned()),
        verdict => verdict,
    })
}

/// Whether merging `tip` into `base` would stop with conflicts.
pub async fn would_conflict(repo: &Repo, tip: &CommitSha, base: &CommitSha) -> GitResult<bool> {
    repo.would_conflict(tip, base).await
}

fn weightier(one: Verdict, other: Verdict) -> Verdict {
    let weight = |verdict: &Verdict| match verdict {
        Verdict::RevertedLater(_) => (0, 0),
        merged if merged.is_merged() => (1, 0),
        Verdict::Unmerged { ahead } => (3, *ahead),
        _ => (2, 0),
    };
    if weight(&other) < weight(&one) { other } else { one }
}

/// One branch against one target.
struct Inquiry<'a> {
    repo: &'a Repo,
    q: &'a Question<'a>,
    target: &'a CommitSha,
    facts: MergeFacts,
    /// The first thing git could not answer.
    gap: Option<String>,
    /// The work is in the target's history, but whether it is still there could not be found out.
    is_unchecked: bool,
}

impl<'a> Inquiry<'a> {
    async fn run(repo: &'a Repo, q: &'a Question<'a>, target: &'a CommitSha) -> Self {
        let mut inquiry = Self { repo, q, target, facts: q.known(Some(target)), gap: None, is_unchecked: false };
        if let Err(error) = inquiry.ask().await {
            inquiry.note(error.reason());
        }
        inquiry
    }

    fn note(&mut self, gap: impl Into<String>) {
        self.gap.get_or_insert(gap.into());
    }

    fn verdict(self) -> Verdict {
        match (judge(&self.facts), self.gap) {
            (Verdict::Unknown(_), Some(gap)) => Verdict::Unknown(gap),
            (verdict, _) => verdict,
        }
    }

    async fn ask(&mut self) -> GitResult<()> {
        let (tip, target) = (self.q.tip, self.target);
        if self.q.recorded_base == Some(tip) || tip == target {
            return Ok(());
        }
        let (ahead, behind) = self.repo.ahead_behind(tip, target).await?;
        self.facts.ahead = Some(ahead);
        self.facts.tip_is_ancestor_of_target = Some(ahead == 0);
        let is_readable = ahead + behind <= MAX_COMMITS;
        if ahead == 0 {
            self.facts.merge_base = Some(tip.clone());
            self.check_landed(std::slice::from_ref(tip), is_readable, None).await;
            return Ok(());
        }
        let bases = self.repo.merge_bases(tip, target).await?;
        self.facts.merge_base = bases.first().cloned();
        if bases.is_empty() {
            let is_shallow = self.repo.common_dir().join("shallow").exists();
            self.note(if is_shallow {
                "the history is cut off (a shallow clone) before a commit it shares with the base"
            } else {
                "it shares no commit with the base"
            });
            return Ok(());
        }
        let mut sides = None;
        if !self.compare_files(&bases).await? {
            if !is_readable {
                self.note(format!("it and the base are more than {MAX_COMMITS} commits apart"));
                return Ok(());
            }
            let read = self.repo.sides(tip, target).await?;
            self.compare_patches(&bases, &read).await?;
            sides = Some(read);
        }
        if judge(&self.facts).is_merged() {
            self.check_landed(&bases, is_readable, sides).await;
        }
        Ok(())
    }

    /// Whether the files alone show that the target has the work.
    async fn compare_files(&mut self, bases: &[CommitSha]) -> GitResult<bool> {
        let (tip, target) = (self.q.tip, self.target);
        let commits: Vec<&CommitSha> = [tip, target].into_iter().chain(bases).collect();
        let trees = self.repo.trees(&commits).await?;
        // Equal to one of several bases still means that it changed what the others brought.
        let no_net_change = trees[2..].iter().all(|tree| *tree == trees[0]);
        self.facts.no_net_change = Some(no_net_change);
        self.facts.same_tree_as_target = Some(trees[0] == trees[1]);
        if no_net_change || trees[0] == trees[1] {
            return Ok(true);
        }
        match self.repo.strict_merge(target, tip).await {
            Ok(merge) => self.facts.merge_adds_nothing = Some(merge == Merge::Clean(trees[1].clone())),
            // Other evidence may still decide.
            Err(error) => self.note(error.reason()),
        }
        Ok(self.facts.merge_adds_nothing == Some(true))
    }

    /// Whether the target's commits since the fork carry the branch's patches, and still do.
    async fn compare_patches(&mut self, bases: &[CommitSha], sides: &Sides) -> GitResult<()> {
        let tip = self.q.tip;
        let whole = bases.iter().map(|base| Change { from: base.clone(), to: tip.clone() }).collect();
        let work = Work { whole, each: own_changes(&sides.own), since: None };
        let ledger = Ledger::read(self.repo, &work, &events(&sides.theirs, self.target, &[])).await?;
        self.facts.squash_commit = self.had_it_at(ledger.squash()).await?.cloned();
        // A merge on the branch may hold edits of its own that no single commit's patch shows.
        let is_plain = sides.own.iter().all(|step| step.parents.len() == 1);
        let last = ledger.last_of_each().filter(|_| is_plain && self.facts.squash_commit.is_none());
        self.facts.every_patch_in_target = Some(self.had_it_at(last).await?.is_some());
        if judge(&self.facts).is_merged() {
            self.facts.reverted_by = ledger.undone_by().cloned();
        }
        Ok(())
    }

    /// The commit, if merging the tip would have added nothing when the target was there. Where a file repeats itself,
    /// the same patch can be another change, at another place.
    async fn had_it_at<'c>(&self, commit: Option<&'c CommitSha>) -> GitResult<Option<&'c CommitSha>> {
        let Some(commit) = commit else { return Ok(None) };
        let tree = self.repo.trees(&[commit]).await?.remove(0);
        let merge = self.repo.strict_merge(commit, self.q.tip).await?;
        Ok((merge == Merge::Clean(tree)).then_some(commit))
    }

    /// Looks for a revert of commits that the target has by ancestry. Without a record of the beginning, nothing tells
    /// which of them are the branch's own; core then answers "unknown" or judges by the rest.
    async fn check_landed(&mut self, bases: &[CommitSha], is_readable: bool, sides: Option<Sides>) {
        let Some(began) = self.q.recorded_base.filter(|began| !bases.contains(began)) else { return };
        let found = if is_readable {
            self.landed_and_undone(began, bases, sides).await.map_err(|error| error.reason())
        } else {
            Err(format!("it and the base are more than {MAX_COMMITS} commits apart"))
        };
        match found {
            Ok(Some(revert)) => self.facts.reverted_by = Some(revert),
            Ok(None) => {}
            Err(why) => {
                self.facts = MergeFacts { merge_base: self.facts.merge_base.take(), ..self.q.known(Some(self.target)) };
                self.is_unchecked = true;
                self.note(format!("whether the base took it out again could not be read: {why}"));
            }
        }
    }

    async fn landed_and_undone(
        &self,
        began: &CommitSha,
        bases: &[CommitSha],
        sides: Option<Sides>,
    ) -> GitResult<Option<CommitSha>> {
        let (tip, target) = (self.q.tip, self.target);
        let sides = match sides {
            Some(sides) => sides,
            None => self.repo.sides(tip, target).await?,
        };
        for base in bases {
            let merges = brought_by(&sides.theirs, target, base);
            // The target was moved along the branch itself: its line since the beginning is the work.
            if merges.is_empty() && base != tip {
                continue;
            }
            let mainline = merges.iter().map(|merge| &merge.parents[0]);
            let line = self.repo.line(base, &mainline.chain([began]).collect::<Vec<_>>()).await?;
            let mut whole: Vec<Change> = merges.iter().filter_map(|merge| change_of(merge)).collect();
            whole.push(Change { from: began.clone(), to: base.clone() });
            let since = merges.first().and_then(|first| sides.theirs.iter().position(|step| step == *first));
            let work = Work { whole, each: own_changes(&line), since };
            let ledger = Ledger::read(self.repo, &work, &events(&sides.theirs, target, &merges)).await?;
            if let Some(revert) = ledger.undone_by() {
                return Ok(Some(revert.clone()));
            }
        }
        Ok(None)
    }
}

fn own_changes(steps: &[Step]) -> Vec<Change> {
    steps.iter().filter(|step| step.parents.len() == 1).filter_map(change_of).collect()
}

/// A commit against its first parent; nothing for the first commit of a history.
fn change_of(step: &Step) -> Option<Change> {
    Some(Change { from: step.parents.first()?.clone(), to: step.commit.clone() })
}
