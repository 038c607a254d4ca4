//! What a git that was killed leaves: lock files that nobody will ever remove, and that make every later git fail.
//!
//! Each call that changes something leaves a note in the repository while it runs, and holds a lock on it that git
//! inherits. A note that is still there and not locked any more is a call that died. Then lock files that appeared
//! since, where such a call makes them, and that stay while we look on, are its remains. A note that is locked although
//! its maker is gone is a git that works on alone; whoever changes the repository next waits for it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Stdio, id};
use std::time::Duration;

use rustix::process::{Pid, geteuid, test_kill_process};
use tokio::time::{Instant, sleep};

use super::{GitResult, LockKind, RepoLock};

/// In the repository's common folder.
const NOTES: &str = "hedgerow-calls";
/// A live git holds these locks for less than this; git itself waits as long for one of them before it gives up.
const GRACE: Duration = Duration::from_secs(1);
/// Longest wait for somebody else's git to end before the remains are left for another time.
const COURTESY: Duration = Duration::from_secs(10);
/// Longest wait for a git whose maker is gone.
const PATIENCE: Duration = Duration::from_mins(1);

/// A call that is under way.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    file: File,
}

impl Note {
    /// Written before git is started at `at`. Without one (a full disk, say) git is started all the same.
    pub(super) fn leave(common_dir: &Path, at: &Path) -> io::Result<Self> {
        let notes = common_dir.join(NOTES);
        let staged = match tempfile::NamedTempFile::new_in(&notes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&notes)?;
                tempfile::NamedTempFile::new_in(&notes)?
            }
            staged => staged?,
        };
        staged.as_file().write_all(admin_folder(at).unwrap_or_default().as_os_str().as_encoded_bytes())?;
        // Under its name it is never seen unlocked while the call lives.
        staged.as_file().lock()?;
        let random = staged.path().file_name().unwrap_or_default().to_string_lossy().replace('.', "");
        let path = notes.join(format!("{}-{random}", id()));
        let file = staged.persist_noclobber(&path).map_err(|error| error.error)?;
        Ok(Self { path, file })
    }

    /// git reads nothing from it, and keeps its lock as long as it lives.
    pub(super) fn stdin(&self) -> io::Result<Stdio> {
        self.file.try_clone().map(Stdio::from)
    }

    /// git has ended well, and so has removed its locks.
    pub(super) fn done(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The admin folder that the `.git` file of a linked worktree names.
fn admin_folder(at: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(at.join(".git")).ok()?;
    Some(at.join(text.trim_end().strip_prefix("gitdir: ")?))
}

/// A call that has died, and what it worked on.
struct Dead {
    note: PathBuf,
    began: (i64, i64),
    admin: Option<PathBuf>,
}

/// Waits for gits that work on alone, then removes what dead ones left. For one who holds a lock of the repository.
pub(super) async fn tidy(common_dir: &Path) {
    let started = Instant::now();
    let dead = loop {
        let (dead, alone) = look(&common_dir.join(NOTES));
        if !alone || started.elapsed() > PATIENCE {
            break dead;
        }
        sleep(Duration::from_millis(10)).await;
    };
    if dead.is_empty() {
        return;
    }
    let locks: Vec<(PathBuf, Identity)> = dead.iter().flat_map(|dead| remains(common_dir, dead)).collect();
    if !locks.is_empty() {
        sleep(GRACE).await;
        // A git that is at work here, whoever started it, may hold one of them. What is in doubt stays.
        let since = Instant::now();
        while is_git_at_work(common_dir) {
            if since.elapsed() > COURTESY {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
    for (path, before) in locks {
        if identity(&path).is_some_and(|now| now == before) && fs::remove_file(&path).is_ok() {
            tracing::info!(path = %path.display(), "removed what a git that was killed had left");
        }
    }
    for dead in dead {
        let _ = fs::remove_file(dead.note);
    }
}

/// For a start: does the same where a call has died, and otherwise waits for nobody.
pub(crate) async fn tidy_if_any(common_dir: &Path) -> GitResult<()> {
    if look(&common_dir.join(NOTES)).0.is_empty() {
        return Ok(());
    }
    RepoLock::acquire(common_dir, LockKind::Change).await.map(drop)
}

/// The dead calls, and whether a git works on although its maker is gone.
fn look(notes: &Path) -> (Vec<Dead>, bool) {
    let (mut dead, mut alone) = (Vec::new(), false);
    let Ok(entries) = fs::read_dir(notes) else { return (dead, alone) };
    for note in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = note.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(maker) = name.split_once('-').and_then(|(pid, _)| Pid::from_raw(pid.parse().ok()?)) else { continue };
        let Ok(file) = File::open(&note) else { continue };
        if file.try_lock().is_err() {
            alone |= test_kill_process(maker) == Err(rustix::io::Errno::SRCH);
            continue;
        }
        let Ok(metadata) = file.metadata().and_then(|_| fs::metadata(&note)) else { continue };
        let admin = fs::read_to_string(&note).ok().filter(|text| !text.is_empty()).map(PathBuf::from);
        dead.push(Dead { note, began: (metadata.mtime(), metadata.mtime_nsec()), admin });
    }
    (dead, alone)
}

/// Which file it is, and since when.
type Identity = (u64, i64, i64);

fn identity(path: &Path) -> Option<Identity> {
    let found = fs::symlink_metadata(path).ok().filter(|found| found.is_file() && found.uid() == geteuid().as_raw())?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}

/// Lock files that a dead call may have made. The index and HEAD of the main checkout are not among them, because we
/// never write those; the ones of a worktree only while nobody is in it, because a person's commit may wait for its message.
fn remains(common_dir: &Path, dead: &Dead) -> Vec<(PathBuf, Identity)> {
    let mut found: Vec<PathBuf> =
        ["packed-refs.lock", "packed-refs.new", "config.lock", "shallow.lock"].map(|name| common_dir.join(name)).into();
    locks_below(&common_dir.join("refs"), &mut found);
    if let Some(admin) = dead.admin.as_deref().filter(|admin| !is_anyone_in(admin)) {
        found.extend(["HEAD.lock", "index.lock", "ORIG_HEAD.lock"].map(|name| admin.join(name)));
        locks_below(&admin.join("modules"), &mut found);
    }
    let since = |(_, seconds, nanos): &Identity| (*seconds, *nanos) >= dead.began;
    found
        .into_iter()
        .filter_map(|path| Some((identity(&path).filter(since)?, path)))
        .map(|(it, path)| (path, it))
        .collect()
}

/// Removes every lock file below a folder in which no git can be at work.
pub(crate) fn remove_locks_below(folder: &Path) {
    let mut found = Vec::new();
    locks_below(folder, &mut found);
    for lock in found {
        let _ = fs::remove_file(lock);
    }
}

fn locks_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => locks_below(&entry.path(), found),
            Ok(_) if entry.path().extension().is_some_and(|extension| extension == "lock") => found.push(entry.path()),
            _ => {}
        }
    }
}

