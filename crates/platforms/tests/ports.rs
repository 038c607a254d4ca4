//! A platform written against the ports alone. What it cannot say here, no real one could say either.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use hedgerow_core::message::{Accepted, Author, Closed, DeliveryKey, Event, Message, RawEvent};
use hedgerow_core::platform::{
    ConversationKey, Credential, Pace, Permission, PlatformError, PlatformKind, PullRequest, PullRequestDraft, Reply,
    WorkState,
};
use hedgerow_core::{BranchName, Hints, MessageId, RepositoryName, Timestamp, Work};
use hedgerow_platforms::{Forge, Inbox, Platform};

/// A notice board: each line pinned to it is `<verb> <number> <person> <text>`.
#[derive(Default)]
struct Board {
    pinned: Mutex<Vec<(ConversationKey, Reply)>>,
    issues: BTreeMap<u64, WorkState>,
    pull_requests: Mutex<Vec<PullRequestDraft>>,
    closed_for_the_night: bool,
}

impl Board {
    fn opened(&self) -> Vec<PullRequest> {
        let drafts = self.pull_requests.lock().expect("no test panics while it holds the lock");
        let opened = |(number, draft): (u64, &PullRequestDraft)| PullRequest {
            number,
            url: format!("board:{number}"),
            title: draft.title.clone(),
            state: WorkState::Open,
            is_draft: false,
            head_branch: Some(draft.head.clone()),
            head: None,
            is_fork: false,
            base_branch: Some(draft.base.clone()),
            checks: None,
            created_at: None,
        };
        (1..).zip(drafts.iter()).map(opened).collect()
    }

    fn replies(&self) -> MutexGuard<'_, Vec<(ConversationKey, Reply)>> {
        self.pinned.lock().expect("no test panics while it holds the lock")
    }
}

