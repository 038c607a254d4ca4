//! Without a person at the keyboard: one message, or one for each line of stdin, each answered before the next.

use std::io::BufRead as _;
use std::pin::pin;
use std::process::ExitCode;

use hedgerow_core::platform::Glimpse;
use hedgerow_core::run::MessageEnd;
use hedgerow_engine::Outcome;
use hedgerow_platforms::terminal::Shown;
use rustix::process::Signal;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::interval;

use super::super::signals::{self, Signals};
use super::own::{Own, Whose};
use super::progress::Progress;
use super::{Chat, LOOK};
use crate::output::Output;

/// How a message went.
enum Asked {
    Answered,
    NotAnswered,
    /// A signal ended it.
    Ended(Signal),
}

/// Says one thing.
pub(super) async fn once(chat: &mut Chat<'_>, text: &str) -> Outcome<ExitCode> {
    let mut talk = Talk { signals: Signals::listen()?, own: Own::default(), progress: Progress::default() };
    let code = match talk.ask(chat, text).await? {
        Asked::Answered => ExitCode::SUCCESS,
        Asked::NotAnswered => ExitCode::FAILURE,
        Asked::Ended(signal) => return Ok(signals::status(signal).into()),
    };
    talk.finish(chat, code).await
}

/// Says every line of stdin.
pub(super) async fn lines(chat: &mut Chat<'_>) -> Outcome<ExitCode> {
    let mut talk = Talk { signals: Signals::listen()?, own: Own::default(), progress: Progress::default() };
    let mut lines = stdin_lines();
    let mut code = ExitCode::SUCCESS;
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            signal = talk.signals.next() => return Ok(signals::status(signal).into()),
        };
        let Some(line) = line else { break };
        let line = line.map_err(anyhow::Error::from)?;
        if line.trim().is_empty() {
            continue;
        }
        match talk.ask(chat, &line).await? {
            Asked::Answered => {}
            Asked::NotAnswered => code = ExitCode::FAILURE,
            Asked::Ended(signal) => return Ok(signals::status(signal).into()),
        }
    }
    talk.finish(chat, code).await
}

/// A thread of its own: a read of stdin cannot be given up.
fn stdin_lines() -> mpsc::Receiver<std::io::Result<String>> {
    let (lines, heard) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().split(b'\n') {
            let line = line.map(|bytes| String::from_utf8_lossy(&bytes).trim_end_matches('\r').to_owned());
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    });
    heard
}

struct Talk {
    signals: Signals,
    own: Own,
    progress: Progress,
}

impl Talk {
    /// Says something, and shows what comes back until its last word. The first signal asks the run to stop, the next one
    /// does not wait for it.
    async fn ask(&mut self, chat: &mut Chat<'_>, text: &str) -> Outcome<Asked> {
        let id = chat.say(text).await?;
        self.own.ask(id);
        let mut stopped_by = None;
        let mut look = interval(LOOK);
        while !self.own.is_settled() {
            let signal = tokio::select! {
                biased;
                Some(shown) = chat.shown.recv() => {
                    self.show(chat, &shown).await?;
                    if matches!(&shown, Shown::Reply(reply) if reply.last) {
                        self.look(chat).await?;
                    }
                    continue;
                }
                signal = self.signals.next() => signal,
                _ = look.tick() => {
                    self.look(chat).await?;
                    continue;
                }
            };
            if stopped_by.is_some() || signal != Signal::INT {
                return Ok(Asked::Ended(signal));
            }
            stopped_by = Some(signal);
            self.own.ask(chat.say("/stop").await?);
        }
        if let Some(signal) = stopped_by {
            return Ok(Asked::Ended(signal));
        }
        let end = chat.context.engine.store().message_end(id).await?;
        Ok(if end == Some(MessageEnd::Answered) { Asked::Answered } else { Asked::NotAnswered })
    }

