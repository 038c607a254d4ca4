//! One conversation in one window. What is typed goes in by the same door as everything else; what is said comes out
//! on a channel, for whoever draws the window.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use hedgerow_core::message::{Author, DeliveryKey, Event, Message, RawEvent};
use hedgerow_core::platform::{ConversationKey, Live, Pace, Platform, PlatformError, PlatformKind, Reply};
use hedgerow_core::{Hints, MessageId, Timestamp, command};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A window has no limit of its own; this one keeps a runaway answer from being drawn in one piece.
const LONGEST: usize = 1 << 20;

/// Something for the window to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    Live(Live),
    Reply(Reply),
}

/// The platform of one window.
#[derive(Debug)]
pub struct Terminal {
    conversation: String,
    window: UnboundedSender<Shown>,
    /// Keys of what this window has shown. Another window has its own: what is not here was not seen here.
    shown: Mutex<HashSet<String>>,
}

/// What is written down of a line.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    conversation: String,
    author: String,
    text: String,
    codebase: Option<String>,
}

impl Terminal {
    /// The platform of a conversation, and what its window is to show.
    pub fn open(conversation: impl Into<String>) -> (Self, UnboundedReceiver<Shown>) {
        let (window, shown) = unbounded_channel();
        (Self { conversation: conversation.into(), window, shown: Mutex::default() }, shown)
    }

    /// A line that a person typed, as an event to hand in.
    pub fn typed(&self, author: &str, text: &str, codebase: Option<&str>, now: Timestamp) -> RawEvent {
        let body = Body {
            conversation: self.conversation.clone(),
            author: author.to_owned(),
            text: text.to_owned(),
            codebase: codebase.map(str::to_owned),
        };
        RawEvent {
            platform: PlatformKind::Terminal,
            // A line is typed once; there is nobody who would deliver it again.
            delivery: DeliveryKey { id: MessageId::new().to_string(), meaning: None },
            lane: self.conversation.clone(),
            urgent: command::is_urgent(text),
            body: json!(body).to_string(),
            received_at: now,
        }
    }
}

#[async_trait]
impl Platform for Terminal {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Terminal
    }

    fn pace(&self) -> Pace {
        Pace::Stream
    }

    fn longest(&self) -> usize {
        LONGEST
    }

    fn recognises_repeats(&self) -> bool {
        true
    }

    fn only(&self) -> Option<&str> {
        Some(&self.conversation)
    }

    async fn prepare(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError> {
        let body: Body =
            serde_json::from_str(&raw.body).map_err(|error| PlatformError::Refused(format!("not a line: {error}")))?;
        Ok(Some(Event::Said(Box::new(Message {
            conversation: ConversationKey { platform: PlatformKind::Terminal, id: body.conversation },
            parent: None,
            author: Author { id: body.author.clone(), name: body.author },
            text: body.text,
            codebase: body.codebase,
            repository: None,
            context: None,
            hints: Hints::default(),
            handle: None,
        }))))
    }

    async fn send(&self, _to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.contains(&reply.idempotency_key) {
            return Ok(());
        }
        // It stays in the store, for when the conversation is opened again.
        let closed = |_| PlatformError::Transient("the window is closed".to_owned());
        self.window.send(Shown::Reply(reply.clone())).map_err(closed)?;
        shown.insert(reply.idempotency_key.clone());
        Ok(())
    }

    async fn show(&self, _to: &ConversationKey, live: &Live) {
        // Nobody relies on it.
        let _ = self.window.send(Shown::Live(live.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ConversationKey {
        ConversationKey { platform: PlatformKind::Terminal, id: "alice@shop".to_owned() }
    }

    #[tokio::test]
    async fn a_line_comes_back_as_the_message_it_was() {
        let (terminal, _shown) = Terminal::open("alice@shop");
        let raw = terminal.typed("alice", "fix \"it\"\nplease", Some("shop"), Timestamp::from_millis(7));
        assert_eq!((raw.lane.as_str(), raw.urgent, raw.received_at.as_millis()), ("alice@shop", false, 7));
        let Ok(Some(Event::Said(message))) = terminal.prepare(&raw).await else { panic!("it was said") };
        assert_eq!((message.conversation, message.author.id.as_str()), (key(), "alice"));
        assert_eq!((message.text.as_str(), message.codebase.as_deref()), ("fix \"it\"\nplease", Some("shop")));

        let stop = terminal.typed("alice", "/stop", None, Timestamp::from_millis(8));
        assert!(stop.urgent && stop.delivery != raw.delivery);
        let broken = RawEvent { body: "{}".to_owned(), ..raw };
        assert!(matches!(terminal.prepare(&broken).await, Err(PlatformError::Refused(_))));
    }

    #[tokio::test]
    async fn a_window_shows_a_reply_once_and_none_when_it_is_closed() {
        let (terminal, mut shown) = Terminal::open("alice@shop");
        let reply = Reply::new("Done.", true, "1");
        for _ in 0..2 {
            terminal.send(&key(), &reply).await.expect("the window is open");
        }
        assert_eq!(shown.try_recv(), Ok(Shown::Reply(reply.clone())));
        assert!(shown.try_recv().is_err(), "once");
        drop(shown);
        let other = Reply { idempotency_key: "2".to_owned(), ..reply };
        for _ in 0..2 {
            assert!(matches!(terminal.send(&key(), &other).await, Err(PlatformError::Transient(_))));
        }
    }
}
