//! With a person at the keyboard: what they type goes in at any time, what comes back is drawn above the prompt.

use std::pin::pin;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hedgerow_core::Codebase;
use hedgerow_engine::store::Spoken;
use hedgerow_engine::{Failure, Outcome};
use hedgerow_platforms::terminal::Shown;
use rustix::process::Signal;
use tokio::time::interval;

use super::super::signals::{self, Signals};
use super::editor::{Prompt, Typed};
use super::history::History;
use super::own::Own;
use super::window::{Voice, Window};
use super::{Chat, LOOK};
use crate::output::{self, CYAN, DIM, RED, Style, Terminal};
use crate::words;

/// How much of an old conversation is shown.
const RECALLED: u32 = 6;
/// Longest beginning of each of those.
const GIST: usize = 300;

/// Two Ctrl-C no further apart were pressed in one go.
const IN_ONE_GO: Duration = Duration::from_secs(1);

/// Talks until the person leaves.
pub(super) async fn talk(chat: &mut Chat<'_>) -> Outcome<ExitCode> {
    let mut signals = Signals::listen()?;
    // Whatever state the editor leaves it in, the terminal is given back as it was.
    let _terminal = Terminal::keep();
    let history = History::in_home(&chat.context.engine.settings().home);
    let mut talk = Talk {
        prompt: Prompt::open(templates(chat).await?, &history.lines())?,
        window: Window::default(),
        history,
        own: Own::default(),
        is_asked: false,
        asked_at: None,
    };
    talk.greet(chat).await?;
    let code = loop {
        talk.prompt.ask();
        match talk.until_typed(chat, &mut signals).await? {
            Next::Go => {}
            Next::Leave => break ExitCode::SUCCESS,
            Next::Ended(code) => break code,
        }
    };
    talk.leave(chat).await;
    Ok(code)
}

/// The names of the codebase's templates. A repository that cannot be read now has none.
async fn templates(chat: &Chat<'_>) -> Outcome<Vec<String>> {
    let Some(codebase) = own_codebase(chat).await? else { return Ok(Vec::new()) };
    match chat.context.engine.template_names(&codebase).await {
        Ok(names) => Ok(names.into_iter().map(|(name, _)| name).collect()),
        Err(Failure::User(_)) => Ok(Vec::new()),
        Err(internal) => Err(internal),
    }
}

/// The conversation's codebase, else the one it is opened in.
async fn own_codebase(chat: &Chat<'_>) -> Outcome<Option<Codebase>> {
    let own = chat.known().await?.and_then(|known| known.codebase);
    let known = match own {
        Some(id) => chat.context.engine.store().codebase(id).await?,
        None => None,
    };
    Ok(known.or_else(|| chat.codebase.clone()))
}

enum Next {
    Go,
    Leave,
    /// A signal ended it.
    Ended(ExitCode),
}

struct Talk {
    prompt: Prompt,
    window: Window,
    history: History,
    own: Own,
    /// Ctrl-C was pressed, and nothing came to its end since.
    is_asked: bool,
    /// When it was pressed last.
    asked_at: Option<Instant>,
}

impl Talk {
    async fn greet(&mut self, chat: &Chat<'_>) -> Outcome<()> {
        if let Some(known) = chat.known().await? {
            for spoken in chat.context.engine.store().spoken(known.id, RECALLED).await? {
                self.draw(DIM, &recalled(&spoken));
            }
        }
        let about = own_codebase(chat).await?.map(|codebase| format!(" about {}", codebase.name)).unwrap_or_default();
        self.draw(CYAN, &format!("Conversation {}{about}. /help lists the commands, Ctrl-D leaves.", chat.key.id));
        Ok(())
    }

    /// Shows what comes until the person has typed something, and acts on that.
    async fn until_typed(&mut self, chat: &mut Chat<'_>, signals: &mut Signals) -> Outcome<Next> {
        let mut look = interval(LOOK);
        loop {
            tokio::select! {
                biased;
                typed = self.prompt.typed.recv() => return match typed {
                    Some(Typed::Line(line)) => self.line(chat, &line).await,
                    Some(Typed::Interrupt) => Ok(self.interrupted(chat).await),
                    Some(Typed::End) | None => Ok(Next::Leave),
                },
                signal = signals.next() => match signal {
                    // Ctrl-C while nothing is read, as between two lines.
                    Signal::INT => match self.interrupted(chat).await {
                        Next::Go => {}
                        next => return Ok(next),
                    },
                    signal => return Ok(Next::Ended(signals::status(signal).into())),
                },
                Some(shown) = chat.shown.recv() => {
                    self.show(&shown);
                    if matches!(&shown, Shown::Reply(reply) if reply.last) {
                        self.look(chat).await?;
                    }
                }
                _ = look.tick(), if !self.own.is_settled() => self.look(chat).await?,
            }
        }
    }

