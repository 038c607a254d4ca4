//! The assistant that is any program: a turn goes in as one JSON line, its work comes back as lines, as docs/assistants.md
//! tells people who write one.

use hedgerow_core::BranchName;
use hedgerow_core::assistant::{AssistantError, Outcome, Step, StepState, Turn, Update, Usage};
use serde::{Deserialize, Serialize};

use super::dialogue::{Dialogue, Driver, Heard, Launch, Parting};
use super::words::{keepable, one_line};

/// Raised when a program of today would misunderstand what we say.
const VERSION: u32 = 1;
/// Longest name of a session.
const MAX_SESSION: usize = 1 << 10;

#[derive(Debug)]
pub(super) struct Script;

impl Driver for Script {
    fn launch(&self, turn: &Turn) -> Launch {
        let models = turn.models.iter();
        let variables =
            models.flat_map(|models| [("HEDGEROW_LLM_URL", &models.url), ("HEDGEROW_LLM_TOKEN", &models.token)]);
        let variables = variables.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        Launch { variables, ..Launch::default() }
    }

    fn dialogue(&self, turn: &Turn) -> Box<dyn Dialogue> {
        Box::new(Talk { turn: line(turn), text: String::new(), last_word: None, resumes: turn.resume.is_some() })
    }
}

/// The line that a program gets.
fn line(turn: &Turn) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        r#type: &'static str,
        version: u32,
        run: String,
        prompt: &'a str,
        briefing: Option<&'a str>,
        session: Option<&'a str>,
        memory: Option<std::borrow::Cow<'a, str>>,
        branch: Option<&'a str>,
    }
    let line = Line {
        r#type: "turn",
        version: VERSION,
        run: turn.run.to_string(),
        prompt: &turn.prompt,
        briefing: turn.briefing.as_deref(),
        session: turn.resume.as_deref(),
        memory: turn.memory.as_deref().map(String::from_utf8_lossy),
        branch: turn.place.branch.as_ref().map(BranchName::as_str),
    };
    let mut line = serde_json::to_vec(&line).expect("strings and numbers are JSON");
    line.push(b'\n');
    line
}

/// A line of a program.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    Text { text: String },
    Tool { text: String },
    Session { session: String },
    Plan { steps: Vec<SaidStep> },
    Usage(SaidUsage),
    Note { text: String },
    Memory { text: String },
    Finished { answer: Option<String>, session: Option<String> },
    Failed { message: String, reason: Option<Reason> },
    UnknownSession,
}

#[derive(Deserialize)]
struct SaidStep {
    text: String,
    #[serde(default)]
    state: SaidState,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SaidState {
    #[default]
    Pending,
    Active,
    Done,
}

#[derive(Deserialize)]
struct SaidUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cached_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    cost_micros: Option<u64>,
}

/// A failure that has its own next step.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    LoggedOut,
    Limited,
    OutOfContext,
}

/// The types above; anything else is of a later version, or the program's own business.
const KNOWN: [&str; 10] =
    ["text", "tool", "session", "plan", "usage", "note", "memory", "finished", "failed", "unknown_session"];

/// One turn of it.
struct Talk {
    /// The line it gets.
    turn: Vec<u8>,
    /// All text so far.
    text: String,
    last_word: Option<Result<Outcome, AssistantError>>,
    resumes: bool,
}

