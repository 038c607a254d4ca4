//! One turn of the assistant of the tests, from its stdin to its last word.

use std::fs::{self, File};
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use serde::Deserialize;
use serde_json::{Value, json};

use super::desk::{Desk, NotAlone, note};
use super::orders::Order;
use super::session::Session;
use crate::git;

/// Longest that it waits for a file.
const PATIENCE: Duration = Duration::from_mins(1);
/// What no test stops goes away by itself.
const LIFETIME: Duration = Duration::from_mins(10);
const GLANCE: Duration = Duration::from_millis(2);

#[derive(Deserialize)]
struct Turn {
    run: String,
    prompt: String,
    session: Option<String>,
}

/// Where it takes notes.
#[derive(Debug, Default)]
struct Notes {
    state: Option<PathBuf>,
    overlaps: Option<PathBuf>,
    runs: Option<PathBuf>,
}

/// The whole program, but for its supervising.
///
/// # Panics
/// On a command line that it does not know.
pub fn think(arguments: &[String]) -> ExitCode {
    let mut notes = Notes::default();
    for pair in arguments.chunks(2) {
        match pair {
            [option, value] if option == "--state" => notes.state = Some(value.into()),
            [option, value] if option == "--overlaps" => notes.overlaps = Some(value.into()),
            [option, value] if option == "--runs" => notes.runs = Some(value.into()),
            [option, file] if option == "--daemon" => return leave_home(Path::new(file)),
            [option, file] if option == "--linger" => return linger(Path::new(file)),
            _ => panic!("what is {pair:?}?"),
        }
    }
    match answer(notes) {
        Ok(Done::Finished) => ExitCode::SUCCESS,
        Ok(Done::Exit(code)) => ExitCode::from(code),
        Err(error) => {
            speak(&json!({"type": "failed", "message": error.to_string()}));
            ExitCode::SUCCESS
        }
    }
}

enum Done {
    Finished,
    Exit(u8),
}

fn answer(notes: Notes) -> io::Result<Done> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let turn: Turn = serde_json::from_str(&line)?;
    let first = turn.prompt.lines().next().unwrap_or_default();
    note(notes.runs.as_deref(), &format!("{} {first}", turn.run))?;
    let _desk = match Desk::take() {
        Ok(desk) => desk,
        Err(NotAlone::Trouble(error)) => return Err(error),
        Err(NotAlone::Overlap(holder)) => {
            let place = env::current_dir()?;
            note(notes.overlaps.as_deref(), &format!("{} met {holder} in {}", turn.run, place.display()))?;
            return Err(io::Error::other("overlap"));
        }
    };
    let resumes = turn.session.is_some();
    let session = Session::open(turn.session, notes.state)?;
    let mut said = Vec::new();
    let orders: Vec<_> = turn.prompt.lines().map(|line| (line, Order::parse(line))).collect();
    if orders.iter().all(|(_, order)| order.is_none()) {
        say(&format!("echo: {}", turn.prompt), &mut said);
        return Ok(finish(&said, &session));
    }
    for (line, order) in orders {
        match order {
            Some(Order::Exit(code)) => return Ok(Done::Exit(code)),
            Some(Order::ForgetSession) if resumes => {
                speak(&json!({"type": "unknown_session"}));
                return Ok(Done::Finished);
            }
            Some(order) => obey(&order, &session, &mut said)?,
            None => say(&format!("echo: {line}"), &mut said),
        }
    }
    Ok(finish(&said, &session))
}

fn obey(order: &Order<'_>, session: &Session, said: &mut Vec<String>) -> io::Result<()> {
    match *order {
        Order::Say(text) => say(text, said),
        Order::Tool(text) => speak(&json!({"type": "tool", "text": text})),
        Order::Write(path, text) => fs::write(path, format!("{text}\n"))?,
        Order::Append(path, text) => note(Some(Path::new(path)), text)?,
        Order::Commit(message) => commit(message)?,
        Order::Touch(path) => drop(File::create(path)?),
        Order::Sleep(time) => thread::sleep(time),
        Order::WaitFor(path) => wait_for(Path::new(path))?,
        Order::SpawnDaemon(path) => spawn_daemon(path)?,
        Order::Remember(word) => session.remember(word)?,
        Order::Recall => say(&session.recall(), said),
        Order::Fail(message) => return Err(io::Error::other(message.to_owned())),
        Order::Hang => thread::sleep(LIFETIME),
        Order::Garbage => io::stdout().write_all(b"\xff\xfe{\"type\":\n\0\x1b[2J\n{}\n[]\n{\"type\":7}\n")?,
        Order::Flood => flood()?,
        Order::ForgetSession | Order::Exit(_) => {}
    }
    Ok(())
}

fn say(text: &str, said: &mut Vec<String>) {
    speak(&json!({"type": "text", "text": format!("{text}\n")}));
    said.push(text.to_owned());
}

fn finish(said: &[String], session: &Session) -> Done {
    let answer = if said.is_empty() { "done".to_owned() } else { said.join("\n") };
    speak(&json!({"type": "finished", "answer": answer, "session": session.name}));
    Done::Finished
}

/// Whoever listened may be gone; the next signal says so.
fn speak(line: &Value) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
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
