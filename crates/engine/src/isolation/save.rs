//! Saving an environment that is about to be deleted: everything that git alone could not bring back.
//!
//! Commits that no remote has go into a pack; files that git would not write again just so, with git's own records of
//! this worktree (its index, its log, a stopped rebase, its submodules), go into an archive. Both are read back before
//! anybody relies on them, and whatever cannot be read or written ends the attempt: then nothing is deleted.

mod survey;
mod walk;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::environment::Trash;
use hedgerow_core::saved::{Account, Saved, Skipped};
use hedgerow_core::{Codebase, CommitSha, Environment, SavedId};

use self::survey::{Known, doubtful, survey};
use self::walk::{Kind, Seen, walk};
use super::base::make_private;
use super::mounts::worktrees_below;
use super::trash::{operations, require_ours};
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::Repo;
use crate::git::index::COMMIT;
use crate::git::look::TreePath;
use crate::steps;
use crate::vault::archive::{self, Contents, Entry, Writer};
use crate::vault::manifest::{ARCHIVE, Left, OBJECTS, Sealed};
use crate::vault::{Manifest, sync_folder};

/// In the archive: the environment's files, git's records of the worktree, and the tracked paths that git must not write.
pub(super) const FILES: &str = "files";
pub(super) const ADMIN: &str = "admin";
pub(super) const CHANGED: &str = "changed";

impl WorktreeProvider {
    /// 1. What is there, by walking it and by asking git.
    /// 2. The pack, the archive, the manifest: written and synced.
    /// 3. All of it read back.
    /// 4. A second walk: nothing changed while it was saved.
    /// 5. The repository keeps the commits that the pack builds on.
    pub(super) async fn save_trashed(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        saved: SavedId,
        into: &Path,
    ) -> Result<Saved, Trouble> {
        let trash =
            environment.trash.as_ref().ok_or_else(|| Trouble::NotTrashed { name: environment.name().into() })?;
        let repo = self.git.open(codebase).await?;
        let admin = require_ours(&repo, environment, &trash.path)?;
        require_savable(&repo, environment, trash, &admin)?;
        let worktree = repo.worktree(&trash.path).await?;
        let (files, records) = apart(&trash.path, &admin, |path, admin| Ok((walk(path)?, walk(admin)?))).await?;
        let known = ask(&worktree, &files).await?;
        let work = Commits::of(&repo, &worktree, environment, trash, &admin, &known).await?;
        make_private(into).map_err(Trouble::folder(into))?;
        let pack = work.write(&repo, into).await?;
        steps::reached("commits packed");

        let target = into.join(ARCHIVE);
        let (files, records, written) = apart(&trash.path, &admin, move |path, admin| {
            let survey = survey(&files, &known);
            let contents = write(&target, (path, &survey), (admin, &records))?;
            let (modes, skipped) = (survey.modes, survey.skipped);
            Ok((files, records, (contents, modes, skipped)))
        })
        .await?;
        let (contents, modes, skipped) = written;
        steps::reached("files archived");
        let sealed = Sealed::of(into, ARCHIVE, contents.entries).map_err(Trouble::folder(into))?;
        let manifest =
            Manifest { archive: sealed, pack, modes, ..describe(codebase, environment, trash, &work, &skipped) };
        manifest.write(into).and_then(|()| sync_folder(into)).map_err(Trouble::folder(into))?;
        steps::reached("manifest written");

        self.check_saved(&repo, into, Some(&contents)).await?;
        let again = apart(&trash.path, &admin, |path, admin| Ok((walk(path)?, walk(admin)?))).await?;
        if again.0 != files || !same_records(&again.1, &records) {
            return Err(Trouble::MovedOn { name: environment.name().to_owned() });
        }
        repo.keep_together(&pins(saved), &work.needs).await?;
        steps::reached("saved state complete");
        let bytes = manifest.archive.bytes + manifest.pack.as_ref().map_or(0, |pack| pack.bytes);
        Ok(Saved { bytes, skipped })
    }

