//! `hedgerow env create`: every piece of work gets its own environment, and always the same one.

use clap::Subcommand;
use hedgerow_core::{BranchName, CommitSha, Hints, Work};
use hedgerow_engine::Outcome;
use hedgerow_engine::engine::Request;

use super::super::context::Context;
use super::super::parse;
use crate::output::Meter;

pub(super) const EXAMPLES: &str = "\
Examples:
  hedgerow env create issue 42
  hedgerow env create pr 99 --branch feature/auth --fixes 42
  hedgerow env create review 99 --fork --sha 0123456789abcdef0123456789abcdef01234567
  hedgerow env create task \"add dark mode\"
  hedgerow env create branch my-branch --base develop
  cd \"$(hedgerow env create issue 42 --quiet)\"

Asking again gives the same environment. The last line of the answer is its folder.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// For an issue, on a new branch `issue-<number>`
    Issue {
        /// The issue's number
        #[arg(value_parser = parse::number)]
        number: u64,
        /// A pull request that fixes it; may be given several times
        #[arg(long, value_name = "NUMBER", value_parser = parse::number, value_delimiter = ',')]
        fixed_by: Vec<u64>,
        #[command(flatten)]
        common: Common,
    },
    /// For a pull request, on its own branch, so that a push updates it
    Pr(PullRequest),
    /// To review a pull request, on a branch of its own
    Review(PullRequest),
    /// For something described in a few words, on a new branch `task-<words>`
    Task {
        /// What is to be done
        #[arg(required = true, num_args = 1.., value_name = "WORDS", value_parser = parse::text)]
        words: Vec<String>,
        #[command(flatten)]
        common: Common,
    },
    /// For a conversation, on a new branch `thread-<hash of its id>`
    Thread {
        /// The id of the conversation
        #[arg(value_parser = parse::text)]
        id: String,
        #[command(flatten)]
        common: Common,
    },
    /// On exactly this branch; made from the base if it does not exist
    Branch {
        /// The branch
        #[arg(value_parser = parse::branch)]
        name: BranchName,
        #[command(flatten)]
        common: Common,
    },
}

/// What can be said about a pull request.
#[derive(Debug, clap::Args)]
pub(crate) struct PullRequest {
    /// The pull request's number
    #[arg(value_parser = parse::number)]
    number: u64,
    /// Its head branch
    #[arg(long, value_name = "BRANCH", value_parser = parse::branch)]
    branch: Option<BranchName>,
    /// Its head commit, in full
    #[arg(long, value_parser = parse::sha)]
    sha: Option<CommitSha>,
    /// It comes from a fork: its head branch is in another repository
    #[arg(long)]
    fork: bool,
    /// An issue that it fixes, whose environment it may share; may be given several times
    #[arg(long, value_name = "NUMBER", value_parser = parse::number, value_delimiter = ',')]
    fixes: Vec<u64>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// The branch to begin from; otherwise the configured one, otherwise the remote's default
    #[arg(long, value_name = "BRANCH", value_parser = parse::branch)]
    base: Option<BranchName>,
    /// A few words, kept with the environment
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Print only the folder
    #[arg(short, long)]
    quiet: bool,
}

/// What the command line asks for, before it is known of which codebase.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) work: Work,
    pub(crate) hints: Hints,
    pub(crate) branch: Option<BranchName>,
    pub(crate) is_quiet: bool,
}

impl Verb {
    pub(crate) fn wanted(&self) -> Wanted {
        match self {
            Self::Issue { number, fixed_by, common } => {
                let hints = Hints { linked_prs: fixed_by.clone(), ..Hints::default() };
                common.wanted(Work::Issue(*number), hints, None)
            }
            Self::Pr(pr) => pr.common.wanted(Work::PullRequest(pr.number), pr.hints(), None),
            Self::Review(pr) => pr.common.wanted(Work::Review(pr.number), pr.hints(), None),
            Self::Task { words, common } => common.wanted(Work::task(&words.join(" ")), Hints::default(), None),
            Self::Thread { id, common } => common.wanted(Work::Thread(id.clone()), Hints::default(), None),
            Self::Branch { name, common } => {
                common.wanted(Work::Task(name.as_str().to_owned()), Hints::default(), Some(name.clone()))
            }
        }
    }
}

impl PullRequest {
    fn hints(&self) -> Hints {
        Hints {
            pr_branch: self.branch.clone(),
            pr_head: self.sha.clone(),
            is_fork: self.fork,
            linked_issues: self.fixes.clone(),
            ..Hints::default()
        }
    }
}

impl Common {
    fn wanted(&self, work: Work, hints: Hints, branch: Option<BranchName>) -> Wanted {
        let hints = Hints {
            work: Some(work.clone()),
            base_branch: self.base.clone(),
            description: self.description.clone(),
            ..hints
        };
        Wanted { work, hints, branch, is_quiet: self.quiet }
    }
}

pub(super) async fn run(verb: &Verb, context: &Context<'_>) -> Outcome<()> {
    let Wanted { work, hints, branch, is_quiet } = verb.wanted();
    let codebase = context.codebase().await?;
    let by = context.by.clone();
    let request = Request { codebase, work, hints, branch, conversation: None, by, reopened: false };
    let meter = Meter::new(is_quiet);
    let resolved = context.engine.resolve(&request, &meter).await;
    drop(meter);
    super::answer(context, &resolved?, &request.hints, is_quiet).await
}
