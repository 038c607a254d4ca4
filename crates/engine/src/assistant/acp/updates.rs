//! What an agent tells of its turn, made ours.

use std::collections::HashMap;
use std::path::Path;

use agent_client_protocol_schema::v1::{
    ContentBlock, Cost, Plan, PlanEntryStatus, SessionUpdate, ToolCall, ToolCallId, ToolCallStatus, ToolCallUpdate,
    ToolKind,
};
use hedgerow_core::assistant::{Step, StepState, Update, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::super::spoken::Spoken;
use super::super::words::one_line;

/// What has been heard of the turn so far.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) spoken: Spoken,
    calls: HashMap<ToolCallId, Call>,
    /// What the whole session has cost, now and before the turn.
    cost: Option<f64>,
    cost_before: Option<f64>,
}

#[derive(Debug)]
struct Call {
    call: ToolCall,
    is_told: bool,
}

impl Account {
    /// A new session has cost nothing yet.
    pub(super) fn begin_anew(&mut self) {
        self.cost_before = Some(0.0);
    }

    /// Whether nothing was said or done yet.
    pub(super) fn is_silent(&self) -> bool {
        self.calls.is_empty() && self.spoken.answer().is_empty()
    }

    /// Before our prompt: the past of the session, of which only the cost is of interest.
    pub(super) fn remember(&mut self, update: &SessionUpdate) {
        if let SessionUpdate::UsageUpdate(usage) = update
            && let Some(cost) = in_dollars(usage.cost.as_ref())
        {
            self.cost_before = Some(cost);
        }
    }

    /// `None` for what has no meaning here, and is not worth the log either.
    pub(super) fn hear(&mut self, update: SessionUpdate, place: &Path) -> Option<Update> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let name = chunk.message_id.as_ref().map(|id| &*id.0);
                Some(Update::Text(self.spoken.piece(name, &text(chunk.content)?)))
            }
            SessionUpdate::ToolCall(call) => self.call(call, place),
            SessionUpdate::ToolCallUpdate(update) => self.go_on(update, place),
            SessionUpdate::Plan(plan) => Some(Update::Plan(steps(plan))),
            SessionUpdate::Notice(notice) => {
                let words = [Some(notice.title), notice.description];
                Some(Update::Note(one_line(&words.into_iter().flatten().collect::<Vec<_>>().join(": "))))
            }
            SessionUpdate::UsageUpdate(usage) => {
                self.cost = in_dollars(usage.cost.as_ref()).or(self.cost);
                None
            }
            _ => None,
        }
    }

    fn call(&mut self, call: ToolCall, place: &Path) -> Option<Update> {
        self.spoken.pause();
        let id = call.tool_call_id.clone();
        self.calls.insert(id.clone(), Call { call, is_told: false });
        self.tell(&id, place)
    }

    fn go_on(&mut self, update: ToolCallUpdate, place: &Path) -> Option<Update> {
        let id = self.learn(update);
        self.tell(&id, place)
    }

    /// What a call is, as far as it is known with this.
    pub(super) fn known(&mut self, update: ToolCallUpdate) -> &ToolCall {
        let id = self.learn(update);
        &self.calls[&id].call
    }

    fn learn(&mut self, update: ToolCallUpdate) -> ToolCallId {
        let ToolCallUpdate { tool_call_id: id, fields, meta, .. } = update;
        let known = self.calls.entry(id.clone()).or_insert_with(|| {
            self.spoken.pause();
            Call { call: ToolCall::new(id.clone(), ""), is_told: false }
        });
        known.call.update(fields);
        known.call.meta = meta.or_else(|| known.call.meta.take());
        id
    }

    /// One line for a call, once it says enough: many begin with a title like `write` and come to the point when they run.
    fn tell(&mut self, id: &ToolCallId, place: &Path) -> Option<Update> {
        let known = self.calls.get_mut(id)?;
        let call = &known.call;
        let is_vague = match call.kind {
            ToolKind::Execute => command(call).is_none(),
            _ => call.locations.is_empty() && call.raw_input.as_ref().is_none_or(is_empty),
        };
        let waits = is_vague && call.status == ToolCallStatus::Pending;
        if known.is_told || waits || call.title.trim().is_empty() {
            return None;
        }
        known.is_told = true;
        Some(Update::Tool(line(call, place)))
    }

    /// Calls that never came to the point.
    pub(super) fn untold(&mut self, place: &Path) -> Vec<Update> {
        let untold = self.calls.values_mut().filter(|known| !known.is_told && !known.call.title.trim().is_empty());
        untold
            .map(|known| {
                known.is_told = true;
                Update::Tool(line(&known.call, place))
            })
            .collect()
    }

    /// What the turn has used, from the answer to our prompt.
    pub(super) fn usage(&self, answer: &Value) -> Option<Usage> {
        let cost = self.cost.zip(self.cost_before).map(|(now, before)| micros(now - before));
        let told = answer.get("usage").filter(|usage| usage.is_object());
        let told = told.or_else(|| answer.pointer("/_meta/quota/token_count").filter(|count| count.is_object()));
        let tokens = told.and_then(|told| Tokens::deserialize(told).ok()).unwrap_or_default();
        if told.is_none() && cost.is_none() {
            return None;
        }
        // Some count what was in the cache as input, and some beside it; the sum of all tells which.
        let input = tokens.total.saturating_sub(tokens.output).max(tokens.input);
        Some(Usage {
            input_tokens: input,
            cached_tokens: tokens.cached.unwrap_or_default(),
            output_tokens: tokens.output,
            cost_micros: cost,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    #[serde(alias = "totalTokens", alias = "total_tokens")]
    total: u64,
    #[serde(alias = "inputTokens", alias = "input_tokens")]
    input: u64,
    #[serde(alias = "outputTokens", alias = "output_tokens")]
    output: u64,
    #[serde(alias = "cachedReadTokens")]
    cached: Option<u64>,
}

fn in_dollars(cost: Option<&Cost>) -> Option<f64> {
    cost.filter(|cost| cost.currency == "USD" && cost.amount.is_finite()).map(|cost| cost.amount)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cost is small, and no less than nothing"
)]
fn micros(dollars: f64) -> u64 {
    (dollars.max(0.0) * 1e6).round() as u64
}

fn is_empty(input: &Value) -> bool {
    input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty)
}

