//! What going back will change, worked out before anything is touched.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::checkpoint::{Kept, KeptBecause, Rewind};
use hedgerow_core::{CommitSha, Environment, Kind, UserError};

use super::super::checkpoint::parse_flags;
use super::super::unfinished::ORIG_HEAD;
use super::{refs_in, shown};
use crate::explain::Trouble;
use crate::git::Repo;
use crate::git::checkpoints::Changes;
use crate::git::look::{Entry, Flags, TreePath};
use crate::git::rewinding::Cell;

/// Everything that will change.
pub(super) struct Plan {
    pub(super) head: Option<HeadPlan>,
    /// Files: what is there now, and what shall be.
    pub(super) files: Changes,
    pub(super) kept: Vec<Kept>,
    pub(super) cells: BTreeMap<TreePath, Cell>,
    /// Marks of entries as they shall be.
    pub(super) flags: BTreeMap<TreePath, Flags>,
    /// Files of an operation in progress.
    pub(super) admin: BTreeMap<TreePath, Option<Entry>>,
    /// The worktree's own refs: now, and then.
    pub(super) refs: Option<OwnRefs>,
    /// The name of no object.
    pub(super) zero: String,
}

/// What git has in progress is neither as it was nor as it was left.
struct Moved;

/// Now, and then.
type OwnRefs = (BTreeMap<String, CommitSha>, BTreeMap<String, CommitSha>);

/// How HEAD goes back.
#[derive(Debug)]
pub(super) struct HeadPlan {
    pub(super) from: Option<CommitSha>,
    pub(super) to: CommitSha,
    /// The branch it shall be on, and where that is now.
    pub(super) on: Option<String>,
    pub(super) tip: Option<CommitSha>,
    /// Whether HEAD has to be put on the branch.
    pub(super) attach: bool,
}

/// Where HEAD was, and the branches that mattered.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    commit: Option<CommitSha>,
    on: Option<String>,
    tips: BTreeMap<String, CommitSha>,
}

impl Head {
    fn is_where(&self, other: &Self) -> bool {
        (&self.commit, &self.on) == (&other.commit, &other.on)
    }
}

/// The three states, and how they differ.
struct Three<'a> {
    repo: &'a Repo,
    rewind: &'a Rewind,
    back: Changes,
    since: BTreeSet<TreePath>,
    apart: BTreeSet<TreePath>,
    /// Of `from`, `to` and `now`.
    heads: [Vec<u8>; 3],
    flags: [Vec<u8>; 3],
    refs: [Vec<u8>; 3],
}

/// What is to be done at a path that differs between `from` and `to`.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    GoBack,
    /// It is as it was then.
    Done,
    /// Someone changed it since.
    Changed,
}

pub(super) fn commits_since(environment: &Environment) -> UserError {
    let message = format!("commits were made in `{}` since, or another branch was checked out", environment.name());
    UserError::new(Kind::Protected, message)
        .hint("nothing was changed; to go back all the same, choose a checkpoint: `hedgerow env undo --to <number>`")
        .hint("`hedgerow env checkpoints` lists them")
}

impl Plan {
    /// The inner error is a refusal.
    pub(super) async fn make(
        repo: &Repo,
        environment: &Environment,
        rewind: &Rewind,
    ) -> Result<Result<Self, UserError>, Trouble> {
        let Rewind { from, to, now } = rewind;
        let state = |commit: &CommitSha| format!("{commit}:state");
        let back = repo.changes(&state(from), &state(to)).await?;
        let since = repo.changes(&state(from), &state(now)).await?.into_keys().collect();
        let apart = repo.changes(&state(to), &state(now)).await?.into_keys().collect();
        let names: Vec<String> = ["head", "flags", "refs"]
            .iter()
            .flat_map(|name| [from, to, now].map(|commit| format!("{commit}:state/{name}")))
            .collect();
        let mut texts = repo.texts(&names).await?.into_iter();
        let mut three_of = || [(); 3].map(|()| texts.next().unwrap_or_default());
        let (heads, flags, refs) = (three_of(), three_of(), three_of());
        let three = Three { repo, rewind, back, since, apart, heads, flags, refs };
        let head = match three.head(environment).await? {
            Ok(head) => head,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let (Ok(admin), Ok(refs)) = (three.admin(), three.own_refs()) else {
            return Ok(Err(operation_since(environment)));
        };
        let (files, kept) = three.files();
        let (cells, flags) = three.index().await?;
        let zero = "0".repeat(to.as_str().len());
        Ok(Ok(Self { head, files, kept, cells, flags, admin, refs, zero }))
    }
}

impl Three<'_> {
    fn verdict(&self, names: &[TreePath]) -> Verdict {
        if !names.iter().any(|name| self.apart.contains(name)) {
            Verdict::Done
        } else if names.iter().any(|name| self.since.contains(name)) {
            Verdict::Changed
        } else {
            Verdict::GoBack
        }
    }

