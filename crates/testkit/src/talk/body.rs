//! Events of a [`Talk`]: how a test says them, the JSON they travel in, and what they mean.

use hedgerow_core::command;
use hedgerow_core::message::{Author, Closed, DeliveryKey, Event, Message, RawEvent, Refused};
use hedgerow_core::platform::{ConversationKey, PlatformError, PlatformKind};
use hedgerow_core::{BranchName, CommitSha, Hints, RepositoryName, Work};
use hedgerow_engine::Clock as _;
use serde::{Deserialize, Serialize};

use super::{Line, Talk};

/// What somebody reads who may not ask.
pub const NOT_ALLOWED: &str = "Sorry, you cannot ask me for things here.";

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    conversation: String,
    #[serde(default)]
    parent: Option<String>,
    author: String,
    /// Otherwise the author's name.
    #[serde(default)]
    author_id: Option<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    codebase: Option<String>,
    #[serde(default)]
    repository: Option<String>,
    #[serde(default)]
    handle: Option<String>,
    /// They may not ask for things here.
    #[serde(default)]
    is_stranger: bool,
    #[serde(default)]
    hints: Hint,
    #[serde(default)]
    event: What,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    #[default]
    Said,
    Closed,
    Reopened,
    Merged,
    /// Nobody meant us.
    Overheard,
    /// Who said it may not.
    Refused,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Hint {
    work: Option<String>,
    pr_branch: Option<String>,
    pr_head: Option<String>,
    is_fork: bool,
    linked_issues: Vec<u64>,
    linked_prs: Vec<u64>,
    base_branch: Option<String>,
    suggested_branch: Option<String>,
    description: Option<String>,
}

/// Something that happens on a platform, before it is delivered.
#[derive(Debug)]
#[must_use = "it is said by `raw()`"]
pub struct Saying<'a> {
    talk: &'a Talk,
    body: Body,
    delivery: Option<String>,
    meaning: Option<String>,
    lane: Option<String>,
}

impl Talk {
    /// A person says something.
    pub fn says(&self, conversation: &str, author: &str, text: &str) -> Saying<'_> {
        self.event(What::Said, conversation, author, text)
    }

    /// A person says something that is not for us.
    pub fn overhears(&self, conversation: &str, author: &str, text: &str) -> Saying<'_> {
        self.event(What::Overheard, conversation, author, text)
    }

    /// A person says something who may not.
    pub fn refuses(&self, conversation: &str, author: &str, text: &str) -> Saying<'_> {
        self.event(What::Refused, conversation, author, text)
    }

    /// An issue or pull request is closed.
    pub fn closes(&self, conversation: &str, author: &str) -> Saying<'_> {
        self.event(What::Closed, conversation, author, "")
    }

    pub fn merges(&self, conversation: &str, author: &str) -> Saying<'_> {
        self.event(What::Merged, conversation, author, "")
    }

    pub fn reopens(&self, conversation: &str, author: &str) -> Saying<'_> {
        self.event(What::Reopened, conversation, author, "")
    }

    fn event(&self, event: What, conversation: &str, author: &str, text: &str) -> Saying<'_> {
        let body = Body {
            conversation: conversation.to_owned(),
            parent: None,
            author: author.to_owned(),
            author_id: None,
            text: text.to_owned(),
            codebase: None,
            repository: None,
            handle: None,
            is_stranger: false,
            hints: Hint::default(),
            event,
        };
        Saying { talk: self, body, delivery: None, meaning: None, lane: None }
    }
}

