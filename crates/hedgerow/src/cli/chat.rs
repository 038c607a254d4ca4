//! `hedgerow chat`: a conversation in the terminal. The same door, order and answers as every other platform has; only
//! the window is here.

mod editor;
mod history;
mod live;
mod own;
mod plain;
mod progress;
mod window;

use std::io::{IsTerminal, stdin, stdout};
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::message::{Accepted, Inbox as _};
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::{Codebase, Kind, MessageId, UserError};
use hedgerow_engine::assistant::Assistants;
use hedgerow_engine::dispatch::Dispatcher;
use hedgerow_engine::store::Conversation;
use hedgerow_engine::{Engine, Failure, Outcome};
use hedgerow_platforms::terminal::{Shown, Terminal};
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::context::Context;
use super::parse;

/// How often a window looks for the answers that another one gave to what was asked here.
const LOOK: Duration = Duration::from_millis(200);
/// Longest that leaving takes: an assistant gets three seconds to end, what it said last five to be written down.
const LEAVING: Duration = Duration::from_secs(10);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hedgerow chat                          talk about this repository
  hedgerow chat dark-mode                a conversation of that name
  hedgerow chat -m \"fix the login bug\"   ask once; the answer is on stdout
  hedgerow chat < questions.txt          every line is a message, answered before the next

The assistant is a program named in hedgerow.toml; `hedgerow config path` says where that is. Ctrl-C stops a run, a \
second one or Ctrl-D leaves. Exit status: 0 when everything was answered, 1 when not, 130 after Ctrl-C in a script.")]
pub(crate) struct Arguments {
    /// The conversation; otherwise the one you have about this repository
    #[arg(value_parser = parse::text)]
    name: Option<String>,
    /// Say this, print the answer and end
    #[arg(short, long, value_name = "TEXT", value_parser = parse::text)]
    message: Option<String>,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<ExitCode> {
    let codebase = codebase(context).await?;
    let name = conversation_name(arguments.name.as_deref(), &context.by.person, codebase.as_ref());
    open_gateway(&context.engine).await?;
    let (terminal, shown) = Terminal::open(&name);
    let terminal = Arc::new(terminal);
    let mut chat = Chat {
        context,
        key: ConversationKey { platform: PlatformKind::Terminal, id: name },
        codebase,
        is_named: context.chosen.is_some(),
        dispatcher: start(&context.engine, &terminal).await?,
        terminal,
        shown,
        is_gone: false,
    };
    if let Some(words) = context.engine.sandbox_words() {
        context.out.note(&words);
    }
    let has_person = stdin().is_terminal() && stdout().is_terminal() && !context.out.is_json();
    let outcome = match &arguments.message {
        Some(text) => plain::once(&mut chat, text).await,
        None if has_person => live::talk(&mut chat).await,
        None => plain::lines(&mut chat).await,
    };
    if !chat.is_gone {
        chat.go().await;
    }
    outcome
}

/// There may be no server, so whoever has a key opens the way to the models here, for as long as the chat lasts.
async fn open_gateway(engine: &Engine) -> Outcome<()> {
    let Some(gateway) = engine.gateway().cloned() else { return Ok(()) };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(anyhow::Error::from)?;
    gateway.listens_at(listener.local_addr().map_err(anyhow::Error::from)?);
    tokio::spawn(hedgerow_web::serve_models(gateway, listener, std::future::pending()));
    Ok(())
}

/// Whoever answers this one window.
async fn start(engine: &Engine, terminal: &Arc<Terminal>) -> Outcome<Dispatcher> {
    let assistants = Assistants::new(&engine.settings().runs, &engine.settings().home);
    Dispatcher::start(engine.clone(), vec![Arc::<Terminal>::clone(terminal)], assistants).await
}

/// The codebase to talk about: a chat in no repository is a chat all the same.
async fn codebase(context: &Context<'_>) -> Outcome<Option<Codebase>> {
    match context.codebase().await {
        Ok(codebase) => Ok(Some(codebase)),
        Err(Failure::User(error)) if error.kind == Kind::Usage && context.chosen.is_none() => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn conversation_name(named: Option<&str>, person: &str, codebase: Option<&Codebase>) -> String {
    match (named, codebase) {
        (Some(name), _) => name.to_owned(),
        (None, Some(codebase)) => format!("{person}@{}", codebase.name),
        (None, None) => person.to_owned(),
    }
}

/// One open window.
struct Chat<'a> {
    context: &'a Context<'a>,
    key: ConversationKey,
    codebase: Option<Codebase>,
    /// The codebase was named by the person and not found around them.
    is_named: bool,
    terminal: Arc<Terminal>,
    dispatcher: Dispatcher,
    shown: UnboundedReceiver<Shown>,
    /// The dispatcher has gone already.
    is_gone: bool,
}

impl Chat<'_> {
    /// Stops what is at work, and puts back for the next time what was not begun.
    fn go(&self) -> impl Future<Output = ()> + use<> {
        let dispatcher = self.dispatcher.clone();
        async move {
            if timeout(LEAVING, dispatcher.shutdown(Duration::ZERO)).await.is_err() {
                tracing::warn!("what is at work did not end in time; it is ended with this process");
            }
        }
    }

    /// Hands in what a person said.
    async fn say(&mut self, text: &str) -> Outcome<MessageId> {
        let codebase = self.codebase_to_name().await?;
        let now = self.context.engine.now();
        let raw = self.terminal.typed(&self.context.by.person, text, codebase.as_deref(), now);
        match self.dispatcher.accept(raw).await {
            Accepted::Queued(id) | Accepted::Duplicate(id) => Ok(id),
            Accepted::Busy => {
                Err(UserError::new(Kind::Busy, "too much is waiting already").hint("try again in a while").into())
            }
        }
    }

    /// A conversation that has a codebase of its own keeps it, wherever it is opened. The one a person named is said
    /// once, so that they hear about it when the conversation has another.
    async fn codebase_to_name(&mut self) -> Outcome<Option<String>> {
        let has_own = self.known().await?.is_some_and(|known| known.codebase.is_some());
        let is_said = std::mem::take(&mut self.is_named) || !has_own;
        Ok(self.codebase.as_ref().filter(|_| is_said).map(|codebase| codebase.name.clone()))
    }

    /// The conversation, if anything was ever said in it.
    async fn known(&self) -> Outcome<Option<Conversation>> {
        Ok(self.context.engine.store().known_conversation(&self.key).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_named_after_the_person_and_what_they_talk_about() {
        assert_eq!(conversation_name(None, "alice", None), "alice");
        assert_eq!(conversation_name(Some("dark-mode"), "alice", None), "dark-mode");
    }
}