    /// Reads a saved state through. What it must contain is known right after it was made.
    pub(super) async fn check_saved(
        &self,
        repo: &Repo,
        from: &Path,
        expected: Option<&Contents>,
    ) -> Result<Manifest, Trouble> {
        let (manifest, contents) = apart(from, from, |from, _| {
            let damaged = |error: io::Error| Trouble::Saved { path: from.to_owned(), why: error.to_string() };
            let manifest = Manifest::read(from).map_err(damaged)?;
            manifest.archive.check(from).map_err(damaged)?;
            if let Some(pack) = &manifest.pack {
                pack.check(from).map_err(damaged)?;
            }
            let contents = archive::read(&from.join(ARCHIVE), |_, _| Ok(())).map_err(damaged)?;
            Ok((manifest, contents))
        })
        .await?;
        let damaged = |why: &str| Trouble::Saved { path: from.to_owned(), why: why.to_owned() };
        if contents.entries != manifest.archive.entries || expected.is_some_and(|expected| *expected != contents) {
            return Err(damaged("the archive does not hold what was put into it"));
        }
        if let Some(pack) = &manifest.pack {
            let objects = repo.verify_pack(&from.join(&pack.name)).await?;
            if objects != pack.entries {
                return Err(damaged("the pack does not hold what was put into it"));
            }
        }
        let needs: BTreeSet<String> = manifest.needs.iter().cloned().collect();
        let there: BTreeSet<String> = repo.kinds(&needs).await?.into_iter().map(|(name, _)| name).collect();
        match needs.difference(&there).next() {
            None => Ok(manifest),
            Some(missing) => Err(damaged(&format!("it builds on the commit {missing}, which the repository lost"))),
        }
    }

    pub(super) async fn account_of(&self, codebase: &Codebase, from: &Path) -> Result<Account, Trouble> {
        let repo = self.git.open(codebase).await?;
        Ok(self.check_saved(&repo, from, None).await?.account())
    }

    pub(super) async fn unpin(&self, codebase: &Codebase, saved: SavedId) -> Result<(), Trouble> {
        let repo = self.git.open(codebase).await?;
        Ok(repo.let_go_of_objects(&pins(saved)).await?)
    }
}

/// What cannot be saved yet is said before anything is tried.
fn require_savable(repo: &Repo, environment: &Environment, trash: &Trash, admin: &Path) -> Result<(), Trouble> {
    let refuse = |why, way_out| Err(Trouble::CannotSave { why, way_out });
    if repo.config().value("extensions.refstorage").is_some_and(|format| format != "files") {
        return refuse(
            "its repository keeps refs in a format whose logs cannot be saved yet",
            "it stays in the trash; `hedgerow env restore` brings it back",
        );
    }
    if trash.head.is_none() {
        return refuse(
            "it is on a branch without any commit, which cannot be made again yet",
            "`hedgerow env restore` brings it back; commit there",
        );
    }
    match worktrees_below(repo.common_dir(), admin, &[&trash.path, &environment.path]).pop() {
        Some(path) => Err(Trouble::WorktreeInside { path }),
        None => Ok(()),
    }
}

/// Whether git's records are as they were. git touches the shared part of a split index whenever it reads it.
fn same_records(now: &[Seen], before: &[Seen]) -> bool {
    let is_shared = |seen: &Seen| seen.path.to_string_lossy().starts_with("sharedindex.");
    let same = |(now, before): (&Seen, &Seen)| {
        now == before || (is_shared(now) && now.path == before.path && now.size == before.size)
    };
    now.len() == before.len() && now.iter().zip(before).all(same)
}

/// Refs on what a saved state builds on.
fn pins(saved: SavedId) -> String {
    format!("refs/hedgerow/saved/{saved}/")
}