impl Saying<'_> {
    /// The platform's id of this delivery; otherwise each is another.
    pub fn delivery(mut self, id: &str) -> Self {
        self.delivery = Some(id.to_owned());
        self
    }

    pub fn meaning(mut self, meaning: &str) -> Self {
        self.meaning = Some(meaning.to_owned());
        self
    }

    /// Otherwise the conversation.
    pub fn lane(mut self, lane: &str) -> Self {
        self.lane = Some(lane.to_owned());
        self
    }

    pub fn parent(mut self, conversation: &str) -> Self {
        self.body.parent = Some(conversation.to_owned());
        self
    }

    pub fn codebase(mut self, name: &str) -> Self {
        self.body.codebase = Some(name.to_owned());
        self
    }

    /// The repository of a forge that it is about.
    pub fn repository(mut self, name: &str) -> Self {
        self.body.repository = Some(name.to_owned());
        self
    }

    /// What the platform needs to answer it.
    pub fn handle(mut self, handle: &str) -> Self {
        self.body.handle = Some(handle.to_owned());
        self
    }

    /// The id of the person, which is not their name.
    pub fn author_id(mut self, id: &str) -> Self {
        self.body.author_id = Some(id.to_owned());
        self
    }

    /// Whoever closes it may not ask for things here.
    pub fn by_a_stranger(mut self) -> Self {
        self.body.is_stranger = true;
        self
    }

    /// What it is about, as it is written: `issue-42`.
    pub fn about(mut self, work: &str) -> Self {
        self.body.hints.work = Some(work.to_owned());
        self
    }

    pub fn pr_branch(mut self, branch: &str) -> Self {
        self.body.hints.pr_branch = Some(branch.to_owned());
        self
    }

    pub fn pr_head(mut self, sha: &str) -> Self {
        self.body.hints.pr_head = Some(sha.to_owned());
        self
    }

    pub fn from_fork(mut self) -> Self {
        self.body.hints.is_fork = true;
        self
    }

    pub fn linked_issues(mut self, numbers: &[u64]) -> Self {
        self.body.hints.linked_issues = numbers.to_vec();
        self
    }

    pub fn linked_prs(mut self, numbers: &[u64]) -> Self {
        self.body.hints.linked_prs = numbers.to_vec();
        self
    }

    pub fn base_branch(mut self, branch: &str) -> Self {
        self.body.hints.base_branch = Some(branch.to_owned());
        self
    }

    pub fn suggested_branch(mut self, branch: &str) -> Self {
        self.body.hints.suggested_branch = Some(branch.to_owned());
        self
    }

    pub fn description(mut self, text: &str) -> Self {
        self.body.hints.description = Some(text.to_owned());
        self
    }

    /// It happens: it is in the transcript from now on, and this is the event to hand in.
    pub fn raw(self) -> RawEvent {
        let Self { talk, body, delivery, meaning, lane } = self;
        let mut state = talk.state();
        state.delivered += 1;
        let id = delivery.unwrap_or_else(|| format!("delivery-{}", state.delivered));
        if state.deliveries.insert(id.clone()) {
            let text = match body.event {
                What::Said | What::Overheard | What::Refused => body.text.clone(),
                What::Closed => "(closes it)".to_owned(),
                What::Reopened => "(reopens it)".to_owned(),
                What::Merged => "(merges it)".to_owned(),
            };
            let author = Some(body.author.clone());
            state.lines.push(Line { conversation: body.conversation.clone(), author, text, last: false });
        }
        RawEvent {
            platform: talk.kind,
            delivery: DeliveryKey { id, meaning },
            lane: lane.unwrap_or_else(|| body.conversation.clone()),
            urgent: matches!(body.event, What::Said | What::Refused) && command::is_urgent(&body.text),
            body: serde_json::to_string(&body).expect("plain fields"),
            received_at: talk.clock.now(),
        }
    }
}

/// What an event means.
pub(super) fn prepare(platform: PlatformKind, body: &str) -> Result<Option<Event>, PlatformError> {
    let body: Body = serde_json::from_str(body).map_err(refused)?;
    let key = |id: String| ConversationKey { platform, id };
    let hints = hints(body.hints)?;
    let author = Author { id: body.author_id.unwrap_or_else(|| body.author.clone()), name: body.author };
    let repository = body.repository.map(|name| name.parse::<RepositoryName>()).transpose().map_err(refused)?;
    let conversation = key(body.conversation);
    Ok(match body.event {
        What::Overheard => None,
        What::Said => Some(Event::Said(Box::new(Message {
            conversation,
            parent: body.parent.map(key),
            author,
            text: body.text,
            codebase: body.codebase,
            repository,
            context: None,
            hints,
            handle: body.handle,
        }))),
        What::Refused => Some(Event::Refused(Box::new(Refused {
            conversation,
            author,
            words: NOT_ALLOWED.to_owned(),
            handle: body.handle,
        }))),
        event @ (What::Closed | What::Reopened | What::Merged) => Some(Event::Closed(Box::new(Closed {
            conversation,
            author,
            is_allowed: !body.is_stranger,
            repository,
            hints,
            merged: event == What::Merged,
            reopened: event == What::Reopened,
        }))),
    })
}

fn hints(hint: Hint) -> Result<Hints, PlatformError> {
    let branch = |name: Option<String>| name.map(|name| BranchName::parse(&name)).transpose().map_err(refused);
    Ok(Hints {
        work: hint.work.as_deref().map(work).transpose()?,
        pr_branch: branch(hint.pr_branch)?,
        pr_head: hint.pr_head.map(|sha| CommitSha::parse(&sha)).transpose().map_err(refused)?,
        is_fork: hint.is_fork,
        linked_issues: hint.linked_issues,
        linked_prs: hint.linked_prs,
        base_branch: branch(hint.base_branch)?,
        suggested_branch: branch(hint.suggested_branch)?,
        description: hint.description,
    })
}

fn work(written: &str) -> Result<Work, PlatformError> {
    let (kind, id) = written.split_once('-').ok_or_else(|| refused(format!("`{written}` is no work")))?;
    Work::from_parts(kind, id).map_err(refused)
}

fn refused(why: impl std::fmt::Display) -> PlatformError {
    PlatformError::Refused(why.to_string())
}
