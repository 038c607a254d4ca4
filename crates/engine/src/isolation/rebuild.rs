//! An environment made again from a saved state: a new worktree, with the content of the old one.
//!
//! The index comes last. Until it is there, everything here can be made again, and an interrupted rebuild is taken back
//! like any other creation; once it is there, nothing is missing.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use hedgerow_core::environment::{Trash, TrashedBecause};
use hedgerow_core::provider::{Intent, Note, Progress};
use hedgerow_core::{CommitSha, Timestamp};

use super::base::make_private;
use super::create::register;
use super::ownership::{linked, write_marker};
use super::save::{ADMIN, CHANGED, FILES, apart, list_of};
use super::trash::{Coming, come_back};
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::blobs::Taker;
use crate::git::index::{COMMIT, IndexEntry, LINK};
use crate::git::look::TreePath;
use crate::git::{LockKind, Repo, RepoLock};
use crate::steps;
use crate::vault::Manifest;
use crate::vault::archive;
use crate::vault::manifest::{ARCHIVE, Modes};
use crate::vault::unpack::{Unpack, link};

/// Records that are this worktree's own, whatever the old one's were.
const OWN: [&str; 6] = ["HEAD", "gitdir", "commondir", "locked", "hedgerow", "index"];
/// Where the index waits until everything else is in place.
pub(super) const WAITING: &str = "hedgerow-index";

impl WorktreeProvider {
    /// 1. The saved state is read through: a damaged one changes nothing.
    /// 2. Its commits go into the repository, and a worktree is registered like a new one.
    /// 3. git's records, then the files: those in the archive, and those that git has.
    /// 4. Submodules, the branch, a stopped operation.
    /// 5. The index.
    pub(super) async fn make_from(
        &self,
        intent: &Intent,
        from: &Path,
        progress: &dyn Progress,
    ) -> Result<Vec<Note>, Trouble> {
        progress.step("Checking the saved state");
        let repo = self.git.open(&intent.codebase).await?;
        let manifest = self.check_saved(&repo, from, None).await?;
        let trash = left_as(&manifest);
        let parent = intent.path.parent().unwrap_or_else(|| self.base.path());
        make_private(parent).map_err(Trouble::folder(parent))?;

        progress.step("Registering the worktree");
        let admin = {
            let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
            if let Some(pack) = &manifest.pack {
                repo.import_pack(&from.join(&pack.name)).await?;
                steps::reached("commits brought back");
            }
            register(&repo, intent).await?;
            steps::reached("worktree registered");
            let admin = linked(&intent.path, repo.common_dir()).map_err(Trouble::links(&intent.path))?.admin;
            write_marker(&admin, intent.id, intent.generation).map_err(Trouble::folder(&admin))?;
            steps::reached("environment marked");
            admin
        };
        let worktree = repo.worktree(&intent.path).await?;
        if let Some(head) = trash.head.as_ref().filter(|_| trash.was_detached) {
            worktree.detach_head(head).await?;
            steps::reached("on no branch again");
        }

        progress.step("Bringing files back");
        let source = from.join(ARCHIVE);
        let (unpack, changed) = apart(&intent.path, &admin, move |path, admin| unpack(&source, path, admin)).await?;
        steps::reached("archive unpacked");
        write_clean(&worktree, &admin, unpack, &changed, manifest.modes).await?;
        steps::reached("files written");

        let old = PathBuf::from(&manifest.path);
        let coming = Coming { path: &intent.path, branch: &intent.plan.branch, from: &old };
        let lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        // Another branch than its own is there already, and a stopped operation must end on it.
        let is_elsewhere = intent.plan.branch.as_str() != manifest.branch;
        let trash = Trash { branch_deleted: trash.branch_deleted || is_elsewhere, ..trash };
        come_back(&repo, &admin, &coming, &trash).await?;
        drop(lock);
        let waiting = admin.join(WAITING);
        if waiting.exists() {
            fs::rename(&waiting, admin.join("index")).map_err(Trouble::folder(&waiting))?;
        }
        steps::reached("index in place");
        if let Err(error) = worktree.refresh_index().await {
            tracing::debug!(%error, "the index of a rebuilt environment could not be refreshed");
        }
        Ok(Vec::new())
    }
}