/// Reading and writing many files is not for the threads that serve others.
pub(super) async fn apart<T: Send + 'static>(
    one: &Path,
    other: &Path,
    act: impl FnOnce(&Path, &Path) -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let (one, other) = (one.to_owned(), other.to_owned());
    let done = tokio::task::spawn_blocking(move || act(&one, &other)).await;
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// What git knows about the files that were found.
async fn ask(worktree: &Repo, files: &[Seen]) -> Result<Known, Trouble> {
    let (index, changed, untracked) =
        tokio::try_join!(worktree.index(None), worktree.changed_files(), worktree.untracked_files())?;
    let objects: BTreeSet<&str> =
        index.iter().filter(|entry| entry.mode != COMMIT).map(|entry| entry.object.as_str()).collect();
    let objects: Vec<&str> = objects.into_iter().collect();
    let paths: Vec<&[u8]> = index.iter().map(|entry| &entry.path[..]).collect();
    let (sizes, converted) = tokio::try_join!(worktree.sizes(&objects), worktree.converted(&paths))?;
    let mut known = Known { index, changed, untracked, sizes, converted, raw: HashMap::new() };
    let doubtful: Vec<TreePath> = doubtful(files, &known).into_iter().map(<[u8]>::to_vec).collect();
    let paths: Vec<PathBuf> = doubtful.iter().map(|path| std::ffi::OsStr::from_bytes(path).into()).collect();
    let raw = worktree.hash_files(&paths).await?;
    known.raw = doubtful.into_iter().zip(raw).collect();
    Ok(known)
}

/// The commits of an environment.
struct Commits {
    branch_tip: Option<CommitSha>,
    /// Everything that only this environment has.
    objects: BTreeSet<String>,
    /// What the others build on, or an operation names, and a remote has.
    needs: BTreeSet<String>,
}

impl Commits {
    /// HEAD, the branch, and whatever the logs, a stopped operation or the index name, as far as no remote has it.
    async fn of(
        repo: &Repo,
        worktree: &Repo,
        environment: &Environment,
        trash: &Trash,
        admin: &Path,
        known: &Known,
    ) -> Result<Self, Trouble> {
        let branch_tip = repo.branch_tip(&environment.branch).await?;
        let mut names = BTreeSet::new();
        operations::named_in(admin, &["index", "modules"], &mut names);
        operations::named_in_file(&repo.common_dir().join("logs").join(environment.branch.full_ref()), &mut names);
        let tips: BTreeSet<String> = repo.kinds(&names).await?.into_iter().map(|(name, _)| name).collect();
        let sure = trash.head.iter().chain(&branch_tip).map(ToString::to_string);
        let tips: BTreeSet<String> = tips.into_iter().chain(sure).collect();
        let reach = repo.reach(&tips, environment.base_sha.as_ref()).await?;
        let mut objects = reach.objects;
        let mut needs: BTreeSet<String> = reach.needs.iter().map(ToString::to_string).collect();
        needs.extend(tips.into_iter().filter(|tip| !objects.contains(tip)));
        let conflicted = known.index.iter().filter(|entry| entry.stage > 0 && entry.mode != COMMIT);
        let staged = worktree.staged_objects().await?.into_iter().chain(conflicted.map(|entry| entry.object.clone()));
        let staged: BTreeSet<String> = staged.chain(worktree.index_trees(&known.index).await?).collect();
        objects.extend(repo.kinds(&staged).await?.into_iter().map(|(name, _)| name));
        Ok(Self { branch_tip, objects, needs })
    }

    async fn write(&self, repo: &Repo, into: &Path) -> Result<Option<Sealed>, Trouble> {
        if self.objects.is_empty() {
            return Ok(None);
        }
        let folder = Path::new(OBJECTS).join("pack");
        make_private(&into.join(&folder)).map_err(Trouble::folder(into))?;
        let hash = repo.write_pack(&self.objects, &into.join(&folder).join("pack")).await?;
        let name = folder.join(format!("pack-{hash}.pack")).to_string_lossy().into_owned();
        let sealed = Sealed::of(into, &name, self.objects.len() as u64);
        let sync = || sync_folder(&into.join(&folder)).and_then(|()| sync_folder(&into.join(OBJECTS)));
        let synced = sealed.and_then(|sealed| sync().map(|()| sealed));
        Ok(Some(synced.map_err(Trouble::folder(into))?))
    }
}

