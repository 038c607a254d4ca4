//! Commands as people in a chat type them, and what they read.

mod codebases;
mod conversations;
mod roles;
mod syncing;
mod templates;
mod worktrees;

use hedgerow_core::command::{Parsed, parse};
use hedgerow_core::environment::Actor;
use hedgerow_core::message::{Accepted, DeliveryKey, RawEvent};
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::provider::NoProgress;
use hedgerow_core::run::{RunState, SessionEnd};
use hedgerow_core::{Codebase, Environment, Hints, Kind, MessageId, RunId, SessionId, Work};
use hedgerow_engine::commands::Asked;
use hedgerow_engine::store::{Claim, Conversation, Run, Served, Session, Which};
use hedgerow_engine::{Clock as _, Outcome, replies};
use hedgerow_testkit::{TestRepo, World};

/// The holder of what runs in these stories.
const HOLDER: &str = "elsewhere:1";

/// A machine with one codebase, and people who talk about it.
pub(crate) struct Room {
    world: World,
    repo: TestRepo,
    codebase: Codebase,
}

impl Room {
    async fn begin() -> Self {
        Self::of(World::new().await).await
    }

    async fn of(world: World) -> Self {
        let (repo, codebase) = world.given_a_repo("shop").await;
        Self { world, repo, codebase }
    }

    /// Bob, in a thread of a chat.
    fn bob(&self) -> Chat<'_> {
        self.chat(PlatformKind::Slack, "C1:100", "bob")
    }

    fn chat(&self, platform: PlatformKind, id: &str, person: &str) -> Chat<'_> {
        let key = ConversationKey { platform, id: id.to_owned() };
        Chat { room: self, key, by: Actor::new(platform.as_str(), person), hints: Hints::default() }
    }

    async fn row(&self, name: &str) -> Environment {
        self.world.engine.require_environment(&self.codebase, name).await.expect("a live environment")
    }
}

/// A person in a conversation.
pub(crate) struct Chat<'a> {
    room: &'a Room,
    key: ConversationKey,
    by: Actor,
    hints: Hints,
}

