//! The assistant of the tests as any program: a turn comes as one line, and its work goes out in lines.

use std::io::{self, BufRead as _};
use std::process::ExitCode;

use hedgerow_core::assistant::{Step, Usage};
use serde::Deserialize;
use serde_json::json;

use super::session::Session;
use super::thinking::{Done, Notes, Task, work};
use super::voice::{Voice, speak};

#[derive(Deserialize)]
struct Turn {
    run: String,
    prompt: String,
    briefing: Option<String>,
    session: Option<String>,
    memory: Option<String>,
}

pub(super) fn answer(notes: Notes) -> ExitCode {
    let last_word = match turn(notes) {
        Ok((Done::Exit(code), _)) => return ExitCode::from(code),
        Ok((Done::Finished(answer), session)) => json!({"type": "finished", "answer": answer, "session": session}),
        Ok((Done::ForgotSession, _)) => json!({"type": "unknown_session"}),
        Ok((Done::LoggedOut, _)) => json!({"type": "failed", "message": "nobody is logged in"}),
        Ok((Done::OutOfContext, _)) => {
            json!({"type": "failed", "message": "too much was said", "reason": "out_of_context"})
        }
        Err(error) => json!({"type": "failed", "message": error.to_string()}),
    };
    speak(&last_word);
    ExitCode::SUCCESS
}

fn turn(mut notes: Notes) -> io::Result<(Done, String)> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let Turn { run, prompt, briefing, session, memory } = serde_json::from_str(&line)?;
    let task = Task { run, prompt, resumes: session.is_some(), briefing: briefing.unwrap_or_default(), memory };
    let session = Session::open(session, notes.state.take())?;
    Ok((work(&task, &session, &notes, &mut Lines)?, session.name))
}

struct Lines;

impl Voice for Lines {
    fn text(&mut self, text: &str) {
        speak(&json!({"type": "text", "text": format!("{text}\n")}));
    }

    fn tool(&mut self, text: &str) {
        speak(&json!({"type": "tool", "text": text}));
    }

    fn plan(&mut self, steps: &[Step]) {
        let step = |step: &Step| json!({"text": step.text, "state": step.state});
        speak(&json!({"type": "plan", "steps": steps.iter().map(step).collect::<Vec<_>>()}));
    }

    fn session(&mut self, name: &str) {
        speak(&json!({"type": "session", "session": name}));
    }

    fn usage(&mut self, used: &Usage) {
        let Usage { input_tokens, cached_tokens, output_tokens, cost_micros } = used;
        speak(&json!({"type": "usage", "input_tokens": input_tokens, "cached_tokens": cached_tokens,
            "output_tokens": output_tokens, "cost_micros": cost_micros}));
    }

    fn note(&mut self, text: &str) {
        speak(&json!({"type": "note", "text": text}));
    }

    fn keep(&mut self, text: &str) {
        speak(&json!({"type": "memory", "text": text}));
    }

    fn ask(&mut self, _: &str) -> io::Result<bool> {
        Ok(true)
    }
}