/// Whether a process that we can see works in the files of this admin folder.
fn is_anyone_in(admin: &Path) -> bool {
    let Ok(dot_git) = fs::read_to_string(admin.join("gitdir")) else { return false };
    let dot_git = admin.join(dot_git.trim_end());
    let Some(files) = dot_git.parent() else { return false };
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok()).any(|cwd| cwd.starts_with(files))
}

/// Whether any git that we can see works in this repository: in its own folder, its main checkout or a worktree.
fn is_git_at_work(common_dir: &Path) -> bool {
    let mut places = vec![common_dir.to_owned()];
    places.extend(
        common_dir.file_name().filter(|name| *name == ".git").and_then(|_| common_dir.parent()).map(Into::into),
    );
    for entry in fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().filter_map(Result::ok) {
        let dot_git = fs::read_to_string(entry.path().join("gitdir")).unwrap_or_default();
        places.extend(Path::new(dot_git.trim_end()).parent().filter(|place| place.is_absolute()).map(Into::into));
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok).map(|process| process.path());
    let is_git = |process: &PathBuf| fs::read_to_string(process.join("comm")).is_ok_and(|name| name.starts_with("git"));
    let cwd = |process: PathBuf| fs::read_link(process.join("cwd")).ok();
    processes.filter(is_git).filter_map(cwd).any(|cwd| places.iter().any(|place| cwd.starts_with(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("refs/heads")).expect("its refs");
        folder
    }

    fn lock_at(path: &Path) -> bool {
        fs::write(path, "").is_ok()
    }

    #[tokio::test]
    async fn only_what_a_dead_call_may_have_left_is_removed() {
        let repository = a_repository();
        let place = |name: &str| repository.path().join(name);
        assert!(lock_at(&place("config.lock")), "somebody's, from before");
        // File times are as coarse as the kernel's clock.
        std::thread::sleep(Duration::from_millis(20));
        drop(Note::leave(repository.path(), repository.path()).expect("a note"));
        assert!(lock_at(&place("refs/heads/x.lock")) && lock_at(&place("index.lock")));
        tidy(repository.path()).await;
        assert!(!place("refs/heads/x.lock").exists(), "left by the dead call");
        assert!(place("config.lock").exists(), "older than the call");
        assert!(place("index.lock").exists(), "of the main checkout, which no call of ours touches");
        assert_eq!(fs::read_dir(place(NOTES)).expect("notes").count(), 0);
    }

    #[tokio::test]
    async fn a_call_under_way_keeps_its_locks() {
        let repository = a_repository();
        let note = Note::leave(repository.path(), repository.path()).expect("a note");
        let lock = repository.path().join("refs/heads/x.lock");
        assert!(lock_at(&lock));
        tidy(repository.path()).await;
        assert!(lock.exists());
        note.done();
        assert_eq!(fs::read_dir(repository.path().join(NOTES)).expect("notes").count(), 0);
    }
}