impl Dialogue for Talk {
    fn opening(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.turn)
    }

    fn hear(&mut self, line: &[u8]) -> Result<Heard, AssistantError> {
        match said(line)? {
            Line::Plain(text) | Line::Said(Said::Text { text }) => {
                let text = keepable(text);
                self.text.push_str(&text);
                Ok(Heard::update(Update::Text(text)))
            }
            Line::Said(Said::Tool { text }) => Ok(Heard::update(Update::Tool(one_line(&text)))),
            Line::Said(Said::Finished { answer, session }) => {
                let answer = answer.unwrap_or_else(|| std::mem::take(&mut self.text).trim_end().to_owned());
                let session = session.map(named).transpose()?.flatten();
                self.last_word = Some(Ok(Outcome { session, answer: keepable(answer) }));
                Ok(Heard::over())
            }
            Line::Said(Said::Failed { message, reason }) => {
                let message = keepable(message);
                self.last_word = Some(Err(match reason {
                    None => AssistantError::Failed(message),
                    Some(Reason::LoggedOut) => AssistantError::LoggedOut(message),
                    Some(Reason::Limited) => AssistantError::Limited(message),
                    Some(Reason::OutOfContext) => AssistantError::OutOfContext(message),
                }));
                Ok(Heard::over())
            }
            Line::Said(Said::Session { session }) => {
                Ok(named(session)?.map_or_else(Heard::default, |session| Heard::update(Update::Session(session))))
            }
            Line::Said(Said::Plan { steps }) => Ok(Heard::update(Update::Plan(steps.iter().map(step).collect()))),
            Line::Said(Said::Usage(usage)) => Ok(Heard::update(Update::Usage(counted(&usage)))),
            Line::Said(Said::Note { text }) => Ok(Heard::update(Update::Note(one_line(&text)))),
            Line::Said(Said::Memory { text }) => Ok(Heard::update(Update::Memory(text.into_bytes()))),
            Line::Said(Said::UnknownSession) => {
                self.last_word = Some(Err(if self.resumes {
                    AssistantError::UnknownSession
                } else {
                    AssistantError::Garbled("it does not know a session, and was not asked for one".to_owned())
                }));
                Ok(Heard::over())
            }
            Line::Other(text) => Ok(Heard::update(Update::Other(text))),
        }
    }

    /// Its last word, or else how it ended.
    fn end(self: Box<Self>, parting: &Parting<'_>) -> Result<Outcome, AssistantError> {
        match self.last_word {
            Some(last_word) => last_word,
            None if parting.went_well => Ok(Outcome { session: None, answer: self.text.trim_end().to_owned() }),
            None => Err(AssistantError::Crashed(parting.told())),
        }
    }
}

/// A session's name that can be kept.
fn named(session: String) -> Result<Option<String>, AssistantError> {
    if session.len() > MAX_SESSION {
        return Err(AssistantError::Garbled(format!("it named a session of more than {MAX_SESSION} bytes")));
    }
    Ok(Some(session).filter(|session| !session.is_empty()).map(keepable))
}

fn step(said: &SaidStep) -> Step {
    let state = match said.state {
        SaidState::Pending => StepState::Pending,
        SaidState::Active => StepState::Active,
        SaidState::Done => StepState::Done,
    };
    Step { text: one_line(&said.text), state }
}

/// More than a database counts is no count.
fn counted(said: &SaidUsage) -> Usage {
    const MOST: u64 = 1 << 53;
    Usage {
        input_tokens: said.input_tokens.min(MOST),
        cached_tokens: said.cached_tokens.min(MOST),
        output_tokens: said.output_tokens.min(MOST),
        cost_micros: said.cost_micros.map(|cost| cost.min(MOST)),
    }
}

enum Line {
    Said(Said),
    /// A type that we do not know.
    Other(String),
    Plain(String),
}

