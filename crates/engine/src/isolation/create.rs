//! Making an environment from an intent, and taking it back.

use std::fs;
use std::io;
use std::path::Path;

use hedgerow_core::provider::{Intent, Note, Progress, Start};
use hedgerow_core::{Codebase, CommitSha, Environment, EnvironmentId};

use super::base::make_private;
use super::ownership::{admin_folders_of, admin_of, linked, lock_reason, write_marker};
use super::trash::operations;
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::{LockKind, Repo, RepoLock, remove_locks_below};
use crate::steps;

impl WorktreeProvider {
    /// What happens, in this order, so that a crash anywhere leaves only what [`Self::take_back`] finds again:
    /// 1. the branch and the registration, locked with the environment's id from the first moment (repository lock held);
    /// 2. the marker in the admin folder;
    /// 3. the files, outside the lock: neighbours do not wait for a large checkout;
    /// 4. submodules, and where the branch pushes to.
    pub(super) async fn make(&self, intent: &Intent, progress: &dyn Progress) -> Result<Vec<Note>, Trouble> {
        let repo = self.git.open(&intent.codebase).await?;
        let parent = intent.path.parent().unwrap_or_else(|| self.base.path());
        make_private(parent).map_err(Trouble::folder(parent))?;

        progress.step("Registering the worktree");
        {
            let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
            register(&repo, intent).await?;
            steps::reached("worktree registered");
            let admin = linked(&intent.path, repo.common_dir()).map_err(Trouble::links(&intent.path))?.admin;
            write_marker(&admin, intent.id, intent.generation).map_err(Trouble::folder(&admin))?;
            steps::reached("environment marked");
        }
        let worktree = repo.worktree(&intent.path).await?;
        progress.step("Checking out files");
        self.fill.fill(&worktree, progress).await?;
        steps::reached("files checked out");
        let mut notes = Vec::new();
        if !intent.is_fork && intent.path.join(".gitmodules").is_file() {
            progress.step("Initialising submodules");
            if let Err(error) = worktree.init_submodules(progress).await {
                notes.push(Note::NoSubmodules { why: error.reason() });
                drop_half_made_submodules(&repo, &intent.path).await?;
            }
            // git tries a clone that died once more and then says that all is well; the locks of the first are still there.
            let admin = linked(&intent.path, repo.common_dir()).map_err(Trouble::links(&intent.path))?.admin;
            remove_locks_below(&admin.join("modules"));
            steps::reached("submodules there");
        }
        // Last: the old one of a branch that was there cannot be taken back.
        set_upstream(&repo, intent).await?;
        steps::reached("upstream set");
        let not_run = repo.config().runnable();
        if !repo.is_trusted() && !not_run.is_empty() {
            notes.push(Note::NotRun { what: not_run });
        }
        Ok(notes)
    }

    /// Removes exactly what the intent names: the folder and admin folder that carry its id, and the branch if the intent
    /// made it and it is still where it was made. No agent has run here, so all of it can be made again.
    pub(super) async fn take_back(&self, intent: &Intent) -> Result<(), Trouble> {
        let repo = self.git.open(&intent.codebase).await?;
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        let admins = admin_folders_of(intent.id, repo.common_dir());
        // One direction of the links is enough: git may have died before it wrote the other.
        let named = admin_of(&intent.path, repo.common_dir()).ok();
        let ours =
            named.is_some_and(|named| admins.iter().any(|admin| fs::canonicalize(admin).is_ok_and(|it| it == named)));
        if ours {
            remove_tree(&intent.path)?;
            steps::reached("creation's files taken back");
        } else {
            // An empty folder is all that git may have left before the links; anything else is not ours to judge.
            let _ = fs::remove_dir(&intent.path);
        }
        for admin in admins {
            remove_tree(&admin)?;
        }
        steps::reached("creation's registration taken back");
        let branch = &intent.plan.branch;
        if repo.is_held(branch).await? {
            // Somebody is on it by now.
            return Ok(());
        }
        match &intent.plan.start {
            Start::New { at, .. }
                if repo.branch_tip(branch).await?.as_ref() == Some(at)
                    && repo.made_for(branch).await? == Some(lock_reason(intent.id)) =>
            {
                repo.delete_ref(&branch.full_ref(), at).await?;
                steps::reached("creation's branch taken back");
                repo.forget_upstream(branch).await?;
            }
            Start::Existing { at, forward_to: Some(to), .. } if repo.branch_tip(branch).await?.as_ref() == Some(to) => {
                repo.move_ref(&branch.full_ref(), to, at, "hedgerow: taken back").await?;
                steps::reached("creation's branch moved back");
            }
            _ => {}
        }
        Ok(())
    }
}

