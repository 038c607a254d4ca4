//! "Is it merged?" as a verdict from facts.

use crate::sha::CommitSha;

/// What git (and, where there is one, the forge) said about a branch and its base. Gathered by the engine; every
/// `None` means "not known", never "no".
///
/// One scan of the target's patches since the fork answers both `squash_commit` and `every_patch_in_target`: a
/// `squash_commit` of `None` beside an answered `every_patch_in_target` means that the scan found no such commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeFacts {
    pub tip: Option<CommitSha>,
    /// The base commit the question is asked against.
    pub target: Option<CommitSha>,
    /// The commit recorded when the environment was made.
    pub recorded_base: Option<CommitSha>,
    pub merge_base: Option<CommitSha>,
    pub tip_is_ancestor_of_target: Option<bool>,
    /// The tip's tree is the merge base's tree.
    pub no_net_change: Option<bool>,
    pub same_tree_as_target: Option<bool>,
    /// Merging the tip into the target would leave the target's tree as it is.
    pub merge_adds_nothing: Option<bool>,
    /// The commit of the target, since the fork, that carries the branch's combined patch.
    pub squash_commit: Option<CommitSha>,
    /// Every commit's own patch is among the target's since the fork.
    pub every_patch_in_target: Option<bool>,
    /// The pull request that was merged, and the head it was merged at.
    pub pr_merged_at: Option<(u64, CommitSha)>,
    /// The commit of the target that took the merged work out again.
    pub reverted_by: Option<CommitSha>,
    /// Commits of the branch that the target does not have.
    pub ahead: Option<u64>,
}

/// The answer, with its evidence. Only [`Verdict::is_merged`] ones may be removed as merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was ever done: the tip is the base sha recorded at creation.
    New,
    SameCommit,
    Ancestor,
    NoNetChange,
    EqualTree,
    MergeAddsNothing,
    SquashPatch(CommitSha),
    CommitwisePatch,
    PrMerged {
        number: u64,
    },
    /// It was merged, and taken out again.
    RevertedLater(CommitSha),
    Unmerged {
        ahead: u64,
    },
    Unknown(String),
}

/// The first answer that holds, asked in a fixed order. A missing fact is never taken for a yes.
pub fn verdict(facts: &MergeFacts) -> Verdict {
    let Some(tip) = &facts.tip else {
        return Verdict::Unknown("its tip could not be read".to_owned());
    };
    if facts.recorded_base.as_ref() == Some(tip) {
        return Verdict::New;
    }
    // Without a record a branch that nothing was done on looks just like one whose work is in the base.
    if facts.recorded_base.is_none() && facts.has_own_commits() != Some(true) {
        let why = "where it began was not recorded, and no commit is known to be its own";
        return Verdict::Unknown(why.to_owned());
    }
    match (merged(facts, tip), &facts.reverted_by) {
        // The commits stay in the history after a revert, so every answer above still says "merged".
        (Some(_), Some(revert)) => Verdict::RevertedLater(revert.clone()),
        (Some(verdict), None) => verdict,
        (None, _) => not_merged(facts),
    }
}

/// The first sign that the work is in the base, whatever happened to it there afterwards.
fn merged(facts: &MergeFacts, tip: &CommitSha) -> Option<Verdict> {
    let yes = |answer: Option<bool>, verdict| (answer == Some(true)).then_some(verdict);
    let same_commit = facts.target.as_ref().map(|target| target == tip);
    yes(same_commit, Verdict::SameCommit)
        .or_else(|| yes(facts.tip_is_ancestor_of_target, Verdict::Ancestor))
        .or_else(|| yes(facts.no_net_change, Verdict::NoNetChange))
        .or_else(|| yes(facts.same_tree_as_target, Verdict::EqualTree))
        .or_else(|| yes(facts.merge_adds_nothing, Verdict::MergeAddsNothing))
        .or_else(|| facts.squash_commit.clone().map(Verdict::SquashPatch))
        .or_else(|| yes(facts.every_patch_in_target, Verdict::CommitwisePatch))
        .or_else(|| match &facts.pr_merged_at {
            // A pull request merged at another head says nothing about what was committed since.
            Some((number, head)) if head == tip => Some(Verdict::PrMerged { number: *number }),
            _ => None,
        })
}

/// Nothing says "merged": unmerged if every question was answered, otherwise unknown.
fn not_merged(facts: &MergeFacts) -> Verdict {
    let questions = [
        (facts.tip_is_ancestor_of_target, "whether its commits are in the base"),
        (facts.no_net_change, "whether it changes anything"),
        (facts.same_tree_as_target, "whether the base has the same files"),
        (facts.merge_adds_nothing, "whether merging it would change the base"),
        (facts.every_patch_in_target, "whether its patches are in the base"),
    ];
    if let Some((_, what)) = questions.iter().find(|(answer, _)| answer.is_none()) {
        return Verdict::Unknown(format!("git could not say {what}"));
    }
    match facts.ahead {
        Some(0) => Verdict::Unknown("what git says about its commits does not agree".to_owned()),
        Some(ahead) => Verdict::Unmerged { ahead },
        None => Verdict::Unknown("its commits could not be counted".to_owned()),
    }
}

