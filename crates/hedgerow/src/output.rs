//! The only place that prints. Text for people is escaped here, whoever wrote it, so nothing from a repository can
//! steer a terminal; values for scripts (a path, a patch) go out byte for byte unless a terminal is listening.

mod escape;
mod log;
mod meter;
mod table;
mod terminal;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;

use clap::builder::styling::AnsiColor;
pub(crate) use clap::builder::styling::Style;
use hedgerow_core::Kind;
use hedgerow_engine::{Failure, Outcome};
use serde::Serialize;

use crate::words;
use escape::{escape, escape_json, escape_lines};
pub(crate) use log::start_log;
pub(crate) use meter::Meter;
pub(crate) use table::{Cell, Table};
pub(crate) use terminal::Terminal;

pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// The two streams, and how the reader wants them.
#[derive(Debug, Default)]
pub(crate) struct Output {
    is_json: bool,
    /// Notes wait for the end in JSON mode: then a failure's stderr is the error object and nothing else.
    held: RefCell<Vec<String>>,
    broken: RefCell<Option<io::Error>>,
}

impl Output {
    pub(crate) fn new(is_json: bool) -> Self {
        Self { is_json, ..Self::default() }
    }

    pub(crate) const fn is_json(&self) -> bool {
        self.is_json
    }

    /// Text for a person.
    pub(crate) fn say(&self, text: &str) {
        self.keep(writeln!(anstream::stdout(), "{}", escape_lines(text)));
    }

    pub(crate) fn table(&self, table: &Table) {
        self.keep(write!(anstream::stdout(), "{table}"));
    }

    /// One value on a line of its own, such as a path.
    pub(crate) fn value(&self, value: &OsStr) {
        if io::stdout().is_terminal() {
            self.say(&value.to_string_lossy());
        } else {
            let mut line = value.as_bytes().to_vec();
            line.push(b'\n');
            self.raw(&line);
        }
    }

    /// A patch: coloured and escaped on a terminal, the very bytes elsewhere.
    pub(crate) fn patch(&self, patch: &[u8]) {
        if !io::stdout().is_terminal() {
            return self.raw(patch);
        }
        let text = String::from_utf8_lossy(patch);
        let mut out = anstream::stdout().lock();
        for line in text.lines() {
            let style = patch_style(line);
            let written = writeln!(out, "{style}{}{style:#}", escape(line));
            if written.is_err() {
                return self.keep(written);
            }
        }
    }

    /// Text of our own making for a program: a completion script.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        self.keep(io::stdout().write_all(bytes));
    }

    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Outcome<()> {
        let text = serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?;
        self.keep(writeln!(io::stdout(), "{}", escape_json(&text)));
        Ok(())
    }

    /// One of many values, on a line of its own, to be read while more are to come.
    pub(crate) fn json_line<T: Serialize>(&self, value: &T) -> Outcome<()> {
        let text = serde_json::to_string(value).map_err(anyhow::Error::from)?;
        let mut out = io::stdout().lock();
        self.keep(writeln!(out, "{}", escape_json(&text)).and_then(|()| out.flush()));
        Ok(())
    }

    /// What happens on the way to the answer.
    pub(crate) fn progress(&self, text: &str) {
        if !self.is_json {
            err(&format!("{DIM}{}{DIM:#}\n", escape_lines(text.trim_end())));
        }
    }

    /// Something worth knowing besides the answer.
    pub(crate) fn note(&self, text: &str) {
        if self.is_json {
            self.held.borrow_mut().push(text.to_owned());
        } else {
            labelled("note", YELLOW, text);
        }
    }

    /// The last word of a command that failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        let (message, hints) = words::failure(failure);
        self.error(failure.kind().as_str(), &message, &hints);
    }

    /// An error that is not the engine's, such as an interruption.
    pub(crate) fn error(&self, kind: &str, message: &str, hints: &[String]) {
        if self.is_json {
            let error = serde_json::json!({"kind": kind, "message": message, "hints": hints});
            let notes = self.held.take();
            let whole = if notes.is_empty() {
                serde_json::json!({ "error": error })
            } else {
                serde_json::json!({ "error": error, "notes": notes })
            };
            err(&format!("{}\n", escape_json(&whole.to_string())));
            return;
        }
        labelled("error", RED, message);
        for hint in hints {
            labelled("hint", CYAN, hint);
        }
    }

    /// Flushes, and says whether everything could be written. A reader that went away is not an error.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.keep(io::stdout().flush());
        for note in self.held.take() {
            labelled("note", YELLOW, &note);
        }
        match self.broken.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                let message = format!("cannot write the answer: {error}");
                Err(hedgerow_core::UserError::new(Kind::Failed, message).into())
            }
            _ => Ok(()),
        }
    }

    /// The first thing that went wrong decides; the command itself goes on to its end.
    fn keep(&self, written: io::Result<()>) {
        if let Err(error) = written {
            self.broken.borrow_mut().get_or_insert(error);
        }
    }
}

/// Lines for a window that someone else draws, escaped and painted as stdout would have them.
pub(crate) fn drawn(style: Style, text: &str) -> String {
    let text = escape_lines(text);
    match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => text + "\n",
        _ => format!("{style}{text}{style:#}\n"),
    }
}

/// clap's own words (help, version), which carry their own colours.
pub(crate) fn help(text: &clap::builder::StyledStr) {
    // Help that nobody reads any more is no error.
    let _ = write!(anstream::stdout(), "{}", text.ansi());
}

/// Help for a command line that lacks something.
pub(crate) fn help_instead(text: &clap::builder::StyledStr) {
    err(&text.ansi().to_string());
}

fn patch_style(line: &str) -> Style {
    if line.starts_with("@@") {
        CYAN
    } else if line.starts_with("diff ") || line.starts_with("+++") || line.starts_with("---") {
        BOLD
    } else if line.starts_with('+') {
        GREEN
    } else if line.starts_with('-') {
        RED
    } else {
        Style::new()
    }
}

/// `error: …`, further lines set in, so that none of them can pose as a line of ours.
fn labelled(label: &str, style: Style, text: &str) {
    let style = style.bold();
    let text = escape_lines(text.trim_end()).replace('\n', "\n  ").replace("\n  \n", "\n\n");
    err(&format!("{style}{label}:{style:#} {text}\n"));
}

/// Nobody can be told when stderr itself is gone.
fn err(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}
