//! Files on their way back: made ready beside, put in place one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::checkpoint::{Kept, KeptBecause, Rewind, Rewound};
use hedgerow_core::{CommitSha, Environment};

use super::super::beneath::{Beneath, Content, New, Placed, Stamp};
use super::super::checkpoint::beside;
use super::plan::Plan;
use super::{Bench, shown};
use crate::explain::Trouble;
use crate::git::Repo;
use crate::git::checkpoints::Changes;
use crate::git::look::{Entry, TreePath};
use crate::steps;

/// Files that decide how others are written, or whether they are anybody's business.
const RULES: [&[u8]; 2] = [b".gitattributes", b".gitignore"];

/// Rules first, so that the others are converted and ignored as they were then. Then deletions, which make room.
pub(super) async fn bring_back(
    repo: &Repo,
    environment: &Environment,
    bench: &Bench,
    rewind: &Rewind,
    plan: &Plan,
    done: &mut Rewound,
) -> Result<(), Trouble> {
    let root = &environment.path;
    let beneath = Beneath::open(root).map_err(Trouble::folder(root))?;
    let beside = beside(environment.id);
    let mut work = Work { repo, root, beneath, beside, done, stamps: BTreeMap::new() };
    work.done.kept.extend(plan.kept.iter().cloned());
    let files = work.still_as_saved(bench, &rewind.now, &plan.files).await?;
    let is_rule = |path: &[u8]| RULES.contains(&path.rsplit(|byte| *byte == b'/').next().unwrap_or(path));
    let (rules, others): (Changes, Changes) = files.into_iter().partition(|(path, _)| is_rule(path));
    work.delete(&rules, &BTreeSet::new())?;
    work.write(bench, "rules", &rewind.to, &rules).await?;
    steps::reached("rules back");
    let new: Vec<&TreePath> = others.iter().filter(|(_, (_, to))| to.is_none()).map(|(path, _)| path).collect();
    let ignored = repo.ignored_among(&new).await?;
    work.delete(&others, &ignored)?;
    steps::reached("new files gone");
    work.write(bench, "files", &rewind.to, &others).await
}

struct Work<'a> {
    repo: &'a Repo,
    root: &'a Path,
    beneath: Beneath,
    beside: String,
    done: &'a mut Rewound,
    /// What was at each path before its content was compared.
    stamps: BTreeMap<TreePath, Stamp>,
}

