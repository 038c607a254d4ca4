//! The environment that tokens are planted in.

use std::fs::{self, Permissions};
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::fact::Fact;
use super::operations::Operation;
use crate::git::{command, git};
use crate::repo::TestRepo;

/// Files that the environment's first commit has, for kinds that change a tracked file.
const TRACKED: [&str; 10] = [
    "staged",
    "only-on-disk",
    "unstaged",
    "assumed",
    "skipped",
    "deleted",
    "stashed",
    "conflicted",
    "private",
    "autostashed",
];

pub(super) struct Place {
    pub(super) repo: TestRepo,
    pub(super) path: PathBuf,
    pub(super) branch: String,
    seed: u64,
}

/// What planting one kind left to look for.
#[derive(Default)]
pub(super) struct Crop {
    pub(super) facts: Vec<Fact>,
    pub(super) operation: Option<Operation>,
}

impl From<Vec<Fact>> for Crop {
    fn from(facts: Vec<Fact>) -> Self {
        Self { facts, operation: None }
    }
}

impl Place {
    /// Commits what all kinds begin with: tracked files, names to ignore, attributes.
    pub(super) fn furnish(repo: &TestRepo, environment: &Path) -> Self {
        let place = Self {
            repo: repo.clone(),
            path: environment.to_owned(),
            branch: git(environment, &["symbolic-ref", "--short", "HEAD"]),
            seed: RandomState::new().hash_one("tokens"),
        };
        place.write(".gitignore", "*.secret\nscratch/\n");
        place.write(".gitattributes", "*.crlf text eol=crlf\n*.auto text=auto\n*.raw -text\n");
        for name in TRACKED {
            place.write(format!("tracked/{name}"), place.token(&format!("{name} at first")));
        }
        place.git(&["add", "--all"]);
        place.git(&["commit", "--quiet", "-m", "Furnish"]);
        place
    }

    /// A text that is nowhere else.
    pub(super) fn token(&self, what: &str) -> String {
        format!("token {:016x}: {what}\n", self.seed)
    }

    pub(super) fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    pub(super) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Writes a file, with permissions that do not depend on who runs this.
    pub(super) fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        self.write_as(name, content, 0o644);
    }

    pub(super) fn write_as(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>, mode: u32) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("its folder");
        fs::write(&path, content).expect("the file");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its permissions");
    }

    /// Writes a file that must be back just so.
    pub(super) fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Fact {
        self.file_as(name, content, 0o644)
    }

    pub(super) fn file_as(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>, mode: u32) -> Fact {
        self.write_as(&name, &content, mode);
        Fact::File { name: name.as_ref().to_owned(), bytes: content.as_ref().to_owned(), mode }
    }

    /// Commits one file on whatever HEAD is on; its name.
    pub(super) fn commit(&self, name: &str, content: &str, message: &str) -> String {
        self.write(name, content);
        self.git(&["add", "--", name]);
        self.git(&["commit", "--quiet", "-m", message]);
        self.head()
    }

    /// A commit on top of another that no ref, reflog or index ever names.
    pub(super) fn loose_commit(&self, parent: &str, name: &str, content: &str, message: &str) -> String {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        fs::write(scratch.path().join("content"), content).expect("a file");
        let aside = |args: &[&str]| {
            let output = command(&self.path).env("GIT_INDEX_FILE", scratch.path().join("index")).args(args).output();
            let output = output.expect("git can be started");
            assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
        };
        let file = scratch.path().join("content").to_string_lossy().into_owned();
        let blob = aside(&["hash-object", "-w", "--no-filters", "--", &file]);
        aside(&["read-tree", parent]);
        aside(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{name}")]);
        let tree = aside(&["write-tree"]);
        aside(&["commit-tree", "-p", parent, "-m", message, &tree])
    }
}
