//! GraphQL: what is selected, and nothing else.

use hedgerow_testkit::outside::github::{GitHub, Role};
use serde_json::json;

use crate::caller::caller;

const STORY: &str = "
query Story($owner: String!, $name: String!, $number: Int!, $count: Int = 2) {
  repository(owner: $owner, name: $name) {
    id
    pull: pullRequest(number: $number) {
      ...Words
      headRefName headRefOid isCrossRepository headRepository { nameWithOwner }
      closingIssuesReferences(first: 10) { nodes { number title } }
      commits(last: 1) { nodes { commit { oid statusCheckRollup { state contexts(first: 9) {
        nodes { __typename ... on CheckRun { name conclusion } ... on StatusContext { context state } } } } } } }
      reviewThreads(first: 10) { nodes { isResolved isOutdated path line comments(first: 5) {
        nodes { body replyTo { databaseId } author { login ... on User { databaseId } } } } } }
      files(first: 5) { totalCount nodes { path changeType additions } }
    }
  }
}
fragment Words on PullRequest {
  title state
  comments(last: $count) { totalCount pageInfo { hasPreviousPage startCursor } nodes { body viewerDidAuthor } }
}";

#[tokio::test]
async fn a_pull_request_is_told_as_it_is_selected() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("hedgerow", Role::Write);
    repo.issue(42).titled("The login fails").opened_by("alice").await;
    let pull = repo.pull_request(99).from_fork("mallory").fixes(42).titled("Fix it").by("mallory").await;
    let first = pull.review_comment("alice", "change-99.txt", 1, "why?").await;
    pull.answers("mallory", first, "because").await;
    for text in ["one", "two", "three"] {
        pull.says("hedgerow", text).await;
    }
    pull.checks(Some("success")).await;
    repo.status(&pull.head(), "lint", Some("failure")).await;
    let bot = caller(&github, &github.token_of("hedgerow"));
    let (data, errors) = bot.asks(STORY, json!({"owner": "acme", "name": "shop", "number": 99})).await;
    assert!(errors.is_null(), "{errors}");
    let shown = &data["repository"]["pull"];
    assert_eq!((shown["title"].as_str(), shown["state"].as_str()), (Some("Fix it"), Some("OPEN")));
    assert_eq!(shown["isCrossRepository"], true);
    assert_eq!(shown["headRepository"], json!({"nameWithOwner": "mallory/shop"}));
    assert_eq!(shown["headRefOid"], pull.head().as_str());
    assert_eq!(shown["closingIssuesReferences"]["nodes"], json!([{"number": 42, "title": "The login fails"}]));
    let comments = &shown["comments"];
    assert_eq!(
        (comments["totalCount"].as_u64(), comments["pageInfo"]["hasPreviousPage"].as_bool()),
        (Some(3), Some(true))
    );
    assert_eq!(
        comments["nodes"],
        json!([{"body": "two", "viewerDidAuthor": true}, {"body": "three", "viewerDidAuthor": true}])
    );
    let rollup = &shown["commits"]["nodes"][0]["commit"]["statusCheckRollup"];
    assert_eq!(rollup["state"], "FAILURE");
    assert_eq!(
        rollup["contexts"]["nodes"],
        json!([
            {"__typename": "CheckRun", "name": "build", "conclusion": "SUCCESS"},
            {"__typename": "StatusContext", "context": "lint", "state": "FAILURE"},
        ])
    );
    let thread = &shown["reviewThreads"]["nodes"][0];
    assert_eq!((thread["line"].as_u64(), thread["isOutdated"].as_bool()), (Some(1), Some(false)));
    let said = thread["comments"]["nodes"].as_array().expect("comments");
    assert_eq!((said[1]["body"].as_str(), said[1]["replyTo"]["databaseId"].as_u64()), (Some("because"), Some(first.0)));
    assert_eq!(said[0]["author"], json!({"login": "alice", "databaseId": github.user_id("alice")}));
    assert_eq!(shown["files"]["nodes"][0], json!({"path": "change-99.txt", "changeType": "ADDED", "additions": 1}));
}

