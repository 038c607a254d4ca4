//! A repository with `main` and a branch `work`, told step by step with real git.

use std::cell::Cell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use hedgerow_core::CommitSha;
use hedgerow_core::merged::Verdict;
use hedgerow_engine::git::{Git, Repo};
use hedgerow_engine::merged::{Question, verdict};
use tempfile::TempDir;

pub(crate) struct Story {
    folder: TempDir,
    pub(crate) began: CommitSha,
    clock: Cell<u64>,
}

/// Twenty numbered lines, some of them replaced.
pub(crate) fn lines(changed: &[(usize, &str)]) -> String {
    let line = |nth: usize| changed.iter().find(|(at, _)| *at == nth).map_or(format!("line {nth}"), |c| c.1.to_owned());
    (1..=20).map(|nth| line(nth) + "\n").collect()
}

impl Story {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let nothing = CommitSha::parse(&"0".repeat(40)).expect("40 digits");
        let mut story = Self { folder, began: nothing, clock: Cell::new(1_700_000_000) };
        std::fs::create_dir(story.path()).expect("made once");
        story.git(["init", "--quiet", "--initial-branch=main"]);
        story.write("file", lines(&[]));
        story.write("dir/other", lines(&[]));
        story.began = story.commit("first");
        story.git(["branch", "work"]);
        story
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// A place beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn git<const N: usize>(&self, args: [&str; N]) -> String {
        self.git_at(&self.path(), args)
    }

    pub(crate) fn git_at<const N: usize>(&self, at: &Path, args: [&str; N]) -> String {
        let (is_success, out) = self.try_git(at, &args);
        assert!(is_success, "git {args:?}: {out}");
        out
    }

    /// Runs git whatever its outcome: a conflict is part of some stories.
    pub(crate) fn try_git(&self, at: &Path, args: &[&str]) -> (bool, String) {
        let now = self.clock.get() + 60;
        self.clock.set(now);
        let date = format!("{now} +0000");
        let settings = ["user.name=A", "user.email=a@example.org", "core.autocrlf=false", "protocol.file.allow=always"];
        let out = Command::new("git")
            .args(settings.iter().flat_map(|setting| ["-c", setting]))
            .args(args)
            .current_dir(at)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_EDITOR", "true")])
            .envs([("GIT_AUTHOR_DATE", &date), ("GIT_COMMITTER_DATE", &date)])
            .output()
            .expect("git starts");
        let text = if out.status.success() { out.stdout } else { out.stderr };
        (out.status.success(), String::from_utf8_lossy(&text).trim().to_owned())
    }

    /// Many commits at once, as `git fast-import` reads them.
    pub(crate) fn import(&self, stream: &str) {
        let file = self.beside("stream");
        std::fs::write(&file, stream).expect("a file");
        let input = std::fs::File::open(&file).expect("just written");
        let mut import = Command::new("git");
        import.args(["fast-import", "--quiet"]).current_dir(self.path()).stdin(input);
        assert!(import.status().expect("git starts").success());
    }

    pub(crate) fn write(&self, name: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        let path = self.path().join(name.as_ref());
        std::fs::create_dir_all(path.parent().expect("inside the repository")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    /// Commits everything there is, be it nothing.
    pub(crate) fn commit(&self, message: &str) -> CommitSha {
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--allow-empty", "-m", message]);
        self.sha("HEAD")
    }

    /// A commit on a branch that sets one file.
    pub(crate) fn set(&self, branch: &str, name: &str, content: impl AsRef<[u8]>) -> CommitSha {
        self.on(branch);
        self.write(name, content);
        self.commit(&format!("set {name} on {branch}"))
    }

    pub(crate) fn on(&self, branch: &str) {
        self.git(["checkout", "--quiet", branch]);
    }

    /// What a forge does on "squash and merge".
    pub(crate) fn squash(&self) -> CommitSha {
        self.on("main");
        self.git(["merge", "--quiet", "--squash", "work"]);
        self.commit("squash")
    }

    pub(crate) fn merge(&self) -> CommitSha {
        self.on("main");
        self.git(["merge", "--quiet", "--no-ff", "-m", "merge", "work"]);
        self.sha("HEAD")
    }

    /// Applies single commits to main.
    pub(crate) fn pick(&self, commits: &[&CommitSha]) {
        self.on("main");
        for commit in commits {
            self.git(["cherry-pick", "--allow-empty", commit.as_str()]);
        }
    }

    pub(crate) fn revert(&self, commit: &CommitSha) -> CommitSha {
        self.on("main");
        self.git(["revert", "--no-edit", commit.as_str()]);
        self.sha("HEAD")
    }

    pub(crate) fn sha(&self, revision: &str) -> CommitSha {
        CommitSha::parse(&self.git(["rev-parse", revision])).expect("a full name")
    }

    pub(crate) async fn repo(&self) -> Repo {
        Git::new("git", Vec::new()).open_untrusted(&self.path()).await.expect("opens")
    }

    /// The verdict on `work` against these branches.
    pub(crate) async fn against(&self, targets: &[&str], pr: Option<(u64, CommitSha)>) -> Verdict {
        let tip = self.sha("work");
        let targets: Vec<CommitSha> = targets.iter().map(|target| self.sha(target)).collect();
        let question = Question { tip: &tip, targets: &targets, recorded_base: Some(&self.began), pr };
        verdict(&self.repo().await, &question).await
    }

    pub(crate) async fn verdict(&self) -> Verdict {
        self.against(&["main"], None).await
    }

    pub(crate) async fn says(&self, word: &str) {
        let verdict = self.verdict().await;
        assert_eq!(verdict.word(), word, "{verdict:?}\n{}", self.git(["log", "--graph", "--oneline", "--all"]));
    }
}
