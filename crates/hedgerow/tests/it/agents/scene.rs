//! A machine with one agent on it: a repository, a server, a model, and somebody who talks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_testkit::git;
use hedgerow_testkit::http::{Event, Following};
use hedgerow_testkit::outside::model::{FakeModel, Key};
use serde_json::{Value, json};

use super::agent::Agent;
use crate::desk::Desk;
use crate::family;
use crate::load::server::{Caller, Server};

/// The longest that an agent may take for an answer of this size, on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_mins(2);
const GLANCE: Duration = Duration::from_millis(50);
/// What the model wants to see. Only the server has it.
pub(super) const KEY: &str = "sk-the-true-key-of-these-tests";
const TALK: &str = "support-17";

pub(super) struct Scene {
    pub(super) agent: Agent,
    pub(super) desk: Desk,
    pub(super) model: FakeModel,
    pub(super) server: Server,
    caller: Caller,
    said: usize,
}

impl Scene {
    pub(super) async fn new(agent: Agent) -> Self {
        Self::with(agent, &agent.program()).await
    }

    /// The same with another program in the place of the agent's.
    pub(super) async fn with(agent: Agent, program: &Path) -> Self {
        let desk = Desk::new().await;
        let model = FakeModel::start(KEY).await;
        configure(&desk, agent, program, &model);
        let _ = desk.run(&["codebase", "add", "."]).success();
        let server = Server::start(&desk).await;
        let caller = server.caller();
        Self { agent, desk, model, server, caller, said: 0 }
    }

    /// Says something, and gives the name of the message.
    pub(super) async fn say(&mut self, text: &str) -> Value {
        self.said += 1;
        self.caller.post_until_accepted(TALK, &format!("key-{}", self.said), text).await
    }

    /// Waits for the last word on a message.
    pub(super) async fn last_word(&self, message: &Value) -> String {
        let last = async {
            loop {
                let said = self.last_words(message).await;
                if let Some(last) = said.into_iter().next() {
                    return last;
                }
                tokio::time::sleep(GLANCE).await;
            }
        };
        let last = tokio::time::timeout(PATIENCE, last).await;
        last.unwrap_or_else(|_| panic!("no last word on the message; the model was asked: {:#?}", self.model.calls()))
    }

    /// All last words on a message there are: one, when all is well.
    pub(super) async fn last_words(&self, message: &Value) -> Vec<String> {
        let said = self.caller.read(TALK).await.into_iter();
        let last = said.filter(|one| one["final"] == true && one["message_id"] == *message);
        last.map(|one| one["text"].as_str().expect("a text").to_owned()).collect()
    }

    /// Says something and waits for the last word on it.
    pub(super) async fn ask(&mut self, text: &str) -> String {
        let message = self.say(text).await;
        self.last_word(&message).await
    }

    /// Follows the conversation from now on.
    pub(super) async fn follow(&self) -> Following {
        self.caller.follow(TALK).await.patiently()
    }

    /// Where the agent works: the newest environment.
    pub(super) fn environment(&self) -> PathBuf {
        let all = self.desk.json(&["env", "list"]);
        let newest = all.as_array().and_then(|all| all.iter().max_by_key(|one| one["id"].as_str().map(str::to_owned)));
        PathBuf::from(newest.and_then(|one| one["path"].as_str()).unwrap_or_else(|| panic!("no environment in {all}")))
    }

    /// Waits until a file is there, and says which environment it is in.
    pub(super) async fn sees(&self, file: &str) -> PathBuf {
        let folder = self.desk.home().join("worktrees/shop");
        let found = || {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).find(|path| path.join(file).exists())
        };
        family::comes(PATIENCE, file, || found().is_some()).await;
        found().expect("it was there just now")
    }

    /// A word that is in the command lines of what the agent starts, and of nobody else's.
    pub(super) fn mark(&self) -> String {
        self.desk.folder().file_name().expect("a name").to_string_lossy().into_owned()
    }

    /// A command that says by a file that it runs, and then never ends.
    pub(super) fn endless(&self) -> String {
        let mark = self.mark();
        self.agent.runs(&format!("touch started && touch {mark} && tail -f {mark}"))
    }

    /// Nothing of the agent runs, and the server has no child.
    pub(super) async fn is_quiet(&self) {
        let mark = self.mark();
        let program = self.agent.program().to_string_lossy().into_owned();
        family::comes(PATIENCE, "the end of the command", || family::with_words(&["tail", &mark]).is_empty()).await;
        let agents = || family::below(self.server.pid(), &program);
        family::comes(PATIENCE, "the end of the agent", || agents().is_empty()).await;
    }

    /// The person's own checkout is as it was.
    pub(super) fn main_is_untouched(&self, head: &str) {
        let repo = &self.desk.repo;
        assert_eq!(repo.git(&["rev-parse", "main"]), head);
        assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
    }

    /// The model was asked, and each time with its key.
    pub(super) fn model_was_asked(&self) {
        let calls = self.model.calls();
        assert!(!calls.is_empty(), "the model was not asked at all");
        assert!(calls.iter().all(|call| call.key == Key::Right), "{calls:#?}");
    }
}

/// Subjects of the commits that a place has more than the base, newest first.
pub(super) fn commits(place: &Path) -> Vec<String> {
    git::git(place, &["log", "--format=%s", "origin/main.."]).lines().map(str::to_owned).collect()
}

/// What was seen of a run, up to the last word.
pub(super) async fn glimpses(events: &mut Following) -> Vec<Event> {
    let mut seen = Vec::new();
    let all = async {
        while let Some(event) = events.next().await {
            let is_last = event.name == "reply" && event.json()["final"] == true;
            seen.push(event);
            if is_last {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("the last word comes");
    seen
}

/// Follows a run until these words were said in it.
pub(super) async fn hears(events: &mut Following, words: &str) {
    let mut said = String::new();
    let all = async {
        while !said.contains(words) {
            let event = events.next().await.expect("the stream goes on");
            let data = event.json();
            if event.name == "live" && data["what"] == "text" {
                said.push_str(data["text"].as_str().unwrap_or_default());
            }
        }
    };
    tokio::time::timeout(PATIENCE, all).await.unwrap_or_else(|_| panic!("`{words}` was not said"));
}

fn configure(desk: &Desk, agent: Agent, program: &Path, model: &FakeModel) {
    let command: Vec<String> = [program.to_string_lossy().into_owned()]
        .into_iter()
        .chain(agent.arguments().iter().map(|argument| (*argument).to_owned()))
        .collect();
    let url = model.url();
    desk.configure("run.lease_seconds = 5");
    for maker in ["anthropic", "openai"] {
        desk.configure(&format!("llm.{maker}_key = \"{KEY}\"\nllm.{maker}_url = \"{url}\""));
    }
    let name = agent.name();
    desk.configure(&format!("[assistants.{name}]\nkind = \"{}\"\ncommand = {}", agent.kind(), json!(command)));
    if let Some(model) = agent.model() {
        desk.configure(&format!("model = \"{model}\""));
    }
    desk.configure(&format!("[assistants.{name}.variables]"));
    for (variable, value) in agent.variables() {
        desk.configure(&format!("{variable} = {}", json!(value)));
    }
}
