//! One turn with an agent of the protocol: hello, a session, what is settled for it, our prompt, and its end.

use std::collections::VecDeque;
use std::path::PathBuf;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, AgentCapabilities, CLIENT_METHOD_NAMES, ContentBlock, Implementation, InitializeRequest,
    InitializeResponse, LoadSessionRequest, McpServer, NewSessionRequest, PromptRequest, RequestPermissionRequest,
    ResumeSessionRequest, SessionNotification, StopReason, TextContent,
};
use hedgerow_core::assistant::{AssistantError, Outcome, Update};
use serde::Deserialize;
use serde_json::Value;

use super::super::dialogue::{Dialogue, Heard, Parting};
use super::super::rpc::{self, Ear, Fault, Line};
use super::super::words::{keepable, one_line};
use super::settling::{Offer, Wanted, settle};
use super::updates::Account;
use super::{faults, permission};

/// What we begin with.
pub(super) struct Opening {
    pub(super) place: PathBuf,
    /// Where it starts.
    pub(super) folder: PathBuf,
    /// Or why there are none.
    pub(super) servers: Result<Vec<McpServer>, AssistantError>,
    pub(super) resume: Option<String>,
    /// Said before the first prompt of a session.
    pub(super) briefing: Vec<String>,
    pub(super) prompt: String,
    pub(super) model: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) disallowed: Vec<String>,
}

/// What we wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Hello,
    Session,
    Settling,
    /// Only from here on it is about this turn.
    Prompt,
}

/// How we come to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    New,
    Resume,
    /// All of its past is told once more.
    Load,
}

pub(super) struct Talk {
    opening: Opening,
    ear: Ear,
    step: Step,
    /// The request that is open.
    id: u64,
    way: Way,
    /// It can come back to a session: only then its name is worth keeping.
    can_resume: bool,
    session: Option<String>,
    to_settle: VecDeque<(&'static str, Value)>,
    account: Account,
    last_word: Option<Result<Outcome, AssistantError>>,
}

impl Talk {
    pub(super) fn new(opening: Opening) -> Self {
        Self {
            opening,
            ear: Ear::default(),
            step: Step::Hello,
            id: 0,
            way: Way::New,
            can_resume: false,
            session: None,
            to_settle: VecDeque::new(),
            account: Account::default(),
            last_word: None,
        }
    }

    fn ask(&mut self, step: Step, method: &str, params: impl serde::Serialize) -> Vec<u8> {
        self.step = step;
        self.id += 1;
        rpc::request(self.id, method, params)
    }

    fn replied(&mut self, answer: &Value) -> Result<Heard, AssistantError> {
        match self.step {
            Step::Hello => self.met(answer),
            Step::Session => self.entered(answer),
            Step::Settling => Ok(Heard { reply: self.go_on(), ..Heard::default() }),
            Step::Prompt => Ok(self.finished(answer)),
        }
    }

    fn met(&mut self, answer: &Value) -> Result<Heard, AssistantError> {
        let hello = InitializeResponse::deserialize(answer)
            .map_err(|error| AssistantError::Garbled(format!("its first answer is wrong: {error}")))?;
        if hello.protocol_version != ProtocolVersion::V1 {
            let version = hello.protocol_version;
            return Err(AssistantError::Garbled(format!("it speaks version {version} of its protocol, not 1")));
        }
        let AgentCapabilities { load_session, session_capabilities, .. } = hello.agent_capabilities;
        let resumes = session_capabilities.resume.is_some();
        self.can_resume = resumes || load_session;
        let servers = std::mem::replace(&mut self.opening.servers, Ok(Vec::new()))?;
        let folder = self.opening.folder.clone();
        let reply = match self.opening.resume.clone() {
            Some(session) if resumes => {
                self.way = Way::Resume;
                let params = ResumeSessionRequest::new(session, folder).mcp_servers(servers);
                self.ask(Step::Session, AGENT_METHOD_NAMES.session_resume, params)
            }
            Some(session) if load_session => {
                self.way = Way::Load;
                let params = LoadSessionRequest::new(session, folder).mcp_servers(servers);
                self.ask(Step::Session, AGENT_METHOD_NAMES.session_load, params)
            }
            Some(_) => return Ok(self.over(Err(AssistantError::UnknownSession))),
            None => {
                self.account.begin_anew();
                let params = NewSessionRequest::new(folder).mcp_servers(servers);
                self.ask(Step::Session, AGENT_METHOD_NAMES.session_new, params)
            }
        };
        Ok(Heard { reply, ..Heard::default() })
    }

    fn entered(&mut self, answer: &Value) -> Result<Heard, AssistantError> {
        let session = match self.way {
            Way::New => answer.get("sessionId").and_then(Value::as_str).map(str::to_owned),
            Way::Resume | Way::Load => self.opening.resume.clone(),
        };
        let session = session.ok_or_else(|| AssistantError::Garbled("its session has no id".to_owned()))?;
        let wanted = Wanted {
            mode: self.opening.mode.as_deref(),
            model: self.opening.model.as_deref(),
            may_be_unbounded: self.opening.disallowed.is_empty(),
            is_loaded: self.way == Way::Load,
        };
        let (requests, regrets) = settle(&Offer::deserialize(answer).unwrap_or_default(), &session, &wanted);
        self.to_settle = requests.into();
        let mut updates: Vec<_> = regrets.into_iter().map(Update::Note).collect();
        if self.can_resume {
            updates.insert(0, Update::Session(keepable(session.clone())));
        }
        self.session = Some(session);
        Ok(Heard { updates, reply: self.go_on(), is_over: false })
    }

