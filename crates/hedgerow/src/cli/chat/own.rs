//! What this window asked, and which of what is said answers it. Any window of a conversation may answer for another,
//! so whoever asked looks into the store: there every answer is, wherever it was given.

use std::collections::{HashMap, HashSet};

use hedgerow_core::platform::Reply;
use hedgerow_core::{MessageId, RunId};
use hedgerow_engine::Outcome;
use hedgerow_engine::store::Store;
use hedgerow_platforms::terminal::Shown;

/// Whose answer something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Ours,
    /// Another window asked, or nobody did.
    Theirs,
}

#[derive(Debug, Default)]
pub(super) struct Own {
    asked: HashSet<MessageId>,
    /// Those of them that have not had their last word, in the order in which they were asked.
    open: Vec<MessageId>,
    /// Keys of the replies that were seen here.
    seen: HashSet<String>,
    runs: HashMap<RunId, Whose>,
}

impl Own {
    pub(super) fn ask(&mut self, message: MessageId) {
        self.asked.insert(message);
        self.open.push(message);
    }

    /// Whether nothing that was asked here waits for its last word.
    pub(super) const fn is_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether this is to be shown: a reply comes from the store and from whoever sends it, and is seen once.
    pub(super) fn is_new(&mut self, shown: &Shown) -> bool {
        match shown {
            Shown::Reply(reply) => self.seen.insert(reply.idempotency_key.clone()),
            Shown::Live(_) => true,
        }
    }

    pub(super) async fn whose(&mut self, store: &Store, shown: &Shown) -> Outcome<Whose> {
        match shown {
            Shown::Reply(reply) => self.whose_reply(store, reply).await,
            Shown::Live(live) => match self.runs.get(&live.run) {
                Some(whose) => Ok(*whose),
                None => {
                    let whose = self.whose_run(store, live.run).await?;
                    self.runs.insert(live.run, whose);
                    Ok(whose)
                }
            },
        }
    }

    async fn whose_reply(&self, store: &Store, reply: &Reply) -> Outcome<Whose> {
        let Ok(id) = reply.idempotency_key.parse() else { return Ok(Whose::Theirs) };
        let message = store.reply(id).await?.and_then(|(_, message, _)| message);
        Ok(if message.is_some_and(|message| self.asked.contains(&message)) { Whose::Ours } else { Whose::Theirs })
    }

    async fn whose_run(&self, store: &Store, run: RunId) -> Outcome<Whose> {
        for message in &self.open {
            if store.run_of(*message).await?.is_some_and(|of| of.id == run) {
                return Ok(Whose::Ours);
            }
        }
        Ok(Whose::Theirs)
    }

    /// The replies there are to what was open until now, oldest first. Whatever was shown live on the way to one of them is
    /// on its channel by now.
    pub(super) async fn replies(&mut self, store: &Store) -> Outcome<Vec<Reply>> {
        let mut replies = Vec::new();
        let mut open = Vec::new();
        for message in &self.open {
            // In this order: a message that has ended has all its replies.
            if store.message_end(*message).await?.is_none() {
                open.push(*message);
            }
            replies.extend(store.replies_to(*message).await?);
        }
        self.open = open;
        replies.sort_by_key(|(id, _, _)| *id);
        let reply = |(id, text, last): (hedgerow_core::ReplyId, String, _)| Reply::new(text, last, id.to_string());
        Ok(replies.into_iter().map(reply).collect())
    }
}
