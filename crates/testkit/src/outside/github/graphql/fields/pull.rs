//! Pull requests.

use serde_json::{Value, json};

use super::{issue, shown};
use crate::outside::github::git::bare;
use crate::outside::github::graphql::thing::{Found, Thing, list, maybe, thing, value};
use crate::outside::github::state::{Pull, World, written};

pub(super) fn field(world: &World, id: u64, number: u64, name: &str, arguments: &Value) -> Found {
    let it = world.issue(id, number);
    let pull = it.pull();
    let path = &world.repository(id).path;
    match name {
        "databaseId" | "fullDatabaseId" => value(pull.id),
        "permalink" => shown(&world.show_issue(id, number), "html_url"),
        "headRefName" => value(pull.head_branch.clone()),
        "headRefOid" => value(pull.head.clone()),
        "headRepository" => maybe(pull.head_repository.map(Thing::Repository)),
        "headRepositoryOwner" => maybe(
            pull.head_repository
                .map(|head| Thing::Plain("RepositoryOwner", json!({"login": world.repository(head).owner}))),
        ),
        "headRef" => {
            let found = pull.head_repository.and_then(|head| {
                let full = format!("refs/heads/{}", pull.head_branch);
                bare::rev(&world.repository(head).path, &full).map(|_| Thing::Ref(head, full))
            });
            maybe(found)
        }
        "baseRefName" => value(pull.base_branch.clone()),
        "baseRefOid" => value(pull.base.clone()),
        "baseRef" => thing(Thing::Ref(id, format!("refs/heads/{}", pull.base_branch))),
        "baseRepository" => thing(Thing::Repository(id)),
        "isCrossRepository" | "maintainerCanModify" => value(pull.head_repository != Some(id)),
        "isDraft" => value(pull.is_draft),
        "merged" => value(it.is_merged()),
        "mergedAt" => value(pull.merge.as_ref().map_or(Value::Null, |merge| json!(written(merge.at)))),
        "mergedBy" => maybe(pull.merge.as_ref().map(|merge| Thing::Actor(merge.by))),
        "mergeCommit" => maybe(pull.merge.as_ref().map(|merge| Thing::Commit(id, merge.sha.clone()))),
        "mergeable" => value(if it.is_open { "MERGEABLE" } else { "UNKNOWN" }),
        "additions" | "deletions" | "changedFiles" => {
            let key = if name == "changedFiles" { "changed_files" } else { name };
            shown(&world.show_whole_pull(id, number), key)
        }
        "files" => {
            let files = bare::files(path, &pull.base, &pull.head);
            list(files.iter().map(show_file), arguments)
        }
        "commits" => {
            let commits = bare::between(path, &pull.base, &pull.head);
            list(commits.into_iter().map(|sha| Thing::PullCommit(id, sha)), arguments)
        }
        "statusCheckRollup" => super::checks::rollup(world, id, &pull.head),
        "reviews" | "latestReviews" => {
            list(pull.reviews.iter().map(|review| Thing::Review(id, number, review.id)), arguments)
        }
        "reviewThreads" => list(pull.threads.iter().map(|thread| Thing::Thread(id, number, thread.id)), arguments),
        "reviewRequests" => list(pull.reviewers.iter().map(|user| Thing::ReviewRequest(*user)), arguments),
        "reviewDecision" => value(decision(pull)),
        "closingIssuesReferences" => {
            let issues = world.closing_issues(id, number);
            list(issues.into_iter().map(|issue| Thing::Issue(id, issue)), arguments)
        }
        _ => issue::common(world, id, number, name, arguments),
    }
}

fn decision(pull: &Pull) -> Value {
    let verdict = pull.reviews.iter().rev().find(|review| review.state != "COMMENTED");
    verdict.map_or(Value::Null, |review| json!(review.state))
}

fn show_file(file: &Value) -> Thing {
    let change = match file["status"].as_str() {
        Some("removed") => "DELETED".to_owned(),
        status => status.unwrap_or_default().to_ascii_uppercase(),
    };
    let fields = json!({
        "path": file["filename"], "additions": file["additions"], "deletions": file["deletions"], "changeType": change,
    });
    Thing::Plain("PullRequestChangedFile", fields)
}