impl MergeFacts {
    /// Whether the branch has commits that its base lacks, as far as the facts tell.
    fn has_own_commits(&self) -> Option<bool> {
        let at = |other: &Option<CommitSha>| other.is_some() && *other == self.tip;
        if at(&self.target) || at(&self.merge_base) || self.tip_is_ancestor_of_target == Some(true) {
            return Some(false);
        }
        self.ahead.map(|ahead| ahead > 0).or(self.tip_is_ancestor_of_target.map(|inside| !inside))
    }
}

impl Verdict {
    pub const fn is_merged(&self) -> bool {
        matches!(
            self,
            Self::SameCommit
                | Self::Ancestor
                | Self::NoNetChange
                | Self::EqualTree
                | Self::MergeAddsNothing
                | Self::SquashPatch(_)
                | Self::CommitwisePatch
                | Self::PrMerged { .. }
        )
    }

    /// One word for scripts.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::SameCommit => "same-commit",
            Self::Ancestor => "ancestor",
            Self::NoNetChange => "no-net-change",
            Self::EqualTree => "equal-tree",
            Self::MergeAddsNothing => "merge-adds-nothing",
            Self::SquashPatch(_) => "squash-patch",
            Self::CommitwisePatch => "commitwise-patch",
            Self::PrMerged { .. } => "pr-merged",
            Self::RevertedLater(_) => "reverted-later",
            Self::Unmerged { .. } => "unmerged",
            Self::Unknown(_) => "unknown",
        }
    }
    /// The answer and its evidence for people; `base` is what they call the base.
    pub fn sentence(&self, base: &str) -> String {
        match self {
            Self::New => "new: nothing was committed in it yet".to_owned(),
            Self::SameCommit => format!("merged: it is at the same commit as {base}"),
            Self::Ancestor => format!("merged: all its commits are in {base}"),
            Self::NoNetChange => "merged: its commits add up to no change".to_owned(),
            Self::EqualTree => format!("merged: {base} has exactly the same files"),
            Self::MergeAddsNothing => format!("merged: merging it into {base} would change nothing"),
            Self::SquashPatch(commit) => format!("merged: its patch is commit {} of {base}", commit.short()),
            Self::CommitwisePatch => format!("merged: the patch of every commit is in {base}"),
            Self::PrMerged { number } => format!("merged: pull request #{number} was merged at this very commit"),
            Self::RevertedLater(commit) => {
                format!("reverted later: commit {} took it out of {base} again", commit.short())
            }
            Self::Unmerged { ahead: 1 } => format!("not merged: 1 commit is not in {base}"),
            Self::Unmerged { ahead } => format!("not merged: {ahead} commits are not in {base}"),
            Self::Unknown(why) => format!("unknown: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha(digit: char) -> CommitSha {
        CommitSha::parse(&digit.to_string().repeat(40)).expect("40 digits")
    }

    /// A branch with two commits of its own, about which git answered "no" to every question.
    fn unmerged() -> MergeFacts {
        MergeFacts {
            tip: Some(sha('a')),
            target: Some(sha('b')),
            recorded_base: Some(sha('c')),
            merge_base: Some(sha('c')),
            tip_is_ancestor_of_target: Some(false),
            no_net_change: Some(false),
            same_tree_as_target: Some(false),
            merge_adds_nothing: Some(false),
            squash_commit: None,
            every_patch_in_target: Some(false),
            pr_merged_at: None,
            reverted_by: None,
            ahead: Some(2),
        }
    }

    type Change = fn(&mut MergeFacts);

    /// One fact beside the unmerged ones, in the order in which they are asked.
    fn signs() -> Vec<(Change, Verdict)> {
        vec![
            (|f| f.target = Some(sha('a')), Verdict::SameCommit),
            (|f| f.tip_is_ancestor_of_target = Some(true), Verdict::Ancestor),
            (|f| f.no_net_change = Some(true), Verdict::NoNetChange),
            (|f| f.same_tree_as_target = Some(true), Verdict::EqualTree),
            (|f| f.merge_adds_nothing = Some(true), Verdict::MergeAddsNothing),
            (|f| f.squash_commit = Some(sha('d')), Verdict::SquashPatch(sha('d'))),
            (|f| f.every_patch_in_target = Some(true), Verdict::CommitwisePatch),
            (|f| f.pr_merged_at = Some((99, sha('a'))), Verdict::PrMerged { number: 99 }),
        ]
    }

    #[test]
    fn each_sign_alone_is_enough_and_the_first_one_is_named() {
        let mut all = unmerged();
        for (change, expected) in signs().into_iter().rev() {
            let mut facts = unmerged();
            change(&mut facts);
            assert_eq!(verdict(&facts), expected);
            assert!(expected.is_merged());
            change(&mut all);
            assert_eq!(verdict(&all), expected, "an earlier sign names the verdict");
        }
    }

    #[test]
    fn work_that_was_taken_out_again_is_not_merged_whatever_the_sign() {
        for (change, _) in signs() {
            let mut facts = unmerged();
            change(&mut facts);
            facts.reverted_by = Some(sha('e'));
            assert_eq!(verdict(&facts), Verdict::RevertedLater(sha('e')));
        }
        assert!(!Verdict::RevertedLater(sha('e')).is_merged());
    }

    #[test]
    fn a_branch_at_its_recorded_base_is_new_even_when_every_sign_says_merged() {
        let mut facts = unmerged();
        for (change, _) in signs() {
            change(&mut facts);
        }
        facts.recorded_base.clone_from(&facts.tip);
        facts.reverted_by = Some(sha('e'));
        assert_eq!(verdict(&facts), Verdict::New);
        assert!(!Verdict::New.is_merged());
    }

    #[test]
    fn without_a_record_a_branch_without_own_commits_is_unknown() {
        let empty: &[Change] = &[
            |f| f.tip_is_ancestor_of_target = Some(true),
            |f| f.target.clone_from(&f.tip),
            |f| f.merge_base.clone_from(&f.tip),
            |f| f.ahead = Some(0),
            |f| (f.ahead, f.tip_is_ancestor_of_target, f.no_net_change) = (None, None, Some(true)),
        ];
        for change in empty {
            let mut facts = MergeFacts { recorded_base: None, ..unmerged() };
            change(&mut facts);
            assert!(matches!(verdict(&facts), Verdict::Unknown(_)), "{facts:?}");
        }
        let squashed = MergeFacts { recorded_base: None, squash_commit: Some(sha('d')), ..unmerged() };
        assert_eq!(verdict(&squashed), Verdict::SquashPatch(sha('d')));
        assert_eq!(verdict(&MergeFacts { recorded_base: None, ..unmerged() }), Verdict::Unmerged { ahead: 2 });
    }

    #[test]
    fn a_pull_request_merged_at_another_head_proves_nothing() {
        let facts = MergeFacts { pr_merged_at: Some((99, sha('f'))), ..unmerged() };
        assert_eq!(verdict(&facts), Verdict::Unmerged { ahead: 2 });
    }

    #[test]
    fn unmerged_needs_every_answer() {
        assert_eq!(verdict(&unmerged()), Verdict::Unmerged { ahead: 2 });
        let gaps: &[(Change, &str)] = &[
            (|f| f.tip = None, "its tip could not be read"),
            (|f| f.tip_is_ancestor_of_target = None, "git could not say whether its commits are in the base"),
            (|f| f.no_net_change = None, "git could not say whether it changes anything"),
            (|f| f.same_tree_as_target = None, "git could not say whether the base has the same files"),
            (|f| f.merge_adds_nothing = None, "git could not say whether merging it would change the base"),
            (|f| f.every_patch_in_target = None, "git could not say whether its patches are in the base"),
            (|f| f.ahead = None, "its commits could not be counted"),
            (|f| f.ahead = Some(0), "what git says about its commits does not agree"),
        ];
        for (change, why) in gaps {
            let mut facts = unmerged();
            change(&mut facts);
            assert_eq!(verdict(&facts), Verdict::Unknown((*why).to_owned()));
        }
        assert!(matches!(verdict(&MergeFacts::default()), Verdict::Unknown(_)));
    }

    #[test]
    fn a_missing_answer_does_not_hide_a_later_sign() {
        let facts = MergeFacts { no_net_change: None, same_tree_as_target: Some(true), ..unmerged() };
        assert_eq!(verdict(&facts), Verdict::EqualTree);
    }

    #[test]
    fn the_sentence_names_the_evidence() {
        let table = [
            (Verdict::SquashPatch(sha('d')), "merged: its patch is commit ddddddd of main"),
            (Verdict::PrMerged { number: 99 }, "merged: pull request #99 was merged at this very commit"),
            (Verdict::RevertedLater(sha('e')), "reverted later: commit eeeeeee took it out of main again"),
            (Verdict::Unmerged { ahead: 1 }, "not merged: 1 commit is not in main"),
            (Verdict::Unmerged { ahead: 2 }, "not merged: 2 commits are not in main"),
            (Verdict::Unknown("git did not answer".into()), "unknown: git did not answer"),
        ];
        for (verdict, sentence) in table {
            assert_eq!(verdict.sentence("main"), sentence);
        }
        for (_, verdict) in signs() {
            assert!(verdict.sentence("main").starts_with("merged: "));
        }
    }
}