impl Work<'_> {
    fn keep(&mut self, path: &[u8], because: KeptBecause) {
        self.done.kept.push(Kept { path: shown(path), because });
    }

    /// Those of the files whose content is still the one that was saved a moment ago. The stamps are taken first: a file
    /// that is written while it is compared has another one when it comes to be replaced.
    async fn still_as_saved(&mut self, bench: &Bench, now: &CommitSha, files: &Changes) -> Result<Changes, Trouble> {
        // Where nothing was, nothing may be replaced either.
        for path in files.iter().filter(|(_, (from, _))| from.is_some()).map(|(path, _)| path) {
            if let Some(stamp) = self.beneath.stamp(path).map_err(Trouble::folder(self.root))? {
                self.stamps.insert(path.clone(), stamp);
            }
        }
        let look = self.repo.look().await?;
        let raw = self.repo.files_below(now, "raw/").await?;
        let hashes = self.hash(bench, files.keys().filter(|path| raw.contains_key(*path))).await?;
        let mut same = Changes::new();
        for (path, (from, to)) in files {
            let stamp = self.stamps.get(path);
            let is_same = match (from, raw.get(path)) {
                // Whether anything is there is seen when the file is put in place.
                (None, _) => true,
                (Some(_), Some(saved)) => {
                    stamp.and_then(Stamp::git_mode) == Some(&saved.mode) && hashes.get(path) == Some(&saved.object)
                }
                // What a sparse checkout leaves out stays out.
                (Some(_), None) if stamp.is_none() && look.flags.get(path).is_some_and(|f| f.skip_worktree) => continue,
                (Some(_), None) => stamp.is_some() && !look.changed.contains(path) && !look.missing.contains(path),
            };
            if is_same {
                same.insert(path.clone(), (from.clone(), to.clone()));
            } else {
                self.keep(path, KeptBecause::Changed);
            }
        }
        Ok(same)
    }

    /// The names that git gives to the content of these files, as it is on disk.
    async fn hash<'p>(
        &self,
        bench: &Bench,
        paths: impl Iterator<Item = &'p TreePath>,
    ) -> Result<BTreeMap<TreePath, String>, Trouble> {
        let room = bench.room("links")?;
        let (mut known, mut places): (Vec<TreePath>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        for path in paths {
            let place = self.root.join(std::ffi::OsStr::from_bytes(path));
            let place = match self.beneath.read(path).map_err(Trouble::folder(&place))? {
                Some(Content::File(..)) => place,
                Some(Content::Link(target, _)) => {
                    let copy = room.join(known.len().to_string());
                    fs::write(&copy, target).map_err(Trouble::folder(&copy))?;
                    copy
                }
                None | Some(Content::Other) => continue,
            };
            known.push(path.clone());
            places.push(place);
        }
        Ok(known.into_iter().zip(self.repo.hash_files(&places).await?).collect())
    }

    fn delete(&mut self, files: &Changes, ignored: &BTreeSet<TreePath>) -> Result<(), Trouble> {
        for path in files.iter().filter(|(_, (_, to))| to.is_none()).map(|(path, _)| path) {
            if ignored.contains(path) {
                self.keep(path, KeptBecause::Ignored);
                continue;
            }
            let Some(stamp) = self.stamps.get(path) else { continue };
            match self.beneath.remove(path, stamp, &self.beside).map_err(Trouble::folder(self.root))? {
                Placed::Done => self.done.deleted.push(shown(path)),
                Placed::InTheWay => self.keep(path, KeptBecause::Changed),
            }
        }
        Ok(())
    }

    /// Writes files as they were at a checkpoint: those that only it has byte for byte, the others as a checkout does.
    async fn write(&mut self, bench: &Bench, name: &str, then: &CommitSha, files: &Changes) -> Result<(), Trouble> {
        let wanted: BTreeMap<&TreePath, &Entry> =
            files.iter().filter_map(|(path, (_, to))| Some((path, to.as_ref()?))).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let raw = self.repo.files_below(then, "raw/").await?;
        let (blobs, checkout) = (bench.room(&format!("{name}-raw"))?, bench.room(&format!("{name}-clean"))?);
        let objects = wanted.iter().filter(|(path, _)| raw.contains_key(**path));
        self.repo.write_blobs(&objects.map(|(_, entry)| entry.object.clone()).collect(), &blobs).await?;
        let clean: Vec<&TreePath> = wanted.keys().copied().filter(|path| !raw.contains_key(*path)).collect();
        let index = bench.path.join(format!("{name}-index"));
        self.repo.check_out_to(&format!("{then}:state/index"), &clean, &index, &checkout).await?;
        for (path, entry) in wanted {
            let ready = if raw.contains_key(path) {
                Ready::blob(&blobs, entry)
            } else {
                Ready::checked_out(&checkout.join(std::ffi::OsStr::from_bytes(path)), entry)
            };
            let ready = ready.map_err(Trouble::folder(&bench.path))?;
            let stamp = self.stamps.get(path);
            let placed = self.beneath.place(&ready.as_new(), path, stamp, &self.beside);
            match placed.map_err(Trouble::folder(&self.root.join(std::ffi::OsStr::from_bytes(path))))? {
                Placed::Done => self.done.restored.push(shown(path)),
                Placed::InTheWay => self.keep(path, KeptBecause::InTheWay),
            }
        }
        Ok(())
    }
}

/// A file that is ready to be put in place.
enum Ready {
    File { from: PathBuf, executable: bool },
    Link(Vec<u8>),
}

impl Ready {
    fn blob(folder: &Path, entry: &Entry) -> io::Result<Self> {
        let from = folder.join(&entry.object);
        if entry.mode == "120000" { Ok(Self::Link(fs::read(from)?)) } else { Ok(Self::file(from, entry)) }
    }

    fn checked_out(from: &Path, entry: &Entry) -> io::Result<Self> {
        if fs::symlink_metadata(from)?.is_symlink() {
            return Ok(Self::Link(fs::read_link(from)?.into_os_string().as_bytes().to_vec()));
        }
        Ok(Self::file(from.to_owned(), entry))
    }

    fn file(from: PathBuf, entry: &Entry) -> Self {
        Self::File { from, executable: entry.mode == "100755" }
    }

    fn as_new(&self) -> New<'_> {
        match self {
            Self::File { from, executable } => New::File { from, executable: *executable },
            Self::Link(target) => New::Link(target),
        }
    }
}