#[tokio::test]
async fn an_issue_knows_who_would_close_it_and_takes_a_reaction() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("hedgerow", Role::Write);
    let issue = repo.issue(42).opened_by("alice").await;
    let asked = issue.says("alice", "@hedgerow fix it").await;
    let pull = repo.pull_request(99).linked_to(42).by("bob").await;
    let bot = caller(&github, &github.token_of("hedgerow"));
    let query = "query($n: Int!) { viewer { login } repository(owner: \"acme\", name: \"shop\") {
        issueOrPullRequest(number: $n) { __typename ... on Issue {
            closedByPullRequestsReferences(first: 5) { nodes { number } } comments(last: 5) { nodes { id } } } } } }";
    let (data, _) = bot.asks(query, json!({"n": 42})).await;
    assert_eq!(data["viewer"]["login"], "hedgerow");
    let shown = &data["repository"]["issueOrPullRequest"];
    assert_eq!(shown["closedByPullRequestsReferences"]["nodes"], json!([{"number": 99}]));
    assert_eq!(shown["comments"]["nodes"][0]["id"], asked.node_id());
    pull.closes("bob").await;
    let (data, _) = bot.asks(query, json!({"n": 42})).await;
    assert_eq!(data["repository"]["issueOrPullRequest"]["closedByPullRequestsReferences"]["nodes"], json!([]));
    let react = "mutation($subject: ID!, $content: ReactionContent!) {
        addReaction(input: {subjectId: $subject, content: $content}) { clientMutationId reaction { content } } }";
    for content in ["EYES", "ROCKET", "EYES"] {
        let (data, errors) = bot.asks(react, json!({"subject": asked.node_id(), "content": content})).await;
        assert_eq!(data["addReaction"]["reaction"]["content"], content, "{errors}");
    }
    assert_eq!(issue.reactions_of(asked), ["eyes", "rocket"]);
    bot.asks(react, json!({"subject": issue.node_id(), "content": "THUMBS_UP"})).await;
    assert_eq!(issue.own_reactions(), ["+1"]);
}

#[tokio::test]
async fn what_is_not_there_is_null_and_what_cannot_be_asked_is_a_fault() {
    let github = GitHub::start().await;
    github.repository("acme/shop");
    let bot = caller(&github, &github.token_of("hedgerow"));
    let (data, errors) =
        bot.asks("{ repository(owner: \"acme\", name: \"shop\") { name issue(number: 5) { id } } }", json!({})).await;
    assert_eq!(data["repository"], json!({"name": "shop", "issue": null}));
    assert_eq!((errors[0]["type"].as_str(), &errors[0]["path"]), (Some("NOT_FOUND"), &json!(["repository", "issue"])));
    github.must_be_content();
    let wrong = [
        "{ repository(owner: \"acme\", name: \"shop\") { nonsense } }",
        "{ repository(owner: \"acme\", name: \"shop\") }",
        "{ viewer { login { more } } }",
        "query($a: Int!) { viewer { login } }",
        "{ repository(owner: $who, name: \"shop\") { id } }",
        "mutation { deleteEverything(input: {}) { clientMutationId } }",
        "{ viewer { login }",
    ];
    for query in wrong {
        let (data, errors) = bot.asks(query, json!({})).await;
        assert!(data.is_null() && errors.is_array(), "{query}: {data}");
    }
    assert_eq!(github.forgives().len(), wrong.len());
    // A list without a size is an error, as at GitHub.
    let (_, errors) =
        bot.asks("{ repository(owner: \"acme\", name: \"shop\") { issues { nodes { id } } } }", json!({})).await;
    assert_eq!(errors[0]["type"], "MISSING_PAGINATION_BOUNDARIES");
}
