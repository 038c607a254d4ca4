//! Patches as fingerprints, many from one process.
//!
//! The rule is that of `git patch-id --verbatim`: line numbers do not count, everything else does, white space
//! included. We hash git's patch text ourselves, because `patch-id` names its results by commit and so cannot tell a
//! commit's patch from its inverse, and because one `diff-tree` for both sides of a comparison makes every setting that
//! shapes a patch the same for both.

use std::fmt::Write as _;

use hedgerow_core::CommitSha;
use sha2::{Digest as _, Sha256};

use super::super::refs::unexpected;
use super::{GitResult, Repo};

pub(crate) type Digest = [u8; 32];

/// From the files of one commit to those of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) from: CommitSha,
    pub(crate) to: CommitSha,
}

impl Change {
    pub(crate) fn back(&self) -> Self {
        Self { from: self.to.clone(), to: self.from.clone() }
    }
}

/// Which paths a change touches, and their modes; `None` when it touches nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) forth: Option<Digest>,
    /// The outline of the inverse.
    pub(crate) back: Option<Digest>,
}

/// A change's content; `None` when there is none, so that two empty changes are never equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    /// With three lines of context.
    pub(crate) exact: Option<Digest>,
    /// Added and removed lines alone: what a revert restores even when its surroundings have changed.
    pub(crate) lines: Option<Digest>,
}

/// `--ignore-submodules=none` because a repository's own `submodule.*.ignore` would hide a moved submodule.
const ARGS: [&str; 8] = [
    "diff-tree",
    "--stdin",
    "--no-commit-id",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
    "--ignore-submodules=none",
];

impl Repo {
    /// The outlines of these changes: quick, no file is read.
    pub(crate) async fn outlines(&self, changes: &[Change]) -> GitResult<Vec<Outline>> {
        let call = self.call().args(ARGS).args(["-r", "--raw", "-z", "--no-abbrev"]);
        read_outlines(&call.stdin(questions(changes)).read().await?, changes.len())
    }

    /// The content of these changes.
    pub(crate) async fn patches(&self, changes: &[Change]) -> GitResult<Vec<Patch>> {
        let call =
            self.call().config("diff.suppressBlankEmpty", "false").args(ARGS).args(["-p", "-U3", "--full-index"]);
        read_patches(&call.stdin(questions(changes)).read().await?, changes.len())
    }
}

/// A commit with the other as its only parent, whatever its real ones are. A line that names no object is echoed: the
/// number tells where a change's answer begins, which is not there at all when the change is empty.
fn questions(changes: &[Change]) -> String {
    let mut text = String::new();
    for (nth, Change { from, to }) in changes.iter().enumerate() {
        writeln!(text, "#{nth}\n{to} {from}").expect("writing to a string cannot fail");
    }
    text
}

fn read_outlines(out: &[u8], count: usize) -> GitResult<Vec<Outline>> {
    let mut outlines = vec![Outline::default(); count];
    let mut hashes: Option<(Sha256, Sha256)> = None;
    let mut current = None;
    let mut rest = out;
    while let Some(first) = rest.first() {
        let is_mark = *first == b'#';
        let (field, after) = split(rest, if is_mark { b'\n' } else { 0 });
        rest = after;
        if is_mark {
            close(&mut outlines, current, hashes.take());
            current = Some(mark(field, count)?);
            continue;
        }
        let (path, after) = split(rest, 0);
        rest = after;
        let text = String::from_utf8_lossy(field);
        let mut modes = text.trim_start_matches(':').split(' ');
        let (Some(old), Some(new), true) = (modes.next(), modes.next(), text.starts_with(':')) else {
            return Err(unexpected("diff-tree", &text));
        };
        let (forth, back) = hashes.get_or_insert_default();
        for (hash, modes) in [(forth, [old, new]), (back, [new, old])] {
            hash.update(modes.join(" "));
            hash.update(b"\0");
            hash.update(path);
            hash.update(b"\0");
        }
    }
    close(&mut outlines, current, hashes);
    Ok(outlines)
}

fn close(outlines: &mut [Outline], current: Option<usize>, hashes: Option<(Sha256, Sha256)>) {
    if let (Some(nth), Some((forth, back))) = (current, hashes) {
        outlines[nth] = Outline { forth: Some(forth.finalize().into()), back: Some(back.finalize().into()) };
    }
}

/// A patch being read. Content lines begin with a space, `+`, `-` or `\`, so no header can be mistaken for content.
#[derive(Default)]
struct Reading<'a> {
    exact: Sha256,
    lines: Sha256,
    /// Blob names; they count only where git shows no content.
    index: &'a [u8],
    after_change: bool,
    is_empty: bool,
}