impl Chat<'_> {
    async fn conversation(&self) -> Conversation {
        let store = self.room.world.engine.store();
        store.conversation(&self.key, self.room.world.clock.now()).await.expect("the store answers")
    }

    /// The codebase of the conversation, else the only one there is.
    async fn codebase(&self, conversation: &Conversation) -> Option<Codebase> {
        let engine = &self.room.world.engine;
        if let Some(id) = conversation.codebase {
            return engine.store().codebase(id).await.expect("the store answers");
        }
        let mut all = engine.codebases().await.expect("the store answers");
        if all.len() == 1 { all.pop() } else { None }
    }

    async fn tries(&self, text: &str) -> Outcome<String> {
        let Parsed::Command(command) = parse(text) else { panic!("{text} is no command") };
        let conversation = self.conversation().await;
        let codebase = self.codebase(&conversation).await;
        let asked = Asked {
            conversation: &conversation,
            message: MessageId::new(),
            by: &self.by,
            lane: &self.key.id,
            hints: &self.hints,
            repository: None,
            assistants: &["claude".to_owned(), "codex".to_owned()],
            codebase: codebase.as_ref(),
        };
        self.room.world.engine.command(&asked, &command, &NoProgress).await
    }

    /// What the person reads, whether it was done or not.
    async fn says(&self, text: &str) -> String {
        let answer = match self.tries(text).await {
            Ok(answer) => answer,
            Err(failure) => replies::failure(&failure, None),
        };
        self.assert_fit_for_a_chat(text, &answer);
        answer
    }

    /// What the person reads of a refusal.
    async fn refused(&self, text: &str) -> (Kind, String) {
        let failure = self.tries(text).await.expect_err("a refusal");
        let answer = replies::failure(&failure, None);
        self.assert_fit_for_a_chat(text, &answer);
        (failure.kind(), answer)
    }

    /// Every answer says something, fits into one message, and holds nothing of the machine.
    fn assert_fit_for_a_chat(&self, text: &str, answer: &str) {
        assert!(!answer.trim().is_empty(), "{text} is answered with nothing");
        assert!(answer.chars().count() < 4_000, "{text} is answered with {} characters", answer.chars().count());
        let world = &self.room.world;
        for path in [world.folder(), &world.settings().home, &world.settings().worktrees, self.room.repo.path()] {
            assert!(!answer.contains(&*path.to_string_lossy()), "{text} tells a path: {answer}");
        }
    }

    /// The conversation has talked with an assistant.
    async fn has_session(&self, assistant: &str) {
        let conversation = self.conversation().await;
        let session = Session {
            id: SessionId::new(),
            conversation: conversation.id,
            assistant: assistant.to_owned(),
            assistant_session: Some("s-1".to_owned()),
            environment: conversation.environment,
            last_command: None,
            conclusion: None,
            started_at: self.room.world.clock.now(),
            ended: None,
        };
        self.room.world.engine.store().start_session(&session).await.expect("a session");
    }

    async fn session(&self) -> Option<Session> {
        let id = self.conversation().await.id;
        self.room.world.engine.store().active_session(id).await.expect("the store answers")
    }

    /// Why the last session ended.
    async fn last_end(&self) -> Option<SessionEnd> {
        let id = self.conversation().await.id;
        let last = self.room.world.engine.store().last_session(id).await.expect("the store answers");
        last.and_then(|session| session.ended).map(|(_, because)| because)
    }

    /// Messages that wait for their turn.
    async fn queues(&self, count: usize) -> Vec<MessageId> {
        let now = self.room.world.clock.now();
        let raw = |number: usize| RawEvent {
            platform: self.key.platform,
            delivery: DeliveryKey { id: format!("{}-{number}", MessageId::new()), meaning: None },
            lane: self.key.id.clone(),
            urgent: false,
            body: "{}".to_owned(),
            received_at: now,
        };
        let batch: Vec<RawEvent> = (0..count).map(raw).collect();
        let accepted = self.room.world.engine.store().deliver(&batch, 100).await.expect("the store answers");
        let id = |accepted: Accepted| match accepted {
            Accepted::Queued(id) => id,
            other => panic!("{other:?}"),
        };
        accepted.into_iter().map(id).collect()
    }

    /// An assistant is at work for this conversation, in its environment if it has one.
    async fn has_run(&self) -> Run {
        let engine = &self.room.world.engine;
        let now = engine.store_now().await.expect("the store answers");
        self.queues(1).await;
        let served = Served { platform: self.key.platform, only: None };
        let claim = Claim { holder: HOLDER, now, until: now.plus_seconds(600) };
        let taken = engine.store().take_messages(&served, &claim, Which::All, 1).await.expect("the store answers");
        let conversation = self.conversation().await;
        let epoch = match conversation.environment {
            Some(id) => {
                engine.store().take_lease(id, HOLDER, now, 600).await.expect("the store answers").expect("free")
            }
            None => 0,
        };
        let run = Run {
            id: RunId::new(),
            message: Some(taken[0].id),
            conversation: conversation.id,
            codebase: conversation.codebase,
            environment: conversation.environment,
            session: None,
            assistant: "claude".to_owned(),
            author: self.by.clone(),
            state: RunState::Running,
            holder: HOLDER.to_owned(),
            epoch,
            started_at: self.room.world.clock.now(),
            ended_at: None,
            stop_asked_at: None,
            stop_asked_by: None,
            usage: hedgerow_core::assistant::Usage::default(),
        };
        assert!(engine.store().begin_run(&run).await.expect("the store answers"));
        run
    }

    /// Works in the environment of a work, which is made by this very person.
    async fn works_on(&self, work: Work) -> Environment {
        let conversation = self.conversation().await;
        let mut request = self.room.world.asks(&self.room.codebase, work);
        request.by = self.by.clone();
        let asking = hedgerow_engine::engine::Asking { conversation: conversation.id, environment: None };
        request.conversation = Some(asking);
        self.room.world.gets(&request).await.environment
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn help_lists_what_this_build_has() {
    let room = Room::begin().await;
    let help = room.bob().says("/help").await;
    assert!(help.starts_with("`/help` - this list\n`/status` - "), "{help}");
    for absent in ["merge [", "abort", "setup"] {
        assert!(!help.contains(absent), "{help}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_yet_says_so_and_what_to_do() {
    let room = Room::begin().await;
    let bob = room.bob();
    assert_eq!(
        bob.says("/worktree merge --squash").await,
        "`/worktree merge` is not there yet. Instead: open a pull request with `/worktree pr`, and merge it where the \
         repository lives."
    );
    assert_eq!(
        bob.says("/worktree abort").await,
        "`/worktree abort` is not there yet. Instead: `/worktree remove --force` moves it to the trash as it is, and can be \
         undone."
    );
    assert!(bob.says("/worktree setup").await.starts_with("`/worktree setup` is not there yet."));
}

#[tokio::test(flavor = "multi_thread")]
async fn status_tells_everything_about_a_conversation() {
    let room = Room::begin().await;
    let bob = room.bob();
    assert_eq!(
        bob.says("/status").await,
        "Platform: slack\nCodebase: `shop`\nEnvironment: none; your next message gets one\n\
         Session: none; your next message begins one\nRun: none\nQueue: empty\nEnvironments of `shop`: none"
    );
    bob.says("/worktree create feature/auth").await;
    let path = room.row("feature/auth").await.path;
    hedgerow_testkit::repo::commit(&path, "auth.rs", "fn auth() {}\n");
    hedgerow_testkit::repo::write(&path, "new/api/x.rs", "x");
    bob.says("/setcwd new/api").await;
    bob.says("/assistant claude").await;
    bob.has_session("claude").await;
    bob.has_run().await;
    bob.queues(2).await;
    let gone = bob.works_on_aside("gone").await;
    room.world.engine.remove(&gone, true, &bob.by).await.expect("it goes to the trash");
    assert_eq!(
        bob.says("/status").await,
        "Platform: slack\nCodebase: `shop`\n\
         Environment: `task-feature/auth` on branch `feature/auth`: 1 untracked, 1 ahead\n\
         Starts in: `new/api`\nAssistant: `claude`\nSession: with `claude`, begun just now\n\
         Run: `claude` is at work for slack:bob, begun just now; `/stop` stops it\nQueue: 2 messages wait\n\
         Environments of `shop`: 1 active, 1 in the trash"
    );
}

impl Chat<'_> {
    /// Another environment of the same person, that no conversation uses.
    async fn works_on_aside(&self, name: &str) -> Environment {
        let mut request = self.room.world.asks_for_branch(&self.room.codebase, name);
        request.by = self.by.clone();
        self.room.world.gets(&request).await.environment
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_codebase_people_are_asked_which_one() {
    let room = Room::begin().await;
    room.world.given_a_repo("web").await;
    let bob = room.bob();
    let asked =
        "Which codebase is this about? Choose one:\n• `/repo shop`\n• `/repo web`\nor add another: `/clone <url>`";
    for command in [
        "/worktree list",
        "/worktree create x",
        "/worktree remove",
        "/worktree remove x",
        "/worktree restore",
        "/worktree link issue-1",
        "/worktree cleanup merged",
        "/worktree orphans",
        "/worktree keep",
        "/worktree diff",
        "/undo",
        "/setcwd x",
        "/getcwd",
        "/commands",
        "/command-set a b.md",
        "/load-commands x",
    ] {
        assert_eq!(bob.refused(command).await, (Kind::Usage, asked.to_owned()), "{command}");
    }
    assert!(bob.says("/status").await.contains("Codebase: none; `/repos` lists them"));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_many_environments_every_answer_still_fits() {
    let room = Room::begin().await;
    let bob = room.chat(PlatformKind::Terminal, "1", "bob");
    for number in 1..=25 {
        let name = format!("a-rather-long-branch-name/for-the-work-of-somebody/{}-{number}", "x".repeat(60));
        let environment = bob.works_on_aside(&name).await;
        for file in 0..3 {
            hedgerow_testkit::repo::write(&environment.path, &format!("{}-{file}.txt", "f".repeat(80)), "x\n");
        }
    }
    bob.says(&format!("/worktree link task-a-rather-long-branch-name/for-the-work-of-somebody/{}-25", "x".repeat(60)))
        .await;
    let list = bob.says("/worktree list").await;
    assert!(list.starts_with("25 environments of `shop`:\n• `task-a-rather"), "{list}");
    assert!(list.lines().last().is_some_and(|last| last.starts_with("and ") && last.ends_with(" more")), "{list}");
    for command in [
        "/help",
        "/status",
        "/repos",
        "/worktree orphans",
        "/worktree diff",
        "/worktree cleanup merged --dry-run",
        "/worktree cleanup stale",
        "/worktree cleanup orphans",
        "/worktree create one-more",
        "/worktree remove nobody",
        "/worktree restore nobody",
        "/worktree keep",
        "/getcwd",
        "/commands",
        "/repo-remove shop",
    ] {
        bob.says(command).await;
    }
}
