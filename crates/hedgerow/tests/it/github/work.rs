//! A piece of work on an issue, as most stories have one: what is asked for, how it ends, and what must be so afterwards.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_testkit::brain;
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::outside::github::{CommentId, GitHubIssue, GitHubPull, GitHubRepository, Said};
use serde_json::Value;

use super::town::{BOT, Town};

/// An issue that alice has somebody work on.
pub(crate) struct Work {
    pub(crate) issue: GitHubIssue,
    shop: GitHubRepository,
}

impl Work {
    pub(crate) async fn on(shop: &GitHubRepository, number: u64) -> Self {
        let issue = shop.issue(number).titled("Login is broken").opened_by("alice").await;
        Self { issue, shop: shop.clone() }
    }

    pub(crate) fn branch(&self) -> String {
        format!("issue-{}", self.issue.number())
    }

    /// The file that is changed for it.
    pub(crate) fn file(&self) -> String {
        format!("login-{}.txt", self.issue.number())
    }

    /// The orders for the assistant, and what it says at the end.
    pub(crate) fn orders(&self) -> String {
        format!("write {} mended\ncommit Mend the login\nsay Mended.", self.file())
    }

    /// Asks for the work and for a pull request of it.
    pub(crate) async fn is_asked_for(&self) -> CommentId {
        self.issue.says("alice", &format!("@hedgerow {}\nsay /worktree pr", self.orders())).await
    }

    /// The only pull request of its branch.
    pub(crate) fn pull(&self) -> GitHubPull {
        let mut pulls = self.shop.pulls();
        pulls.retain(|pull| pull.head_branch() == self.branch());
        assert_eq!(pulls.len(), 1, "{pulls:?}");
        pulls.remove(0)
    }

    /// Done up to the pull request.
    pub(crate) async fn is_done(&self, town: &Town) -> GitHubPull {
        self.is_asked_for().await;
        town.is_quiet().await;
        self.pull()
    }

    /// The issue is closed, which keeps everything; the pull request is merged, which does not.
    pub(crate) async fn ends(&self, town: &Town, pull: &GitHubPull) {
        self.issue.closes("alice").await;
        town.is_quiet().await;
        assert_eq!(town.works().len(), 1, "{}", self.issue.transcript());
        pull.squash_merges("alice").await;
        town.is_quiet().await;
    }

    /// No environment is left; everything that was in it is: on GitHub, and for whoever wants it back.
    pub(crate) async fn is_over(&self, town: &Town, pull: &GitHubPull) {
        assert!(pull.is_merged() && !self.issue.is_open());
        assert_eq!(self.pull().number(), pull.number());
        let left = town.works().into_iter().find(|(_, branch)| *branch == self.branch());
        assert_eq!(left, None, "{}\n--\n{}", self.issue.transcript(), pull.transcript());
        for talk in [&self.issue, &**pull] {
            is_said_once(town, talk).await;
        }
        // The branch of GitHub is not ours to delete; ours went, since all of it is there.
        assert_eq!(self.shop.rev(&self.branch()), Some(pull.head()));
        let codebase = town.store.codebase_named("shop").await.expect("looked up").expect("it was cloned");
        let own = format!("refs/heads/{}", self.branch());
        assert!(!try_git(&codebase.path, &["show-ref", "--quiet", &own]).status.success(), "{own} is left");

        let trash: Vec<Value> = town.json(&["env", "trash", "--codebase", "shop"]);
        let its = trash.iter().filter(|row| row["branch"] == self.branch().as_str());
        assert_eq!(its.count(), 1, "{trash:#?}");
        let back: Value = town.json(&["env", "restore", &self.branch(), "--codebase", "shop"]);
        let path = PathBuf::from(back["path"].as_str().expect("a path"));
        assert_eq!(git(&path, &["rev-parse", "HEAD"]).trim(), pull.head().as_str());
        assert_eq!(git(&path, &["symbolic-ref", "--short", "HEAD"]).trim(), self.branch());
        assert_eq!(std::fs::read_to_string(path.join(self.file())).expect("it is back"), "mended\n");
    }
}

/// Every message there had one last word; everything that was said there is on GitHub, once.
pub(crate) async fn is_said_once(town: &Town, talk: &GitHubIssue) {
    let key = ConversationKey { platform: PlatformKind::Github, id: talk.conversation() };
    let Some(conversation) = town.store.known_conversation(&key).await.expect("looked up") else {
        assert_eq!(said_by_us(talk), [""; 0]);
        return;
    };
    let spoken = town.store.spoken(conversation.id, 1000).await.expect("read");
    for asked in spoken.iter().filter(|spoken| spoken.author.is_some()) {
        let last = spoken.iter().filter(|other| other.author.is_none() && other.last && other.message == asked.message);
        assert_eq!(last.count(), 1, "{asked:?}\n{}", talk.transcript());
    }
    let ours = spoken.iter().filter(|spoken| spoken.author.is_none());
    let keys: Vec<String> = talk.comments().iter().filter(|said| is_ours(said)).map(marker).collect();
    assert_eq!(keys.len(), ours.count(), "{spoken:#?}\n{}", talk.transcript());
    let different: BTreeSet<&String> = keys.iter().collect();
    assert_eq!(different.len(), keys.len(), "{}", talk.transcript());
    assert_eq!(brain::overlaps(town.desk.folder()), [""; 0]);
}

/// As whomever we act.
fn is_ours(said: &Said) -> bool {
    said.author.starts_with(BOT)
}

/// By which reply a comment of ours is known.
fn marker(said: &Said) -> String {
    let found = said.text.lines().find(|line| line.starts_with("<!-- hedgerow:reply:"));
    found.unwrap_or_else(|| panic!("it has no marker: {}", said.text)).to_owned()
}

/// What we said there, as people read it.
pub(crate) fn said_by_us(talk: &GitHubIssue) -> Vec<String> {
    talk.comments().iter().filter(|said| is_ours(said)).map(|said| shown(&said.text)).collect()
}

/// A comment without what is hidden before it.
pub(crate) fn shown(text: &str) -> String {
    let lines = text.lines().skip_while(|line| line.starts_with("<!-- hedgerow:"));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// How often we said something that begins so.
pub(crate) fn times_said(talk: &GitHubIssue, words: &str) -> usize {
    said_by_us(talk).iter().filter(|said| said.starts_with(words)).count()
}