fn describe(
    codebase: &Codebase,
    environment: &Environment,
    trash: &Trash,
    work: &Commits,
    skipped: &[Skipped],
) -> Manifest {
    let text = |sha: &Option<CommitSha>| sha.as_ref().map(ToString::to_string);
    Manifest {
        version: Manifest::VERSION,
        environment: environment.id.to_string(),
        codebase: codebase.name.clone(),
        remote: codebase.remote.clone(),
        works: environment.works.iter().map(|named| named.name.clone()).collect(),
        base: environment.base.as_ref().map(ToString::to_string),
        left_at: trash.at.as_millis(),
        path: trash.path.to_string_lossy().into_owned(),
        branch: environment.branch.to_string(),
        branch_tip: text(&work.branch_tip),
        head: text(&trash.head),
        was_detached: trash.was_detached,
        branch_deleted: trash.branch_deleted,
        needs: work.needs.iter().cloned().collect(),
        modes: crate::vault::manifest::Modes { plain: 0o644, program: 0o755 },
        archive: Sealed { name: ARCHIVE.to_owned(), bytes: 0, sha256: String::new(), entries: 0 },
        pack: None,
        skipped: skipped.iter().map(Left::from).collect(),
    }
}

/// Writes the archive: the paths git must not write, the files, git's records.
fn write(
    target: &Path,
    (path, survey): (&Path, &survey::Survey<'_>),
    (admin, records): (&Path, &[Seen]),
) -> Result<Contents, Trouble> {
    let failed = |error: io::Error| Trouble::folder(target)(error);
    let mut writer = Writer::create(target).map_err(failed)?;
    let changed = survey.changed.iter().fold(Vec::new(), |mut list, path| {
        list.extend(*path);
        list.push(0);
        list
    });
    let list = Entry {
        name: PathBuf::from(CHANGED),
        kind: archive::Kind::File,
        mode: 0o600,
        mtime: 0,
        size: changed.len() as u64,
    };
    writer.add(&list, &changed[..]).map_err(failed)?;
    for thing in &survey.save {
        add(&mut writer, path, FILES, thing)?;
    }
    for thing in records.iter().filter(|thing| thing.kind != Kind::Other) {
        add(&mut writer, admin, ADMIN, thing)?;
    }
    writer.finish().map_err(failed)
}

fn add(writer: &mut Writer, root: &Path, below: &str, thing: &Seen) -> Result<(), Trouble> {
    let path = root.join(&thing.path);
    let failed = |error: io::Error| Trouble::folder(&path)(error);
    let mut entry = Entry {
        name: Path::new(below).join(&thing.path),
        kind: archive::Kind::File,
        mode: thing.mode,
        mtime: u64::try_from(thing.mtime).unwrap_or(0),
        size: thing.size,
    };
    match thing.kind {
        Kind::Folder => {
            entry.kind = archive::Kind::Folder;
            writer.add(&entry, io::empty()).map_err(failed)
        }
        Kind::Link => {
            let target = fs::read_link(&path).map_err(failed)?;
            entry.kind = archive::Kind::Link;
            entry.size = target.as_os_str().len() as u64;
            writer.add(&entry, target.as_os_str().as_bytes()).map_err(failed)
        }
        // What is a link by now is not followed.
        _ => {
            let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
            let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(&path).map_err(failed)?;
            writer.add(&entry, file).map_err(failed)
        }
    }
}

/// The list in the archive, read back.
pub(super) fn list_of(content: &mut dyn io::Read) -> io::Result<std::collections::HashSet<TreePath>> {
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes)?;
    Ok(bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
}
