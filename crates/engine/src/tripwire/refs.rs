//! Branches, tags and the like after a run: whose each change is, and putting back what is nobody else's.

use std::time::Duration;

use tokio::time::sleep;

use super::owners::{self, Word, branch_of, visited};
use super::stash::STASH;
use super::{Done, Found, Tripwire, What};
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::git::Repo;
use crate::git::watched::{Target, Targets};

/// git writes the log of HEAD and the ref one after the other: how often, and how long apart, to look once more.
const LOOKS: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);
const WHY: &str = "hedgerow: put back after a run";

impl Engine {
    pub(super) async fn spring_refs(&self, tripwire: &Tripwire) -> Outcome<Vec<Found>> {
        let Some(codebase) = self.store.codebase(tripwire.codebase).await? else { return Ok(Vec::new()) };
        let repo = self.git.open(&codebase).await?;
        let now = repo.watched_refs(tripwire.environment).await?;
        let suspects = suspects(tripwire, &now);
        let ours = if suspects.is_empty() { Vec::new() } else { self.moved_by_us(tripwire).await? };
        let mut found = Vec::new();
        for (name, is) in suspects {
            let was = tripwire.refs.get(&name);
            let done = match judge(tripwire, &repo, &ours, &name, is.as_ref()).await? {
                Judgement::Theirs => continue,
                Judgement::Unknown => {
                    // Nobody needs it if it was right; whoever does finds it.
                    if let Some(was) = was {
                        let _ = repo.keep_undone(tripwire.run, found.len(), &was.object).await;
                    }
                    Done::Left
                }
                // An alias has no old value to compare with.
                Judgement::Overstepped if was.is_some_and(|was| was.alias_of.is_some()) => Done::Left,
                Judgement::Overstepped => put_back(tripwire, &repo, found.len(), &name, was, is.as_ref()).await,
            };
            let what = match (was, &is) {
                (None, _) => What::Made(name),
                (Some(_), None) => What::Gone(name),
                (Some(_), Some(_)) => What::Moved(name),
            };
            let objects = (was.map(|was| was.object.clone()), is.map(|is| is.object));
            found.push(Found { what, done, objects });
        }
        found.extend(tripwire.put_stashes_back(&repo).await?);
        let new = |name: &String| now.contains_key(name) && !tripwire.refs.contains_key(name);
        let made: Vec<String> = visited(&tripwire.admin, &tripwire.logs).into_iter().filter(new).collect();
        if !made.is_empty() {
            self.add_own_branches(tripwire.environment, &made);
        }
        Ok(found)
    }

    /// What Hedgerow itself did to branches meanwhile, for other environments.
    async fn moved_by_us(&self, tripwire: &Tripwire) -> Outcome<Vec<OurMove>> {
        let mut moves = Vec::new();
        for event in self.store.events_since(tripwire.codebase, tripwire.armed_at()).await? {
            let Some(id) = event.environment.filter(|id| *id != tripwire.environment) else { continue };
            let Some(other) = self.store.environment(id).await? else { continue };
            let is_gone = other.trash.as_ref().is_some_and(|trash| trash.branch_deleted) || !other.state.is_live();
            let to = event.new_sha.map(|sha| sha.to_string());
            moves.push(OurMove { branch: other.branch.full_ref(), is_gone, to });
        }
        Ok(moves)
    }
}

/// A branch that Hedgerow brought somewhere, or took away.
struct OurMove {
    branch: String,
    is_gone: bool,
    to: Option<String>,
}

/// Whose change it is that a ref is what it is now.
async fn judge(
    tripwire: &Tripwire,
    repo: &Repo,
    ours: &[OurMove],
    name: &str,
    is: Option<&Target>,
) -> Outcome<Judgement> {
    if !name.starts_with("refs/heads/") {
        return Ok(Judgement::Overstepped);
    }
    let is_free = || owners::holder(name, &tripwire.common_dir, &tripwire.admin).is_none();
    if branch_of(&tripwire.admin).as_deref() == Some(name) && is_free() {
        // The environment is on it by now; moved away below it, all its files would look changed.
        return Ok(Judgement::Unknown);
    }
    let object = is.map(|is| is.object.clone());
    let did = |ours: &OurMove| object.as_ref().map_or(ours.is_gone, |object| ours.to.as_ref() == Some(object));
    if ours.iter().any(|ours| ours.branch == name && did(ours)) {
        return Ok(Judgement::Theirs);
    }
    let Some(mut object) = object else { return Ok(Judgement::Overstepped) };
    for look in 0..LOOKS {
        if look > 0 {
            sleep(PAUSE).await;
            match repo.target(name).await? {
                Some(now) => object = now,
                None => return Ok(Judgement::Unknown),
            }
        }
        match owners::word(name, &object, &tripwire.common_dir, &tripwire.admin, &tripwire.logs) {
            Word::Theirs => return Ok(Judgement::Theirs),
            Word::Unknown => return Ok(Judgement::Unknown),
            Word::Nobodys => {}
        }
    }
    Ok(Judgement::Overstepped)
}

enum Judgement {
    Theirs,
    Unknown,
    Overstepped,
}

/// Refs that are not what they were and not the run's: new branches and tags are fine, replacements and checkpoints that
/// nobody asked for are not.
fn suspects(tripwire: &Tripwire, now: &Targets) -> Vec<(String, Option<Target>)> {
    let is_watched = |name: &String| name != STASH && !tripwire.own.contains(name);
    let changed = tripwire.refs.iter().filter(|(name, was)| is_watched(name) && now.get(*name) != Some(was));
    // What only stands for another ref moves with it.
    let changed = changed
        .filter(|(name, was)| was.alias_of.is_none() || now.get(*name).is_none_or(|is| is.alias_of != was.alias_of));
    let changed = changed.map(|(name, _)| (name.clone(), now.get(name).cloned()));
    let may_be_new = |name: &str| name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
    let made = now.iter().filter(|(name, _)| !tripwire.refs.contains_key(*name) && is_watched(name));
    let made = made.filter(|(name, _)| !may_be_new(name)).map(|(name, is)| (name.clone(), Some(is.clone())));
    changed.chain(made).collect()
}

async fn put_back(
    tripwire: &Tripwire,
    repo: &Repo,
    number: usize,
    name: &str,
    was: Option<&Target>,
    is: Option<&Target>,
) -> Done {
    let act = async {
        let kept = match is {
            Some(is) => Some(repo.keep_undone(tripwire.run, number, &is.object).await?),
            None => None,
        };
        let object = |target: Option<&Target>| target.map(|target| target.object.clone());
        repo.swap_ref(name, object(is).as_deref(), object(was).as_deref(), WHY).await?;
        Ok::<_, crate::git::GitError>(kept)
    };
    match act.await {
        Ok(kept) => Done::PutBack { kept },
        Err(error) => Done::Failed(error.reason()),
    }
}
