//! What was said about an issue or pull request, as GitHub tells it.

use hedgerow_core::RepositoryName;
use jiff::Timestamp;
use serde::Deserialize;

use crate::github::client::{CallError, Client};
use crate::github::graph::{Nodes, ask};

/// Most pages of comments that are read one after the other.
const MOST_PAGES: usize = 3;
const PAGE: usize = 100;

/// The same of both; the fields of a remark are those of [`Remark`].
macro_rules! query {
    ($name:literal, $thing:literal, $more:literal) => {
        concat!(
            "query ",
            $name,
            "($owner: String!, $name: String!, $number: Int!) {\n  repository(owner: $owner, name: $name) {\n    ",
            $thing,
            "(number: $number) {
      title
      body
      state
      createdAt
      lastEditedAt
      author { login }
      authorAssociation
      labels(first: 20) { nodes { name } }
      timelineItems(last: 20, itemTypes: [RENAMED_TITLE_EVENT]) {
        nodes { ... on RenamedTitleEvent { createdAt previousTitle } }
      }
      comments(last: 100) {
        totalCount
        nodes { id url body author { login } authorAssociation createdAt lastEditedAt isMinimized }
      }",
            $more,
            "\n    }\n  }\n}"
        )
    };
}

const ISSUE: &str = query!("IssueStory", "issue", "");

const PULL_REQUEST: &str = query!(
    "PullRequestStory",
    "pullRequest",
    "
      isDraft
      additions
      deletions
      files(first: 100) { totalCount nodes { path additions deletions } }
      commits(last: 50) { totalCount nodes { commit { abbreviatedOid messageHeadline } } }
      reviews(last: 50) {
        totalCount
        nodes { id url state body author { login } authorAssociation createdAt submittedAt lastEditedAt }
      }
      reviewThreads(last: 50) {
        totalCount
        nodes {
          isResolved
          isOutdated
          path
          line
          originalLine
          comments(last: 30) {
            totalCount
            nodes {
              id url body author { login } authorAssociation createdAt publishedAt lastEditedAt isMinimized
              pullRequestReview { id }
            }
          }
        }
      }"
);

