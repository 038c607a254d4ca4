//! Going back to a checkpoint: what changed between two states is taken back, what anyone did besides stays.
//!
//! Three states meet at every path: `from` (what is to be taken back), `to` (what there was before it) and `now`. Where
//! `now` is neither, someone has been there since, and it is left alone. Nothing here destroys anything: `now` is saved.

mod files;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::checkpoint::{HeadMove, Rewind, Rewinding, Rewound};
use hedgerow_core::{BranchName, Codebase, CommitSha, Environment, Kind, UserError};

use super::base::make_private;
use super::beneath::{Beneath, New};
use super::checkpoint::beside;
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::look::{Entry, Flags, TreePath};
use crate::git::rewinding::Cell;
use crate::git::{GitError, LockKind, Repo, RepoLock};
use crate::steps;
use plan::{HeadPlan, Plan};

/// Lock files of a git that is changing what an undo changes.
const GIT_AT_WORK: [&str; 2] = ["index.lock", "HEAD.lock"];

impl WorktreeProvider {
    /// 1. The way back is worked out. A refusal ends here, and nothing was touched.
    /// 2. HEAD and its branch move, by compare-and-swap: whoever committed meanwhile stops us before the first file.
    /// 3. Files, each only where it is still what it was when it was saved.
    /// 4. The index, path by path; then what git keeps of an operation in progress.
    ///
    /// Each step finds what is done already, so that an interrupted undo can simply be done again.
    pub(super) async fn go_back(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        rewind: &Rewind,
    ) -> Result<Rewinding, Trouble> {
        let (repo, admin) = self.enter(codebase, environment).await?;
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        if GIT_AT_WORK.iter().any(|lock| fs::symlink_metadata(admin.join(lock)).is_ok()) {
            let error = UserError::new(Kind::Busy, format!("git is at work in `{}`", environment.name()));
            return Ok(Rewinding::Refused(error.hint("try again when it is done; nothing was changed")));
        }
        let plan = match Plan::make(&repo, environment, rewind).await? {
            Ok(plan) => plan,
            Err(refusal) => return Ok(Rewinding::Refused(refusal)),
        };
        steps::reached("undo planned");
        let mut done = Rewound::default();
        if let Some(head) = &plan.head {
            if move_head(&repo, head).await?.is_none() {
                return Ok(Rewinding::Refused(plan::commits_since(environment)));
            }
            let branch = head.on.as_deref().and_then(|name| name.strip_prefix("refs/heads/"));
            let branch = branch.and_then(|name| BranchName::parse(name).ok());
            done.head = Some(HeadMove { from: head.from.clone(), to: head.to.clone(), branch });
            steps::reached("head back");
        }
        let bench = Bench::make(self, environment)?;
        for folder in [&environment.path, &admin] {
            spare_leftover(&repo, &bench, folder, environment).await?;
        }
        files::bring_back(&repo, environment, &bench, rewind, &plan, &mut done).await?;
        steps::reached("files back");
        done.staged = plan.cells.len() as u64;
        set_index(&repo, &plan).await?;
        steps::reached("index back");
        set_operation(&repo, environment, &admin, &bench, &plan).await?;
        done.operation = !plan.admin.is_empty() || plan.refs.is_some();
        steps::reached("operation of then back");
        repo.refresh_index().await?;
        Ok(Rewinding::Done(done))
    }
}

/// A folder for files on their way back, gone when it is done.
struct Bench {
    path: PathBuf,
}