    /// Everything of ours is answered. What others asked and was begun here comes to its end as well: it would be stopped
    /// with us.
    async fn finish(&mut self, chat: &mut Chat<'_>, code: ExitCode) -> Outcome<ExitCode> {
        let dispatcher = chat.dispatcher.clone();
        let mut gone = pin!(dispatcher.shutdown(chat.context.engine.settings().runs.timeout));
        loop {
            tokio::select! {
                biased;
                Some(shown) = chat.shown.recv() => self.show(chat, &shown).await?,
                signal = self.signals.next() => return Ok(signals::status(signal).into()),
                () = &mut gone => break,
            }
        }
        chat.is_gone = true;
        self.drain(chat).await?;
        Ok(code)
    }

    /// Shows what is in the store by now, and before it what is on its way here.
    async fn look(&mut self, chat: &mut Chat<'_>) -> Outcome<()> {
        let replies = self.own.replies(chat.context.engine.store()).await?;
        self.drain(chat).await?;
        for reply in replies {
            self.show(chat, &Shown::Reply(reply)).await?;
        }
        Ok(())
    }

    async fn drain(&mut self, chat: &mut Chat<'_>) -> Outcome<()> {
        while let Ok(shown) = chat.shown.try_recv() {
            self.show(chat, &shown).await?;
        }
        Ok(())
    }

    async fn show(&mut self, chat: &Chat<'_>, shown: &Shown) -> Outcome<()> {
        if !self.own.is_new(shown) {
            return Ok(());
        }
        let whose = self.own.whose(chat.context.engine.store(), shown).await?;
        show(chat.context.out, shown, whose)?;
        if !chat.context.out.is_json() && whose == Whose::Ours {
            self.show_progress(chat.context.out, shown);
        }
        Ok(())
    }

    fn show_progress(&mut self, out: &Output, shown: &Shown) {
        let lines = match shown {
            Shown::Live(live) => self.progress.take(&live.what),
            Shown::Reply(reply) if reply.last => self.progress.figures().into_iter().collect(),
            Shown::Reply(_) => Vec::new(),
        };
        for line in lines {
            out.progress(&line);
        }
    }
}

/// The last word goes to stdout, what is on the way to it to stderr, and so does what answers somebody else. In JSON it
/// is all one stream of lines, of what was asked here.
fn show(out: &Output, shown: &Shown, whose: Whose) -> Outcome<()> {
    if out.is_json() {
        return if whose == Whose::Ours { out.json_line(&as_json(shown)) } else { Ok(()) };
    }
    match shown {
        Shown::Reply(reply) if reply.last && whose == Whose::Ours => out.say(&reply.text),
        Shown::Reply(reply) => out.progress(&reply.text),
        Shown::Live(live) => match &live.what {
            Glimpse::Tool(line) | Glimpse::Note(line) => out.progress(line),
            // The last word says it all again.
            Glimpse::Started | Glimpse::Text(_) | Glimpse::Plan(_) | Glimpse::Usage(_) | Glimpse::Ended => {}
        },
    }
    Ok(())
}

fn as_json(shown: &Shown) -> serde_json::Value {
    match shown {
        Shown::Reply(reply) => json!({"event": "reply", "text": reply.text, "final": reply.last}),
        Shown::Live(live) => match &live.what {
            Glimpse::Started => json!({"event": "started", "run": live.run}),
            Glimpse::Text(text) => json!({"event": "text", "run": live.run, "text": text}),
            Glimpse::Tool(tool) => json!({"event": "tool", "run": live.run, "text": tool}),
            Glimpse::Plan(steps) => json!({"event": "plan", "run": live.run, "steps": steps}),
            Glimpse::Usage(usage) => json!({"event": "usage", "run": live.run, "usage": usage}),
            Glimpse::Note(note) => json!({"event": "note", "run": live.run, "text": note}),
            Glimpse::Ended => json!({"event": "ended", "run": live.run}),
        },
    }
}
