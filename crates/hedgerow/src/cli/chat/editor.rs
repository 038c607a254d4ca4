//! The line that is typed, and what is drawn above it: each on a thread of its own, because neither a read of the
//! terminal nor a write to it can be given up.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use hedgerow_core::command::present;
use hedgerow_engine::Outcome;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{History as _, MemHistory};
use rustyline::validate::Validator;
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, ExternalPrinter,
    KeyEvent, RepeatCount,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::history;

const PROMPT: &str = "> ";
/// How long a terminal may take for the last lines. One that is gone or was told to wait never takes them.
const LAST_LINES: Duration = Duration::from_secs(2);

/// What a person did at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// The prompt, as the rest of the program sees it. None of what it does waits for the terminal.
pub(super) struct Prompt {
    pub(super) typed: UnboundedReceiver<Typed>,
    next: Option<Sender<()>>,
    lines: Sender<String>,
    /// Says that everything is drawn, once no more lines can come.
    drawn: oneshot::Receiver<()>,
}

impl Prompt {
    /// `words` are what a `/` is completed with besides the commands.
    pub(super) fn open(words: Vec<String>, lines: &[String]) -> Outcome<Self> {
        let config = Config::builder().max_history_size(history::KEPT).map_err(anyhow::Error::from)?;
        let config = config.completion_type(CompletionType::List).build();
        let mut history = MemHistory::with_config(&config);
        for line in lines {
            history.add(line).map_err(anyhow::Error::from)?;
        }
        let mut editor = Editor::<Slash, MemHistory>::with_history(config, history).map_err(anyhow::Error::from)?;
        editor.set_helper(Some(Slash { names: names(words) }));
        let interrupt = Interrupt::default();
        let handler = EventHandler::Conditional(Box::new(interrupt.clone()));
        editor.bind_sequence(KeyEvent::ctrl('C'), handler);
        let printer = editor.create_external_printer().map_err(anyhow::Error::from)?;
        let (say, typed) = unbounded_channel();
        let (next, wanted) = channel();
        std::thread::spawn(move || read(editor, &interrupt, &wanted, &say));
        let (lines, to_draw) = channel();
        let (done, drawn) = oneshot::channel();
        std::thread::spawn(move || {
            print(printer, &to_draw);
            // Whoever waits for it may have gone.
            let _ = done.send(());
        });
        Ok(Self { typed, next: Some(next), lines, drawn })
    }

    /// Asks for a line. Until then the terminal is as it was.
    pub(super) fn ask(&self) {
        // A thread that is gone has said so.
        let _ = self.next.as_ref().map(|next| next.send(()));
    }

    /// Draws text above the line that is being typed.
    pub(super) fn draw(&self, text: String) {
        // A terminal that is gone ends the reading.
        let _ = self.lines.send(text);
    }

    /// No line is asked for any more. The editor goes, as soon as it does not read.
    pub(super) fn stop_asking(&mut self) {
        self.next = None;
    }

    /// Returns when everything is drawn, or the terminal does not take it.
    pub(super) async fn finish(self) {
        drop((self.next, self.lines));
        let _ = timeout(LAST_LINES, self.drawn).await;
    }
}

/// Draws line after line. While the editor reads it is the one who draws, and takes one piece at a time: an editor that
/// stops reading with a piece in its hand makes the next one wait, for ever if the terminal is gone.
fn print(mut printer: impl ExternalPrinter, lines: &Receiver<String>) {
    for text in lines {
        if printer.print(text.clone()).is_err() {
            // The editor has gone. A terminal that has gone too needs no lines.
            let _ = std::io::stdout().write_all(text.as_bytes());
        }
    }
}

fn read(
    mut editor: Editor<Slash, MemHistory>,
    interrupt: &Interrupt,
    wanted: &Receiver<()>,
    say: &UnboundedSender<Typed>,
) {
    while wanted.recv().is_ok() {
        let typed = match editor.readline(PROMPT) {
            Ok(_) if interrupt.take() => Typed::Interrupt,
            Ok(line) => {
                // A line that is not remembered is still said.
                let _ = editor.add_history_entry(&line);
                Typed::Line(line)
            }
            Err(ReadlineError::Interrupted) => Typed::Interrupt,
            Err(ReadlineError::Signal(_)) => Typed::Line(String::new()),
            Err(_) => Typed::End,
        };
        if say.send(typed).is_err() {
            return;
        }
    }
}

/// Ctrl-C, as the end of a line: the editor forgets what was typed after one that is an error, the next Ctrl-C too.
#[derive(Clone, Default)]
struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Whether the line that has ended was ended by it.
    fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl ConditionalEventHandler for Interrupt {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        self.0.store(true, Ordering::Relaxed);
        Some(Cmd::AcceptLine)
    }
}

/// Completes what begins with a slash.
struct Slash {
    names: Vec<String>,
}

impl Completer for Slash {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &rustyline::Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, completions(&self.names, &line[..at])))
    }
}

impl Hinter for Slash {
    type Hint = String;
}

impl Highlighter for Slash {}
impl Validator for Slash {}
impl rustyline::Helper for Slash {}

/// Every command that this build has and every template, with its slash.
fn names(templates: Vec<String>) -> Vec<String> {
    let commands = present().map(|command| command.name().to_owned());
    commands.chain(templates).map(|name| format!("/{name}")).collect()
}

/// The names that what was typed is the beginning of. A space follows, for what comes after the name.
fn completions(names: &[String], typed: &str) -> Vec<String> {
    if !typed.starts_with('/') {
        return Vec::new();
    }
    let typed = typed.to_lowercase();
    let mut found: Vec<String> =
        names.iter().filter(|name| name.to_lowercase().starts_with(&typed)).map(|name| format!("{name} ")).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_is_completed_with_commands_and_templates() {
        let names = names(vec!["plan-feature".to_owned(), "Prime".to_owned()]);
        for (typed, expected) in [
            ("/sta", vec!["/status "]),
            ("/worktree cr", vec!["/worktree create "]),
            ("/worktree k", vec!["/worktree keep "]),
            ("/worktree m", vec![]),
            ("/p", vec!["/Prime ", "/plan-feature "]),
            ("/REPO", vec!["/repo ", "/repo-remove ", "/repos "]),
            ("/nothing", vec![]),
            ("sta", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(completions(&names, typed), expected, "{typed}");
        }
        assert_eq!(completions(&names, "/").len(), names.len());
    }
}
