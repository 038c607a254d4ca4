//! Answers of GitHub, and the hints they give.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::github::graph::read;
use crate::github::heard::{Person, Spot, What};

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

fn repository() -> RepositoryName {
    "acme/shop".parse().expect("a name")
}

/// An answer about a pull request, with some of it said otherwise.
fn node(changes: &Value) -> Value {
    let mut node = json!({
        "title": "Fix the login",
        "body": "Fixes #42",
        "headRefName": "issue-42",
        "headRefOid": SHA,
        "isCrossRepository": false,
        "headRepository": {"id": "R_1"},
        "baseRepository": {"id": "R_1"},
        "baseRefName": "main",
        "closingIssuesReferences": {"nodes": []}
    });
    for (key, value) in changes.as_object().expect("changes") {
        node[key] = value.clone();
    }
    node
}

fn hints(changes: &Value) -> Hints {
    let node = read(json!({"repository": {"pullRequest": node(changes)}})).expect("a pull request");
    Facts::of_node(node, &repository()).hints(Work::PullRequest(99), &repository(), "https://github.com")
}

fn answer(head: &Value) -> Told {
    let base = json!({"ref": "main", "sha": SHA, "repo": {"id": 1}});
    let body = Value::Null;
    serde_json::from_value(json!({
        "number": 99, "title": "Fix the login", "body": body, "state": "open", "merged_at": null, "head": head, "base": base
    }))
    .expect("an answer")
}

#[test]
fn a_pull_request_tells_all_that_helps() {
    let expected = Hints {
        work: Some(Work::PullRequest(99)),
        pr_branch: BranchName::parse("issue-42").ok(),
        pr_head: CommitSha::parse(SHA).ok(),
        linked_issues: vec![42],
        base_branch: BranchName::parse("main").ok(),
        description: Some("Fix the login".into()),
        ..Hints::default()
    };
    assert_eq!(hints(&json!({})), expected);
}

#[test]
fn the_other_way_tells_the_same_but_for_githubs_own_links() {
    let head = json!({"ref": "issue-42", "sha": SHA, "repo": {"id": 1}});
    let told = Facts::of_told(answer(&head)).hints(Work::PullRequest(99), &repository(), "https://github.com");
    assert_eq!(told, hints(&json!({"body": null})));
}

#[test]
fn only_a_head_in_the_same_repository_is_no_forks() {
    for (changes, is_fork) in [
        (json!({}), false),
        (json!({"isCrossRepository": true}), true),
        (json!({"headRepository": {"id": "R_2"}}), true),
        (json!({"headRepository": null}), true),
        (json!({"headRepository": null, "baseRepository": null}), true),
    ] {
        assert_eq!(hints(&changes).is_fork, is_fork, "{changes}");
    }
    for (repo, is_fork) in [(json!({"id": 1}), false), (json!({"id": 2}), true), (Value::Null, true)] {
        let head = json!({"ref": "main", "sha": SHA, "repo": repo});
        assert_eq!(answer(&head).is_fork(), is_fork, "{repo}");
    }
}

#[test]
fn links_are_of_this_repository_and_told_once() {
    let linked = |number: u64, repository: &str| json!({"number": number, "repository": {"nameWithOwner": repository}});
    let nodes = json!([linked(7, "Acme/Shop"), linked(8, "acme/other"), linked(42, "acme/shop"), null]);
    let hints = hints(&json!({"closingIssuesReferences": {"nodes": nodes}, "body": "Fixes #42, closes #9"}));
    assert_eq!(hints.linked_issues, [7, 42, 9]);
}

#[test]
fn a_name_that_git_would_not_take_is_left_out() {
    let hints =
        hints(&json!({"headRefName": "--upload-pack=x", "headRefOid": "", "baseRefName": "a..b", "title": "\u{200b}"}));
    assert_eq!((hints.pr_branch, hints.pr_head, hints.base_branch, hints.description), (None, None, None, None));
}

#[test]
fn an_issue_is_linked_to_open_pull_requests_of_its_own_repository() {
    let linked = |number: u64, state: &str, is_fork: bool, head: Value, repository: &str| {
        json!({"number": number, "state": state, "isCrossRepository": is_fork, "headRepository": head,
               "repository": {"nameWithOwner": repository}})
    };
    let head = || json!({"id": "R_1"});
    let nodes = json!([
        linked(1, "OPEN", false, head(), "acme/shop"),
        linked(2, "MERGED", false, head(), "acme/shop"),
        linked(3, "OPEN", true, head(), "acme/shop"),
        linked(4, "OPEN", false, Value::Null, "acme/shop"),
        linked(5, "OPEN", false, head(), "acme/other"),
        linked(6, "OPEN", false, head(), "ACME/shop"),
    ]);
    let answer = json!({"title": " The\nlogin ", "closedByPullRequestsReferences": {"nodes": nodes}});
    let issue = read(json!({"repository": {"issue": answer}})).expect("an issue");
    let hints = hints_of_issue(42, &issue, &repository());
    assert_eq!(hints.linked_prs, [1, 6]);
    assert_eq!((hints.work, hints.description.as_deref()), (Some(Work::Issue(42)), Some("The login")));
}

#[test]
fn a_review_is_asked_for_by_name_or_by_the_first_word() {
    let asked = |text: &str, as_reviewer| Asked {
        text: text.into(),
        place: Spot::Body,
        node_id: "X".into(),
        at: "2026-05-03T10:00:00Z".into(),
        as_reviewer,
        is_anothers: false,
    };
    for (text, as_reviewer, is_review) in [
        ("", true, true),
        ("fix it", true, true),
        ("review", false, true),
        ("  Review: all of it", false, true),
        ("REVIEW, then fix", false, true),
        ("review\nthe tests", false, true),
        ("reviewers?", false, false),
        ("review-apps are down", false, false),
        ("do a review", false, false),
        ("/review", false, false),
        ("", false, false),
    ] {
        let asked = asked(text, as_reviewer);
        let mut heard = Heard {
            repository: "acme/shop".into(),
            number: 9,
            is_pull_request: true,
            sender: Person { id: 7, login: "alice".into(), is_bot: false },
            what: What::Asked(asked.clone()),
        };
        let expected = if is_review { Work::Review(9) } else { Work::PullRequest(9) };
        assert_eq!(work(&heard, Some(&asked)), expected, "{text:?}");
        heard.is_pull_request = false;
        assert_eq!(work(&heard, Some(&asked)), Work::Issue(9), "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_words_of_a_pull_request_make_hints(title in ".*", body in ".*", head in ".*", base in ".*") {
        let hints = hints(&json!({"title": title, "body": body, "headRefName": head, "baseRefName": base}));
        prop_assert!(hints.description.is_none_or(|line| line.chars().count() <= 200 && !line.contains('\n')));
        prop_assert!(hints.pr_branch.is_none_or(|branch| branch.as_str() == head));
    }
}
