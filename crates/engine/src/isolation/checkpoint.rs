//! Saving the state of a live environment as a commit that nothing but its own ref shows.
//!
//! Nothing of the environment is changed: not its index, its files, its refs. Only what differs from HEAD is read, and of
//! that only what was touched since the checkpoint before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::checkpoint::{Mark, NewCheckpoint};
use hedgerow_core::provider::Presence;
use hedgerow_core::{Codebase, CommitSha, Environment, EnvironmentId};

use super::beneath::{Beneath, Content, Stamp};
use super::ownership::linked;
use super::trash::branch_of;
use super::unfinished;
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::checkpoints::{checkpoint_ref, message};
use crate::git::import::{Data, Import};
use crate::git::look::{Entry, Flags, Look, TreePath};
use crate::git::{GitError, Repo, tidy_if_any};
use crate::steps;

/// A file that a rewind is about to put in place; no part of any state.
pub(super) fn beside(id: EnvironmentId) -> String {
    format!(".hedgerow-undo-{id}")
}

/// Refs that belong to one worktree and to an operation in it.
pub(super) const OWN_REFS: [&str; 2] = ["refs/bisect/", "refs/rewritten/"];

impl WorktreeProvider {
    /// The repository entered at the environment, and its admin folder; provided it is there and the one it should be.
    pub(super) async fn enter(
        &self,
        codebase: &Codebase,
        environment: &Environment,
    ) -> Result<(Repo, PathBuf), Trouble> {
        let repo = self.git.open(codebase).await?;
        let not_here = Trouble::links(&environment.path);
        match self.check(repo.common_dir(), environment) {
            Presence::Here => {}
            Presence::Missing => return Err(not_here("it is gone".to_owned())),
            Presence::Unreachable(why) | Presence::Foreign(why) => return Err(not_here(why)),
        }
        let admin = linked(&environment.path, repo.common_dir()).map_err(Trouble::links(&environment.path))?.admin;
        Ok((repo.worktree(&environment.path).await?, admin))
    }

    /// `None` when the newest checkpoint holds the state already.
    pub(super) async fn save_checkpoint(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        new: &NewCheckpoint,
    ) -> Result<Option<CommitSha>, Trouble> {
        let (repo, admin) = self.enter(codebase, environment).await?;
        if let Some(form) = repo.ref_storage().filter(|form| *form != "files") {
            return Err(Trouble::RefStorage { codebase: codebase.name.clone(), form: form.to_owned() });
        }
        let name = checkpoint_ref(environment.id, new.number);
        // The import itself is in nobody's way, so it takes no lock; what a git that died left must not be in its way.
        tidy_if_any(repo.common_dir()).await?;
        let capture = Capture::prepare(&repo, &admin, environment, new).await?;
        steps::reached("environment looked at");
        let (to, at, text) = (name.clone(), new.at, message(new.label.as_deref(), new.mark));
        let written = repo.import(move |import| capture.write(import, &to, at, &text)).await?;
        written.map_err(|error| error.explain(&environment.path))?;
        steps::reached("checkpoint in git");
        let commit = repo.commit(&name).await?;
        let commit = commit.ok_or_else(|| crate::git::refs::unexpected("fast-import", "no commit"))?;
        if let Some(newest) = new.newest.as_ref().filter(|_| new.mark == Mark::Plain)
            && repo.states([&commit].into_iter()).await?.first() == Some(&newest.state)
        {
            repo.delete_ref(&name, &commit).await?;
            return Ok(None);
        }
        Ok(Some(commit))
    }
}

/// Everything that goes into a checkpoint, but for the bytes of files.
struct Capture {
    root: PathBuf,
    look: Look,
    head: String,
    refs: String,
    unfinished: BTreeMap<TreePath, Vec<u8>>,
    /// The tree of HEAD, which most of the state is.
    tree: Option<String>,
    parents: Vec<CommitSha>,
    /// What the checkpoint before read, as long as the file has the same stamp.
    known: HashMap<TreePath, (Stamp, Entry)>,
    /// A file last changed before this moment cannot change without its stamp.
    began: (i128, i128),
}

