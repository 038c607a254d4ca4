//! Repositories that try to run a program of their own: one trap for each way git offers.
//!
//! Every trap drops the same canary file when it springs. [`Trap::spring`] shows with plain git that it really would.

mod agents;
mod files;
mod remotes;
mod trees;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::CommitSha;

pub use self::agents::{Deed, OF_AGENTS};
pub use self::files::OF_FILES;
pub use self::remotes::OF_REMOTES;
pub use self::trees::OF_TREES;

use crate::git::git;
use crate::repo::TestRepo;

/// A repository to lay traps in, with an issue, a branch and a fork worth making environments for.
#[derive(Debug)]
pub struct Lair {
    pub repo: TestRepo,
    folder: PathBuf,
}

/// One way in.
#[derive(Clone, Copy)]
pub struct Trap {
    pub name: &'static str,
    /// Whether Hedgerow may answer with an error instead of an environment.
    pub may_fail: bool,
    lay: fn(&Lair),
    /// What a person would type, with plain git, to be bitten; `None` where git itself has no such command any more.
    spring: Option<fn(&Lair)>,
}

impl std::fmt::Debug for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Trap {
    pub fn lay(&self, lair: &Lair) {
        (self.lay)(lair);
    }

    /// Shows that the trap bites: without this, a test that finds no canary proves nothing.
    ///
    /// # Panics
    /// When plain git was not bitten.
    pub fn spring(&self, lair: &Lair) {
        if let Some(spring) = self.spring {
            spring(lair);
            assert!(lair.is_bitten(), "the trap `{}` does not work", self.name);
            fs::remove_file(lair.canary()).expect("the canary is a file");
        }
    }
}

impl Lair {
    /// `a.txt` is `1` at first, `2` on the branch `feature`, `3` on `main`: a merge asks the driver that the tree names.
    pub fn new(folder: &Path) -> Self {
        let repo = TestRepo::with_origin(folder, "lair");
        repo.write("b.dat", "data\n");
        repo.write("a.txt", "1\n");
        repo.git(&["add", "."]);
        repo.commit(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n");
        repo.push("main");
        repo.commit_on_origin("feature", "a.txt", "2\n");
        repo.pull_request_from_fork(3, "README.md", "A nice fork\n");
        repo.commit("a.txt", "3\n");
        repo.push("main");
        let lair = Self { repo, folder: folder.to_owned() };
        lair.script("bite", "");
        lair.script("bite-cat", "cat\n");
        fs::create_dir(lair.elsewhere()).expect("a folder that nobody should touch");
        lair.bring_a_hook();
        lair
    }

    /// The fork brings a hook along in `.husky`, a program that bites.
    fn bring_a_hook(&self) {
        let hook = format!("#!/bin/sh\n{}\n", self.bite());
        self.repo.git(&["fetch", "--quiet", "origin", "main", "feature"]);
        let file = self.folder.join("hook");
        fs::write(&file, hook).expect("a script");
        let blob = self.repo.git(&["hash-object", "-w", "--no-filters", &file.to_string_lossy()]);
        let index = self.folder.join("fork-index");
        let with_index = |args: &[&str]| {
            let output = crate::git::command(self.repo.path()).env("GIT_INDEX_FILE", &index).args(args).output();
            let output = output.expect("git can be started");
            assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        with_index(&["read-tree", "origin/main"]);
        with_index(&["update-index", "--add", "--cacheinfo", &format!("100755,{blob},.husky/post-checkout")]);
        let tree = with_index(&["write-tree"]);
        let commit = with_index(&["commit-tree", "-p", "origin/main", "-m", "A nice fork", &tree]);
        self.repo.git(&["push", "--quiet", "origin", &format!("+{commit}:refs/pull/3/head")]);
    }

    /// The head of the fork's pull request as the forge has it.
    ///
    /// # Panics
    /// When the forge has none.
    pub fn fork(&self) -> CommitSha {
        CommitSha::parse(&git(self.repo.origin(), &["rev-parse", "refs/pull/3/head"])).expect("it is a commit")
    }

    fn script(&self, name: &str, then: &str) {
        let path = self.folder.join(name);
        fs::write(&path, format!("#!/bin/sh\ntouch '{}'\n{then}", self.canary().display())).expect("a script");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    /// A program that drops the canary.
    pub fn bite(&self) -> String {
        self.folder.join("bite").to_string_lossy().into_owned()
    }

    /// The same, passing on what it reads, as a filter does.
    pub fn bite_cat(&self) -> String {
        self.folder.join("bite-cat").to_string_lossy().into_owned()
    }

    pub fn canary(&self) -> PathBuf {
        self.folder.join("canary")
    }

    pub fn is_bitten(&self) -> bool {
        self.canary().exists()
    }

    /// A folder outside that stays empty.
    pub fn elsewhere(&self) -> PathBuf {
        self.folder.join("elsewhere")
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Files and folders that something put where nothing belongs.
    ///
    /// # Panics
    /// When the folder is gone.
    pub fn strays(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.elsewhere()).expect("the folder is there");
        entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
    }

    pub fn config(&self, key: &str, value: &str) {
        self.repo.git(&["config", "--add", key, value]);
    }

    /// Plain git, whatever comes of it.
    fn plain(&self, args: &[&str]) {
        let _ = self.repo.try_git(args);
    }

    fn git_folder(&self) -> PathBuf {
        self.repo.path().join(".git")
    }

    fn hook(&self, folder: &Path, name: &str) {
        fs::create_dir_all(folder).expect("a folder for hooks");
        fs::copy(self.folder.join("bite"), folder.join(name)).expect("a hook");
    }

    /// Another repository, whose configuration bites on `status` and on reading files.
    pub fn den(&self) -> TestRepo {
        let den = TestRepo::without_remote(&self.folder, "den");
        for (key, value) in [("core.fsmonitor", self.bite()), ("filter.evil.clean", self.bite_cat())] {
            den.git(&["config", key, &value]);
        }
        den
    }

    fn checks_out(&self) {
        let place = self.folder.join("proof");
        self.plain(&["worktree", "add", "--detach", &place.to_string_lossy(), "origin/main"]);
        self.plain(&["worktree", "remove", "--force", &place.to_string_lossy()]);
    }

    fn compares(&self) {
        self.repo.write("a.txt", "changed\n");
        self.plain(&["diff"]);
        self.repo.write("a.txt", "3\n");
        self.plain(&["status"]);
    }

    fn fetches(&self) {
        self.plain(&["fetch", "origin"]);
    }
}

/// A server that wants a password from everyone, for ever. Answers with its address.
///
/// # Panics
/// When no port is free.
pub fn doorman() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has one");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(
                b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\
                  Connection: close\r\n\r\n",
            );
        }
    });
    format!("http://{address}/acme/shop.git")
}

const fn trap(name: &'static str, lay: fn(&Lair), spring: fn(&Lair)) -> Trap {
    Trap { name, may_fail: false, lay, spring: Some(spring) }
}

/// Plain git is not bitten either, or only by commands that nobody here runs.
const fn blunt(name: &'static str, lay: fn(&Lair)) -> Trap {
    Trap { name, may_fail: false, lay, spring: None }
}

const fn closed(trap: Trap) -> Trap {
    Trap { may_fail: true, ..trap }
}
