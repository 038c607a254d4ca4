//! Before the story: what the platform makes of a delivery, which codebase it is about, and what its people wish for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_core::environment::Actor;
use hedgerow_core::message::{Author, Closed, Event, Message, Refused};
use hedgerow_core::platform::{Mark, Platform, PlatformError, PlatformKind};
use hedgerow_core::run::MessageEnd;
use hedgerow_core::{Codebase, Kind, UserError};

use super::close::{Closing, concerns_us};
use super::marking::Marks;
use super::{Limits, Story};
use crate::dispatch::Desk;
use crate::failure::Outcome;
use crate::replies;
use crate::store::{Conversation, Delivered, Refusing, Understood};
use crate::templates::Template;

/// Longest a platform may take to prepare an event.
const PATIENCE: Duration = Duration::from_mins(2);
/// Longest it may take to say whether somebody still may ask: others wait for the environment.
const GLANCE: Duration = Duration::from_secs(10);
/// For so long what was prepared is taken to be still so.
const FRESH: Duration = Duration::from_secs(2);

/// What a delivery turned out to be.
pub(super) enum Prepared {
    Said(Box<Story>),
    Closed(Box<Closing>),
    /// Nobody meant us.
    Nothing,
    /// It has had its end.
    Ended,
    /// The platform does not answer now.
    Later(String),
}

pub(super) async fn prepare(desk: &Arc<Desk>, delivered: &Delivered) -> Outcome<Prepared> {
    let Some(platform) = desk.platform(delivered.raw.platform).cloned() else { return Ok(Prepared::Nothing) };
    let event = match tokio::time::timeout(PATIENCE, platform.prepare(&delivered.raw)).await {
        Ok(Ok(Some(event))) => event,
        Ok(Ok(None)) => return Ok(Prepared::Nothing),
        Ok(Err(PlatformError::Refused(why))) => {
            tracing::warn!(%why, "a delivery cannot be understood");
            return Ok(Prepared::Nothing);
        }
        Ok(Err(PlatformError::Transient(why))) => return Ok(Prepared::Later(why)),
        Err(_) => return Ok(Prepared::Later("it did not answer in time".to_owned())),
    };
    match event {
        Event::Said(said) => told(desk, platform, delivered, *said).await,
        Event::Closed(closed) => ended(desk, delivered, *closed).await,
        Event::Refused(refused) => refuse(desk, delivered, &refused).await.map(|()| Prepared::Ended),
    }
}

async fn refuse(desk: &Desk, delivered: &Delivered, refused: &Refused) -> Outcome<()> {
    let author = nameless(refused.conversation.platform, &refused.author);
    let refusing = Refusing {
        conversation: &refused.conversation,
        author: &author,
        handle: refused.handle.as_deref(),
        words: &refused.words,
    };
    desk.engine.store().refuse(delivered, &desk.holder, &refusing, desk.engine.now()).await?;
    Ok(())
}

/// Who may not ask, by their id: they leave no name behind.
fn nameless(platform: PlatformKind, author: &Author) -> Actor {
    Actor::new(platform.as_str(), &author.id)
}

async fn ended(desk: &Arc<Desk>, delivered: &Delivered, closed: Closed) -> Outcome<Prepared> {
    if !concerns_us(desk, &closed).await? {
        return Ok(Prepared::Nothing);
    }
    let (store, now) = (desk.engine.store(), desk.engine.now());
    let platform = closed.conversation.platform;
    let by = if closed.is_allowed {
        desk.engine.actor(platform, &closed.author).await?
    } else {
        nameless(platform, &closed.author)
    };
    // Who may not ask keeps nothing from growing old either.
    let known = if closed.is_allowed { None } else { store.known_conversation(&closed.conversation).await? };
    let conversation = match known {
        Some(known) => known,
        None => store.conversation(&closed.conversation, now).await?,
    };
    let understood = Understood { conversation: conversation.id, author: &by, said: None, handle: None };
    store.prepared(delivered, &desk.holder, &understood).await?;
    let delivered = delivered.clone();
    let closing = Closing { desk: Arc::clone(desk), delivered, closed, conversation, by };
    Ok(Prepared::Closed(Box::new(closing)))
}