impl Capture {
    async fn prepare(
        repo: &Repo,
        admin: &Path,
        environment: &Environment,
        new: &NewCheckpoint,
    ) -> Result<Self, Trouble> {
        let began = moment(admin).map_err(Trouble::folder(admin))?;
        let mut look = repo.look().await?;
        look.changed.remove(beside(environment.id).as_bytes());
        let unfinished = unfinished::read(admin).map_err(Trouble::folder(admin))?;
        let mut tips: BTreeSet<String> = look.branch.iter().cloned().collect();
        tips.insert(environment.branch.full_ref());
        tips.extend(branch_of(admin).map(|branch| branch.full_ref()));
        let patterns: Vec<String> = tips.into_iter().chain(OWN_REFS.map(str::to_owned)).collect();
        let all = repo.refs(&patterns).await?;
        let (own, tips): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.into_iter().partition(|(name, _)| OWN_REFS.iter().any(|prefix| name.starts_with(prefix)));
        let named = unfinished::objects_named(unfinished.values());
        let others: BTreeSet<CommitSha> = own.values().chain(tips.values()).cloned().chain(named).collect();
        let mut parents: Vec<CommitSha> = look.head.iter().cloned().collect();
        let others = repo.commits_among(others).await?;
        parents.extend(others.into_iter().filter(|commit| look.head.as_ref() != Some(commit)));
        let tree = match &look.head {
            Some(head) => Some(repo.tree_of(head).await?),
            None => None,
        };
        let lines = |refs: &BTreeMap<String, CommitSha>| -> String {
            refs.iter().fold(String::new(), |text, (name, sha)| text + sha.as_str() + " " + name + "\n")
        };
        let head = format!(
            "{}\n{}\n{}",
            look.head.as_ref().map_or("-", CommitSha::as_str),
            look.branch.as_deref().unwrap_or("-"),
            lines(&tips)
        );
        let known = match &new.newest {
            Some(newest) => read_before(repo, &newest.checkpoint.commit).await?,
            None => HashMap::new(),
        };
        let root = environment.path.clone();
        Ok(Self { root, look, head, refs: lines(&own), unfinished, tree, parents, known, began })
    }

    fn write(self, import: &mut Import, name: &str, at: hedgerow_core::Timestamp, message: &str) -> Result<(), Unread> {
        let read = self.read_files(import)?;
        let mut texts: Vec<(Vec<u8>, Data)> = Vec::new();
        let plain = [("state/head", self.head.as_bytes()), ("state/refs", self.refs.as_bytes())];
        for (path, text) in plain.into_iter().filter(|(_, text)| !text.is_empty()) {
            texts.push((path.into(), import.blob(text)?));
        }
        let tables = [("state/flags", flags_text(&self.look.flags)), ("stamps", self.stamps_text(&read))];
        for (path, text) in tables.into_iter().filter(|(_, text)| !text.is_empty()) {
            texts.push((path.into(), import.blob(&text)?));
        }
        for (path, content) in &self.unfinished {
            texts.push((below("state/admin/", path), import.blob(content)?));
        }
        import.commit(name, at, message, &self.parents)?;
        self.write_trees(import, &read)?;
        for (path, data) in texts {
            import.put("100644", &data, &path)?;
        }
        Ok(())
    }

    /// Deletions come first: a folder may have taken the place of a file.
    fn write_trees(&self, import: &mut Import, read: &BTreeMap<TreePath, Saved>) -> io::Result<()> {
        let Look { staged, conflicts, missing, .. } = &self.look;
        if let Some(tree) = &self.tree {
            import.put("040000", &Data::object(tree), b"state/files")?;
            import.put("040000", &Data::object(tree), b"state/index")?;
        }
        let unstaged = staged.iter().filter(|(_, entry)| entry.is_none()).map(|(path, _)| path);
        for path in unstaged.clone().chain(conflicts.keys()) {
            import.delete(&below("state/index/", path))?;
        }
        let skipped = |path: &TreePath| self.look.flags.get(path).is_some_and(|flags| flags.skip_worktree);
        let unread = self.look.changed.iter().filter(|path| !read.contains_key(*path) && !skipped(path));
        for path in unstaged.chain(missing).chain(unread.clone()) {
            import.delete(&below("state/files/", path))?;
        }
        let unread: BTreeSet<&TreePath> = unread.collect();
        for (path, entry) in staged.iter().filter_map(|(path, entry)| Some((path, entry.as_ref()?))) {
            let data = Data::object(&entry.object);
            import.put(&entry.mode, &data, &below("state/index/", path))?;
            if !read.contains_key(path) && !missing.contains(path) && !unread.contains(path) {
                import.put(&entry.mode, &data, &below("state/files/", path))?;
            }
        }
        for (path, stages) in conflicts {
            for (nth, entry) in stages.iter().enumerate().filter_map(|(nth, entry)| Some((nth, entry.as_ref()?))) {
                let place = below(&format!("state/stages/{}/", nth + 1), path);
                import.put(&entry.mode, &Data::object(&entry.object), &place)?;
            }
        }
        for (path, saved) in read {
            import.put(saved.mode, &saved.data, &below("state/files/", path))?;
            import.put(saved.mode, &saved.data, &below("raw/", path))?;
        }
        Ok(())
    }

