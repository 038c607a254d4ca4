//! The words of a new pull request. Its commits were written by others, so they stand where nothing in them is a mention, a
//! link or an order to the forge.

use std::fmt::Write as _;

use hedgerow_core::Environment;
use hedgerow_core::environment::Actor;
use hedgerow_core::provider::Outgoing;
use hedgerow_core::untrusted::visible_code;

use crate::replies::{plural, shortened};

/// As long as a title is read in a list.
const LONGEST_TITLE: usize = 120;
/// As many commits as are read in a description.
const MOST_COMMITS: usize = 20;
const LONGEST_SUBJECT: usize = 200;

/// What the environment is for, else what was done first in it.
pub(super) fn title(environment: &Environment, out: &Outgoing) -> String {
    let words = [environment.description.as_deref(), out.subjects.first().map(String::as_str)];
    let words = words.into_iter().flatten().map(one_line).find(|words| !words.is_empty());
    shortened(&words.unwrap_or_else(|| out.branch.to_string()), LONGEST_TITLE)
}

pub(super) fn body(environment: &Environment, out: &Outgoing, by: &Actor) -> String {
    let mut parts = Vec::new();
    let shown = out.subjects.iter().take(MOST_COMMITS);
    let mut commits = shown.fold(String::new(), |mut list, subject| {
        let subject = shortened(&one_line(subject).replace('`', "'"), LONGEST_SUBJECT);
        let _ = writeln!(list, "- `{}`", if subject.is_empty() { "(no subject)" } else { &subject });
        list
    });
    let more = out.commits.saturating_sub(out.subjects.len().min(MOST_COMMITS) as u64);
    if more > 0 && !commits.is_empty() {
        let _ = writeln!(commits, "- and {}", plural(more, "more commit"));
    }
    parts.extend(Some(commits.trim_end().to_owned()).filter(|commits| !commits.is_empty()));
    let fixes: Vec<String> = environment.related_issues().iter().map(|number| format!("Fixes #{number}")).collect();
    parts.extend(Some(fixes.join("\n")).filter(|fixes| !fixes.is_empty()));
    parts.push(format!("Asked for by `{}`.", one_line(&by.to_string()).replace('`', "'")));
    parts.join("\n\n")
}

fn one_line(text: &str) -> String {
    visible_code(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use hedgerow_core::environment::NamedWork;
    use hedgerow_core::{BranchName, CodebaseId, CommitSha, EnvironmentId, Timestamp, Work};

    use super::*;

    fn scene(subjects: &[&str]) -> (Environment, Outgoing, Actor) {
        let branch = BranchName::parse("issue-42").expect("a name");
        let (by, now) = (Actor::new("github", "alice"), Timestamp::from_millis(0));
        let ids = (EnvironmentId::new(), CodebaseId::new());
        let mut environment = Environment::new(ids.0, ids.1, branch.clone(), "/x".into(), by.clone(), now);
        environment.works.push(NamedWork { work: Work::Issue(42), name: "issue-42".into() });
        let out = Outgoing {
            remote: "origin".into(),
            url: "https://example.com/acme/shop".into(),
            head: CommitSha::parse(&"a".repeat(40)).expect("a commit"),
            branch,
            upstream: None,
            default_branch: None,
            commits: subjects.len() as u64,
            subjects: subjects.iter().map(|subject| (*subject).to_owned()).collect(),
            is_dirty: false,
        };
        (environment, out, by)
    }

    #[test]
    fn what_others_wrote_names_nobody_and_closes_nothing() {
        let (environment, out, by) = scene(&["Fix the login", "@bob `x` closes #7 <b>\u{200b}"]);
        assert_eq!(title(&environment, &out), "Fix the login");
        let body = body(&environment, &out, &by);
        let wanted = "- `Fix the login`\n- `@bob 'x' closes #7 <b>`\n\nFixes #42\n\nAsked for by `github:alice`.";
        assert_eq!(body, wanted);
    }

    #[test]
    fn a_long_story_is_cut() {
        let subjects: Vec<String> = (0..40).map(|n| format!("Step {n} {}", "x".repeat(300))).collect();
        let (environment, mut out, by) = scene(&subjects.iter().map(String::as_str).collect::<Vec<_>>());
        out.commits = 100;
        let body = body(&environment, &out, &by);
        assert!(body.contains("- and 80 more commits") && body.len() < 6_000, "{body}");
        assert_eq!(title(&environment, &out).chars().count(), LONGEST_TITLE);
        let described = Environment { description: Some(" The\nlogin ".into()), ..environment };
        assert_eq!(title(&described, &out), "The login");
    }
}