impl<'a> Reading<'a> {
    fn new() -> Self {
        Self { is_empty: true, ..Self::default() }
    }

    fn line(&mut self, line: &'a [u8]) {
        self.is_empty = false;
        if line.starts_with(b"@@ ") {
            self.exact.update(b"@@\n");
            return;
        }
        if line.starts_with(b"index ") {
            self.index = line;
            return;
        }
        if line.starts_with(b"Binary files ") {
            self.exact.update(self.index);
            self.lines.update(self.index);
        }
        self.exact.update(line);
        // "No newline at end of file" belongs to the line before it.
        let is_context = line.starts_with(b" ") || (line.starts_with(b"\\") && !self.after_change);
        if !is_context {
            self.lines.update(line);
        }
        self.after_change = !is_context;
    }

    fn end(self) -> Patch {
        if self.is_empty {
            return Patch::default();
        }
        Patch { exact: Some(self.exact.finalize().into()), lines: Some(self.lines.finalize().into()) }
    }
}

fn read_patches(out: &[u8], count: usize) -> GitResult<Vec<Patch>> {
    let mut patches = vec![Patch::default(); count];
    let mut current: Option<(usize, Reading<'_>)> = None;
    for line in out.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"#") {
            let next = mark(line.trim_ascii_end(), count)?;
            if let Some((nth, reading)) = current.replace((next, Reading::new())) {
                patches[nth] = reading.end();
            }
        } else if let Some((_, reading)) = &mut current {
            reading.line(line);
        } else {
            return Err(unexpected("diff-tree", &String::from_utf8_lossy(line)));
        }
    }
    if let Some((nth, reading)) = current {
        patches[nth] = reading.end();
    }
    Ok(patches)
}

/// `#12` is the twelfth change.
fn mark(line: &[u8], count: usize) -> GitResult<usize> {
    let text = String::from_utf8_lossy(line);
    let nth = text.strip_prefix('#').and_then(|number| number.parse().ok()).filter(|nth| *nth < count);
    nth.ok_or_else(|| unexpected("diff-tree", &text))
}

fn split(bytes: &[u8], end: u8) -> (&[u8], &[u8]) {
    let at = bytes.iter().position(|byte| *byte == end);
    at.map_or((bytes, &[]), |at| (&bytes[..at], &bytes[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(text: &str) -> Patch {
        read_patches(format!("#0\n{text}").as_bytes(), 1).expect("reads").remove(0)
    }

    #[test]
    fn line_numbers_and_blob_names_do_not_count_but_white_space_does() {
        let text = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@ fn x\n a\n+b\n c\n";
        let moved = text.replace("-1,2 +1,3 @@ fn x", "-7,2 +9,3 @@").replace("1..2", "3..4");
        assert_eq!(patch(text), patch(&moved));
        assert_ne!(patch(text).exact, patch(&text.replace("+b", "+ b")).exact);
        let elsewhere = patch(&text.replace("\n c\n", "\n d\n"));
        assert_ne!(patch(text).exact, elsewhere.exact);
        assert_eq!(patch(text).lines, elsewhere.lines);
    }

    #[test]
    fn two_binary_changes_differ_by_their_blobs() {
        let text = "diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n";
        assert_eq!(patch(text), patch(text));
        assert_ne!(patch(text).exact, patch(&text.replace("1..2", "1..3")).exact);
        assert_ne!(patch(text).lines, patch(&text.replace("1..2", "1..3")).lines);
    }

    #[test]
    fn empty_changes_have_no_fingerprint() {
        let patches =
            read_patches(b"#0\n#1\ndiff --git a/f b/f\nold mode 100644\nnew mode 100755\n#2\n", 3).expect("reads");
        assert_eq!((patches[0].exact, patches[2].exact), (None, None));
        assert!(patches[1].exact.is_some());
        assert!(read_patches(b"#3\n", 3).is_err());
    }

    #[test]
    fn an_outline_knows_its_inverse() {
        let out = b"#0\n:000000 100644 0 1 A\0new\nname\0#1\n#2\n:100644 000000 1 0 D\0new\nname\0";
        let outlines = read_outlines(out, 3).expect("reads");
        assert_eq!(outlines[0].forth, outlines[2].back);
        assert_ne!(outlines[0].forth, outlines[2].forth);
        assert_eq!(outlines[1], Outline::default());
    }
}
