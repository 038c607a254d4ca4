//! What was heard becomes an event that can be acted on: who asks, what they may, and what is known about the work.

use hedgerow_core::command::{self, Parsed};
use hedgerow_core::message::{Closed, Event, Message, RawEvent, Refused};
use hedgerow_core::platform::{ConversationKey, Forge as _, Permission, PlatformError, PlatformKind, WorkState};
use hedgerow_core::{BranchName, Hints, RepositoryName, Work};

use super::GitHub;
use super::client::CallError;
use super::context::{About, context};
use super::handle::Handle;
use super::heard::{Asked, Heard, Person, Spot, What};
use super::hints;
use super::permission::{author, is_ignored, refusal};

impl GitHub {
    pub(super) async fn prepared(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError> {
        let (heard, repository) = read(raw)?;
        match &heard.what {
            What::Asked(asked) => self.asked(&heard, &repository, asked).await,
            What::Closed { merged } => self.closed(&heard, &repository, *merged, false).await.map(Some),
            What::Reopened => self.closed(&heard, &repository, false, true).await.map(Some),
            What::Transferred => self.closed(&heard, &repository, false, false).await.map(Some),
            What::BranchDeleted { branch } => self.branch_deleted(&heard, &repository, branch).await,
        }
    }

    /// What who asked is told, if they may not ask by now.
    pub(super) async fn refused(&self, raw: &RawEvent) -> Result<Option<Refused>, PlatformError> {
        let (heard, repository) = read(raw)?;
        match &heard.what {
            What::Asked(asked) => self.refused_to(&heard, &repository, asked).await,
            What::Closed { .. } | What::Reopened | What::Transferred | What::BranchDeleted { .. } => Ok(None),
        }
    }

    async fn refused_to(
        &self,
        heard: &Heard,
        repository: &RepositoryName,
        asked: &Asked,
    ) -> Result<Option<Refused>, PlatformError> {
        let may_ask = self.may_ask(repository, &heard.sender).await?;
        Ok((!may_ask).then(|| Refused {
            conversation: conversation(heard),
            author: author(&heard.sender),
            words: refusal(&self.config.allow, repository),
            handle: Some(handle(heard, asked)),
        }))
    }

    /// Somebody said something to us.
    async fn asked(
        &self,
        heard: &Heard,
        repository: &RepositoryName,
        asked: &Asked,
    ) -> Result<Option<Event>, PlatformError> {
        if is_ignored(&self.config, &heard.sender) {
            return Ok(None);
        }
        if let Some(refused) = self.refused_to(heard, repository, asked).await.map_err(patient)? {
            return Ok(Some(Event::Refused(Box::new(refused))));
        }
        let at = asked.at.parse();
        let at = at.map_err(|_| PlatformError::Refused(format!("`{}` is no time", asked.at)))?;
        let (number, is_pull_request) = (heard.number, heard.is_pull_request);
        let about = About { repository, number, is_pull_request, asked, at };
        let work = hints::work(heard, Some(asked));
        let (hints, context) = match command::parse(&asked.text) {
            // It only looks, or stops something: that must not hang on anything.
            _ if command::is_urgent(&asked.text) => (Ok(only(work)), None),
            Parsed::NotACommand | Parsed::Template { .. } => {
                tokio::join!(self.hints(repository, work), context(&self.client, &about))
            }
            // No agent reads along.
            _ => (self.hints(repository, work).await, None),
        };
        Ok(Some(Event::Said(Box::new(Message {
            conversation: conversation(heard),
            parent: None,
            author: author(&heard.sender),
            text: text(heard, asked),
            codebase: None,
            repository: Some(repository.clone()),
            context,
            hints: hints.map_err(|error| match error {
                // It is gone, and nobody waits for an answer there.
                CallError::NotFound(_) | CallError::Moved => error.into(),
                error => patient(error.into()),
            })?,
            handle: Some(handle(heard, asked)),
        }))))
    }

    async fn hints(&self, repository: &RepositoryName, work: Work) -> Result<Hints, CallError> {
        match work {
            Work::PullRequest(number) | Work::Review(number) => {
                hints::of_pull_request(&self.client, &self.config.web_url, repository, number, work).await
            }
            Work::Issue(number) => Ok(hints::of_issue(&self.client, repository, number).await),
            Work::Thread(_) | Work::Task(_) => Ok(only(work)),
        }
    }

    /// An issue or pull request ended, or came back.
    async fn closed(
        &self,
        heard: &Heard,
        repository: &RepositoryName,
        merged: bool,
        reopened: bool,
    ) -> Result<Event, PlatformError> {
        let is_allowed = self.may_close(repository, &heard.sender, merged).await?;
        let work = hints::work(heard, None);
        // What comes back may need its head, and must not be taken for ours when it is a stranger's.
        let hints = if reopened && heard.is_pull_request { self.hints(repository, work).await? } else { only(work) };
        Ok(Event::Closed(Box::new(Closed {
            conversation: conversation(heard),
            author: author(&heard.sender),
            is_allowed,
            repository: Some(repository.clone()),
            hints,
            merged,
            reopened,
        })))
    }

    /// Who merged could write, whatever program they did it with, and a program that closes things was let to by an admin.
    /// Who is listed to ask does not matter here: it was closed.
    async fn may_close(
        &self,
        repository: &RepositoryName,
        sender: &Person,
        merged: bool,
    ) -> Result<bool, PlatformError> {
        if merged || sender.is_bot {
            return Ok(true);
        }
        let permission = self.permission(repository, &author(sender)).await;
        match permission.map(|permission| permission >= Permission::Write) {
            // It was closed all the same, and that is not to be lost.
            Err(error @ PlatformError::Refused(_)) => {
                tracing::warn!(%repository, %error, "what who closed may do is not known");
                Ok(false)
            }
            other => other,
        }
    }

    /// The branch of a pull request that has ended is gone: it has ended for good.
    async fn branch_deleted(
        &self,
        heard: &Heard,
        repository: &RepositoryName,
        branch: &str,
    ) -> Result<Option<Event>, PlatformError> {
        let Ok(branch) = BranchName::parse(branch) else { return Ok(None) };
        let newest = self.newest_pull_request_of(repository, &branch).await?;
        let Some(newest) = newest.filter(|newest| newest.state != WorkState::Open) else { return Ok(None) };
        let is_merged = newest.state == WorkState::Merged;
        let ended = Heard { number: newest.number, is_pull_request: true, ..heard.clone() };
        self.closed(&ended, repository, is_merged, false).await.map(Some)
    }
}

fn read(raw: &RawEvent) -> Result<(Heard, RepositoryName), PlatformError> {
    let unreadable = |why: String| PlatformError::Refused(format!("what was heard cannot be read: {why}"));
    let heard = Heard::read(raw).map_err(|error| unreadable(error.to_string()))?;
    let repository = heard.repository().ok_or_else(|| unreadable("it names no repository".to_owned()))?;
    Ok((heard, repository))
}

/// We may not look it up now: a token has expired, or somebody took a right away. That can be put right, and what was
/// asked must not be lost for it.
fn patient(error: PlatformError) -> PlatformError {
    match error {
        PlatformError::Refused(why) | PlatformError::Transient(why) => PlatformError::Transient(why),
    }
}

fn only(work: Work) -> Hints {
    Hints { work: Some(work), ..Hints::default() }
}

fn conversation(heard: &Heard) -> ConversationKey {
    ConversationKey { platform: PlatformKind::Github, id: heard.conversation() }
}

fn handle(heard: &Heard, asked: &Asked) -> String {
    let review_comment = match asked.place {
        Spot::ReviewComment { id } => Some(id),
        Spot::Body | Spot::Comment { .. } | Spot::Review { .. } => None,
    };
    let (repository, number) = (heard.repository.clone(), heard.number);
    Handle { node: asked.node_id.clone(), review_comment, repository, number }.to_text()
}

/// What was said; who only called us means what is there to see.
fn text(heard: &Heard, asked: &Asked) -> String {
    if !asked.text.trim().is_empty() {
        return asked.text.clone();
    }
    let meant = match (&asked.place, heard.is_pull_request) {
        _ if asked.as_reviewer => "Review this pull request.",
        (Spot::ReviewComment { .. }, _) => "Do what this thread of the review asks for.",
        (Spot::Review { .. }, _) => "Do what this review asks for.",
        (_, true) => "Work on this pull request.",
        (_, false) => "Work on this issue.",
    };
    meant.to_owned()
}

#[cfg(test)]
mod tests;
