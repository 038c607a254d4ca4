//! Runs as people and scripts see them: who had whom do what, where, what it took, and what happened on the way. The JSON
//! is a fixed point: fields are added, never changed.

use std::time::Duration;

use hedgerow_core::assistant::{Step, Usage};
use hedgerow_core::run::{RunEventKind, RunState};
use hedgerow_core::{Codebase, EnvironmentId, Kind, MessageId, RunId, Timestamp, UserError};
use serde::Serialize;

use crate::engine::Engine;
use crate::failure::Outcome;
use crate::store::{Happened, Run, RunEvent};

/// A run.
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    pub id: RunId,
    pub state: RunState,
    pub assistant: String,
    /// Who asked, as `platform:person`.
    pub author: String,
    /// Where, as `platform:name`.
    pub conversation: String,
    pub message_id: Option<MessageId>,
    pub codebase: Option<String>,
    /// The name of its environment, as long as that is remembered.
    pub environment: Option<String>,
    pub environment_id: Option<EnvironmentId>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// How long it took, or takes by now.
    pub seconds: u64,
    pub usage: Usage,
}

/// One thing that happened in a run. Which fields are there depends on the kind.
#[derive(Debug, Clone, Serialize)]
pub struct RunEventView {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: RunEventKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<RunState>,
}

impl RunEventView {
    pub fn new(event: RunEvent) -> Self {
        let kind = event.what.kind();
        let view = Self { seq: event.seq, at: event.at, kind, text: None, steps: None, usage: None, state: None };
        match event.what {
            Happened::Session(text)
            | Happened::Text(text)
            | Happened::Tool(text)
            | Happened::Note(text)
            | Happened::Other(text) => Self { text: Some(text), ..view },
            Happened::Plan(steps) => Self { steps: Some(steps), ..view },
            Happened::Usage(usage) => Self { usage: Some(usage), ..view },
            Happened::End { state, why } => Self { state: Some(state), text: why, ..view },
        }
    }
}

impl Run {
    /// How long it took, or takes by now.
    pub fn took(&self, now: Timestamp) -> Duration {
        let end = self.ended_at.unwrap_or(now);
        Duration::from_secs(end.seconds_since(self.started_at).max(0).unsigned_abs())
    }
}

impl Engine {
    /// The newest runs, newest first; of one codebase, or of all.
    pub async fn runs(&self, codebase: Option<&Codebase>, most: u32) -> Outcome<Vec<RunView>> {
        let mut views = Vec::new();
        for run in self.store.newest_runs(codebase.map(|codebase| codebase.id), most).await? {
            views.push(self.run_view(&run).await?);
        }
        Ok(views)
    }

    /// The run of this id, or whose id alone begins so.
    pub async fn require_run(&self, name: &str) -> Outcome<RunView> {
        let found = match name.parse() {
            Ok(id) => self.store.run(id).await?.into_iter().collect(),
            Err(_) => self.store.runs_beginning(name).await?,
        };
        match found.as_slice() {
            [run] => self.run_view(run).await,
            [] => Err(UserError::new(Kind::NotFound, format!("there is no run `{}`", name.escape_debug()))
                .hint("`hedgerow run list` shows the newest")
                .into()),
            _ => Err(UserError::new(Kind::Usage, format!("several runs begin with `{name}`"))
                .hint("give more of its id")
                .into()),
        }
    }

    /// What happened in a run after an entry of its log, oldest first.
    pub async fn run_events(&self, run: RunId, after: u64, most: u32) -> Outcome<Vec<RunEventView>> {
        let events = self.store.run_events(run, after, most).await?;
        Ok(events.into_iter().map(RunEventView::new).collect())
    }

    async fn run_view(&self, run: &Run) -> Outcome<RunView> {
        let conversation = self.store.conversation_by_id(run.conversation).await?;
        let codebase = match run.codebase {
            Some(id) => self.store.codebase(id).await?,
            None => None,
        };
        let environment = match run.environment {
            Some(id) => self.store.environment(id).await?,
            None => None,
        };
        Ok(RunView {
            id: run.id,
            state: run.state,
            assistant: run.assistant.clone(),
            author: run.author.to_string(),
            conversation: conversation.map(|it| format!("{}:{}", it.key.platform, it.key.id)).unwrap_or_default(),
            message_id: run.message,
            codebase: codebase.map(|codebase| codebase.name),
            environment: environment.map(|environment| environment.name().to_owned()),
            environment_id: run.environment,
            started_at: run.started_at,
            ended_at: run.ended_at,
            seconds: run.took(self.clock.now()).as_secs(),
            usage: run.usage,
        })
    }
}
