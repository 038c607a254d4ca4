//! Packs: objects that must outlive their repository, and the way back.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use hedgerow_core::CommitSha;
use hedgerow_core::provider::NoProgress;

use super::merge::Scratch;
use super::refs::unexpected;
use super::{GitError, GitResult, Repo};

/// What is reachable from some commits, and not from what stays anyway.
#[derive(Debug, Default)]
pub struct Reach {
    /// Objects that only they have.
    pub objects: BTreeSet<String>,
    /// Commits of what stays that the others build on.
    pub needs: BTreeSet<CommitSha>,
}

/// Instead of a kind, when a name is nobody's or several objects'.
const NOT_THERE: [&str; 2] = ["missing", "ambiguous"];

impl Repo {
    /// Of these names, the objects that there are, each with its kind. A name may be the beginning of one, as long as it
    /// is the beginning of only one.
    pub async fn kinds(&self, names: &BTreeSet<String>) -> GitResult<Vec<(String, String)>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let asked = names.iter().fold(String::new(), |text, name| text + name + "\n");
        let call = self.call().args(["cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer"]);
        let out = call.stdin(asked).read().await?;
        let text = String::from_utf8_lossy(&out);
        let there = text.lines().filter_map(|line| line.split_once(' ')).filter(|(_, kind)| !NOT_THERE.contains(kind));
        Ok(there.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect())
    }

    /// What `tips` reach beyond every remote-tracking ref or, without any, beyond `otherwise`.
    pub async fn reach(&self, tips: &BTreeSet<String>, otherwise: Option<&CommitSha>) -> GitResult<Reach> {
        if tips.is_empty() {
            return Ok(Reach::default());
        }
        let remotes = self.call().args(["for-each-ref", "--count=1", "--format=%(objectname)", "refs/remotes/"]);
        let has_remotes = !remotes.read().await?.is_empty();
        let base = otherwise.filter(|_| !has_remotes).map(|base| format!("^{base}\n"));
        let asked = tips.iter().fold(base.unwrap_or_default(), |text, tip| text + tip + "\n");
        let mut call = self.call().args(["rev-list", "--objects", "--boundary"]);
        if self.is_partial() {
            call = call.arg("--exclude-promisor-objects");
        }
        // What comes by standard input first: `--not` must not turn it around.
        call = call.arg("--stdin");
        if has_remotes {
            call = call.args(["--not", "--remotes"]);
        }
        let mut reach = Reach::default();
        let mut rest = Vec::new();
        let mut damaged = None;
        let each = |piece: &[u8]| {
            rest.extend(piece);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                match read(&line) {
                    Some((true, commit)) => drop(reach.needs.insert(commit)),
                    Some((false, object)) => drop(reach.objects.insert(object.to_string())),
                    None => damaged = Some(String::from_utf8_lossy(&line).into_owned()),
                }
            }
            Ok(())
        };
        call.stdin(asked).pieces(each).await?;
        damaged.map_or(Ok(reach), |line| Err(unexpected("rev-list", &line)))
    }

    /// Writes these objects as one pack that needs no other, with its index beside it. The answer is the hash in
    /// `<stem>-<hash>.pack`.
    pub async fn write_pack(&self, objects: &BTreeSet<String>, stem: &Path) -> GitResult<String> {
        let asked = objects.iter().fold(String::new(), |text, name| text + name + "\n");
        // One pack, whatever the settings say; its progress is the sign of life that a large one needs.
        // By one thread: the same objects then make the same pack.
        let call = self.call().config("pack.packSizeLimit", "0").config("pack.threads", "1");
        let mut call = call.args(["pack-objects", "--progress", "--delta-base-offset", "--window=4"]);
        if self.is_partial() {
            call = call.arg("--missing=allow-promisor");
        }
        let out = call.arg(stem).stdin(asked).long(&NoProgress).await?;
        let hash = String::from_utf8_lossy(&out).trim_end().to_owned();
        if CommitSha::parse(&hash).is_ok() { Ok(hash) } else { Err(unexpected("pack-objects", &hash)) }
    }

    /// Reads a pack through: every object in it is whole. The answer is how many there are.
    pub async fn verify_pack(&self, pack: &Path) -> GitResult<u64> {
        let scratch = Scratch::new()?;
        let index = scratch.path().join("checked.idx");
        let call = self.call().args(["index-pack", "-v", "-o"]).arg(&index).arg(pack);
        call.long(&NoProgress).await?;
        let bytes = std::fs::read(&index).map_err(GitError::io("reading the index of a pack"))?;
        // `\\377tOc`, a version, and 256 counts, the last of which is of all.
        let count = bytes.get(8 + 255 * 4..8 + 256 * 4).and_then(|last| <[u8; 4]>::try_from(last).ok());
        count.map(|last| u64::from(u32::from_be_bytes(last))).ok_or_else(|| unexpected("index-pack", "no counts"))
    }

    /// Adds the objects of a pack to the repository.
    pub async fn import_pack(&self, pack: &Path) -> GitResult<()> {
        let file = File::open(pack).map_err(GitError::io("opening a saved pack"))?;
        self.call().args(["index-pack", "-v", "--stdin"]).stdin_file(file).long(&NoProgress).await.map(drop)
    }

    /// Whether objects may be missing here because a remote keeps them.
    fn is_partial(&self) -> bool {
        let promises = |key: &str| key == "extensions.partialclone" || key.ends_with(".promisor");
        self.config().entries().iter().any(|entry| promises(&entry.key))
    }
}

/// A line of `rev-list --objects --boundary`: whether it is on the boundary, and its name. A path may follow.
fn read(line: &[u8]) -> Option<(bool, CommitSha)> {
    let name = line.split(|byte| matches!(byte, b' ' | b'\n')).next()?;
    let name = std::str::from_utf8(name).ok()?;
    let boundary = name.strip_prefix('-');
    Some((boundary.is_some(), CommitSha::parse(boundary.unwrap_or(name)).ok()?))
}
