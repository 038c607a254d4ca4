//! Which codebase a conversation is about.

use hedgerow_core::Kind;
use hedgerow_core::platform::PlatformKind;
use hedgerow_core::run::SessionEnd;
use hedgerow_testkit::World;
use hedgerow_testkit::git::git;

use super::Room;

#[tokio::test(flavor = "multi_thread")]
async fn the_codebases_are_listed_with_the_present_one_marked() {
    let room = Room::begin().await;
    room.world.given_a_repo("web").await;
    let bob = room.bob();
    let end = "`/repo <name>` chooses one, `/clone <url>` adds one.";
    assert_eq!(
        bob.says("/repos").await,
        format!("Codebases:\n• `shop`: 0 environments\n• `web`: 0 environments\n{end}")
    );
    assert_eq!(
        bob.says("/repo shop").await,
        "This conversation is about `shop` now. Say what is to be done, or `/worktree list`."
    );
    bob.says("/worktree create x").await;
    assert_eq!(
        bob.says("/repos").await,
        format!("Codebases:\n• `shop`: 1 environment ← active\n• `web`: 0 environments\n{end}")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_codebase_ends_the_session_and_the_environment_stays_behind() {
    let room = Room::begin().await;
    room.world.given_a_repo("web").await;
    let bob = room.bob();
    bob.says("/repo shop").await;
    bob.says("/worktree create x").await;
    bob.has_session("claude").await;
    bob.says("/repo shop").await;
    assert!(bob.session().await.is_some(), "nothing changed");
    assert!(bob.conversation().await.environment.is_some());

    bob.says("/repo web").await;
    assert_eq!(bob.last_end().await, Some(SessionEnd::Moved));
    assert!(bob.session().await.is_none());
    assert_eq!(bob.conversation().await.environment, None);
    room.row("x").await;
    assert_eq!(
        bob.refused("/repo nothing").await,
        (Kind::NotFound, "There is no codebase `nothing`\n• there are: shop, web".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_clones_from_its_own_disk_and_a_chat_does_not() {
    let room = Room::begin().await;
    let origin = room.repo.origin().to_string_lossy().into_owned();
    let bob = room.bob();
    let here =
        "Only an https or ssh URL can be cloned from here\n• `/clone <url>` with one that begins with `https` or `ssh`"
            .to_owned();
    for url in [origin.as_str(), &format!("file://{origin}"), "../x", "http://example.org/a"] {
        assert_eq!(bob.refused(&format!("/clone {url}")).await, (Kind::Usage, here.clone()), "{url}");
    }
    let (kind, told) = bob.refused("/clone https://bob:secret@example.org/a/b").await;
    assert_eq!((kind, told.contains("secret")), (Kind::Usage, false), "{told}");
    assert!(told.contains("it carries a password"), "{told}");

    let alice = room.chat(PlatformKind::Terminal, "1", "alice");
    assert_eq!(
        alice.says(&format!("/clone file://{origin} copy")).await,
        "`copy` is here, and this conversation is about it now.\nSay what is to be done, or `/worktree create <branch>`."
    );
    let copy = room.world.engine.require_codebase("copy").await.expect("it was cloned");
    assert_eq!(alice.conversation().await.codebase, Some(copy.id));
    assert_eq!(
        alice.says(&format!("/clone file://{origin}")).await,
        "`copy` was cloned from there already; this conversation is about it now."
    );
    assert_eq!(
        alice.refused(&format!("/clone {} shop", room.world.folder().join("x").display())).await,
        (Kind::Failed, "Another codebase is called `shop`\n• choose another name: `/clone <url> <name>`".to_owned())
    );
    assert!(alice.says(&format!("/clone {}", room.repo.path().display())).await.starts_with("`shop` is here"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ssh_url_is_let_through_to_git() {
    // Whatever git answers, it is git that was asked; nothing of the host is told.
    let ssh = |settings: &mut hedgerow_engine::Settings| {
        settings.git_env.push(("GIT_SSH_COMMAND".into(), "false".into()));
    };
    let room = Room::of(World::with(ssh).await).await;
    let (kind, told) = room.bob().refused("/clone git@example.invalid:acme/shop.git other").await;
    assert_eq!(kind, Kind::Failed, "{told}");
    assert!(!told.contains("example.invalid"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn forgetting_a_codebase_is_for_admins_and_loses_nothing() {
    let room = Room::begin().await;
    let bob = room.bob();
    assert_eq!(
        bob.refused("/repo-remove shop").await,
        (
            Kind::Protected,
            "Only an admin may forget the codebase `shop`\n\
             • ask an admin to do it; `admins` in hedgerow.toml names them, and `slack:bob` is not one"
                .to_owned()
        )
    );
    let alice = room.chat(PlatformKind::Terminal, "1", "alice");
    let made = alice.works_on_aside("x").await;
    hedgerow_testkit::repo::write(&made.path, "new.txt", "x");
    assert_eq!(
        alice.refused("/repo-remove shop").await,
        (
            Kind::Protected,
            "`shop` cannot be forgotten: `task-x`: uncommitted changes\n• `/worktree remove task-x` says what to do"
                .to_owned()
        )
    );
    git(&made.path, &["clean", "-fdq"]);
    alice.has_session("claude").await;
    assert_eq!(
        alice.says("/repo-remove shop").await,
        "Forgot the codebase `shop`; its repository stays as it is.\n\
         • Moved `task-x` to the trash and deleted its branch `x`\n\
         To have it back, with its trash: `hedgerow codebase add` in its folder, in a terminal."
    );
    assert_eq!(alice.last_end().await, Some(SessionEnd::Removed));
    assert_eq!(alice.says("/repos").await, "I have no codebase yet. Add one: `/clone <url>`");
    assert_eq!(alice.refused("/repo shop").await.1, "There is no codebase `shop`\n• add one with `/clone <url>`");
}
