//! The identity of a piece of work, and the branch it gets.

use std::fmt;

use crate::branch::{BranchName, short_hash};
use crate::environment::UnknownWord;
use crate::hints::Hints;
use crate::sha::CommitSha;

/// A piece of work. Equal works share one environment per codebase.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Work {
    Issue(u64),
    PullRequest(u64),
    Review(u64),
    /// A conversation without a better name; the platform's own id of it, never empty.
    Thread(String),
    /// Something asked for by name: a slug, or the very branch the user named.
    Task(String),
}

/// Longest slug of a task.
const MAX_SLUG: usize = 50;

impl Work {
    /// The work of a free text such as `add dark mode`.
    pub fn task(text: &str) -> Self {
        Self::Task(slug(text))
    }

    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Issue(_) => "issue",
            Self::PullRequest(_) => "pr",
            Self::Review(_) => "review",
            Self::Thread(_) => "thread",
            Self::Task(_) => "task",
        }
    }

    /// The id as it is stored beside the kind.
    pub fn id(&self) -> String {
        match self {
            Self::Issue(n) | Self::PullRequest(n) | Self::Review(n) => n.to_string(),
            Self::Thread(id) | Self::Task(id) => id.clone(),
        }
    }

    pub fn from_parts(kind: &str, id: &str) -> Result<Self, UnknownWord> {
        let unknown = || UnknownWord { what: "work", value: format!("{kind} {id}") };
        // Only the way a number is written, so that one work has one id: no `+42`, no `042`.
        let number = || id.parse::<u64>().ok().filter(|n| *n > 0 && n.to_string() == id).ok_or_else(unknown);
        match kind {
            "issue" => number().map(Self::Issue),
            "pr" => number().map(Self::PullRequest),
            "review" => number().map(Self::Review),
            "thread" if !id.is_empty() => Ok(Self::Thread(id.to_owned())),
            "task" if !id.is_empty() => Ok(Self::Task(id.to_owned())),
            _ => Err(unknown()),
        }
    }

    /// The longer name of a thread whose short name is taken by another thread.
    pub fn longer_name(&self) -> Option<String> {
        match self {
            Self::Thread(id) => Some(format!("thread-{}", short_hash(id, 16))),
            _ => None,
        }
    }

    /// Works that are the same environment as this one: a fork's pull request and its review.
    pub fn with_aliases(&self, hints: &Hints) -> Vec<Self> {
        match self {
            Self::PullRequest(n) if hints.is_fork => vec![self.clone(), Self::Review(*n)],
            Self::Review(n) if hints.is_fork => vec![self.clone(), Self::PullRequest(*n)],
            _ => vec![self.clone()],
        }
    }
}

impl fmt::Display for Work {
    /// The written form: `issue-42`, `pr-99`, `review-99`, `thread-<hash8>`, `task-<slug>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue(n) => write!(f, "issue-{n}"),
            Self::PullRequest(n) => write!(f, "pr-{n}"),
            Self::Review(n) => write!(f, "review-{n}"),
            Self::Thread(id) => write!(f, "thread-{}", short_hash(id, 8)),
            Self::Task(id) => write!(f, "task-{id}"),
        }
    }
}

/// Lower-case ASCII letters, digits and single `-`, at most 50; a text without any becomes a hash.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= MAX_SLUG {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { short_hash(text, 8) } else { slug.to_owned() }
}

/// Where the branch of a new environment comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A new branch from the base.
    Base,
    /// The pull request's own head branch in this repository; `instead` when the main checkout holds that one.
    PullRequestBranch { instead: BranchName },
    /// The commit of a pull request: exactly the given one, or what the forge's pull ref says.
    PullRequestCommit { number: u64, sha: Option<CommitSha> },
    /// The branch a person named: as it is if it exists, else new from the base.
    Named,
}

/// The branch an environment for a work is made on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPlan {
    pub branch: BranchName,
    pub origin: Origin,
}

