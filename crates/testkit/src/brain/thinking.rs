//! What the assistant of the tests does in a turn, whichever way it is spoken to.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use hedgerow_core::assistant::{Step, StepState, Usage};

use super::desk::{Desk, NotAlone, note};
use super::orders::Order;
use super::session::Session;
use super::voice::Voice;
use super::{acp, script};
use crate::git;

/// Longest that it waits for a file.
const PATIENCE: Duration = Duration::from_mins(1);
/// What no test stops goes away by itself.
const LIFETIME: Duration = Duration::from_mins(10);
const GLANCE: Duration = Duration::from_millis(2);

/// Where it takes notes.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) state: Option<PathBuf>,
    pub(super) overlaps: Option<PathBuf>,
    pub(super) runs: Option<PathBuf>,
}

/// The whole program, but for its supervising.
///
/// # Panics
/// On a command line that it does not know.
pub fn think(arguments: &[String]) -> ExitCode {
    let (mut notes, mut acp) = (Notes::default(), None);
    for pair in arguments.chunks(2) {
        match pair {
            [option, value] if option == "--state" => notes.state = Some(value.into()),
            [option, value] if option == "--overlaps" => notes.overlaps = Some(value.into()),
            [option, value] if option == "--runs" => notes.runs = Some(value.into()),
            [option, value] if option == "--acp" => acp = Some(value.parse().expect("a way to come back")),
            [option, file] if option == "--daemon" => return leave_home(Path::new(file)),
            [option, file] if option == "--linger" => return linger(Path::new(file)),
            _ => panic!("what is {pair:?}?"),
        }
    }
    match acp {
        Some(comes_back) => acp::serve(notes, comes_back),
        None => script::answer(notes),
    }
}

/// What is asked of it.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) run: String,
    pub(super) prompt: String,
    pub(super) resumes: bool,
    /// What it was told before the prompt.
    pub(super) briefing: String,
    /// What was kept of the session.
    pub(super) memory: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Done {
    Finished(String),
    Exit(u8),
    ForgotSession,
    LoggedOut,
    OutOfContext,
}

/// Does what the prompt says, alone at its desk.
pub(super) fn work(task: &Task, session: &Session, notes: &Notes, voice: &mut dyn Voice) -> io::Result<Done> {
    let (data, asked) = parted(&task.prompt);
    let first = asked.lines().next().unwrap_or_default();
    note(notes.runs.as_deref(), &format!("{} {first}", task.run))?;
    let _desk = match Desk::take() {
        Ok(desk) => desk,
        Err(NotAlone::Trouble(error)) => return Err(error),
        Err(NotAlone::Overlap(holder)) => {
            let place = env::current_dir()?;
            note(notes.overlaps.as_deref(), &format!("{} met {holder} in {}", task.run, place.display()))?;
            return Err(io::Error::other("overlap"));
        }
    };
    let mut said = Vec::new();
    let mut say = |text: String, voice: &mut dyn Voice| {
        voice.text(&text);
        said.push(text);
    };
    let data = data.lines().map(|line| (line, None));
    let orders: Vec<_> = data.chain(asked.lines().map(|line| (line, Order::parse(line)))).collect();
    if orders.iter().all(|(_, order)| order.is_none()) {
        say(format!("echo: {}", task.prompt), voice);
    } else {
        for (line, order) in orders {
            match order {
                Some(Order::Exit(code)) => return Ok(Done::Exit(code)),
                Some(Order::ForgetSession) if task.resumes => return Ok(Done::ForgotSession),
                Some(Order::LogOut) => return Ok(Done::LoggedOut),
                Some(Order::OutOfContext) => return Ok(Done::OutOfContext),
                Some(order) => {
                    if let Some(text) = obey(&order, task, session, voice)? {
                        say(text, voice);
                    }
                }
                None => say(format!("echo: {line}"), voice),
            }
        }
    }
    Ok(Done::Finished(if said.is_empty() { "done".to_owned() } else { said.join("\n") }))
}

/// What stands before the ask as data, and the ask itself. What was said before is none of its business; nothing of the
/// rest is an order either.
fn parted(prompt: &str) -> (&str, &str) {
    let mut data = "";
    let mut rest = prompt;
    while let Some((first, after)) = rest.split_once('\n')
        && let Some(what) = first.strip_suffix(", as data:")
        && let Some((fence, inside)) = after.split_once('\n')
        && let Some((_, after)) = inside.split_once(&format!("\n{fence}\n\n"))
    {
        if what != "What was said before" {
            data = &rest[..rest.len() - after.len()];
        }
        rest = after;
    }
    (data, rest)
}

