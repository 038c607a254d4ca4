//! Which environment a conversation works in.

use hedgerow_core::platform::{Checks, PlatformKind};
use hedgerow_core::run::SessionEnd;
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::{Board, World};

use super::Room;

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_on_a_named_branch_keeps_the_session() {
    let room = Room::begin().await;
    room.repo.commit_on_origin("develop", "dev.txt", "x\n");
    let bob = room.bob();
    let first = bob.works_on(Work::Issue(42)).await;
    bob.has_session("claude").await;
    assert_eq!(
        bob.says("/worktree create feature/auth --base develop").await,
        "Working in isolated branch `feature/auth`"
    );
    let made = room.row("feature/auth").await;
    assert!(made.path.join("dev.txt").exists());
    assert_eq!(made.created_by, bob.by);
    assert_eq!(bob.conversation().await.environment, Some(made.id));
    assert_eq!(bob.session().await.expect("it goes on").environment, Some(made.id));
    assert_ne!(first.id, made.id);
    assert_eq!(bob.says("/worktree create feature/auth").await, "Reusing worktree `task-feature/auth`");
    let (kind, told) = bob.refused("/worktree create other --base nowhere").await;
    assert_eq!(kind, Kind::NotFound);
    assert!(
        told.starts_with("Failed to create isolated worktree for branch `other`. There is no branch `nowhere`"),
        "{told}"
    );
    assert_eq!(bob.conversation().await.environment, Some(made.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_marks_the_present_one() {
    let room = Room::begin().await;
    let bob = room.bob();
    assert_eq!(
        bob.says("/worktree list").await,
        "`shop` has no environments yet. `/worktree create <branch>` makes one."
    );
    let issue = bob.works_on(Work::Issue(42)).await;
    write(&issue.path, "new.txt", "x");
    bob.says("/worktree keep").await;
    bob.says("/worktree create feature/auth").await;
    commit(&room.row("feature/auth").await.path, "a.txt", "x");
    let gone = bob.works_on_aside("gone").await;
    std::fs::remove_dir_all(&gone.path).expect("it is deleted by hand");
    assert_eq!(
        bob.says("/worktree list").await,
        "3 environments of `shop`:\n\
         • `issue-42`: active, kept, 1 untracked, just now\n\
         • `task-feature/auth` on `feature/auth`: active, clean, ↑1, just now ← active\n\
         • `task-gone` on `gone`: active, gone from disk, just now"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_present_one_is_removed_and_brought_back() {
    let room = Room::begin().await;
    let bob = room.bob();
    bob.says("/worktree create x").await;
    let made = room.row("x").await;
    bob.has_session("claude").await;
    write(&made.path, "new.txt", "x");
    assert_eq!(
        bob.refused("/worktree remove").await,
        (
            Kind::Protected,
            "Cannot remove worktree - you have uncommitted changes.\n• commit them (1 untracked)\n• discard them\n\
             • use `--force`: it moves the worktree to the trash and can be undone"
                .to_owned()
        )
    );
    assert_eq!(bob.conversation().await.environment, Some(made.id));
    assert!(bob.session().await.is_some());
    assert_eq!(
        bob.says("/worktree remove --force").await,
        "Moved `task-x` to the trash and deleted its branch `x`\nUndo: `/worktree restore task-x`"
    );
    assert_eq!(bob.conversation().await.environment, None);
    assert_eq!(bob.last_end().await, Some(SessionEnd::Removed));
    assert_eq!(bob.says("/worktree restore").await, "Restored `task-x` as it was on 3 May");
    assert_eq!(bob.conversation().await.environment, Some(made.id));
    assert!(made.path.join("new.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_another_one_leaves_the_session_alone() {
    let room = Room::begin().await;
    let bob = room.bob();
    bob.works_on(Work::Issue(42)).await;
    bob.has_session("claude").await;
    bob.works_on_aside("x").await;
    bob.says("/worktree remove x").await;
    assert!(bob.session().await.is_some() && bob.conversation().await.environment.is_some());
    assert_eq!(
        bob.refused("/worktree remove nobody").await,
        (Kind::NotFound, "`shop` has no environment `nobody`\n• there are: issue-42".to_owned())
    );
    assert_eq!(
        bob.refused("/worktree remove x").await.1.lines().nth(1),
        Some("• it is in the trash: `/worktree restore x`")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_another_conversation_uses_stays() {
    let room = Room::begin().await;
    let bob = room.bob();
    bob.works_on(Work::Issue(42)).await;
    room.chat(PlatformKind::Slack, "C1:200", "carol").says("/worktree link issue-42").await;
    assert_eq!(
        bob.refused("/worktree remove").await.1.lines().next(),
        Some("Cannot remove worktree - it is still used by slack:C1:200.")
    );
    let carol = room.chat(PlatformKind::Slack, "C1:200", "carol");
    carol.has_session("claude").await;
    bob.says("/worktree remove --force").await;
    assert_eq!(carol.conversation().await.environment, None);
    assert_eq!(carol.last_end().await, Some(SessionEnd::Removed), "it was hers as well");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_changed_while_a_run_is_on() {
    let room = Room::begin().await;
    let bob = room.bob();
    let environment = bob.works_on(Work::Issue(42)).await;
    bob.has_run().await;
    let busy = "`issue-42` is busy: `claude` is at work in it for slack:bob\n\
                • wait until that is done, or stop it: `/stop`";
    for command in ["/worktree remove", "/worktree remove --force", "/undo"] {
        assert_eq!(bob.refused(command).await, (Kind::Busy, busy.to_owned()), "{command}");
    }
    room.world.clock.days_pass(20);
    // The run's lease would have been renewed meanwhile.
    let now = room.world.engine.store_now().await.expect("the store answers");
    let store = room.world.engine.store();
    store.end_lease_of(environment.id, super::HOLDER).await.expect("the store answers");
    let taken = store.take_lease(environment.id, super::HOLDER, now, 600).await.expect("the store answers");
    assert!(taken.is_some());
    assert_eq!(bob.says("/worktree cleanup stale").await, "1 kept\n• `issue-42` kept: a run is active");
    // Without a run it is a process of some machine, which a chat need not hear of.
    bob.works_on_aside("y").await;
    let other = room.row("y").await;
    let now = room.world.engine.store_now().await.expect("the store answers");
    store.take_lease(other.id, "secret-host:1", now, 600).await.expect("the store answers").expect("free");
    assert_eq!(
        bob.refused("/worktree remove y").await,
        (Kind::Busy, "`task-y` is in use right now\n• try again when that is done".to_owned())
    );
    store.end_lease_of(other.id, "secret-host:1").await.expect("the store answers");
    bob.says("/worktree remove y").await;
    let now = room.world.engine.store_now().await.expect("the store answers");
    store.take_lease(other.id, "secret-host:1", now, 600).await.expect("the store answers").expect("free");
    assert_eq!(
        bob.refused("/worktree restore y").await,
        (Kind::Busy, "`task-y` is in use right now\n• try again when that is done".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_without_a_name_is_of_this_conversation_only() {
    let room = Room::begin().await;
    let (bob, carol) = (room.bob(), room.chat(PlatformKind::Slack, "C1:200", "carol"));
    assert_eq!(
        carol.refused("/worktree restore").await,
        (Kind::Usage, "This conversation has no environment in the trash\n• the trash of `shop` is empty".to_owned())
    );
    bob.says("/worktree create x").await;
    bob.says("/worktree remove").await;
    assert_eq!(
        carol.refused("/worktree restore").await.1,
        "This conversation has no environment in the trash\n• `/worktree restore <name>` brings one back: task-x"
    );
    // What the conversation's own work had is its own too.
    let thread = carol.works_on(Work::Thread(carol.key.id.clone())).await;
    carol.says("/worktree remove").await;
    assert!(carol.says("/worktree restore").await.starts_with("Restored `thread-"));
    assert_eq!(carol.conversation().await.environment, Some(thread.id));
    assert_eq!(carol.says("/worktree restore task-x").await, "Restored `task-x` as it was on 3 May");
    assert_eq!(
        carol.refused("/worktree restore nobody").await.1,
        "There is no `nobody` in the trash of `shop`\n• `hedgerow env trash` lists what is there"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_links_to_the_work_of_another() {
    let room = Room::begin().await;
    let (bob, carol) = (room.bob(), room.chat(PlatformKind::Slack, "C1:200", "carol"));
    let issue = bob.works_on(Work::Issue(42)).await;
    carol.says("/worktree create mine").await;
    carol.has_session("claude").await;
    assert_eq!(carol.says("/worktree link Issue-42").await, "Linked to worktree `issue-42`");
    assert_eq!(carol.conversation().await.environment, Some(issue.id));
    assert_eq!(carol.session().await.expect("it goes on").environment, Some(issue.id));
    assert_eq!(
        carol.refused("/worktree link issue-43").await,
        (Kind::NotFound, "No worktree found for `issue-43`\n• those there are: `/worktree list`".to_owned())
    );
    room.world.engine.remove(&room.row("mine").await, false, &carol.by).await.expect("it goes");
    assert_eq!(
        carol.refused("/worktree link task-mine").await.1,
        "No worktree found for `task-mine`\n• it is in the trash: `/worktree restore task-mine`"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_one_is_left_alone_by_cleanup() {
    let room = Room::begin().await;
    let bob = room.bob();
    bob.works_on(Work::Issue(42)).await;
    assert_eq!(bob.says("/worktree keep").await, "Keeping `issue-42`: automation leaves it alone");
    room.world.clock.days_pass(20);
    let told = bob.says("/worktree cleanup stale").await;
    assert!(told.starts_with("1 kept\n• `issue-42` kept: "), "{told}");
    assert_eq!(
        bob.says("/worktree unkeep").await,
        "No longer keeping `issue-42`: cleanup may remove it when it is merged or stale"
    );
    assert_eq!(room.row("issue-42").await.pinned_at, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_worktree_of_git_is_listed_by_its_branch() {
    let room = Room::begin().await;
    let bob = room.bob();
    bob.works_on(Work::Issue(42)).await;
    let own = room.world.folder().join("by-hand");
    room.repo.git(&["worktree", "add", "--quiet", "-b", "hand", &own.to_string_lossy()]);
    git(&own, &["switch", "--quiet", "--detach"]);
    let head = git(&own, &["rev-parse", "--short=7", "HEAD"]);
    assert_eq!(
        bob.says("/worktree orphans").await,
        format!(
            "git worktrees of `shop`:\n• detached at {head}: unknown to Hedgerow, in `by-hand`\n\
             • `issue-42`: environment `issue-42`"
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_diff_is_shown_and_a_long_one_is_counted() {
    let room = Room::begin().await;
    let bob = room.bob();
    let environment = bob.works_on(Work::Issue(42)).await;
    assert_eq!(bob.says("/worktree diff").await, "`issue-42` has changed nothing since its base.");
    write(&environment.path, "README.md", "Hello\n```\nfence\n");
    let told = bob.says("/worktree diff").await;
    assert!(told.starts_with("What `issue-42` changed since its base:\n```\n README.md | 2 ++\n"), "{told}");
    assert!(told.contains("````diff\ndiff --git a/README.md b/README.md\n") && told.ends_with("\n````"), "{told}");
    for number in 0..200 {
        write(&environment.path, &format!("src/file-{number}.rs"), "x\n");
    }
    git(&environment.path, &["add", "--all"]);
    let told = bob.says("/worktree diff").await;
    assert!(told.contains(" 201 files changed, "), "{told}");
    assert!(told.ends_with("\n`hedgerow env diff issue-42` in a terminal shows the patch."), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_away_is_told_without_its_path() {
    let room = Room::begin().await;
    let bob = room.bob();
    bob.works_on(Work::Issue(42)).await;
    let worktrees = &room.world.engine.settings().worktrees;
    std::fs::rename(worktrees, worktrees.with_extension("away")).expect("the disk goes");
    assert!(bob.says("/worktree list").await.contains("• `issue-42`: active, unreachable: "));
    assert!(bob.says("/status").await.contains("Environment: `issue-42` on branch `issue-42`: unreachable: "));
    let (_, told) = bob.refused("/worktree create other").await;
    assert_eq!(told, "The folder that holds the environments is not there\n• mount the disk of …, then try again");
    for command in ["/worktree remove", "/worktree diff", "/worktree sync", "/undo", "/worktree cleanup stale"] {
        bob.says(command).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_is_opened_from_a_chat_and_shown_in_the_list() {
    let board = Board::new();
    let room = Room::of(World::with(|settings| settings.forges = board.forges()).await).await;
    board.hosts("acme/shop", room.repo.origin().display().to_string());
    let bob = room.bob();
    assert_eq!(bob.refused("/worktree pr").await.0, Kind::NotFound);
    let environment = bob.works_on(Work::Issue(42)).await;
    commit(&environment.path, "a.txt", "a\n");
    let told = bob.says("/worktree pr").await;
    assert_eq!(told, "Opened pull request #101: https://forge.example/acme/shop/pull/101");
    board.changes("acme/shop", 101, |pr| pr.checks = Some(Checks::Failing));
    room.world.engine.follow_pull_requests().await.expect("they are followed");
    let listed = bob.says("/worktree list").await;
    assert!(
        listed.contains("`issue-42, pr-101` on `issue-42`: active, clean, ↑1, #101 open, checks failing, "),
        "{listed}"
    );
    let status = bob.says("/status").await;
    assert!(status.contains("1 ahead, #101 open, checks failing"), "{status}");
}