/// How the environment was when it went to the trash.
fn left_as(manifest: &Manifest) -> Trash {
    Trash {
        path: PathBuf::from(&manifest.path),
        at: Timestamp::from_millis(manifest.left_at),
        because: TrashedBecause::Asked,
        head: manifest.head.as_deref().and_then(|text| CommitSha::parse(text).ok()),
        was_detached: manifest.was_detached,
        branch_deleted: manifest.branch_deleted,
    }
}

/// Unpacks everything in the archive. What comes back is where files go, and the tracked paths that git must not write.
pub(super) fn unpack(source: &Path, path: &Path, admin: &Path) -> Result<(Unpack, HashSet<TreePath>), Trouble> {
    let mut files = Unpack::new(path);
    let mut records = Unpack::replacing(admin);
    let mut changed = HashSet::new();
    let read = archive::read(source, |entry, content| {
        if entry.name == Path::new(CHANGED) {
            changed = list_of(content)?;
        } else if let Ok(name) = entry.name.strip_prefix(FILES) {
            files.put(name, entry, content)?;
        } else if let Ok(name) = entry.name.strip_prefix(ADMIN)
            && name.extension().is_none_or(|extension| extension != "lock")
        {
            let is_own = OWN.iter().any(|own| name == Path::new(own));
            if !is_own {
                records.put(name, entry, content)?;
            } else if name == Path::new("index") {
                records.put(Path::new(WAITING), entry, content)?;
            }
        }
        Ok(())
    });
    read.and_then(|_| records.finish()).map_err(Trouble::folder(path))?;
    Ok((files, changed))
}

/// Writes the files that were as git has them: their very bytes, without the conversions of a checkout.
pub(super) async fn write_clean(
    worktree: &Repo,
    admin: &Path,
    unpack: Unpack,
    changed: &HashSet<TreePath>,
    modes: Modes,
) -> Result<(), Trouble> {
    let waiting = admin.join(WAITING);
    let mut clean = if waiting.exists() { worktree.index(Some(&waiting)).await? } else { Vec::new() };
    clean.retain(|entry| entry.stage == 0 && entry.mode != COMMIT && !changed.contains(&entry.path));
    let objects: Vec<String> = clean.iter().map(|entry| entry.object.clone()).collect();
    let mut blobs = Blobs { unpack, wanted: clean.into(), modes, open: None };
    worktree.blobs(objects.iter().map(String::as_str), &mut blobs).await?;
    let Blobs { unpack, wanted, .. } = blobs;
    if let Some(missing) = wanted.front() {
        let why = format!("{} of its files are not in the repository, such as {}", wanted.len(), missing.object);
        return Err(Trouble::Saved { path: admin.to_owned(), why });
    }
    let root = worktree.at().to_owned();
    unpack.finish().map_err(Trouble::folder(&root))
}

/// Writes blobs to the files they belong to, one after another.
struct Blobs {
    unpack: Unpack,
    wanted: VecDeque<IndexEntry>,
    modes: Modes,
    open: Option<Open>,
}

enum Open {
    File(File),
    Link(PathBuf, Vec<u8>),
}

impl Taker for Blobs {
    fn begin(&mut self, object: &str) -> io::Result<()> {
        let entry = self.wanted.pop_front().filter(|entry| entry.object == object);
        let entry = entry.ok_or_else(|| io::Error::other(format!("git sent {object}, which is not its turn")))?;
        let path = self.unpack.free(Path::new(std::ffi::OsStr::from_bytes(&entry.path)))?;
        self.open = Some(if entry.mode == LINK {
            Open::Link(path, Vec::new())
        } else {
            let mode = if entry.mode & 0o100 == 0 { self.modes.plain } else { self.modes.program };
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            file.set_permissions(Permissions::from_mode(mode))?;
            Open::File(file)
        });
        Ok(())
    }

    fn more(&mut self, piece: &[u8]) -> io::Result<()> {
        match &mut self.open {
            Some(Open::File(file)) => file.write_all(piece),
            Some(Open::Link(_, target)) => {
                target.extend(piece);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match self.open.take() {
            Some(Open::Link(path, target)) => link(&target, &path),
            _ => Ok(()),
        }
    }
}
