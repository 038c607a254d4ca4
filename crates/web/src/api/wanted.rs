//! The body that asks for an environment, understood.

use hedgerow_core::{BranchName, CommitSha, Hints, Work};
use serde::Deserialize;

use crate::error::{Answer, Problem};
use crate::reading::plain;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    pub(super) codebase: Option<String>,
    /// `issue-42`, `pr-99`, `review-99`, `task-add dark mode`, `thread-<id>`.
    work: Option<String>,
    /// A pull request's head; without a work, the very branch to be on.
    branch: Option<String>,
    base: Option<String>,
    description: Option<String>,
    sha: Option<String>,
    #[serde(default)]
    fork: bool,
    #[serde(default)]
    fixes: Vec<u64>,
    #[serde(default)]
    fixed_by: Vec<u64>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) work: Work,
    pub(super) hints: Hints,
    /// The very branch a person named.
    pub(super) branch: Option<BranchName>,
}

impl Body {
    pub(super) fn wanted(&self) -> Answer<Wanted> {
        let branch = parsed("branch", self.branch.as_deref(), |text| BranchName::parse(text).map_err(|bad| bad.why))?;
        let work = match (&self.work, &branch) {
            (Some(text), _) => work(text)?,
            (None, Some(branch)) => Work::Task(branch.as_str().to_owned()),
            (None, None) => return Err(Problem::usage("`work` (such as `issue-42`) or `branch` says what it is for")),
        };
        self.check_fit(&work)?;
        let is_pr = is_pull_request(&work);
        let hints = Hints {
            work: Some(work.clone()),
            pr_branch: branch.clone().filter(|_| is_pr),
            pr_head: parsed("sha", self.sha.as_deref(), |text| {
                CommitSha::parse(text).map_err(|_| "it must be a full commit sha (40 or 64 hexadecimal digits)")
            })?,
            is_fork: self.fork,
            linked_issues: self.fixes.clone(),
            linked_prs: self.fixed_by.clone(),
            base_branch: parsed("base", self.base.as_deref(), |text| BranchName::parse(text).map_err(|bad| bad.why))?,
            suggested_branch: None,
            description: self.description.clone(),
        };
        Ok(Wanted { work, hints, branch: branch.filter(|_| !is_pr) })
    }

    /// What says nothing about this kind of work is a slip.
    fn check_fit(&self, work: &Work) -> Answer<()> {
        let is_pr = is_pull_request(work);
        let is_given = [
            ("branch", self.branch.is_some() && self.work.is_some(), is_pr),
            ("sha", self.sha.is_some(), is_pr),
            ("fork", self.fork, is_pr),
            ("fixes", !self.fixes.is_empty(), is_pr),
            ("fixed_by", !self.fixed_by.is_empty(), matches!(work, Work::Issue(_))),
        ];
        match is_given.iter().find(|(_, is_given, fits)| *is_given && !fits) {
            Some((field, ..)) => Err(Problem::usage(format!("`{field}` does not go with `{}`", work.kind()))),
            None => Ok(()),
        }
    }
}

fn is_pull_request(work: &Work) -> bool {
    matches!(work, Work::PullRequest(_) | Work::Review(_))
}

fn work(text: &str) -> Answer<Work> {
    let text = plain("`work`", text.to_owned())?;
    let parsed = match text.split_once('-') {
        Some(("task", words)) if !words.trim().is_empty() => Some(Work::task(words)),
        Some((kind @ ("issue" | "pr" | "review" | "thread"), id)) => Work::from_parts(kind, id).ok(),
        _ => None,
    };
    // The store keeps numbers as the database has them.
    let fits = |work: &Work| match work {
        Work::Issue(number) | Work::PullRequest(number) | Work::Review(number) => i64::try_from(*number).is_ok(),
        Work::Thread(_) | Work::Task(_) => true,
    };
    parsed.filter(fits).ok_or_else(|| {
        let problem = Problem::usage(format!("`{}` is no work", text.escape_debug()));
        problem.hint("it is written `issue-42`, `pr-99`, `review-99`, `task-<words>` or `thread-<id>`")
    })
}

fn parsed<T>(field: &str, text: Option<&str>, parse: impl Fn(&str) -> Result<T, &'static str>) -> Answer<Option<T>> {
    let bad = |why| Problem::usage(format!("`{field}` is not right: {why}"));
    text.map(parse).transpose().map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(body: &str) -> Answer<Wanted> {
        serde_json::from_str::<Body>(body).expect("JSON of a body").wanted()
    }

    #[test]
    fn every_kind_of_work_can_be_asked_for() {
        for (body, work, branch) in [
            (r#"{"work": "issue-42"}"#, Work::Issue(42), None),
            (r#"{"work": "issue-42", "fixed_by": [99]}"#, Work::Issue(42), None),
            (r#"{"work": "pr-99", "branch": "feature/auth", "fixes": [42]}"#, Work::PullRequest(99), None),
            (r#"{"work": "review-99", "fork": true}"#, Work::Review(99), None),
            (r#"{"work": "task-add dark mode"}"#, Work::Task("add-dark-mode".into()), None),
            (r#"{"work": "thread-C1:17.2"}"#, Work::Thread("C1:17.2".into()), None),
            (r#"{"branch": "my-branch"}"#, Work::Task("my-branch".into()), Some("my-branch")),
        ] {
            let wanted = wanted(body).expect(body);
            assert_eq!((&wanted.work, wanted.branch.as_ref().map(BranchName::as_str)), (&work, branch), "{body}");
            assert_eq!(wanted.hints.work, Some(work), "{body}");
        }
        let pr = wanted(r#"{"work": "pr-99", "branch": "feature/auth", "fixes": [42], "base": "develop"}"#);
        let hints = pr.expect("a pull request").hints;
        assert_eq!(hints.pr_branch.as_ref().map(BranchName::as_str), Some("feature/auth"));
        assert_eq!(hints.base_branch.as_ref().map(BranchName::as_str), Some("develop"));
        assert_eq!(hints.linked_issues, [42]);
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        for body in [
            "{}",
            r#"{"work": ""}"#,
            r#"{"work": "issue-0"}"#,
            r#"{"work": "issue-x"}"#,
            r#"{"work": "issue--1"}"#,
            r#"{"work": "issue-9223372036854775808"}"#,
            r#"{"work": "42"}"#,
            r#"{"work": "task-"}"#,
            r#"{"work": "thread-"}"#,
            r#"{"work": "pr-1", "sha": "abc"}"#,
            r#"{"work": "issue-1", "sha": "0123456789abcdef0123456789abcdef01234567"}"#,
            r#"{"work": "issue-1", "branch": "x"}"#,
            r#"{"work": "issue-1", "fork": true}"#,
            r#"{"work": "issue-1", "fixes": [1]}"#,
            r#"{"work": "pr-1", "fixed_by": [1]}"#,
            r#"{"work": "pr-1", "branch": "a..b"}"#,
            r#"{"branch": ""}"#,
            r#"{"work": "issue-1", "base": "-x"}"#,
        ] {
            assert!(wanted(body).is_err(), "{body}");
        }
    }
}