impl WorktreeProvider {
    /// Whether somebody has worked in a creation that was interrupted after its files were there: HEAD has moved, or there
    /// is anything besides them, ignored files included. git writes the index last, so without one it was not finished.
    pub(super) async fn was_touched(&self, intent: &Intent) -> Result<bool, Trouble> {
        let repo = self.git.open(&intent.codebase).await?;
        let Ok(links) = linked(&intent.path, repo.common_dir()) else { return Ok(false) };
        let finished = links.admin.join("index").is_file() && !links.admin.join("index.lock").exists();
        if !finished || links.lock.as_deref() != Some(&lock_reason(intent.id)) {
            return Ok(false);
        }
        let worktree = repo.worktree(&intent.path).await?;
        let (head, branch) = worktree.head().await?;
        let in_place =
            head.as_ref() == Some(intent.plan.start.commit()) && branch.as_ref() == Some(&intent.plan.branch);
        Ok(!in_place || !worktree.is_pristine().await?)
    }

    /// The folder is gone; git still lists it. Commits that only this worktree's HEAD held get a ref, then the one entry
    /// that carries this environment's lock is set aside: its index, its log and its submodules may be all there is.
    pub(super) async fn tidy_up(&self, codebase: &Codebase, environment: &Environment) -> Result<(), Trouble> {
        let repo = self.git.open(codebase).await?;
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        for admin in admin_folders_of(environment.id, repo.common_dir()) {
            // A folder that is somewhere (in the trash, say) is not gone, and its admin folder is half of it.
            let folder = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
            if fs::symlink_metadata(admin.join(folder.trim_end())).is_ok() {
                continue;
            }
            let head = fs::read_to_string(admin.join("HEAD")).unwrap_or_default();
            if let Ok(head) = CommitSha::parse(head.trim())
                && repo.has_commit(&head).await?
                && repo.count_stranded(&head).await? > 0
            {
                let name = format!("refs/hedgerow/lost/{}", environment.id);
                if repo.commit(&name).await?.is_none() {
                    repo.create_ref(&name, &head, "hedgerow: its folder was gone").await?;
                }
            }
            operations::keep_objects(&repo, &admin, environment.id, None).await?;
            set_aside(repo.common_dir(), &admin, environment.id)?;
        }
        Ok(())
    }
}

pub(super) async fn register(repo: &Repo, intent: &Intent) -> Result<(), Trouble> {
    let branch = &intent.plan.branch;
    let reason = lock_reason(intent.id);
    match &intent.plan.start {
        // Made by ourselves, with our name in its log: so it is told from one that somebody made just before.
        Start::New { at, .. } => {
            repo.create_ref(&branch.full_ref(), at, &reason).await?;
            steps::reached("branch made");
        }
        Start::Existing { at, forward_to, .. } => {
            if let Some(to) = forward_to {
                repo.move_ref(&branch.full_ref(), at, to, "hedgerow: fast-forward").await?;
                steps::reached("branch forwarded");
            }
        }
    }
    Ok(repo.add_worktree(&intent.path, branch, &reason).await?)
}

/// A git that died over a submodule leaves a store that no later git completes. It goes, and a person can ask git for the
/// submodule again; nobody has worked there yet.
async fn drop_half_made_submodules(repo: &Repo, path: &Path) -> Result<(), Trouble> {
    let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
    let admin = linked(path, repo.common_dir()).map_err(Trouble::links(path))?.admin;
    let Ok(stores) = fs::read_dir(admin.join("modules")) else { return Ok(()) };
    for store in stores.filter_map(|entry| Some(entry.ok()?.path())) {
        let whole = match repo.inner(&store).await {
            Ok(inner) => inner.commit("HEAD").await?.is_some(),
            Err(_) => false,
        };
        if !whole {
            remove_tree(&store)?;
        }
    }
    for submodule in repo.worktree(path).await?.submodules().await? {
        let link = submodule.join(".git");
        let leads = |text: String| text.trim_end().strip_prefix("gitdir: ").map(|to| submodule.join(to).is_dir());
        if fs::read_to_string(&link).is_ok_and(|text| leads(text) == Some(false)) {
            fs::remove_file(&link).map_err(Trouble::folder(&link))?;
        }
    }
    Ok(())
}

async fn set_upstream(repo: &Repo, intent: &Intent) -> Result<(), Trouble> {
    let (Start::New { upstream, .. } | Start::Existing { upstream, .. }) = &intent.plan.start;
    if let Some(upstream) = upstream {
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        repo.set_upstream(&intent.plan.branch, &upstream.remote, &upstream.branch).await?;
    }
    Ok(())
}

/// Moves an admin folder where git does not look, inside the repository so that it is a rename.
fn set_aside(common_dir: &Path, admin: &Path, id: EnvironmentId) -> Result<(), Trouble> {
    let lost = common_dir.join("hedgerow-lost");
    fs::create_dir_all(&lost).map_err(Trouble::folder(&lost))?;
    let free = (0..100).map(|n| lost.join(format!("{id}-{n}"))).find(|place| !place.exists());
    let place = free.ok_or(Trouble::PathTaken { path: lost })?;
    fs::rename(admin, &place).map_err(Trouble::folder(admin))
}

/// Removes a folder; not being there is fine.
fn remove_tree(path: &Path) -> Result<(), Trouble> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Trouble::folder(path)(error)),
        _ => Ok(()),
    }
}