    /// Shows what another window answered to what was asked here, and before it what is on its way here.
    async fn look(&mut self, chat: &mut Chat<'_>) -> Outcome<()> {
        let replies = self.own.replies(chat.context.engine.store()).await?;
        self.drain(chat);
        for reply in replies {
            self.show(&Shown::Reply(reply));
        }
        if self.is_idle() {
            self.is_asked = false;
        }
        Ok(())
    }

    fn drain(&mut self, chat: &mut Chat<'_>) {
        while let Ok(shown) = chat.shown.try_recv() {
            self.show(&shown);
        }
    }

    fn is_idle(&self) -> bool {
        self.own.is_settled() && !self.window.is_running()
    }

    async fn line(&mut self, chat: &mut Chat<'_>, line: &str) -> Outcome<Next> {
        self.is_asked = false;
        if line.trim().is_empty() {
            return Ok(Next::Go);
        }
        if let Err(error) = self.history.add(line) {
            tracing::warn!(%error, "what was typed could not be added to the history");
        }
        self.say(chat, line).await;
        Ok(Next::Go)
    }

    /// A message that cannot be handed in is no reason to leave.
    async fn say(&mut self, chat: &mut Chat<'_>, text: &str) {
        match chat.say(text).await {
            Ok(id) => self.own.ask(id),
            Err(failure) => {
                let (message, hints) = words::failure(&failure);
                self.draw(RED, &format!("error: {message}"));
                for hint in hints {
                    self.draw(CYAN, &format!("hint: {hint}"));
                }
            }
        }
    }

    /// Two in one go leave, even when the first was quick to stop everything.
    async fn interrupted(&mut self, chat: &mut Chat<'_>) -> Next {
        let is_in_one_go = self.asked_at.replace(Instant::now()).is_some_and(|at| at.elapsed() < IN_ONE_GO);
        if std::mem::replace(&mut self.is_asked, true) || is_in_one_go {
            return Next::Leave;
        }
        if self.is_idle() {
            self.draw(DIM, "Ctrl-C again or Ctrl-D leaves.");
        } else {
            self.say(chat, "/stop").await;
        }
        Next::Go
    }

    fn show(&mut self, shown: &Shown) {
        if !self.own.is_new(shown) {
            return;
        }
        for (voice, text) in self.window.take(shown) {
            match voice {
                Voice::Answer => self.draw(Style::new(), &text),
                Voice::Aside => self.draw(CYAN, &text),
                Voice::Tool => self.draw(DIM, &format!("  {text}")),
                Voice::Figures => self.draw(DIM, &text),
            }
        }
    }

    fn draw(&self, style: Style, text: &str) {
        self.prompt.draw(output::drawn(style, text));
    }

    /// A run ends with its window: it is stopped, and its last word is still shown.
    async fn leave(mut self, chat: &mut Chat<'_>) {
        self.prompt.stop_asking();
        if !self.is_idle() {
            self.draw(DIM, "Stopping what is at work. Its changes are kept; what waits is answered the next time.");
        }
        let mut gone = pin!(chat.go());
        loop {
            tokio::select! {
                biased;
                Some(shown) = chat.shown.recv() => self.show(&shown),
                () = &mut gone => break,
            }
        }
        chat.is_gone = true;
        self.drain(chat);
        self.prompt.finish().await;
    }
}

/// A line of an old conversation.
fn recalled(spoken: &Spoken) -> String {
    let who = spoken.author.as_ref().map_or("hedgerow", |author| author.person.as_str());
    let text = spoken.text.trim();
    match text.char_indices().nth(GIST) {
        Some((end, _)) => format!("{who}: {}…", text[..end].trim_end()),
        None => format!("{who}: {text}"),
    }
}
