//! Checkpoints as git has them: one ref each, their commits' messages and trees.
//!
//! The tree of such a commit holds `state/` (all that makes two states equal or different), `raw/` (once more those files
//! whose bytes git did not convert) and `stamps` (when these files were last touched).

use std::collections::BTreeMap;

use hedgerow_core::checkpoint::{Checkpoint, Mark, Marked};
use hedgerow_core::{CommitSha, EnvironmentId, Timestamp};

use super::look::{Entry, TreePath};
use super::refs::unexpected;
use super::{GitResult, Repo};

/// A change between two trees: what the first has at a path, and the second.
pub type Changes = BTreeMap<TreePath, (Option<Entry>, Option<Entry>)>;

/// Below it are the checkpoints of an environment.
pub fn checkpoints_of(id: EnvironmentId) -> String {
    format!("refs/hedgerow/checkpoints/{id}/")
}

/// The ref of a checkpoint.
pub fn checkpoint_ref(id: EnvironmentId, number: u64) -> String {
    format!("{}{number}", checkpoints_of(id))
}

/// The message of a checkpoint's commit: all that is known of it besides its state.
pub fn message(label: Option<&str>, mark: Mark) -> String {
    let mark = match mark {
        Mark::Plain => String::new(),
        Mark::Before { from, to } => format!("before {from} {to}\n"),
        Mark::After { at } => format!("after {at}\n"),
    };
    let label = label.map(|label| format!("label {}\n", label.replace(['\n', '\r', '\0'], " ")));
    format!("hedgerow checkpoint\n\n{mark}{}", label.unwrap_or_default())
}

fn parse_message(text: &str) -> (Option<String>, Mark) {
    let (mut label, mut mark) = (None, Mark::Plain);
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers: Vec<u64> = rest.split(' ').filter_map(|number| number.parse().ok()).collect();
        match (word, numbers.as_slice()) {
            ("label", _) => label = Some(rest.to_owned()),
            ("before", [from, to]) => mark = Mark::Before { from: *from, to: *to },
            ("after", [at]) => mark = Mark::After { at: *at },
            _ => {}
        }
    }
    (label, mark)
}

impl Repo {
    /// The checkpoints of an environment, oldest first.
    pub async fn checkpoints(&self, id: EnvironmentId) -> GitResult<Vec<Marked>> {
        let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00";
        let out = self.call().args(["for-each-ref", format, &checkpoints_of(id)]).read().await?;
        let text = String::from_utf8_lossy(&out);
        let fields: Vec<&str> = text.split('\0').collect();
        let mut found = Vec::new();
        for record in fields.chunks_exact(4) {
            let bad = || unexpected("for-each-ref", &record.join(" "));
            // A ref of another shape is not ours.
            let Some(number) = record[0].trim_start().strip_prefix(&checkpoints_of(id)).and_then(|n| n.parse().ok())
            else {
                continue;
            };
            let commit = CommitSha::parse(record[1]).map_err(|_| bad())?;
            let made_at = Timestamp::from_millis(record[2].parse::<i64>().map_err(|_| bad())?.saturating_mul(1000));
            let (label, mark) = parse_message(record[3]);
            found.push(Marked {
                checkpoint: Checkpoint { number, commit, made_at, label },
                mark,
                state: String::new(),
            });
        }
        found.sort_by_key(|marked| marked.checkpoint.number);
        let states = self.states(found.iter().map(|marked| &marked.checkpoint.commit)).await?;
        for (marked, state) in found.iter_mut().zip(states) {
            marked.state = state;
        }
        Ok(found)
    }

    /// The tree of each checkpoint's state.
    pub async fn states(&self, of: impl Iterator<Item = &CommitSha>) -> GitResult<Vec<String>> {
        let trees: Vec<String> = of.map(|commit| format!("{commit}:state")).collect();
        if trees.is_empty() {
            return Ok(Vec::new());
        }
        let out = self.call().args(["rev-parse", "--end-of-options"]).args(&trees).read().await?;
        let text = String::from_utf8_lossy(&out);
        let states: Vec<String> = text.lines().filter(|line| !line.starts_with("--")).map(str::to_owned).collect();
        if states.len() == trees.len() { Ok(states) } else { Err(unexpected("rev-parse", &text)) }
    }

    /// Lets go of some checkpoints; without numbers, of all.
    pub async fn forget_checkpoints(&self, id: EnvironmentId, numbers: Option<&[u64]>) -> GitResult<()> {
        match numbers {
            None => self.let_go_of_objects(&checkpoints_of(id)).await,
            Some(numbers) => {
                let refs = numbers.iter().map(|number| format!("delete {}\n", checkpoint_ref(id, *number)));
                self.update_refs(refs.collect()).await
            }
        }
    }