impl Bench {
    /// One of the same name is what an undo that died has left.
    fn make(provider: &WorktreeProvider, environment: &Environment) -> Result<Self, Trouble> {
        let path = provider.base.path().join(".undo").join(environment.id.to_string());
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Trouble::folder(&path)(error)),
            _ => {}
        }
        make_private(&path).map_err(Trouble::folder(&path))?;
        Ok(Self { path })
    }

    /// A new folder in it.
    fn room(&self, name: &str) -> Result<PathBuf, Trouble> {
        let room = self.path.join(name);
        make_private(&room).map_err(Trouble::folder(&room))?;
        Ok(room)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What an undo that died has left under its passing name goes if git has its content. If somebody wrote it in that very
/// moment it is the only copy, and gets a name that nothing deletes.
async fn spare_leftover(repo: &Repo, bench: &Bench, folder: &Path, environment: &Environment) -> Result<(), Trouble> {
    let left = folder.join(beside(environment.id));
    let Ok(found) = fs::symlink_metadata(&left) else { return Ok(()) };
    let content = if found.is_symlink() {
        let copy = bench.path.join("left");
        let target = fs::read_link(&left).map_err(Trouble::folder(&left))?;
        fs::write(&copy, target.as_os_str().as_bytes()).map_err(Trouble::folder(&copy))?;
        copy
    } else {
        left.clone()
    };
    let names = if found.is_dir() { Vec::new() } else { repo.hash_files(&[content]).await? };
    if repo.kinds(&names.into_iter().collect()).await?.is_empty() {
        let kept = folder.join(format!("{}-kept-{}", beside(environment.id), found.ino()));
        return fs::rename(&left, kept).map_err(Trouble::folder(&left));
    }
    fs::remove_file(&left).map_err(Trouble::folder(&left))
}

/// The one move that is a compare-and-swap comes first. `None` when git refuses it: nothing has changed then. Whatever
/// fails after it is an error, because a branch may have moved; the undo is carried on from there.
async fn move_head(repo: &Repo, head: &HeadPlan) -> Result<Option<()>, GitError> {
    let Some(branch) = &head.on else {
        return unless_refused(repo.detach_head_back(head.from.as_ref(), &head.to).await);
    };
    if head.tip.as_ref() != Some(&head.to) {
        let moved = repo.set_ref_back(branch, head.tip.as_ref(), &head.to).await;
        if unless_refused(moved)?.is_none() {
            return Ok(None);
        }
        steps::reached("branch back");
    }
    if head.attach {
        repo.attach_head_back(branch).await?;
    }
    Ok(Some(()))
}

/// A git that was killed has not refused: it may have done it.
fn unless_refused(done: Result<(), GitError>) -> Result<Option<()>, GitError> {
    match done {
        Err(GitError::Failed { code: Some(_), .. }) => Ok(None),
        other => other.map(Some),
    }
}

async fn set_index(repo: &Repo, plan: &Plan) -> Result<(), Trouble> {
    repo.set_cells(&plan.cells, &plan.zero).await?;
    let with = |choose: fn(&Flags) -> bool| -> Vec<&TreePath> {
        plan.flags.iter().filter(|(_, flags)| choose(flags)).map(|(path, _)| path).collect()
    };
    repo.intend_to_add(&with(|flags| flags.intent_to_add)).await?;
    let is_entry = |path: &&TreePath| !matches!(plan.cells.get(*path), Some(Cell::Nothing | Cell::Conflict(_)));
    for (option, choose) in [
        ("--assume-unchanged", (|flags| flags.assume_unchanged) as fn(&Flags) -> bool),
        ("--no-assume-unchanged", |flags| !flags.assume_unchanged),
        ("--skip-worktree", |flags| flags.skip_worktree),
        ("--no-skip-worktree", |flags| !flags.skip_worktree),
    ] {
        let paths: Vec<&TreePath> = with(choose).into_iter().filter(is_entry).collect();
        repo.mark_entries(option, &paths).await?;
    }
    Ok(())
}

/// Files of an operation in progress go, or come back.
async fn set_operation(
    repo: &Repo,
    environment: &Environment,
    admin: &Path,
    bench: &Bench,
    plan: &Plan,
) -> Result<(), Trouble> {
    if let Some((now, then)) = &plan.refs {
        repo.set_own_refs(now, then).await?;
    }
    let room = bench.room("admin")?;
    let objects: BTreeSet<String> = plan.admin.values().flatten().map(|entry: &Entry| entry.object.clone()).collect();
    repo.write_blobs(&objects, &room).await?;
    let set = || -> std::io::Result<()> {
        let beneath = Beneath::open(admin)?;
        for (path, entry) in &plan.admin {
            let stamp = beneath.stamp(path)?;
            match (entry, stamp) {
                (Some(entry), stamp) => {
                    let new = New::File { from: &room.join(&entry.object), executable: false };
                    beneath.place(&new, path, stamp.as_ref(), &beside(environment.id))?;
                }
                (None, Some(stamp)) => drop(beneath.remove(path, &stamp, &beside(environment.id))?),
                (None, None) => beneath.remove_empty_above(path),
            }
        }
        Ok(())
    };
    set().map_err(Trouble::folder(admin))
}

/// Lines of a commit and a ref.
fn refs_in(text: &[u8]) -> BTreeMap<String, CommitSha> {
    let text = String::from_utf8_lossy(text);
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.filter_map(|(sha, name)| Some((name.to_owned(), CommitSha::parse(sha).ok()?))).collect()
}

fn shown(path: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(path))
}