    fn files(&self) -> (Changes, Vec<Kept>) {
        let (mut files, mut kept) = (Changes::new(), Vec::new());
        for (name, (from, to)) in &self.back {
            let Some(path) = name.strip_prefix(b"files/") else { continue };
            let is_link = [from, to].into_iter().flatten().any(Entry::is_link);
            match self.verdict(std::slice::from_ref(name)) {
                Verdict::Done => {}
                _ if is_link => kept.push(Kept { path: shown(path), because: KeptBecause::Repository }),
                Verdict::Changed => kept.push(Kept { path: shown(path), because: KeptBecause::Changed }),
                Verdict::GoBack => drop(files.insert(path.to_vec(), (from.clone(), to.clone()))),
            }
        }
        (files, kept)
    }

    /// The index, path by path. A path with a conflict has up to three entries, which change together.
    async fn index(&self) -> Result<(BTreeMap<TreePath, Cell>, BTreeMap<TreePath, Flags>), Trouble> {
        let [from, to, now] = self.flags.each_ref().map(|text| parse_flags(text));
        let none = Flags::default();
        let marks = |all: &BTreeMap<TreePath, Flags>, path: &TreePath| all.get(path).copied().unwrap_or(none);
        let intent = |all: &BTreeMap<TreePath, Flags>, path: &TreePath| marks(all, path).intent_to_add;
        let mut paths: BTreeSet<TreePath> = self.back.keys().filter_map(|name| index_path(name)).collect();
        let flagged: BTreeSet<&TreePath> = from.keys().chain(to.keys()).collect();
        paths
            .extend(flagged.iter().filter(|path| intent(&from, path) != intent(&to, path)).map(|path| (*path).clone()));
        let stages = self.repo.files_below(&self.rewind.to, "state/stages/").await?;
        let (mut cells, mut flags) = (BTreeMap::new(), BTreeMap::new());
        for path in paths {
            let names = index_names(&path);
            let same_intent = intent(&now, &path) == intent(&to, &path);
            match self.verdict(&names) {
                Verdict::Done if same_intent => continue,
                Verdict::Changed => continue,
                _ => {}
            }
            let of_stage =
                |stage: usize| stages.get(names[stage].strip_prefix(b"stages/").unwrap_or_default()).cloned();
            let conflict = [of_stage(1), of_stage(2), of_stage(3)];
            let cell = match self.back.get(&names[0]) {
                _ if conflict.iter().any(Option::is_some) => Cell::Conflict(conflict),
                Some((_, Some(entry))) => Cell::Entry(entry.clone()),
                _ => Cell::Nothing,
            };
            // An entry that is made anew has lost its marks.
            if to.contains_key(&path) {
                flags.insert(path.clone(), marks(&to, &path));
            }
            cells.insert(path, cell);
        }
        for path in flagged {
            if marks(&from, path) != marks(&to, path) && marks(&now, path) == marks(&from, path) {
                flags.insert(path.clone(), marks(&to, path));
            }
        }
        Ok((cells, flags))
    }