    /// The next that is to be settled, or else our prompt.
    fn go_on(&mut self) -> Vec<u8> {
        if let Some((method, params)) = self.to_settle.pop_front() {
            return self.ask(Step::Settling, method, params);
        }
        let briefing = if self.way == Way::New { std::mem::take(&mut self.opening.briefing) } else { Vec::new() };
        let words = briefing.into_iter().chain([std::mem::take(&mut self.opening.prompt)]);
        let words = words.map(|text| ContentBlock::Text(TextContent::new(text))).collect();
        let session = self.session.clone().unwrap_or_default();
        self.ask(Step::Prompt, AGENT_METHOD_NAMES.session_prompt, PromptRequest::new(session, words))
    }

    fn finished(&mut self, answer: &Value) -> Heard {
        let reason = answer.get("stopReason").and_then(|reason| StopReason::deserialize(reason).ok());
        let session = self.session.clone().filter(|_| self.can_resume).map(keepable);
        let ending = match reason {
            Some(StopReason::EndTurn) => Ok(Outcome { session, answer: self.account.spoken.answer() }),
            Some(StopReason::MaxTokens) => Err(AssistantError::OutOfBounds("it wrote as much as it may".to_owned())),
            Some(StopReason::MaxTurnRequests) => {
                Err(AssistantError::OutOfBounds("it asked its model as often as it may in one turn".to_owned()))
            }
            Some(StopReason::Refusal) => Err(AssistantError::Failed("it refuses to go on".to_owned())),
            Some(StopReason::Cancelled) => Err(AssistantError::Failed("its turn was cancelled".to_owned())),
            _ => Err(AssistantError::Garbled("it does not say in a known way why it stopped".to_owned())),
        };
        let mut updates = self.account.untold(&self.opening.place);
        updates.extend(self.account.usage(answer).map(Update::Usage));
        Heard { updates, ..self.over(ending) }
    }

    /// What was not settled costs a word to people, not the turn.
    fn failed(&mut self, fault: &Fault) -> Heard {
        let error = match (self.step, self.opening.resume.as_deref()) {
            (Step::Settling, _) => {
                let note = Update::Note(one_line(&format!("the agent did not take a setting: {}", fault.told())));
                return Heard { updates: vec![note], reply: self.go_on(), is_over: false };
            }
            (Step::Session, Some(_)) => faults::of_resuming(fault),
            // Some find out only now; nothing has happened yet.
            (Step::Prompt, Some(_)) if self.account.is_silent() => faults::of_going_on(fault),
            _ => faults::of_asking(fault),
        };
        self.over(Err(error))
    }

    fn over(&mut self, ending: Result<Outcome, AssistantError>) -> Heard {
        self.last_word = Some(ending);
        Heard::over()
    }

    fn noticed(&mut self, method: &str, params: Value, line: &[u8]) -> Heard {
        let other = || Heard::update(rpc::other(line));
        if method != CLIENT_METHOD_NAMES.session_update {
            return other();
        }
        let Ok(SessionNotification { session_id, update, .. }) = serde_json::from_value(params) else { return other() };
        if self.step != Step::Prompt {
            self.account.remember(&update);
            return Heard::default();
        }
        if self.session.as_deref() != Some(&*session_id.0) {
            return other();
        }
        self.account.hear(update, &self.opening.place).map_or_else(Heard::default, Heard::update)
    }

    fn asked(&mut self, id: &Value, method: &str, params: Value) -> Vec<u8> {
        if method != CLIENT_METHOD_NAMES.session_request_permission {
            return rpc::refuse(id, method);
        }
        match serde_json::from_value::<RequestPermissionRequest>(params) {
            Ok(request) => {
                let call = self.account.known(request.tool_call);
                let is_allowed = !permission::is_disallowed(call, &self.opening.disallowed);
                rpc::reply(id, permission::answer(&request.options, is_allowed))
            }
            Err(_) => rpc::reply(id, permission::answer(&[], false)),
        }
    }
}

impl Dialogue for Talk {
    fn opening(&mut self) -> Vec<u8> {
        let us = Implementation::new("hedgerow", env!("CARGO_PKG_VERSION")).title("Hedgerow".to_owned());
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        self.ask(Step::Hello, AGENT_METHOD_NAMES.initialize, hello)
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn hear(&mut self, line: &[u8]) -> Result<Heard, AssistantError> {
        match self.ear.read(line) {
            Line::Noise => self.ear.noise(line),
            Line::Reply { id, .. } if id.as_u64() != Some(self.id) => Ok(Heard::update(rpc::other(line))),
            Line::Reply { outcome: Ok(answer), .. } => self.replied(&answer),
            Line::Reply { outcome: Err(fault), .. } => Ok(self.failed(&fault)),
            Line::Notice { method, params } => Ok(self.noticed(&method, params, line)),
            Line::Request { id, method, params } => {
                Ok(Heard { reply: self.asked(&id, &method, params), ..Heard::default() })
            }
        }
    }

    fn end(self: Box<Self>, parting: &Parting<'_>) -> Result<Outcome, AssistantError> {
        self.last_word.unwrap_or_else(|| Err(self.ear.broke_off(parting)))
    }
}
