//! `/worktree pr`: a new pull request, more commits for one, and what is refused.

use hedgerow_core::platform::WorkState;
use hedgerow_core::provider::Pushed;
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::World;
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::{alice, branch};

use super::{SHOP, Yard};

#[tokio::test(flavor = "multi_thread")]
async fn commits_become_a_pull_request_that_fixes_the_issue_and_the_next_ones_go_into_it() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    let first = commit(&environment.path, "login.txt", "fixed\n");
    let (proposed, told) = yard.proposes(&environment).await;
    assert!(proposed.is_new);
    assert_eq!(told, "Opened pull request #101: https://forge.example/acme/shop/pull/101");
    assert_eq!(yard.remote("issue-42").as_ref(), Some(&first));
    let drafts = yard.board.drafts();
    assert_eq!((drafts[0].head.as_str(), drafts[0].base.as_str()), ("issue-42", "main"));
    assert_eq!(drafts[0].title, "Change login.txt");
    assert!(
        drafts[0].body.contains("\nFixes #42\n") && drafts[0].body.contains("terminal:alice"),
        "{}",
        drafts[0].body
    );

    let row = yard.world.row(&environment).await;
    assert_eq!(row.pushed_sha.as_ref(), Some(&first));
    assert_eq!(row.pr.as_ref().map(|pr| (pr.number, pr.state.as_deref())), Some((101, Some("open"))));
    assert_eq!(row.works.iter().map(|work| work.name.as_str()).collect::<Vec<_>>(), ["issue-42", "pr-101"]);
    let reused = yard.world.environment(&yard.codebase, Work::PullRequest(101)).await;
    assert_eq!(reused.id, environment.id, "the conversation of the pull request works here");

    commit(&environment.path, "a.txt", "a\n");
    let third = commit(&environment.path, "b.txt", "b\n");
    write(&environment.path, "half.txt", "half\n");
    let (_, told) = yard.proposes(&environment).await;
    assert_eq!(
        told,
        "Pushed 2 commits to #101: https://forge.example/acme/shop/pull/101\n\
         • `issue-42` has uncommitted changes, which are not in it"
    );
    assert_eq!(yard.remote("issue-42").as_ref(), Some(&third));
    assert_eq!(yard.repo.rev("refs/remotes/origin/issue-42").as_ref(), Some(&third), "as after a fetch");
    let (again, told) = yard.proposes(&environment).await;
    assert_eq!(again.pushed, Pushed::UpToDate);
    assert!(told.starts_with("#101 has every commit already"), "{told}");
    assert_eq!(yard.board.drafts().len(), 1, "one pull request, however often it is asked for");
    let events = yard.world.engine.store().events_of(environment.id).await.expect("the store answers");
    let what: Vec<&str> = events.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(what.iter().filter(|what| **what == "branch-pushed").count(), 2, "{what:?}");
    assert_eq!(what.iter().filter(|what| **what == "pull-request-opened").count(), 1, "{what:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_is_never_pushed_and_neither_is_a_review() {
    let yard = Yard::begin().await;
    let sha = yard.repo.pull_request_from_fork(7, "evil.txt", "evil\n");
    let fork = yard.world.gets(&yard.world.asks_for_fork(&yard.codebase, 7, Some(&sha))).await.environment;
    commit(&fork.path, "more.txt", "more\n");
    let refs = git(yard.repo.origin(), &["for-each-ref"]);
    assert_eq!(
        yard.refuses(&fork).await,
        (
            Kind::Protected,
            "a fork's pull request is only read here\nhint: its author pushes to it from their own repository"
                .to_owned()
        )
    );
    let head = yard.repo.commit_on_origin("feature", "f.txt", "f\n");
    let mut request = yard.world.asks(&yard.codebase, Work::Review(8));
    request.hints.pr_head = Some(head);
    request.hints.pr_branch = Some(branch("feature"));
    let review = yard.world.gets(&request).await.environment;
    let (kind, told) = yard.refuses(&review).await;
    assert!(kind == Kind::Protected && told.contains("holds a review"), "{told}");
    git(yard.repo.origin(), &["update-ref", "-d", "refs/heads/feature"]);
    assert_eq!(git(yard.repo.origin(), &["for-each-ref"]), refs, "nothing went there");
    assert!(yard.board.drafts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn there_must_be_something_to_open_and_a_forge_to_open_it_on() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    let (kind, told) = yard.refuses(&environment).await;
    assert_eq!(kind, Kind::NotFound);
    assert!(told.starts_with("there is nothing to open: `issue-42` has no commit that `main` lacks"), "{told}");
    write(&environment.path, "half.txt", "half\n");
    assert!(yard.refuses(&environment).await.1.ends_with("hint: commit the changes in it first"));

    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let environment = world.environment(&codebase, Work::Issue(1)).await;
    commit(&environment.path, "a.txt", "a\n");
    let failure = world.engine.propose(&environment, &alice()).await.expect_err("there is no forge");
    let told = hedgerow_testkit::world::words(&failure);
    assert!(told.contains("on no forge") && told.contains("`git push --set-upstream origin issue-1`"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_made_is_pushed_from_where_it_is() {
    let yard = Yard::begin().await;
    yard.repo.commit_on_origin("feature", "f.txt", "f\n");
    yard.repo.git(&["fetch", "--quiet", "origin"]);
    let theirs = yard.world.folder().join("theirs");
    yard.repo.git(&[
        "worktree",
        "add",
        "--quiet",
        "--no-track",
        "-b",
        "feature",
        &theirs.to_string_lossy(),
        "origin/feature",
    ]);
    let environment = yard.world.gets(&yard.world.asks_for_branch(&yard.codebase, "feature")).await.environment;
    assert!(environment.is_adopted() && environment.base.is_none());
    let more = commit(&environment.path, "more.txt", "more\n");
    let (proposed, _) = yard.proposes(&environment).await;
    assert!(proposed.is_new);
    assert_eq!(yard.remote("feature").as_ref(), Some(&more));
    assert_eq!(yard.board.drafts()[0].base.as_str(), "main");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_work_from_is_not_pushed_to() {
    let yard = Yard::begin().await;
    yard.repo.git(&["switch", "--quiet", "--detach"]);
    yard.repo.commit_on_origin("develop", "d.txt", "d\n");
    let mut request = yard.world.asks_for_branch(&yard.codebase, "main");
    request.hints.base_branch = Some(branch("develop"));
    let environment = yard.world.gets(&request).await.environment;
    let before = yard.remote("main");
    commit(&environment.path, "a.txt", "a\n");
    let (kind, told) = yard.refuses(&environment).await;
    assert!(kind == Kind::Protected && told.contains("others work from"), "{told}");
    assert_eq!(yard.remote("main"), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_checkout_holds_the_head_branch_and_a_push_updates_the_pull_request() {
    let yard = Yard::begin().await;
    yard.repo.git(&["switch", "--quiet", "-c", "feature/auth"]);
    let begun = yard.repo.commit("auth.txt", "begun\n");
    yard.repo.push("feature/auth");
    yard.world.gets(&yard.world.asks(&yard.codebase, Work::Issue(1))).await;
    yard.board.set_pull_request(SHOP, 99, "feature/auth", WorkState::Open);
    let environment = yard.world.gets(&yard.world.asks_for_pr(&yard.codebase, 99, "feature/auth")).await.environment;
    assert_eq!(environment.branch.as_str(), "pr-99");
    let own = commit(&environment.path, "auth.txt", "done\n");
    let (_, told) = yard.proposes(&environment).await;
    assert_eq!(told, "Pushed 1 commit to #99: https://forge.example/acme/shop/pull/99");
    assert_eq!(yard.remote("feature/auth").as_ref(), Some(&own));
    assert_eq!(yard.remote("pr-99"), None);
    assert_eq!(yard.repo.rev("feature/auth").as_ref(), Some(&begun), "the person's own branch");

    // What the repository's settings say is only believed where the forge says the same.
    yard.repo.git(&["push", "--quiet", "origin", "main:release"]);
    let release = yard.remote("release");
    yard.repo.git(&["config", "branch.pr-99.merge", "refs/heads/release"]);
    commit(&environment.path, "auth.txt", "more\n");
    yard.proposes(&environment).await;
    assert_eq!(yard.remote("release"), release);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_opens_no_second_one_and_a_silent_forge_is_told() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    let sha = commit(&environment.path, "a.txt", "a\n");
    yard.board.loses_an_answer();
    let (proposed, _) = yard.proposes(&environment).await;
    assert_eq!((proposed.pr.number, yard.board.drafts().len()), (101, 1));
    let other = yard.issue(43).await;
    commit(&other.path, "a.txt", "a\n");
    yard.board.fails(u32::MAX);
    let (kind, told) = yard.refuses(&other).await;
    assert!(kind == Kind::Failed && told.contains("nobody is there") && told.contains("issue-43"), "{told}");
    yard.board.fails(0);
    let (proposed, _) = yard.proposes(&other).await;
    assert!(proposed.is_new && proposed.pushed == Pushed::UpToDate);
    assert_eq!(yard.remote("issue-42"), Some(sha));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_at_work_in_it_comes_first() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    commit(&environment.path, "a.txt", "a\n");
    let now = yard.world.engine.store_now().await.expect("the store answers");
    let taken = yard.world.engine.store().take_lease(environment.id, "elsewhere:1", now, 600).await;
    taken.expect("the store answers").expect("it is free");
    assert_eq!(yard.refuses(&environment).await.0, Kind::Busy);
    assert_eq!(yard.remote("issue-42"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_branch_or_none_in_its_folder_is_not_pushed() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    commit(&environment.path, "a.txt", "a\n");
    git(&environment.path, &["switch", "--quiet", "-c", "elsewhere"]);
    let (kind, told) = yard.refuses(&environment).await;
    assert!(kind == Kind::Protected && told.contains("it is on `elsewhere`"), "{told}");
    git(&environment.path, &["switch", "--quiet", "--detach"]);
    assert!(yard.refuses(&environment).await.1.contains("it is on no branch"));
    assert_eq!((yard.remote("issue-42"), yard.remote("elsewhere")), (None, None));
}
