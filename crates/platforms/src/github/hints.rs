//! What GitHub knows that helps to choose the environment of an issue or pull request.
//!
//! Of a pull request its head and whether it is a fork's must be known: a stranger's commits are treated otherwise. All
//! else is left out when it cannot be had.

use hedgerow_core::{BranchName, CommitSha, Hints, RepositoryName, Work};
use serde::Deserialize;

use super::client::{CallError, Client};
use super::graph::{Nodes, ask, each};
use super::heard::{Asked, Heard};
use super::links::{MOST_LINKS, closing_words};
use super::pulls::Told;
use super::text::one_line;

/// Longest description of an environment.
const LONGEST_DESCRIPTION: usize = 200;

const PULL_REQUEST: &str = "
query PullRequestHints($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      title
      body
      headRefName
      headRefOid
      isCrossRepository
      headRepository { id }
      baseRepository { id }
      baseRefName
      closingIssuesReferences(first: 20) { nodes { number repository { nameWithOwner } } }
    }
  }
}";

const ISSUE: &str = "
query IssueHints($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    issue(number: $number) {
      title
      closedByPullRequestsReferences(first: 20, includeClosedPrs: false) {
        nodes { number state isCrossRepository headRepository { id } repository { nameWithOwner } }
      }
    }
  }
}";

/// A pull request as GraphQL tells it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequestNode {
    title: String,
    body: Option<String>,
    head_ref_name: String,
    head_ref_oid: String,
    is_cross_repository: bool,
    head_repository: Option<RepositoryNode>,
    base_repository: Option<RepositoryNode>,
    base_ref_name: String,
    closing_issues_references: Option<Nodes<Linked>>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct RepositoryNode {
    id: String,
}

#[derive(Debug, Deserialize)]
struct IssueNode {
    title: String,
    #[serde(rename = "closedByPullRequestsReferences")]
    closed_by: Option<Nodes<Linked>>,
}

/// The other end of a link: an issue that is closed, or a pull request that closes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Linked {
    number: u64,
    repository: NamedRepository,
    state: Option<String>,
    #[serde(default)]
    is_cross_repository: bool,
    head_repository: Option<RepositoryNode>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedRepository {
    name_with_owner: String,
}

impl Linked {
    fn is_in(&self, repository: &RepositoryName) -> bool {
        self.repository.name_with_owner.parse() == Ok(repository.clone())
    }

    /// Open, and of this repository. A fork's pull request shares nothing, so it is no link.
    fn can_share(&self) -> bool {
        self.state.as_deref() == Some("OPEN") && !self.is_cross_repository && self.head_repository.is_some()
    }
}

/// What matters of a pull request, whichever way it was told.
struct Facts {
    title: String,
    body: String,
    head_branch: String,
    head: String,
    is_fork: bool,
    base_branch: String,
    closes: Vec<u64>,
}

impl Facts {
    fn of_node(node: PullRequestNode, repository: &RepositoryName) -> Self {
        let closes = each(node.closing_issues_references.as_ref()).filter(|issue| issue.is_in(repository));
        let closes = closes.map(|issue| issue.number).collect();
        let is_fork =
            node.is_cross_repository || node.head_repository.is_none() || node.head_repository != node.base_repository;
        Self {
            title: node.title,
            body: node.body.unwrap_or_default(),
            head_branch: node.head_ref_name,
            head: node.head_ref_oid,
            is_fork,
            base_branch: node.base_ref_name,
            closes,
        }
    }

    fn of_told(told: Told) -> Self {
        Self {
            is_fork: told.is_fork(),
            title: told.title,
            body: told.body.unwrap_or_default(),
            head_branch: told.head.branch,
            head: told.head.sha,
            base_branch: told.base.branch,
            closes: Vec::new(),
        }
    }

    fn hints(self, work: Work, repository: &RepositoryName, web_url: &str) -> Hints {
        let mut linked_issues = self.closes;
        for number in closing_words(&self.body, repository, web_url) {
            if !linked_issues.contains(&number) {
                linked_issues.push(number);
            }
        }
        linked_issues.truncate(MOST_LINKS);
        Hints {
            work: Some(work),
            pr_branch: BranchName::parse(&self.head_branch).ok(),
            pr_head: CommitSha::parse(&self.head).ok(),
            is_fork: self.is_fork,
            linked_issues,
            base_branch: BranchName::parse(&self.base_branch).ok(),
            description: description(&self.title),
            ..Hints::default()
        }
    }
}

fn description(title: &str) -> Option<String> {
    Some(one_line(title, LONGEST_DESCRIPTION)).filter(|title| !title.is_empty())
}

fn hints_of_issue(number: u64, node: &IssueNode, repository: &RepositoryName) -> Hints {
    let links = each(node.closed_by.as_ref()).filter(|link| link.is_in(repository) && link.can_share());
    Hints {
        work: Some(Work::Issue(number)),
        linked_prs: links.map(|link| link.number).take(MOST_LINKS).collect(),
        description: description(&node.title),
        ..Hints::default()
    }
}

/// What is being worked on.
pub(super) fn work(heard: &Heard, asked: Option<&Asked>) -> Work {
    let is_review = asked.is_some_and(|asked| asked.as_reviewer || asks_for_review(&asked.text));
    match (heard.is_pull_request, is_review) {
        (true, true) => Work::Review(heard.number),
        (true, false) => Work::PullRequest(heard.number),
        (false, _) => Work::Issue(heard.number),
    }
}

/// Whether a text begins with the word.
fn asks_for_review(text: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.trim_start().split(|c| !is_inside(c)).next().is_some_and(|word| word.eq_ignore_ascii_case("review"))
}

/// What is known of a pull request. An error when nobody tells where its head is: what is a stranger's is not guessed.
pub(super) async fn of_pull_request(
    client: &Client,
    web_url: &str,
    repository: &RepositoryName,
    number: u64,
    work: Work,
) -> Result<Hints, CallError> {
    let facts = match ask(client, repository, number, PULL_REQUEST).await {
        Ok(node) => Facts::of_node(node, repository),
        Err(error) => {
            tracing::warn!(%repository, number, %error, "linked issues are not known");
            Facts::of_told(client.get(repository, &format!("/pulls/{number}")).await?)
        }
    };
    Ok(facts.hints(work, repository, web_url))
}

/// What is known of an issue; at least its number.
pub(super) async fn of_issue(client: &Client, repository: &RepositoryName, number: u64) -> Hints {
    match ask(client, repository, number, ISSUE).await {
        Ok(node) => hints_of_issue(number, &node, repository),
        Err(error) => {
            tracing::warn!(%repository, number, %error, "linked pull requests are not known");
            Hints { work: Some(Work::Issue(number)), ..Hints::default() }
        }
    }
}

#[cfg(test)]
mod tests;
