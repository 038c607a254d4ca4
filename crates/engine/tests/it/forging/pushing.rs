//! What a push may replace, and what a repository's settings cannot change about it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use hedgerow_core::Kind;
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::branch;

use super::Yard;

fn amend(environment: &hedgerow_core::Environment, message: &str) {
    git(&environment.path, &["commit", "--quiet", "--amend", "-m", message]);
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_branch_may_be_rewritten_until_somebody_else_pushes_to_it() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    commit(&environment.path, "a.txt", "a\n");
    yard.proposes(&environment).await;
    amend(&environment, "Say it better");
    yard.proposes(&environment).await;
    let rewritten = git(&environment.path, &["rev-parse", "HEAD"]);
    assert_eq!(yard.remote("issue-42").map(|sha| sha.to_string()), Some(rewritten));
    let theirs = yard.repo.commit_on_origin("issue-42", "theirs.txt", "theirs\n");
    amend(&environment, "Say it even better");
    let (kind, told) = yard.refuses(&environment).await;
    assert_eq!(kind, Kind::Protected);
    assert!(told.starts_with("`issue-42` was not pushed: `issue-42` has commits there that are not in it"), "{told}");
    assert_eq!(yard.remote("issue-42"), Some(theirs), "what somebody else pushed stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_hedgerow_did_not_make_is_never_rewritten() {
    let yard = Yard::begin().await;
    yard.repo.commit_on_origin("feature", "f.txt", "f\n");
    yard.repo.git(&["fetch", "--quiet", "origin"]);
    yard.repo.git(&["branch", "--quiet", "feature", "origin/feature"]);
    let environment = yard.world.gets(&yard.world.asks_for_branch(&yard.codebase, "feature")).await.environment;
    assert!(!environment.branch_made);
    let pushed = commit(&environment.path, "a.txt", "a\n");
    yard.proposes(&environment).await;
    assert_eq!(yard.world.row(&environment).await.pushed_sha, None, "somebody else began it");
    amend(&environment, "Other words");
    let (kind, told) = yard.refuses(&environment).await;
    assert!(kind == Kind::Protected && told.contains("never rewritten"), "{told}");
    assert_eq!(yard.remote("feature"), Some(pushed));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_pushed_stays_although_we_pushed_on_top_of_it() {
    let yard = Yard::begin().await;
    // A branch that only the remote has: its local one is made by us, and its commits are not.
    yard.repo.commit_on_origin("feature", "f.txt", "f\n");
    let feature = yard.world.gets(&yard.world.asks_for_branch(&yard.codebase, "feature")).await.environment;
    // A branch of ours that somebody pushed to, and that we brought in.
    let issue = yard.issue(42).await;
    commit(&issue.path, "a.txt", "a\n");
    yard.proposes(&issue).await;
    yard.repo.commit_on_origin("issue-42", "theirs.txt", "theirs\n");
    git(&issue.path, &["pull", "--quiet", "--ff-only", "origin", "issue-42"]);
    for environment in [feature, issue] {
        let pushed = commit(&environment.path, "b.txt", "b\n");
        yard.proposes(&environment).await;
        git(&environment.path, &["reset", "--quiet", "--hard", "HEAD~2"]);
        commit(&environment.path, "c.txt", "c\n");
        assert_eq!(yard.refuses(&environment).await.0, Kind::Protected);
        assert_eq!(yard.remote(environment.branch.as_str()), Some(pushed), "{}", environment.branch);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_of_that_name_that_somebody_pushed_is_not_ours_to_replace() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    let theirs = yard.repo.commit_on_origin("issue-42", "theirs.txt", "theirs\n");
    commit(&environment.path, "a.txt", "a\n");
    assert_eq!(yard.refuses(&environment).await.0, Kind::Protected);
    assert_eq!(yard.remote("issue-42"), Some(theirs));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_of_the_remote_is_told_in_its_own_words() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    commit(&environment.path, "a.txt", "a\n");
    let hook = yard.repo.origin().join("hooks/pre-receive");
    write(hook.parent().expect("a folder"), "pre-receive", "#!/bin/sh\necho 'Commits must be signed' >&2\nexit 1\n");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let (kind, told) = yard.refuses(&environment).await;
    assert_eq!(kind, Kind::Protected);
    assert!(told.contains("pre-receive hook declined\nCommits must be signed"), "{told}");
    assert_eq!(yard.world.row(&environment).await.pushed_sha, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repositorys_settings_change_neither_what_is_pushed_nor_where() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    let elsewhere = yard.world.folder().join("elsewhere.git");
    let trap = yard.world.folder().join("trap");
    fs::create_dir_all(&elsewhere).expect("a folder");
    git(&elsewhere, &["init", "--quiet", "--bare"]);
    let away = elsewhere.display().to_string();
    let evil = format!("touch {}; git-receive-pack", trap.display());
    for (key, value) in [
        ("remote.origin.pushurl", away.as_str()),
        ("remote.origin.push", "+refs/heads/*:refs/heads/*"),
        ("remote.origin.mirror", "true"),
        ("push.followTags", "true"),
        ("push.pushOption", "evil"),
        ("push.default", "matching"),
        ("remote.pushDefault", "nowhere"),
        ("branch.issue-42.pushRemote", "nowhere"),
    ] {
        yard.repo.git(&["config", key, value]);
    }
    write(&yard.repo.git_dir().join("hooks"), "pre-push", &format!("#!/bin/sh\ntouch {}\n", trap.display()));
    let hook = yard.repo.git_dir().join("hooks/pre-push");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("it can be run");
    yard.repo.git(&["branch", "private"]);
    yard.repo.git(&["tag", "-m", "x", "v1"]);
    let sha = commit(&environment.path, "a.txt", "a\n");
    yard.proposes(&environment).await;
    assert_eq!(yard.remote("issue-42"), Some(sha));
    assert_eq!(git(&elsewhere, &["for-each-ref"]), "");
    let refs = git(yard.repo.origin(), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/issue-42\nrefs/heads/main");
    assert!(!trap.exists(), "a hook ran");

    // One that runs a program, or leads elsewhere, has to be looked at by a person first.
    commit(&environment.path, "b.txt", "b\n");
    yard.repo.git(&["config", "remote.origin.receivepack", &evil]);
    assert!(yard.refuses(&environment).await.1.contains("`remote.origin.receivepack` was added"));
    yard.repo.git(&["config", "--unset", "remote.origin.receivepack"]);
    yard.repo.git(&["config", &format!("url.{away}.pushInsteadOf"), &yard.repo.origin().display().to_string()]);
    assert_eq!(yard.refuses(&environment).await.0, Kind::Protected);
    assert!(!trap.exists(), "a program ran");
    assert_eq!(git(&elsewhere, &["for-each-ref"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_were_there_from_the_beginning_run_nothing_and_lead_nowhere() {
    let yard = Yard::begin().await;
    let elsewhere = yard.world.folder().join("elsewhere.git");
    let trap = yard.world.folder().join("trap");
    fs::create_dir_all(&elsewhere).expect("a folder");
    git(&elsewhere, &["init", "--quiet", "--bare"]);
    let repo = hedgerow_testkit::TestRepo::with_origin(&yard.world.folder().join("other"), "shop");
    repo.git(&["config", "remote.origin.receivepack", &format!("touch {}; git-receive-pack", trap.display())]);
    let codebase = yard.registers(&repo).await;
    let environment = yard.world.gets(&yard.world.asks_for_branch(&codebase, "work")).await.environment;
    let sha = commit(&environment.path, "a.txt", "a\n");
    yard.proposes(&environment).await;
    assert_eq!(git(repo.origin(), &["rev-parse", "work"]), sha.as_str());
    assert!(!trap.exists(), "a program ran");

    let third = hedgerow_testkit::TestRepo::with_origin(&yard.world.folder().join("third"), "shop");
    let url = third.origin().display().to_string();
    third.git(&["config", &format!("url.{}.pushInsteadOf", elsewhere.display()), &url]);
    let codebase = yard.registers(&third).await;
    let environment = yard.world.gets(&yard.world.asks_for_branch(&codebase, "work")).await.environment;
    assert_eq!(environment.branch, branch("work"));
    commit(&environment.path, "a.txt", "a\n");
    let (kind, told) = yard.refuses(&environment).await;
    assert!(kind == Kind::Protected && told.contains("would send the push elsewhere"), "{told}");
    assert_eq!(git(&elsewhere, &["for-each-ref"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_is_no_longer_the_registered_one_is_not_pushed_to() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    commit(&environment.path, "a.txt", "a\n");
    let elsewhere = yard.world.folder().join("elsewhere.git");
    fs::create_dir_all(&elsewhere).expect("a folder");
    git(&elsewhere, &["init", "--quiet", "--bare"]);
    yard.repo.git(&["remote", "set-url", "origin", &elsewhere.display().to_string()]);
    let (kind, told) = yard.refuses(&environment).await;
    assert!(kind == Kind::Protected && told.contains("no longer `acme/shop`"), "{told}");
    assert_eq!(git(&elsewhere, &["for-each-ref"]), "");
}