fn text(content: ContentBlock) -> Option<String> {
    match content {
        ContentBlock::Text(text) => Some(text.text),
        ContentBlock::ResourceLink(link) => Some(link.uri),
        _ => None,
    }
}

/// Its title and where it works, as far as the title does not say so. For a command, the command.
fn line(call: &ToolCall, place: &Path) -> String {
    if call.kind == ToolKind::Execute {
        return one_line(&format!("run {}", command(call).unwrap_or(&call.title)));
    }
    let title = call.title.replace(&format!("{}/", place.display()), "");
    let shown = |path: &Path| path.strip_prefix(place).unwrap_or(path).display().to_string();
    let mut places: Vec<_> = call.locations.iter().map(|location| shown(&location.path)).collect();
    places.dedup();
    let is_named = |path: &str| {
        let name = Path::new(path).file_name().and_then(|name| name.to_str());
        title.contains(name.unwrap_or(path))
    };
    places.retain(|path| !is_named(path));
    one_line(&if places.is_empty() { title } else { format!("{title} {}", places.join(", ")) })
}

/// The command that a call runs, where it tells.
pub(super) fn command(call: &ToolCall) -> Option<&str> {
    let input = call.raw_input.as_ref()?;
    ["command", "cmd"].iter().find_map(|key| input.get(key)?.as_str()).filter(|command| !command.trim().is_empty())
}

fn steps(plan: Plan) -> Vec<Step> {
    let step = |entry: agent_client_protocol_schema::v1::PlanEntry| Step {
        text: one_line(&entry.content),
        state: match entry.status {
            PlanEntryStatus::Completed => StepState::Done,
            PlanEntryStatus::InProgress => StepState::Active,
            _ => StepState::Pending,
        },
    };
    plan.entries.into_iter().map(step).collect()
}