/// The naming table. `name` is the work's written form (the longer one for a thread whose short one is taken);
/// `prefix` goes before generated names only.
///
/// # Panics
/// When no branch name can begin with `prefix`; the configuration does not accept such a one.
pub fn branch_plan(work: &Work, name: &str, hints: &Hints, prefix: &str) -> BranchPlan {
    let generated = |name: &str, origin| BranchPlan {
        branch: BranchName::parse(&format!("{prefix}{name}"))
            // A task may carry the very branch a person named, which can be too long to take a prefix.
            .or_else(|_| BranchName::parse(&format!("{prefix}{}", slug(name))))
            .expect("generated names are plain and the prefix was checked"),
        origin,
    };
    match work {
        Work::PullRequest(number) => match (&hints.pr_branch, hints.is_fork) {
            (Some(head), false) => {
                let instead = generated(name, Origin::Base).branch;
                BranchPlan { branch: head.clone(), origin: Origin::PullRequestBranch { instead } }
            }
            (_, true) => generated(
                &format!("pr-{number}-review"),
                Origin::PullRequestCommit { number: *number, sha: hints.pr_head.clone() },
            ),
            (None, false) => generated(name, Origin::PullRequestCommit { number: *number, sha: hints.pr_head.clone() }),
        },
        Work::Review(number) => generated(
            &format!("pr-{number}-review"),
            Origin::PullRequestCommit { number: *number, sha: hints.pr_head.clone() },
        ),
        Work::Issue(_) | Work::Thread(_) | Work::Task(_) => match &hints.suggested_branch {
            Some(branch) => BranchPlan { branch: branch.clone(), origin: Origin::Named },
            None => generated(name, Origin::Base),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(work: &Work, hints: &Hints) -> (String, Origin) {
        let plan = branch_plan(work, &work.to_string(), hints, "");
        (plan.branch.to_string(), plan.origin)
    }

    #[test]
    fn branches_follow_the_naming_table() {
        let none = Hints::default();
        let head = Hints { pr_branch: BranchName::parse("feature/auth").ok(), ..Hints::default() };
        let fork = Hints { is_fork: true, ..head.clone() };
        let commit = |number| Origin::PullRequestCommit { number, sha: None };

        assert_eq!(plan(&Work::Issue(42), &none), ("issue-42".into(), Origin::Base));
        let instead = BranchName::parse("pr-99").expect("a name");
        assert_eq!(plan(&Work::PullRequest(99), &head), ("feature/auth".into(), Origin::PullRequestBranch { instead }));
        assert_eq!(plan(&Work::PullRequest(99), &fork), ("pr-99-review".into(), commit(99)));
        assert_eq!(plan(&Work::Review(99), &head), ("pr-99-review".into(), commit(99)));
        assert_eq!(plan(&Work::PullRequest(99), &none), ("pr-99".into(), commit(99)));
        assert_eq!(plan(&Work::Thread("C1:17.2".into()), &none), ("thread-88ffbdf7".into(), Origin::Base));
        assert_eq!(plan(&Work::task("Add dark mode!"), &none), ("task-add-dark-mode".into(), Origin::Base));
    }

    #[test]
    fn a_prefix_goes_before_generated_names_only() {
        let head = Hints { pr_branch: BranchName::parse("feature/auth").ok(), ..Hints::default() };
        let issue = branch_plan(&Work::Issue(1), "issue-1", &Hints::default(), "agents/");
        assert_eq!(issue.branch.as_str(), "agents/issue-1");
        let pr = branch_plan(&Work::PullRequest(2), "pr-2", &head, "agents/");
        assert_eq!(pr.branch.as_str(), "feature/auth");
    }

    #[test]
    fn a_task_whose_name_cannot_be_part_of_a_branch_still_gets_one() {
        for name in ["a b", "x.lock", "..", &"x".repeat(250)] {
            let work = Work::Task(name.to_owned());
            let plan = branch_plan(&work, &work.to_string(), &Hints::default(), "agents/");
            assert!(plan.branch.as_str().starts_with("agents/task"), "{plan:?}");
        }
    }

    #[test]
    fn slugs_are_short_plain_and_never_empty() {
        assert_eq!(Work::task("  Ünïcode -- text  "), Work::Task("n-code-text".into()));
        assert_eq!(Work::task("日本語"), Work::Task(short_hash("日本語", 8)));
        assert_eq!(Work::task(&"ab".repeat(60)).id().len(), 50);
    }

    #[test]
    fn works_survive_being_stored() {
        let all =
            [Work::Issue(1), Work::PullRequest(2), Work::Review(3), Work::Thread("C:1".into()), Work::Task("x".into())];
        for work in all {
            assert_eq!(Work::from_parts(work.kind(), &work.id()), Ok(work));
        }
        for (kind, id) in [
            ("issue", "0"),
            ("issue", "-1"),
            ("issue", "+1"),
            ("issue", "01"),
            ("issue", "x"),
            ("thread", ""),
            ("task", ""),
            ("workflow", "1"),
        ] {
            assert!(Work::from_parts(kind, id).is_err(), "{kind} {id}");
        }
    }

    #[test]
    fn a_forks_pull_request_and_its_review_are_one_environment() {
        let fork = Hints { is_fork: true, ..Hints::default() };
        assert_eq!(Work::PullRequest(9).with_aliases(&fork), [Work::PullRequest(9), Work::Review(9)]);
        assert_eq!(Work::PullRequest(9).with_aliases(&Hints::default()), [Work::PullRequest(9)]);
    }
}