async fn told(
    desk: &Arc<Desk>,
    platform: Arc<dyn Platform>,
    delivered: &Delivered,
    said: Message,
) -> Outcome<Prepared> {
    let (store, now) = (desk.engine.store(), desk.engine.now());
    let by = desk.engine.actor(said.conversation.platform, &said.author).await?;
    let mut conversation = store.conversation(&said.conversation, now).await?;
    if let Some(parent) = said.parent.as_ref().filter(|parent| **parent != said.conversation) {
        let parent = store.conversation(parent, now).await?;
        store.set_parent(conversation.id, parent.id).await?;
        conversation.parent = conversation.parent.or(Some(parent.id));
    }
    let handle = said.handle.as_deref();
    let understood = Understood { conversation: conversation.id, author: &by, said: Some(&said.text), handle };
    store.prepared(delivered, &desk.holder, &understood).await?;
    let marks = Marks::of(&platform, handle);
    // One that is prepared again was seen the first time.
    if delivered.said.is_none() {
        marks.set(Mark::Seen);
    }
    let (desk, delivered, prepared_at) = (Arc::clone(desk), delivered.clone(), Instant::now());
    let story = Story { desk, platform, delivered, said, conversation, by, marks, prepared_at };
    Ok(Prepared::Said(Box::new(story)))
}

impl Story {
    /// Ends the message when its author may no longer ask, now that its turn has come: that can take a day. A platform
    /// that does not answer takes nobody's right away.
    pub(super) async fn is_refused_by_now(&self) -> Outcome<bool> {
        if self.prepared_at.elapsed() < FRESH {
            return Ok(false);
        }
        match tokio::time::timeout(GLANCE, self.platform.refusal(&self.delivered.raw)).await {
            Ok(Ok(Some(refused))) => {
                tracing::info!("who asked may no longer ask");
                refuse(&self.desk, &self.delivered, &refused).await?;
                self.marks.ended(MessageEnd::Failed);
                return Ok(true);
            }
            Ok(Ok(None)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "whether who asked still may is not known"),
            Err(_) => tracing::warn!("the platform does not say in time whether who asked still may"),
        }
        Ok(false)
    }

    /// The conversation's own codebase; else the one that was named; else its parent's; else the only one there is. With
    /// several the author is asked, and with none there is none. What a forge tells of is about its own repository.
    pub(super) async fn codebase(&self) -> Outcome<Result<Option<Codebase>, String>> {
        if let Some(repository) = &self.said.repository {
            return Box::pin(self.codebase_of(repository)).await;
        }
        let store = self.desk.engine.store();
        let named = match &self.said.codebase {
            Some(name) => Some(self.desk.engine.require_codebase(name).await?),
            None => None,
        };
        if let Some(own) = self.own_codebase(&self.conversation).await? {
            return match named {
                Some(named) if named.id != own.id => Err(other_codebase(&own, &named).into()),
                _ => Ok(Ok(Some(own))),
            };
        }
        let found = match (named, self.conversation.parent) {
            (Some(named), _) => Some(named),
            (None, Some(parent)) => match store.conversation_by_id(parent).await? {
                Some(parent) => self.own_codebase(&parent).await?,
                None => None,
            },
            (None, None) => None,
        };
        let mut all = match found {
            Some(found) => vec![found],
            None => self.desk.engine.codebases().await?,
        };
        match all.len() {
            0 => Ok(Ok(None)),
            1 => {
                let codebase = all.remove(0);
                store.set_codebase(self.conversation.id, codebase.id).await?;
                Ok(Ok(Some(codebase)))
            }
            _ => {
                let names: Vec<String> = all.into_iter().map(|codebase| codebase.name).collect();
                Ok(Err(replies::which_codebase(&names)))
            }
        }
    }

    pub(super) async fn own_codebase(&self, conversation: &Conversation) -> Outcome<Option<Codebase>> {
        match conversation.codebase {
            // One that was forgotten is nobody's.
            Some(id) => Ok(self.desk.engine.codebases().await?.into_iter().find(|codebase| codebase.id == id)),
            None => Ok(None),
        }
    }

    /// The assistant that was chosen, by the conversation or its codebase, and how long it may take.
    pub(super) async fn wishes(&self, codebase: Option<&Codebase>) -> Outcome<(Option<String>, Limits)> {
        let runs = &self.desk.engine.settings().runs;
        let own = match codebase {
            Some(codebase) => self.desk.engine.repository_config(codebase).await?,
            None => crate::repository_config::RepositoryConfig::default(),
        };
        let limits = Limits {
            timeout: own.run_timeout.unwrap_or(runs.timeout),
            idle_timeout: own.idle_timeout.unwrap_or(runs.idle_timeout),
        };
        Ok((self.conversation.assistant.clone().or(own.assistant), limits))
    }

    pub(super) async fn template(&self, codebase: Option<&Codebase>, name: &str) -> Outcome<Option<Template>> {
        match codebase {
            Some(codebase) => self.desk.engine.template(codebase, name).await,
            None => Ok(None),
        }
    }
}

fn other_codebase(own: &Codebase, named: &Codebase) -> UserError {
    UserError::new(Kind::Usage, format!("this conversation works on `{}`", own.name))
        .hint(format!("`/repo {}` makes it work on the other", named.name))
}