    /// All checkpoints of one environment become another's, in one step.
    pub async fn move_checkpoints(&self, from: EnvironmentId, to: EnvironmentId) -> GitResult<()> {
        let moves = self.checkpoints(from).await?.into_iter().map(|marked| {
            let Checkpoint { number, commit, .. } = marked.checkpoint;
            let (old, new) = (checkpoint_ref(from, number), checkpoint_ref(to, number));
            format!("create {new} {commit}\ndelete {old} {commit}\n")
        });
        self.update_refs(moves.collect()).await
    }

    /// What differs between two trees, named as revisions.
    pub async fn changes(&self, one: &str, other: &str) -> GitResult<Changes> {
        let mut changes = Changes::new();
        let (mut meta, mut bad) = (None::<String>, false);
        let each = |record: &[u8]| match meta.take() {
            None => meta = Some(String::from_utf8_lossy(record).into_owned()),
            Some(line) => {
                let fields: Vec<&str> = line.trim_start_matches(':').split(' ').collect();
                if let [mode, new_mode, object, new_object, _] = fields[..] {
                    changes.insert(record.to_vec(), (Entry::new(mode, object), Entry::new(new_mode, new_object)));
                } else {
                    bad = true;
                }
            }
        };
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", one, other];
        self.call().args(args).records(each).await?;
        if bad { Err(unexpected("diff-tree", "a record of another shape")) } else { Ok(changes) }
    }

    /// Every file of a commit below a folder, such as `raw/`, named from there.
    pub async fn files_below(&self, commit: &CommitSha, folder: &str) -> GitResult<BTreeMap<TreePath, Entry>> {
        let mut files = BTreeMap::new();
        let each = |record: &[u8]| {
            let Some(tab) = record.iter().position(|byte| *byte == b'\t') else { return };
            let line = String::from_utf8_lossy(&record[..tab]);
            if let [mode, _, object] = line.split(' ').collect::<Vec<_>>()[..]
                && let Some(entry) = Entry::new(mode, object)
                && let Some(path) = record[tab + 1..].strip_prefix(folder.as_bytes())
            {
                files.insert(path.to_vec(), entry);
            }
        };
        let args = ["ls-tree", "-r", "-z", "--full-tree", commit.as_str(), folder];
        self.call().args(args).records(each).await?;
        Ok(files)
    }

    /// The contents of small blobs, named as revisions without spaces; empty where there is none.
    pub async fn texts(&self, names: &[String]) -> GitResult<Vec<Vec<u8>>> {
        let asked = names.iter().fold(String::new(), |text, name| text + name + "\n");
        let out = self.call().args(["cat-file", "--batch=%(objecttype) %(objectsize)"]).stdin(asked).read().await?;
        let (mut rest, mut texts) = (out.as_slice(), Vec::new());
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let header = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            let length = header.strip_prefix("blob ").and_then(|length| length.parse::<usize>().ok());
            match length {
                None if header.ends_with(" missing") => texts.push(Vec::new()),
                Some(length) if length < rest.len() => {
                    texts.push(rest[..length].to_vec());
                    rest = &rest[length + 1..];
                }
                _ => return Err(unexpected("cat-file", &header)),
            }
        }
        if texts.len() == names.len() { Ok(texts) } else { Err(unexpected("cat-file", "another number of texts")) }
    }

    /// The tree of a commit.
    pub async fn tree_of(&self, commit: &CommitSha) -> GitResult<String> {
        let tree = format!("{commit}^{{tree}}");
        let out = self.call().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &tree]).read().await?;
        Ok(String::from_utf8_lossy(&out).trim().to_owned())
    }

    /// Which of these names are commits that the repository has.
    pub async fn commits_among(&self, names: impl IntoIterator<Item = CommitSha>) -> GitResult<Vec<CommitSha>> {
        let asked = names.into_iter().fold(String::new(), |text, name| text + name.as_str() + "\n");
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let call = self.call().args(["cat-file", "--batch-check=%(objecttype) %(objectname)"]);
        let out = call.stdin(asked).read().await?;
        let text = String::from_utf8_lossy(&out);
        Ok(text.lines().filter_map(|line| CommitSha::parse(line.strip_prefix("commit ")?).ok()).collect())
    }

    /// Where these refs are, and all refs below these folders; those that exist.
    pub async fn refs(&self, patterns: &[String]) -> GitResult<BTreeMap<String, CommitSha>> {
        let call = self.call().args(["for-each-ref", "--format=%(objectname) %(refname)"]).args(patterns);
        let out = call.read().await?;
        let text = String::from_utf8_lossy(&out);
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs.filter_map(|(sha, name)| Some((name.to_owned(), CommitSha::parse(sha).ok()?))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_label_and_mark() {
        for mark in [Mark::Plain, Mark::Before { from: 7, to: 3 }, Mark::After { at: 3 }] {
            assert_eq!(parse_message(&message(Some("turn\n7"), mark)), (Some("turn 7".to_owned()), mark));
            assert_eq!(parse_message(&message(None, mark)), (None, mark));
        }
    }
}