#[async_trait]
impl Platform for Board {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Terminal
    }

    fn pace(&self) -> Pace {
        Pace::Batch
    }

    fn longest(&self) -> usize {
        500
    }

    fn recognises_repeats(&self) -> bool {
        true
    }

    async fn prepare(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError> {
        let mut parts = raw.body.splitn(4, ' ');
        let (Some(verb), Some(number), Some(person)) = (parts.next(), parts.next(), parts.next()) else {
            return Ok(None);
        };
        let number: u64 = number.parse().map_err(|_| PlatformError::Refused(format!("`{number}` is no number")))?;
        let conversation = ConversationKey { platform: self.kind(), id: format!("board#{number}") };
        let hints = Hints { work: Some(Work::Issue(number)), ..Hints::default() };
        Ok(match verb {
            "say" => Some(Event::Said(Box::new(Message {
                conversation,
                parent: None,
                author: Author { id: person.to_owned(), name: person.to_owned() },
                text: parts.next().unwrap_or_default().to_owned(),
                codebase: None,
                repository: None,
                context: None,
                hints,
                handle: None,
            }))),
            "close" => {
                let author = Author { id: person.to_owned(), name: person.to_owned() };
                let closed = Closed {
                    conversation,
                    author,
                    is_allowed: true,
                    repository: None,
                    hints,
                    merged: false,
                    reopened: false,
                };
                Some(Event::Closed(Box::new(closed)))
            }
            _ => None,
        })
    }

    async fn send(&self, to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError> {
        if self.closed_for_the_night {
            return Err(PlatformError::Transient("come back tomorrow".into()));
        }
        let mut pinned = self.replies();
        if !pinned.iter().any(|(_, known)| known.idempotency_key == reply.idempotency_key) {
            pinned.push((to.clone(), reply.clone()));
        }
        Ok(())
    }
}

#[async_trait]
impl Forge for Board {
    fn platform(&self) -> PlatformKind {
        PlatformKind::Terminal
    }

    fn repository(&self, remote: &str) -> Option<RepositoryName> {
        remote.strip_prefix("board:")?.parse().ok()
    }

    fn clone_url(&self, repository: &RepositoryName) -> String {
        format!("board:{repository}")
    }

    fn clones(&self) -> bool {
        false
    }

    async fn credential(&self, _: &RepositoryName) -> Result<Credential, PlatformError> {
        Err(PlatformError::Refused("there is nothing to open".into()))
    }

    async fn state(&self, _: &RepositoryName, work: &Work) -> Result<WorkState, PlatformError> {
        let number = if let Work::Issue(number) = work { Some(number) } else { None };
        Ok(number.and_then(|number| self.issues.get(number)).copied().unwrap_or(WorkState::Unknown))
    }

    async fn permission(&self, _: &RepositoryName, author: &Author) -> Result<Permission, PlatformError> {
        Ok(if author.id == "alice" { Permission::Write } else { Permission::None })
    }

    async fn pull_request(&self, _: &RepositoryName, number: u64) -> Result<Option<PullRequest>, PlatformError> {
        Ok(self.opened().into_iter().find(|opened| opened.number == number))
    }

    async fn pull_request_of(
        &self,
        _: &RepositoryName,
        head: &BranchName,
    ) -> Result<Option<PullRequest>, PlatformError> {
        Ok(self.opened().into_iter().find(|opened| opened.head_branch.as_ref() == Some(head)))
    }

    async fn open_pull_request(
        &self,
        _: &RepositoryName,
        draft: &PullRequestDraft,
    ) -> Result<PullRequest, PlatformError> {
        self.pull_requests.lock().expect("no test panics while it holds the lock").push(draft.clone());
        Ok(self.opened().pop().expect("one was opened just now"))
    }
}

/// An inbox in memory, with room for as many events as it says.
struct Tray {
    room: usize,
    events: Mutex<Vec<(MessageId, RawEvent)>>,
}

#[async_trait]
impl Inbox for Tray {
    async fn accept(&self, raw: RawEvent) -> Accepted {
        let mut events = self.events.lock().expect("no test panics while it holds the lock");
        if let Some((id, _)) = events.iter().find(|(_, known)| known.delivery == raw.delivery) {
            return Accepted::Duplicate(*id);
        }
        if events.len() == self.room {
            return Accepted::Busy;
        }
        let id = MessageId::new();
        events.push((id, raw));
        Accepted::Queued(id)
    }

    async fn knows(&self, platform: PlatformKind, meaning: &str) -> bool {
        let events = self.events.lock().expect("no test panics while it holds the lock");
        let begins = |raw: &RawEvent| raw.delivery.meaning.as_ref().is_some_and(|it| it.starts_with(meaning));
        events.iter().any(|(_, raw)| raw.platform == platform && begins(raw))
    }
}

fn shop() -> RepositoryName {
    "acme/shop".parse().expect("a name")
}

fn delivered(id: &str, body: &str) -> RawEvent {
    RawEvent {
        platform: PlatformKind::Terminal,
        delivery: DeliveryKey { id: id.to_owned(), meaning: None },
        lane: "board".to_owned(),
        urgent: false,
        body: body.to_owned(),
        received_at: Timestamp::from_millis(0),
    }
}

#[tokio::test]
async fn an_event_travels_from_the_inbox_to_a_prepared_message() {
    let tray: Box<dyn Inbox> = Box::new(Tray { room: 1, events: Mutex::default() });
    let event = delivered("1", "say 42 alice fix the login bug");
    let Accepted::Queued(id) = tray.accept(event.clone()).await else { panic!("there is room") };
    assert_eq!(tray.accept(event.clone()).await, Accepted::Duplicate(id));
    assert_eq!(tray.accept(delivered("2", "say 43 bob hello")).await, Accepted::Busy);

    let platform: Box<dyn Platform> = Box::new(Board::default());
    assert_eq!((platform.kind(), platform.pace()), (PlatformKind::Terminal, Pace::Batch));
    let Ok(Some(Event::Said(message))) = platform.prepare(&event).await else { panic!("it was said to us") };
    assert_eq!(message.conversation.id, "board#42");
    assert_eq!((message.author.id.as_str(), message.text.as_str()), ("alice", "fix the login bug"));
    assert_eq!(message.hints.work, Some(Work::Issue(42)));
}

#[tokio::test]
async fn a_closing_takes_the_same_road_and_what_is_not_for_us_ends_there() {
    let platform: Box<dyn Platform> = Box::new(Board::default());
    let Ok(Some(Event::Closed(closed))) = platform.prepare(&delivered("1", "close 42 alice")).await else {
        panic!("it was closed")
    };
    assert_eq!(closed.hints.work, Some(Work::Issue(42)));
    assert!(matches!(platform.prepare(&delivered("2", "wave 42 alice")).await, Ok(None)));
    assert!(matches!(platform.prepare(&delivered("3", "say many alice")).await, Err(PlatformError::Refused(_))));
}

#[tokio::test]
async fn a_reply_that_is_sent_twice_is_seen_once() {
    let board = Board::default();
    let to = ConversationKey { platform: PlatformKind::Terminal, id: "board#42".into() };
    let reply = Reply::new("Done.", true, "run-1/last");
    for _ in 0..2 {
        board.send(&to, &reply).await.expect("the board is open");
    }
    assert_eq!(*board.replies(), [(to.clone(), reply.clone())]);

    let shut = Board { closed_for_the_night: true, ..Board::default() };
    assert!(matches!(shut.send(&to, &reply).await, Err(PlatformError::Transient(_))));
}

#[tokio::test]
async fn a_forge_can_be_asked_and_told() {
    let forge: Box<dyn Forge> = Box::new(Board { issues: [(42, WorkState::Closed)].into(), ..Board::default() });
    assert_eq!(forge.state(&shop(), &Work::Issue(42)).await.expect("it answers"), WorkState::Closed);
    assert_eq!(forge.state(&shop(), &Work::Issue(7)).await.expect("it answers"), WorkState::Unknown);

    let person = |name: &str| Author { id: name.into(), name: name.into() };
    assert!(forge.permission(&shop(), &person("alice")).await.expect("it answers") >= Permission::Write);
    assert!(forge.permission(&shop(), &person("mallory")).await.expect("it answers") < Permission::Write);

    let branch = |name| BranchName::parse(name).expect("a plain name");
    let draft = PullRequestDraft {
        head: branch("issue-42"),
        base: branch("main"),
        title: "Fix login".into(),
        body: String::new(),
    };
    let opened = forge.open_pull_request(&shop(), &draft).await.expect("it opens");
    assert_eq!(forge.pull_request_of(&shop(), &draft.head).await.expect("it answers"), Some(opened));
}