    /// Files of an operation in progress, where they go back.
    fn admin(&self) -> Result<BTreeMap<TreePath, Option<Entry>>, Moved> {
        let mut admin = BTreeMap::new();
        for (name, (_, to)) in &self.back {
            let Some(path) = name.strip_prefix(b"admin/") else { continue };
            match self.verdict(std::slice::from_ref(name)) {
                Verdict::Done => {}
                Verdict::GoBack => drop(admin.insert(path.to_vec(), to.clone())),
                Verdict::Changed if path == ORIG_HEAD.as_bytes() => {}
                Verdict::Changed => return Err(Moved),
            }
        }
        Ok(admin)
    }

    /// The worktree's own refs, where they go back. The error says that they have moved since.
    fn own_refs(&self) -> Result<Option<OwnRefs>, Moved> {
        let name = b"refs".to_vec();
        let is_changed = self.back.contains_key(&name);
        match self.verdict(&[name]) {
            Verdict::GoBack if is_changed => {
                let [_, to, now] = &self.refs;
                Ok(Some((refs_in(now), refs_in(to))))
            }
            Verdict::Changed if is_changed => Err(Moved),
            _ => Ok(None),
        }
    }

    async fn head(&self, environment: &Environment) -> Result<Result<Option<HeadPlan>, UserError>, Trouble> {
        let [from, to, now] = self.heads.each_ref().map(|text| parse_head(text));
        if now.is_where(&to) {
            return Ok(Ok(None));
        }
        if !now.is_where(&from) {
            return Ok(Err(commits_since(environment)));
        }
        let Some(commit) = to.commit else {
            let error = UserError::new(Kind::Protected, "there was no commit yet at that checkpoint");
            return Ok(Err(error.hint("nothing was changed; choose a later one with `--to <number>`")));
        };
        let plan =
            |tip, attach| HeadPlan { from: now.commit.clone(), to: commit.clone(), on: to.on.clone(), tip, attach };
        let Some(branch) = &to.on else { return Ok(Ok(Some(plan(None, false)))) };
        if now.on.as_ref() == Some(branch) {
            return Ok(Ok(Some(plan(now.commit.clone(), false))));
        }
        let moved = |why: &str| UserError::new(Kind::Protected, why).hint("nothing was changed");
        let name = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        let listed = self.repo.worktrees().await?;
        let holder = listed.iter().find(|one| one.branch.as_ref().is_some_and(|held| held.full_ref() == *branch));
        if let Some(holder) = holder.filter(|holder| holder.path != environment.path) {
            return Ok(Err(moved(&format!("`{name}` is checked out in {} by now", holder.path.display()))));
        }
        let tip = self.repo.refs(std::slice::from_ref(branch)).await?.remove(branch);
        if tip.as_ref().is_some_and(|tip| *tip != commit && from.tips.get(branch) != Some(tip)) {
            return Ok(Err(moved(&format!("the branch `{name}` has moved since"))));
        }
        Ok(Ok(Some(plan(tip, true))))
    }
}

fn operation_since(environment: &Environment) -> UserError {
    let message = format!("a rebase, merge or the like has gone on in `{}` since", environment.name());
    UserError::new(Kind::Protected, message)
        .hint("nothing was changed; finish it, or choose a checkpoint: `hedgerow env undo --to <number>`")
}

fn parse_head(text: &[u8]) -> Head {
    let mut parts = text.splitn(3, |byte| *byte == b'\n');
    let mut line = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let commit = CommitSha::parse(&line()).ok();
    let on = Some(line()).filter(|name| name != "-" && !name.is_empty());
    Head { commit, on, tips: refs_in(parts.next().unwrap_or_default()) }
}

/// All names of a path of the index in a checkpoint's state: the entry, and the stages of a conflict.
fn index_names(path: &[u8]) -> [TreePath; 4] {
    ["index/", "stages/1/", "stages/2/", "stages/3/"].map(|prefix| [prefix.as_bytes(), path].concat())
}

fn index_path(name: &[u8]) -> Option<TreePath> {
    let prefixes = ["index/", "stages/1/", "stages/2/", "stages/3/"];
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_bytes())).map(<[u8]>::to_vec)
}