/// An issue or pull request, and all that was said there lately.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Story {
    pub(super) title: String,
    pub(super) body: Option<String>,
    pub(super) state: String,
    pub(super) created_at: String,
    pub(super) last_edited_at: Option<String>,
    pub(super) author: Option<Login>,
    #[serde(default)]
    pub(super) author_association: String,
    pub(super) labels: Option<Nodes<Label>>,
    /// Its other titles, with the times when they were given up.
    pub(super) timeline_items: Option<Nodes<Renamed>>,
    pub(super) comments: Option<Nodes<Remark>>,
    #[serde(default)]
    pub(super) is_draft: bool,
    #[serde(default)]
    pub(super) additions: u64,
    #[serde(default)]
    pub(super) deletions: u64,
    pub(super) files: Option<Nodes<File>>,
    pub(super) commits: Option<Nodes<CommitNode>>,
    pub(super) reviews: Option<Nodes<Remark>>,
    pub(super) review_threads: Option<Nodes<Thread>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Login {
    pub(super) login: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Label {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Renamed {
    pub(super) created_at: String,
    pub(super) previous_title: String,
}

/// A comment, a comment on a line, or a review.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remark {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) body: String,
    pub(super) author: Option<Login>,
    #[serde(default)]
    pub(super) author_association: String,
    pub(super) created_at: String,
    /// When others could see it first: a comment of a review is written earlier than the review is handed in.
    #[serde(alias = "submittedAt")]
    pub(super) published_at: Option<String>,
    pub(super) last_edited_at: Option<String>,
    /// Hidden by somebody who keeps order.
    #[serde(default)]
    pub(super) is_minimized: bool,
    /// What a review says of the pull request.
    pub(super) state: Option<String>,
    pub(super) pull_request_review: Option<Named>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) additions: u64,
    pub(super) deletions: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct CommitNode {
    pub(super) commit: Commit,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Commit {
    pub(super) abbreviated_oid: String,
    pub(super) message_headline: String,
}

/// What was said about a line of a file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    #[serde(default)]
    pub(super) is_resolved: bool,
    #[serde(default)]
    pub(super) is_outdated: bool,
    pub(super) path: String,
    pub(super) line: Option<u64>,
    pub(super) original_line: Option<u64>,
    pub(super) comments: Option<Nodes<Remark>>,
}

/// The line that a comment is about, as REST tells it.
#[derive(Debug, Deserialize)]
pub(super) struct Commented {
    pub(super) path: String,
    pub(super) line: Option<u64>,
    pub(super) original_line: Option<u64>,
    #[serde(default)]
    pub(super) diff_hunk: String,
}

/// An issue or pull request as REST tells it.
#[derive(Debug, Deserialize)]
struct IssueAnswer {
    title: String,
    body: Option<String>,
    state: String,
    user: Option<Login>,
    #[serde(default)]
    author_association: String,
    #[serde(default)]
    labels: Vec<Label>,
    created_at: String,
    updated_at: String,
    #[serde(default)]
    comments: usize,
}

#[derive(Debug, Deserialize)]
struct CommentAnswer {
    node_id: String,
    html_url: String,
    body: Option<String>,
    user: Option<Login>,
    #[serde(default)]
    author_association: String,
    created_at: String,
    updated_at: String,
}

impl From<CommentAnswer> for Remark {
    fn from(answer: CommentAnswer) -> Self {
        let last_edited_at = (answer.updated_at != answer.created_at).then_some(answer.updated_at);
        Self {
            id: answer.node_id,
            url: answer.html_url,
            body: answer.body.unwrap_or_default(),
            author: answer.user,
            author_association: answer.author_association,
            created_at: answer.created_at,
            published_at: None,
            last_edited_at,
            is_minimized: false,
            state: None,
            pull_request_review: None,
        }
    }
}

impl Story {
    /// Here GitHub does not tell when the text was changed, only that something was: it counts as changed then.
    fn of_answers(issue: IssueAnswer, comments: Vec<CommentAnswer>) -> Self {
        let mut remarks = Nodes::of(comments.into_iter().map(Remark::from).collect());
        remarks.total_count = remarks.total_count.max(issue.comments);
        Self {
            title: issue.title,
            body: issue.body,
            state: issue.state,
            last_edited_at: (issue.updated_at != issue.created_at).then_some(issue.updated_at),
            created_at: issue.created_at,
            author: issue.user,
            author_association: issue.author_association,
            labels: Some(Nodes::of(issue.labels)),
            timeline_items: None,
            comments: Some(remarks),
            is_draft: false,
            additions: 0,
            deletions: 0,
            files: None,
            commits: None,
            reviews: None,
            review_threads: None,
        }
    }
}

/// When something was, if that can be read.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// In one call; should that fail, the least of it in two others.
pub(super) async fn fetch_story(
    client: &Client,
    repository: &RepositoryName,
    number: u64,
    is_pull_request: bool,
) -> Result<Story, CallError> {
    let query = if is_pull_request { PULL_REQUEST } else { ISSUE };
    let error = match ask(client, repository, number, query).await {
        Ok(story) => return Ok(story),
        Err(error) => error,
    };
    tracing::warn!(%repository, number, %error, "only the text and the comments are read");
    let issue: IssueAnswer = client.get(repository, &format!("/issues/{number}")).await?;
    // The newest: a list begins with the oldest.
    let page = (issue.comments.div_ceil(PAGE) + 1).saturating_sub(MOST_PAGES).max(1);
    let path = format!("/issues/{number}/comments?per_page={PAGE}&page={page}");
    let comments = client.list(repository, &path, MOST_PAGES * PAGE).await?;
    Ok(Story::of_answers(issue, comments))
}

/// The line that a comment of a review is about.
pub(super) async fn fetch_line(
    client: &Client,
    repository: &RepositoryName,
    comment: u64,
) -> Result<Commented, CallError> {
    client.get(repository, &format!("/pulls/comments/{comment}")).await
}
