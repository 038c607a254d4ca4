//! Pushing: one commit to one branch of one address, and nothing that a repository's settings would add or change.

use hedgerow_core::provider::{Progress, Rejection};
use hedgerow_core::untrusted::visible_code;
use hedgerow_core::{BranchName, CommitSha};

use super::credentials::Access;
use super::hazards::Scope;
use super::refs::remote_ref;
use super::{GitResult, Repo};

/// Most characters of what a remote says about a refusal.
const MOST_WORDS: usize = 1000;

/// What a remote did with a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Taken,
    Rejected(Rejection),
}

impl Repo {
    /// Puts a commit onto a branch of the remote at this very URL. What is there may only be replaced if it is still
    /// `replaces`.
    pub async fn push_branch(
        &self,
        url: &str,
        sha: &CommitSha,
        target: &BranchName,
        replaces: Option<&CommitSha>,
        progress: &dyn Progress,
    ) -> GitResult<Told> {
        let full = target.full_ref();
        let call = self
            .call()
            // It goes to an address, which has no branches here that would follow.
            .changes_nothing_here()
            // Words for the remote's own programs that nobody here said.
            .config("push.pushOption", "")
            .config("push.negotiate", "false")
            .args([
                "push",
                "--porcelain",
                "--progress",
                "--no-verify",
                "--no-follow-tags",
                "--no-signed",
                "--no-recurse-submodules",
                "--no-force-if-includes",
                "--receive-pack=git-receive-pack",
            ])
            .args(replaces.map(|old| format!("--force-with-lease={full}:{old}")));
        let call = call.args(["--end-of-options", url]).arg(format!("{sha}:{full}"));
        let answer = call.opened(self.opening_of(url, Access::Write).await?).long_answer(progress).await?;
        let report = String::from_utf8_lossy(&answer.stdout);
        if let Some(rejection) = rejection(&report, &full, &answer.stderr) {
            return Ok(Told::Rejected(rejection));
        }
        answer.require_success("push").map(|_| Told::Taken)
    }

    /// A setting of the repository's own that would send a push to this URL elsewhere.
    pub fn redirect_of(&self, url: &str) -> Option<&str> {
        let own = self.config().entries().iter().filter(|entry| entry.scope != Scope::Trusted);
        let leads_away = |key: &str, value: &str| {
            let is_alias = key.starts_with("url.") && (key.ends_with(".insteadof") || key.ends_with(".pushinsteadof"));
            // A remote may bear the URL as its name, with another address.
            (is_alias && url.starts_with(value)) || key.starts_with(&format!("remote.{url}."))
        };
        own.into_iter().find(|entry| leads_away(&entry.key, &entry.value)).map(|entry| entry.key.as_str())
    }

    /// Notes where a branch of a remote is now, as a fetch would.
    pub async fn note_pushed(&self, remote: &str, target: &BranchName, to: &CommitSha) -> GitResult<()> {
        let name = remote_ref(remote, target);
        match self.commit(&name).await? {
            Some(known) if known == *to => Ok(()),
            Some(known) => self.move_ref(&name, &known, to, "hedgerow: pushed").await,
            None => self.create_ref(&name, to, "hedgerow: pushed").await,
        }
    }

    /// How many commits `head` has that `base` lacks, and the subjects of the first of them that are no merges.
    pub async fn own_commits(&self, head: &CommitSha, base: &CommitSha, most: usize) -> GitResult<(u64, Vec<String>)> {
        let (count, _) = self.ahead_behind(head, base).await?;
        let mut subjects = Vec::new();
        let without = format!("^{base}");
        let args = ["log", "--reverse", "--no-merges", "--no-show-signature", "--format=%s", "-z"];
        let call = self.call().args(args).args([head.as_str(), &without, "--"]);
        call.records(|record| {
            if subjects.len() < most {
                subjects.push(String::from_utf8_lossy(record).into_owned());
            }
        })
        .await?;
        Ok((count, subjects))
    }

    /// The branch of this remote that the repository says a branch goes to.
    pub fn upstream(&self, branch: &BranchName, remote: &str) -> Option<BranchName> {
        let of = |name: &str| self.config().value(&format!("branch.{branch}.{name}"));
        let merge = of("merge").filter(|_| of("remote") == Some(remote))?;
        BranchName::parse(merge.strip_prefix("refs/heads/")?).ok()
    }
}

/// Why the remote did not take it, from the porcelain report: `!`, the refs, and a reason in brackets.
fn rejection(report: &str, target: &str, stderr: &str) -> Option<Rejection> {
    let lines = report.lines().filter_map(|line| line.strip_prefix("!\t"));
    let told = lines.filter_map(|line| line.split_once('\t')).find(|(refs, _)| refs.ends_with(&format!(":{target}")));
    let (_, summary) = told?;
    Some(match summary {
        "[rejected] (stale info)" => Rejection::MovedMeanwhile,
        theirs if theirs.starts_with("[rejected]") => Rejection::NotAForward,
        theirs => Rejection::ByTheRemote(in_its_words(theirs, stderr)),
    })
}

/// What the remote says, within bounds. The reason stands first: the rest may be long.
fn in_its_words(summary: &str, stderr: &str) -> String {
    let reason = summary.split_once(" (").map_or(summary, |(_, reason)| reason.trim_end_matches(')'));
    let said = stderr.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim);
    let lines: Vec<&str> = [reason].into_iter().chain(said.filter(|line| !line.is_empty())).collect();
    visible_code(&lines.join("\n")).chars().take(MOST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_is_told_apart_by_the_report() {
        let of =
            |summary: &str| rejection(&format!("To x\n!\tabc:refs/heads/t\t{summary}\nDone\n"), "refs/heads/t", "");
        assert_eq!(of("[rejected] (stale info)"), Some(Rejection::MovedMeanwhile));
        for forward in ["[rejected] (fetch first)", "[rejected] (non-fast-forward)"] {
            assert_eq!(of(forward), Some(Rejection::NotAForward), "{forward}");
        }
        let said = "remote: error: GH006: Protected branch\u{1b}[0m\nremote: \nfatal: x";
        let report = "!\tabc:refs/heads/t\t[remote rejected] (protected branch hook declined)\n";
        let Some(Rejection::ByTheRemote(words)) = rejection(report, "refs/heads/t", said) else { panic!("a refusal") };
        assert_eq!(words, "protected branch hook declined\nerror: GH006: Protected branch[0m");
        assert_eq!(rejection(report, "refs/heads/other", said), None);
        assert_eq!(rejection("*\tabc:refs/heads/t\t[new branch]\nDone\n", "refs/heads/t", ""), None);
    }
}
