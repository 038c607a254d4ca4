//! What is not yours needs an admin.

use hedgerow_core::environment::Actor;
use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::World;

use super::Room;

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_is_removed_by_its_owner_or_an_admin() {
    let admins = |settings: &mut hedgerow_engine::Settings| {
        settings.runs.admins.push(Actor::new("slack", "boss"));
    };
    let room = Room::of(World::with(admins).await).await;
    let bob = room.bob();
    let slack = |id: &str, person: &str| room.chat(PlatformKind::Slack, id, person);
    for (number, may) in [
        slack("C1:1", "bob"),
        slack("C1:2", "boss"),
        room.chat(PlatformKind::Terminal, "1", "anyone"),
        room.chat(PlatformKind::Http, "c1", "api"),
    ]
    .iter()
    .enumerate()
    {
        bob.works_on_aside(&format!("x{number}")).await;
        let told = may.says(&format!("/worktree remove x{number}")).await;
        assert!(told.starts_with(&format!("Moved `task-x{number}` to the trash")), "{told}");
    }
    bob.works_on_aside("mine").await;
    let others = [
        slack("C1:3", "carol"),
        room.chat(PlatformKind::Github, "a/b#1", "bob"),
        room.chat(PlatformKind::Http, "c2", "x"),
    ];
    for other in others {
        for command in ["/worktree remove mine", "/worktree remove mine --force"] {
            assert_eq!(
                other.refused(command).await,
                (
                    Kind::Protected,
                    "Only its owner (`slack:bob`) or an admin may remove `task-mine`\n• ask them to do it".to_owned()
                )
            );
        }
    }
    room.row("mine").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cleanup_of_one_who_is_no_admin_touches_only_their_own() {
    let room = Room::begin().await;
    let (bob, carol) = (room.bob(), room.chat(PlatformKind::Slack, "C1:2", "carol"));
    bob.works_on_aside("of-bob").await;
    carol.works_on_aside("of-carol").await;
    room.world.clock.days_pass(20);
    assert_eq!(
        bob.says("/worktree cleanup stale --dry-run").await,
        "1 would be removed\n• `task-of-bob` would remove: stale: no activity for 20 days\n\
         Nothing was changed; without `--dry-run` it is done.\n\
         1 environment of others was left alone; an admin can clean up all."
    );
    assert_eq!(
        bob.says("/worktree cleanup stale").await,
        "1 removed\n• `task-of-bob` removed: stale: no activity for 20 days\n\
         `/worktree restore <name>` brings one back.\n\
         1 environment of others was left alone; an admin can clean up all."
    );
    room.row("of-carol").await;
    let admin = room.chat(PlatformKind::Terminal, "1", "alice");
    assert_eq!(
        admin.says("/worktree cleanup stale").await,
        "1 removed\n• `task-of-carol` removed: stale: no activity for 20 days\n`/worktree restore <name>` brings one back."
    );
    assert_eq!(admin.says("/worktree cleanup merged").await, "Nothing to clean up");
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_belong_to_nobody_so_an_admin_cleans_them_up() {
    let room = Room::begin().await;
    let bob = room.bob();
    let (kind, told) = bob.refused("/worktree cleanup orphans").await;
    assert_eq!(kind, Kind::Protected);
    assert!(told.starts_with("Only an admin may clean up orphans\n"), "{told}");
    assert_eq!(bob.says("/worktree cleanup orphans --dry-run").await, "Nothing to clean up");
    let admin = room.chat(PlatformKind::Terminal, "1", "alice");
    assert_eq!(admin.says("/worktree cleanup orphans").await, "Nothing to clean up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_s_pull_request_does_not_enter_a_maintainer_s_files() {
    let room = Room::begin().await;
    let bob = room.bob();
    bob.works_on(Work::Issue(42)).await;
    let mut stranger = room.chat(PlatformKind::Github, "acme/shop#99", "stranger");
    stranger.hints.is_fork = true;
    assert_eq!(
        stranger.refused("/worktree link issue-42").await.1.lines().next(),
        Some("Only its owner (`slack:bob`) or an admin may link a fork's pull request to `issue-42`")
    );
    assert_eq!(stranger.conversation().await.environment, None);
}