fn said(line: &[u8]) -> Result<Line, AssistantError> {
    let plain = || Line::Plain(format!("{}\n", String::from_utf8_lossy(line)));
    if !line.trim_ascii_start().starts_with(b"{") {
        return Ok(plain());
    }
    let Ok(serde_json::Value::Object(object)) = serde_json::from_slice(line.trim_ascii()) else { return Ok(plain()) };
    let Some(kind) = object.get("type").and_then(|kind| kind.as_str()).map(str::to_owned) else { return Ok(plain()) };
    if !KNOWN.contains(&kind.as_str()) {
        return Ok(Line::Other(keepable(String::from_utf8_lossy(line).into_owned())));
    }
    match serde_json::from_value(serde_json::Value::Object(object)) {
        Ok(said) => Ok(Line::Said(said)),
        Err(error) => Err(AssistantError::Garbled(format!("its line of type `{kind}` is wrong: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(resumes: bool) -> Talk {
        Talk { turn: Vec::new(), text: String::new(), last_word: None, resumes }
    }

    /// All updates until the last word, and what it came to.
    fn heard(lines: &[&[u8]]) -> (Vec<Update>, Result<Outcome, AssistantError>) {
        let (mut talk, mut updates) = (talk(true), Vec::new());
        for line in lines {
            let heard = talk.hear(line).expect("it is understood");
            updates.extend(heard.updates);
            if heard.is_over {
                break;
            }
        }
        (updates, Box::new(talk).end(&Parting { went_well: true, ..Parting::default() }))
    }

    fn text(text: &str) -> Update {
        Update::Text(text.to_owned())
    }

    #[test]
    fn what_is_no_message_is_plain_text() {
        let lines: [&[u8]; 7] = [
            b"plain",
            b"{\"a\":1}",
            b"{\"type\":5}",
            b"{broken",
            b"\xff",
            b"{\"type\":\"tool\",\"text\":\"x\"}",
            b"\0end",
        ];
        let (updates, outcome) = heard(&lines);
        let plain = ["plain\n", "{\"a\":1}\n", "{\"type\":5}\n", "{broken\n", "\u{fffd}\n"];
        let mut expected: Vec<_> = plain.iter().map(|line| text(line)).collect();
        expected.extend([Update::Tool("x".to_owned()), text("\u{fffd}end\n")]);
        assert_eq!(updates, expected);
        assert_eq!(outcome.expect("it went well").answer, plain.concat() + "\u{fffd}end");
    }

    #[test]
    fn how_it_goes_is_told_beside_the_words() {
        let lines: [&[u8]; 6] = [
            br#"{"type":"session","session":"s"}"#,
            br#"{"type":"plan","steps":[{"text":"read","state":"done"},{"text":"fix\nit"}]}"#,
            br#"{"type":"usage","input_tokens":5,"output_tokens":18446744073709551615}"#,
            br#"{"type":"note","text":"it waits"}"#,
            br#"{"type":"memory","text":"blue"}"#,
            br#"{"type":"failed","message":"full","reason":"out_of_context"}"#,
        ];
        let (updates, outcome) = heard(&lines);
        let step = |text: &str, state| Step { text: text.to_owned(), state };
        let usage = Usage { input_tokens: 5, output_tokens: 1 << 53, ..Usage::default() };
        let expected = [
            Update::Session("s".to_owned()),
            Update::Plan(vec![step("read", StepState::Done), step("fix it", StepState::Pending)]),
            Update::Usage(usage),
            Update::Note("it waits".to_owned()),
            Update::Memory(b"blue".to_vec()),
        ];
        assert_eq!(updates, expected);
        assert!(matches!(outcome, Err(AssistantError::OutOfContext(why)) if why == "full"));
    }

    #[test]
    fn a_last_word_is_the_last() {
        let lines: [&[u8]; 4] = [
            br#"{"type":"later","x":1}"#,
            br#"{"type":"text","text":"a"}"#,
            br#"{"type":"finished","session":"s","more":1}"#,
            br#"{"type":"failed","message":"no"}"#,
        ];
        let (updates, outcome) = heard(&lines);
        assert_eq!(updates, [Update::Other(r#"{"type":"later","x":1}"#.to_owned()), text("a")]);
        assert_eq!(outcome.expect("it went well"), Outcome { session: Some("s".to_owned()), answer: "a".to_owned() });
    }

    #[test]
    fn a_known_message_in_a_wrong_form_is_an_error() {
        for line in [&br#"{"type":"text"}"#[..], br#"{"type":"finished","answer":5}"#, br#"{"type":"failed"}"#] {
            let wrong = talk(false).hear(line).expect_err("it is wrong");
            assert!(wrong.to_string().contains("is wrong"), "{wrong}");
        }
    }

    #[test]
    fn only_who_was_asked_for_a_session_can_have_forgotten_it() {
        let last_word = |resumes| {
            let mut talk = talk(resumes);
            talk.hear(b"{\"type\":\"unknown_session\"}").expect("it is understood");
            talk.last_word.expect("it said so").expect_err("it failed")
        };
        assert!(matches!(last_word(true), AssistantError::UnknownSession));
        assert!(matches!(last_word(false), AssistantError::Garbled(_)));
    }
}