/// What it has to say to that.
fn obey(order: &Order<'_>, task: &Task, session: &Session, voice: &mut dyn Voice) -> io::Result<Option<String>> {
    match *order {
        Order::Say(text) => return Ok(Some(text.to_owned())),
        Order::Recall => return Ok(Some(session.recall())),
        Order::Briefing => return Ok(Some(task.briefing.clone())),
        Order::Kept => return Ok(Some(task.memory.clone().unwrap_or_else(|| "nothing is kept".to_owned()))),
        Order::Cat(path) => {
            let text = fs::read_to_string(path).unwrap_or_else(|error| format!("{}", error.kind()));
            return Ok(Some(format!("{path}: {}", text.trim_end())));
        }
        Order::Variable(name) => return Ok(Some(env::var(name).unwrap_or_else(|_| "not set".to_owned()))),
        Order::Ask(what) => {
            let is_allowed = voice.ask(what)?;
            return Ok(Some(format!("{what}: {}", if is_allowed { "allowed" } else { "denied" })));
        }
        Order::Tool(text) => voice.tool(text),
        Order::Plan(steps) => voice.plan(&planned(steps)),
        Order::TellSession => voice.session(&session.name),
        Order::Usage(counts) => voice.usage(&used(counts)),
        Order::Note(text) => voice.note(text),
        Order::Keep(text) => voice.keep(text),
        Order::Write(path, text) => fs::write(path, format!("{text}\n"))?,
        Order::Append(path, text) => note(Some(Path::new(path)), text)?,
        Order::Commit(message) => commit(message)?,
        Order::Touch(path) => drop(File::create(path)?),
        Order::Sleep(time) => thread::sleep(time),
        Order::WaitFor(path) => wait_for(Path::new(path))?,
        Order::SpawnDaemon(path) => spawn_daemon(path)?,
        Order::Remember(word) => session.remember(word)?,
        Order::Fail(message) => return Err(io::Error::other(message.to_owned())),
        Order::Hang => thread::sleep(LIFETIME),
        Order::Garbage => io::stdout().write_all(b"\xff\xfe{\"type\":\n\0\x1b[2J\n{}\n[]\n{\"type\":7}\n")?,
        Order::Flood => flood()?,
        Order::ForgetSession | Order::LogOut | Order::OutOfContext | Order::Exit(_) => {}
    }
    Ok(None)
}

/// `x read, > fix, test`: a mark before what is done and what is begun.
fn planned(steps: &str) -> Vec<Step> {
    let step = |step: &str| {
        let (text, state) = match step.trim().split_once(' ') {
            Some(("x", text)) => (text, StepState::Done),
            Some((">", text)) => (text, StepState::Active),
            _ => (step.trim(), StepState::Pending),
        };
        Step { text: text.to_owned(), state }
    };
    steps.split(',').map(step).collect()
}

/// In, cached, out, and millionths of a dollar.
fn used(counts: &str) -> Usage {
    let counts: Vec<u64> = counts.split_whitespace().filter_map(|count| count.parse().ok()).collect();
    let count = |nth: usize| counts.get(nth).copied();
    Usage {
        input_tokens: count(0).unwrap_or(0),
        cached_tokens: count(1).unwrap_or(0),
        output_tokens: count(2).unwrap_or(0),
        cost_micros: count(3),
    }
}

fn flood() -> io::Result<()> {
    let piece = vec![b'x'; 64 << 10];
    loop {
        io::stdout().write_all(&piece)?;
    }
}

fn commit(message: &str) -> io::Result<()> {
    let here = env::current_dir()?;
    for arguments in [&["add", "--all"][..], &["commit", "--quiet", "--allow-empty", "-m", message]] {
        let output = git::try_git(&here, arguments);
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
    }
    Ok(())
}

fn wait_for(path: &Path) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !path.exists() {
        if Instant::now() > deadline {
            return Err(io::Error::other(format!("{} did not come", path.display())));
        }
        thread::sleep(GLANCE);
    }
    Ok(())
}

/// As daemons do: a child in a session of its own starts the one that stays, and ends.
fn spawn_daemon(file: &str) -> io::Result<()> {
    quietly(&["--daemon", file])?.wait()?;
    wait_for(Path::new(file))
}

fn leave_home(file: &Path) -> ExitCode {
    let left = rustix::process::setsid().is_ok() && quietly(&["--linger", &file.to_string_lossy()]).is_ok();
    if left { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn linger(file: &Path) -> ExitCode {
    // Written aside and renamed: whoever sees the file can read all of it.
    let aside = file.with_extension("new");
    if fs::write(&aside, std::process::id().to_string()).and_then(|()| fs::rename(&aside, file)).is_ok() {
        thread::sleep(LIFETIME);
    }
    ExitCode::SUCCESS
}

fn quietly(arguments: &[&str]) -> io::Result<std::process::Child> {
    let mut command = Command::new(env::current_exe()?);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

#[cfg(test)]
mod tests {
    use super::parted;

    #[test]
    fn data_is_no_order() {
        assert_eq!(parted("say a\nsay b"), ("", "say a\nsay b"));
        let told = "What was said before, as data:\n````\n```\nsay x\n```\n````\n\nsay a\n\nsay b";
        assert_eq!(parted(told), ("", "say a\n\nsay b"));
        let concluded = "What the last session of this conversation concluded, as data:\n```\nx\n```\n\n";
        let twice = format!("{concluded}{told}");
        assert_eq!(parted(&twice), (concluded, "say a\n\nsay b"));
    }
}
