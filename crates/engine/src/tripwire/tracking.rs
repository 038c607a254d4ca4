//! What the repository knows of its remotes after a run. Where new work begins, which files of a fork are covered and what
//! counts as merged is read from there, so a run must not have made it up: the remote itself is asked.

use std::collections::BTreeMap;
use std::time::Duration;

use hedgerow_core::provider::NoProgress;
use hedgerow_core::{BranchName, CommitSha};
use tokio::time::timeout;

use super::{Done, Found, Tripwire, What};
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::git::Repo;
use crate::git::watched::{Target, Targets};

/// Longest to wait for a remote to say what it has. The answer waits for it, and only when something changed.
const PATIENCE: Duration = Duration::from_secs(20);
const WHY: &str = "hedgerow: put back after a run";
/// Their numbers among what is kept come after those of other refs.
const NUMBERS_FROM: usize = 1_000;

/// What remotes have: `None` for one that does not answer.
type Heads = BTreeMap<String, Option<BTreeMap<String, String>>>;

impl Engine {
    pub(super) async fn spring_tracking(&self, tripwire: &Tripwire) -> Outcome<Vec<Found>> {
        let Some(codebase) = self.store.codebase(tripwire.codebase).await? else { return Ok(Vec::new()) };
        let repo = self.git.open(&codebase).await?;
        let now = repo.tracking_refs().await?;
        let (mut found, mut heads) = (Vec::new(), Heads::new());
        for name in changed(&tripwire.tracking, &now) {
            let (was, is) = (tripwire.tracking.get(&name), now.get(&name));
            let looked = Looked { repo: &repo, tripwire, name: &name, was, is, number: NUMBERS_FROM + found.len() };
            let Some(done) = looked.settle(&mut heads).await else { continue };
            let what = match (was, is) {
                (None, _) => What::Made(name),
                (Some(_), None) => What::Gone(name),
                (Some(_), Some(_)) => What::Moved(name),
            };
            let objects = (was.map(|was| was.object.clone()), is.map(|is| is.object.clone()));
            found.push(Found { what, done, objects });
        }
        Ok(found)
    }
}

/// Refs that are not what they were. What only stands for another moves with it.
fn changed(before: &Targets, now: &Targets) -> Vec<String> {
    let is_same = |was: Option<&Target>, is: Option<&Target>| match (was, is) {
        (Some(was), Some(is)) if was.alias_of.is_some() => was.alias_of == is.alias_of,
        (was, is) => was == is,
    };
    let names: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| !is_same(before.get(*name), now.get(*name))).cloned().collect()
}

/// A ref that changed.
struct Looked<'a> {
    repo: &'a Repo,
    tripwire: &'a Tripwire,
    name: &'a str,
    was: Option<&'a Target>,
    is: Option<&'a Target>,
    number: usize,
}

impl Looked<'_> {
    /// `None` when it is as the remote has it, or cannot do harm.
    async fn settle(&self, heads: &mut Heads) -> Option<Done> {
        let is_alias = |target: Option<&Target>| target.is_some_and(|target| target.alias_of.is_some());
        if is_alias(self.was) || is_alias(self.is) {
            return Some(self.put_alias_back().await);
        }
        let Some((remote, branch)) = self.of_remote() else {
            // Of a remote that there is not: nobody reads it, and it can only have been made up.
            return Some(self.put_back().await);
        };
        let heads = match heads.get(&remote) {
            Some(known) => known,
            None => {
                let asked = timeout(PATIENCE, self.repo.remote_heads(&remote)).await;
                let answer = asked.ok().and_then(Result::ok);
                heads.entry(remote.clone()).or_insert(answer)
            }
        };
        let Some(heads) = heads else {
            // Nobody can say who is right. What was known before is at worst old, and the next fetch brings the rest.
            let done = self.put_back().await;
            tracing::info!(name = self.name, ?done, "a remote does not answer; what was known of it before holds");
            return None;
        };
        match (heads.get(branch.as_str()), self.is) {
            (Some(theirs), Some(is)) if *theirs == is.object => None,
            // Deleted there, and so here.
            (None, None) => None,
            (Some(theirs), _) => self.bring_up_to_date(&remote, &branch, theirs).await,
            (None, Some(_)) => Some(self.put_back().await),
        }
    }

    /// Another fetch may have been a moment ahead of the remote's next push: then nothing was made up.
    async fn bring_up_to_date(&self, remote: &str, branch: &BranchName, theirs: &str) -> Option<Done> {
        let fetched = timeout(PATIENCE, self.repo.fetch_branches(remote, &[branch], &NoProgress)).await;
        if !matches!(fetched, Ok(Ok(()))) {
            return Some(self.put_back().await);
        }
        let is = CommitSha::parse(&self.is?.object).ok();
        let theirs = CommitSha::parse(theirs).ok();
        if let (Some(is), Some(theirs)) = (&is, &theirs)
            && self.repo.is_ancestor(is, theirs).await.unwrap_or(false)
        {
            return None;
        }
        Some(Done::PutBack { kept: self.keep().await })
    }

    /// The longest name of a remote that it begins with, and the rest of it.
    fn of_remote(&self) -> Option<(String, BranchName)> {
        let below = self.name.strip_prefix("refs/remotes/")?;
        let branch_at = |remote: &str| below.strip_prefix(remote)?.strip_prefix('/').map(str::to_owned);
        let all = self.repo.remotes();
        let (remote, branch) = all
            .iter()
            .filter_map(|remote| Some((remote, branch_at(remote)?)))
            .max_by_key(|(remote, _)| remote.len())?;
        Some(((*remote).to_owned(), BranchName::parse(&branch).ok()?))
    }

    async fn keep(&self) -> Option<String> {
        self.repo.keep_undone(self.tripwire.run, self.number, &self.is?.object).await.ok()
    }

    async fn put_back(&self) -> Done {
        let kept = self.keep().await;
        let object = |target: Option<&Target>| target.map(|target| target.object.clone());
        let swapped = self.repo.swap_ref(self.name, object(self.is).as_deref(), object(self.was).as_deref(), WHY).await;
        swapped.map_or_else(|error| Done::Failed(error.reason()), |()| Done::PutBack { kept })
    }

    /// Which branch is a remote's own. An alias has no old value to compare with.
    async fn put_alias_back(&self) -> Done {
        let put = match self.was.map(|was| (was, was.alias_of.as_deref())) {
            Some((_, Some(alias_of))) => self.repo.set_alias(self.name, alias_of).await,
            Some((_, None)) | None => self.repo.remove_alias(self.name).await,
        };
        put.map_or_else(|error| Done::Failed(error.reason()), |()| Done::PutBack { kept: None })
    }
}