    /// Hands every changed file to git, unless git has it from the last time.
    fn read_files(&self, import: &mut Import) -> Result<BTreeMap<TreePath, Saved>, Unread> {
        let beneath = Beneath::open(&self.root)?;
        let mut read = BTreeMap::new();
        for path in &self.look.changed {
            let at = |source| Unread { path: Some(path.clone()), source };
            let (mode, data, stamp) = match beneath.read(path).map_err(at)? {
                None | Some(Content::Other) => continue,
                Some(Content::Link(target, stamp)) => ("120000", import.blob(&target)?, stamp),
                Some(Content::File(file, stamp)) => {
                    let mode = stamp.git_mode().unwrap_or("100644");
                    match self.known.get(path) {
                        Some((before, entry)) if *before == stamp => (mode, Data::object(&entry.object), stamp),
                        _ => {
                            let length = file.metadata().map_err(at)?.len();
                            (mode, import.blob_from(file, length).map_err(at)?, stamp)
                        }
                    }
                }
            };
            read.insert(path.clone(), Saved { mode, data, stamp });
        }
        Ok(read)
    }

    /// A file that was changed as late as now may be changed again with the same stamp; it is read again next time.
    fn stamps_text(&self, read: &BTreeMap<TreePath, Saved>) -> Vec<u8> {
        let mut text = Vec::new();
        for (path, saved) in read.iter().filter(|(_, saved)| saved.stamp.changed() < self.began) {
            text.extend(format!("{}\t", saved.stamp).bytes());
            text.extend(path);
            text.push(0);
        }
        text
    }
}

/// A file whose bytes are in the checkpoint.
struct Saved {
    mode: &'static str,
    data: Data,
    stamp: Stamp,
}

/// A file that could not be read; without a path, git has ended.
struct Unread {
    path: Option<TreePath>,
    source: io::Error,
}

impl From<io::Error> for Unread {
    fn from(source: io::Error) -> Self {
        Self { path: None, source }
    }
}

impl Unread {
    fn explain(self, root: &Path) -> Trouble {
        match self.path {
            Some(path) => Trouble::folder(&root.join(std::ffi::OsStr::from_bytes(&path)))(self.source),
            None => GitError::io("saving a checkpoint")(self.source).into(),
        }
    }
}

/// What the files that a checkpoint read were then.
async fn read_before(repo: &Repo, checkpoint: &CommitSha) -> Result<HashMap<TreePath, (Stamp, Entry)>, Trouble> {
    let stamps = repo.texts(&[format!("{checkpoint}:stamps")]).await?.concat();
    if stamps.is_empty() {
        return Ok(HashMap::new());
    }
    let mut raw = repo.files_below(checkpoint, "raw/").await?;
    let known = stamps.split(|byte| *byte == 0).filter_map(|record| {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let stamp = std::str::from_utf8(&record[..tab]).ok()?.parse().ok()?;
        let path = record[tab + 1..].to_vec();
        let entry = raw.remove(&path)?;
        Some((path, (stamp, entry)))
    });
    Ok(known.collect())
}

/// Now, as the file system counts it.
fn moment(folder: &Path) -> io::Result<(i128, i128)> {
    let file = tempfile::tempfile_in(folder)?;
    Ok(Stamp::of(&rustix::fs::fstat(&file)?).changed())
}

fn below(prefix: &str, path: &[u8]) -> Vec<u8> {
    [prefix.as_bytes(), path].concat()
}

/// `asi path NUL …`, a dash for each flag that is not set.
fn flags_text(all: &BTreeMap<TreePath, Flags>) -> Vec<u8> {
    let mut text = Vec::new();
    for (path, flags) in all {
        let letters = [(flags.assume_unchanged, b'a'), (flags.skip_worktree, b's'), (flags.intent_to_add, b'i')];
        text.extend(letters.map(|(is_set, letter)| if is_set { letter } else { b'-' }));
        text.push(b' ');
        text.extend(path);
        text.push(0);
    }
    text
}

pub(super) fn parse_flags(text: &[u8]) -> BTreeMap<TreePath, Flags> {
    let records = text.split(|byte| *byte == 0).filter(|record| record.len() > 4);
    let parsed = records.map(|record| {
        let [assume_unchanged, skip_worktree, intent_to_add] = [0, 1, 2].map(|nth| record[nth] != b'-');
        (record[4..].to_vec(), Flags { assume_unchanged, skip_worktree, intent_to_add })
    });
    parsed.collect()
}
