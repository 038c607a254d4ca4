//! Branch names that git accepts, and the folder names made from them.

use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

/// A branch name: what `git check-ref-format --branch` accepts, in UTF-8, never starting with `-`.
///
/// git itself accepts names such as `` x$(id) `` or `a|b`; so do we, because names are only ever passed as whole
/// arguments, never through a shell.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BranchName(String);

/// Longer names do not fit a loose ref below a repository's folder.
const MAX_BYTES: usize = 1024;
/// A component becomes a file name, with `.lock` added while git writes it.
const MAX_COMPONENT_BYTES: usize = 250;

impl BranchName {
    pub fn parse(text: &str) -> Result<Self, BadBranchName> {
        let bad = |why| Err(BadBranchName { name: text.to_owned(), why });
        if text.is_empty() {
            return bad("it is empty");
        }
        if text.len() > MAX_BYTES || text.split('/').any(|part| part.len() > MAX_COMPONENT_BYTES) {
            return bad("it is too long");
        }
        if text.starts_with('-') {
            return bad("it begins with `-`");
        }
        if text == "HEAD" || text == "@" {
            return bad("git keeps that name for itself");
        }
        if text.chars().any(|c| c.is_control() || " ~^:?*[\\".contains(c)) {
            return bad("it contains a space, a control character, or one of ~ ^ : ? * [ \\");
        }
        if text.contains("..") || text.contains("@{") || text.ends_with('.') {
            return bad("it contains `..` or `@{`, or ends with `.`");
        }
        #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "git refuses the lower-case ending only")]
        let component_is_bad = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
        if text.split('/').any(component_is_bad) {
            return bad("a part of it is empty, begins with `.` or ends with `.lock`");
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `refs/heads/…`
    pub fn full_ref(&self) -> String {
        format!("refs/heads/{}", self.0)
    }

    pub fn folder(&self) -> FolderName {
        FolderName::of(&self.0)
    }

    /// The name with `/` spelled `-`: how people often name the folder or branch of the same work.
    pub fn dashed(&self) -> String {
        self.0.replace('/', "-")
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl Serialize for BranchName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Text that git would not take as a branch name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be a branch name: {why}", name.escape_debug())]
pub struct BadBranchName {
    pub name: String,
    pub why: &'static str,
}

/// The name of an environment's folder: safe on every file system, readable, at most 200 bytes.
///
/// Two branches may get the same folder name; [`FolderName::with_hash`] tells the later one apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FolderName(String);

const MAX_FOLDER_BYTES: usize = 200;

impl FolderName {
    pub fn of(name: &str) -> Self {
        Self(guard(&tidy(&replace(name))))
    }

    /// A different folder for a branch whose plain folder name is taken: a short hash of the whole name is added.
    #[must_use]
    pub fn with_hash(&self, of: &str) -> Self {
        let hash = short_hash(of, 8);
        let kept = cut(&self.0, MAX_FOLDER_BYTES - hash.len() - 1);
        Self(guard(&format!("{}-{hash}", trim(kept))))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a file system without regard to case would take both for one.
    pub fn same_place_as(&self, other: &str) -> bool {
        self.0.to_lowercase() == other.to_lowercase()
    }
}

impl fmt::Display for FolderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The first `digits` hexadecimal digits of the SHA-256 of `text`.
pub fn short_hash(text: &str, digits: usize) -> String {
    use fmt::Write as _;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
    }
    hex.truncate(digits);
    hex
}

/// Characters no folder should have become `-`; a run of white space becomes one `_`.
fn replace(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut in_space = false;
    for c in name.chars() {
        if c.is_whitespace() {
            if !in_space {
                out.push('_');
            }
            in_space = true;
            continue;
        }
        in_space = false;
        out.push(if c.is_control() || "/\\:*?\"<>|#".contains(c) { '-' } else { c });
    }
    out
}

/// Runs of `-` become one, edges are trimmed, the length is bounded and the edges trimmed again.
fn tidy(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in trim(name).chars() {
        if c != '-' || !out.ends_with('-') {
            out.push(c);
        }
    }
    trim(cut(trim(&out), MAX_FOLDER_BYTES)).to_owned()
}

/// Dots and dashes go from both ends, however they are mixed there.
fn trim(name: &str) -> &str {
    name.trim_matches(['.', '-'])
}

/// At most `max` bytes, never in the middle of a character.
fn cut(name: &str, max: usize) -> &str {
    &name[..name.floor_char_boundary(max)]
}

/// Names that some system keeps for itself get a leading `_`.
fn guard(name: &str) -> String {
    if name.is_empty() {
        return "_branch".to_owned();
    }
    let stem = name.split('.').next().unwrap_or(name).to_ascii_uppercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            let mut digits = rest.chars();
            // Windows also takes the superscript digits one to three.
            matches!((digits.next(), digits.next()), (Some('1'..='9' | '¹' | '²' | '³'), None))
        })
    };
    let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT");
    if !device {
        return name.to_owned();
    }
    trim(cut(&format!("_{name}"), MAX_FOLDER_BYTES)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_follow_the_table() {
        let long = "é".repeat(150);
        let long_dots = format!("{}.-.-x", "a".repeat(198));
        let table: &[(&str, &str)] = &[
            ("feature/auth-login", "feature-auth-login"),
            ("fix: bug #123", "fix-_bug_-123"),
            ("user/john/task", "user-john-task"),
            ("CON", "_CON"),
            ("...test", "test"),
            ("con", "_con"),
            ("CON.txt", "_CON.txt"),
            ("nul.tar.gz", "_nul.tar.gz"),
            ("COM1", "_COM1"),
            ("com¹", "_com¹"),
            ("LPT9.log", "_LPT9.log"),
            ("COM0", "COM0"),
            ("COM10", "COM10"),
            ("CONSOLE", "CONSOLE"),
            ("con_", "con_"),
            ("con:", "_con"),
            ("aux/thing", "aux-thing"),
            ("", "_branch"),
            ("...", "_branch"),
            ("-.-", "_branch"),
            ("//", "_branch"),
            ("a//b", "a-b"),
            ("a--b", "a-b"),
            ("a\u{7}b\u{0}c", "a-b-c"),
            ("tab\t \tgap", "tab_gap"),
            ("foo.-", "foo"),
            (".-foo", "foo"),
            ("Größe", "Größe"),
            (&long, &"é".repeat(100)),
            (&long_dots, &"a".repeat(198)),
        ];
        for (name, expected) in table {
            assert_eq!(FolderName::of(name).as_str(), *expected, "{name:?}");
        }
    }

    #[test]
    fn a_hashed_folder_differs_and_still_fits() {
        let long = FolderName::of(&"x".repeat(300));
        let hashed = long.with_hash("x");
        assert!(hashed.as_str().len() <= 200 && hashed != long);
        assert_ne!(FolderName::of("a/b").with_hash("a/b"), FolderName::of("a-b").with_hash("a-b"));
        assert!(FolderName::of("Feature").same_place_as("feature"));
    }

    #[test]
    fn branch_names_are_what_git_accepts() {
        for good in ["issue-42", "feature/auth", "x$(id)", "a|b", "FETCH_HEAD", "Größe", "a@b", "refs/heads/a", "con"]
        {
            assert!(BranchName::parse(good).is_ok(), "{good}");
        }
        let long = "a".repeat(251);
        let bad = [
            "",
            "-x",
            "--upload-pack=id",
            "HEAD",
            "@",
            "a b",
            "a..b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[b",
            "a\\b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "a@{1}",
            "a\u{7f}",
            "a\nb",
            &long,
        ];
        for name in bad {
            assert!(BranchName::parse(name).is_err(), "{name:?}");
        }
    }
}
