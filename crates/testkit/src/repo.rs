//! Repositories made by scripts: a checkout, and usually a bare `origin` next door.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_core::CommitSha;

use crate::git::{git, try_git};

/// A checkout that a person made, with the remote it was cloned from.
#[derive(Debug, Clone)]
pub struct TestRepo {
    path: PathBuf,
    origin: Option<PathBuf>,
}

impl TestRepo {
    /// A checkout of `main` with one commit (`README.md`), pushed to a bare `origin`.
    pub fn with_origin(folder: &Path, name: &str) -> Self {
        let origin = folder.join(format!("{name}-origin.git"));
        fs::create_dir_all(&origin).expect("a folder for the remote");
        git(&origin, &["init", "--quiet", "--bare"]);
        let repo = Self { origin: Some(origin), ..Self::without_remote(folder, name) };
        let url = repo.origin().to_string_lossy().into_owned();
        repo.git(&["remote", "add", "origin", &url]);
        repo.git(&["push", "--quiet", "origin", "main"]);
        repo.git(&["fetch", "--quiet", "origin"]);
        repo
    }

    /// A checkout of `main` with one commit and no remote.
    pub fn without_remote(folder: &Path, name: &str) -> Self {
        let repo = Self::empty(folder, name);
        repo.commit("README.md", "Hello\n");
        repo
    }

    /// A repository that a test prepared itself.
    pub fn at(path: &Path) -> Self {
        Self { path: fs::canonicalize(path).expect("it is there"), origin: None }
    }

    /// A repository without any commit.
    pub fn empty(folder: &Path, name: &str) -> Self {
        let path = folder.join(name);
        fs::create_dir_all(&path).expect("a folder for the checkout");
        git(&path, &["init", "--quiet"]);
        Self { path: fs::canonicalize(path).expect("it was made just now"), origin: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// # Panics
    /// When the repository has no remote.
    pub fn origin(&self) -> &Path {
        self.origin.as_deref().expect("this repository has an origin")
    }

    pub fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    pub fn try_git(&self, args: &[&str]) -> std::process::Output {
        try_git(&self.path, args)
    }

    pub fn write(&self, file: &str, content: &str) {
        write(&self.path, file, content);
    }

    /// Writes a file and commits it on the checked-out branch.
    pub fn commit(&self, file: &str, content: &str) -> CommitSha {
        commit(&self.path, file, content)
    }

    pub fn push(&self, branch: &str) {
        self.git(&["push", "--quiet", "origin", branch]);
    }

    /// Someone else's commit on a branch of the remote (made if it is new), which this checkout has not heard of.
    pub fn commit_on_origin(&self, branch: &str, file: &str, content: &str) -> CommitSha {
        let elsewhere = tempfile::tempdir().expect("a folder for a second clone");
        let url = self.origin().to_string_lossy().into_owned();
        git(elsewhere.path(), &["clone", "--quiet", &url, "clone"]);
        let clone = elsewhere.path().join("clone");
        if !try_git(&clone, &["switch", "--quiet", branch]).status.success() {
            git(&clone, &["switch", "--quiet", "-c", branch, "origin/main"]);
        }
        let sha = commit(&clone, file, content);
        git(&clone, &["push", "--quiet", "origin", branch]);
        sha
    }

    /// The head of a pull request from a fork: a commit that only the forge's pull ref names.
    pub fn pull_request_from_fork(&self, number: u64, file: &str, content: &str) -> CommitSha {
        let sha = self.commit_on_origin(&format!("fork-{number}"), file, content);
        let pull = format!("refs/pull/{number}/head");
        git(self.origin(), &["update-ref", &pull, sha.as_str()]);
        git(self.origin(), &["update-ref", "-d", &format!("refs/heads/fork-{number}")]);
        // Forges give out any commit they have by its name.
        git(self.origin(), &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        sha
    }

    /// The remote cannot be reached any more.
    pub fn goes_offline(&self) {
        let away = self.origin().with_extension("away");
        fs::rename(self.origin(), away).expect("the remote is a folder");
    }

    pub fn comes_online(&self) {
        let away = self.origin().with_extension("away");
        fs::rename(away, self.origin()).expect("the remote was moved away");
    }

    /// What a revision is; `None` when there is no such thing.
    pub fn rev(&self, revision: &str) -> Option<CommitSha> {
        let output = self.try_git(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")]);
        CommitSha::parse(String::from_utf8_lossy(&output.stdout).trim()).ok()
    }

    pub fn branches(&self) -> Vec<String> {
        self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/"]).lines().map(str::to_owned).collect()
    }

    /// Paths of all worktrees that git lists, without the main one.
    pub fn worktrees(&self) -> Vec<PathBuf> {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        list.lines().filter_map(|line| line.strip_prefix("worktree ")).skip(1).map(PathBuf::from).collect()
    }

    /// Everything a person could notice about the main checkout: HEAD, index, files, configuration, FETCH_HEAD. Where
    /// branches pull from is left out, see [`TestRepo::upstreams`].
    pub fn fingerprint(&self) -> String {
        let say = |args: &[&str]| String::from_utf8_lossy(&self.try_git(args).stdout).into_owned();
        let head = say(&["rev-parse", "HEAD"]);
        let on = say(&["symbolic-ref", "HEAD"]);
        let status = say(&["status", "--porcelain=v2", "--ignored"]);
        let index = say(&["ls-files", "--stage", "-v"]);
        let fetch_head = fs::read_to_string(self.git_dir().join("FETCH_HEAD")).unwrap_or_default();
        let config = say(&["config", "--local", "--list"]);
        let config: Vec<&str> = config.lines().filter(|line| !line.starts_with("branch.")).collect();
        format!("{head}{on}{status}{index}{fetch_head}{config:#?}")
    }

    /// Where its branches pull from and push to.
    pub fn upstreams(&self) -> Vec<String> {
        let config = self.git(&["config", "--local", "--list"]);
        config.lines().filter(|line| line.starts_with("branch.")).map(str::to_owned).collect()
    }

    /// The repository's own folder: `.git`, or the repository itself when it is bare.
    pub fn git_dir(&self) -> PathBuf {
        let inside = self.path.join(".git");
        if inside.exists() { inside } else { self.path.clone() }
    }
}

pub fn write(folder: &Path, file: &str, content: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("its folder");
    fs::write(path, content).expect("the file");
}

pub fn commit(folder: &Path, file: &str, content: &str) -> CommitSha {
    write(folder, file, content);
    git(folder, &["add", "--", file]);
    git(folder, &["commit", "--quiet", "-m", &format!("Change {file}")]);
    CommitSha::parse(&git(folder, &["rev-parse", "HEAD"])).expect("HEAD is a commit")
}
