//! The JSON lines between us and a program, as docs/assistants.md tells them to people who write one.

use hedgerow_core::BranchName;
use hedgerow_core::assistant::{AssistantError, Outcome, Turn, Update};
use serde::{Deserialize, Serialize};

use super::words::{keepable, one_line};

/// Raised when a program of today would misunderstand what we say.
const VERSION: u32 = 1;
/// Longest line of a program.
const MAX_LINE: usize = 1 << 20;
/// Most that a program says in one turn.
const MAX_OUTPUT: usize = 64 << 20;
/// Longest name of a session.
const MAX_SESSION: usize = 1 << 10;

/// The line that a program gets.
pub(super) fn line(turn: &Turn) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        r#type: &'static str,
        version: u32,
        run: String,
        prompt: &'a str,
        session: Option<&'a str>,
        branch: Option<&'a str>,
    }
    let line = Line {
        r#type: "turn",
        version: VERSION,
        run: turn.run.to_string(),
        prompt: &turn.prompt,
        session: turn.resume.as_deref(),
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
    Finished { answer: Option<String>, session: Option<String> },
    Failed { message: String },
    UnknownSession,
}

/// The types above; anything else is of a later version, or the program's own business.
const KNOWN: [&str; 5] = ["text", "tool", "finished", "failed", "unknown_session"];

/// Turns what a program writes into updates, within bounds.
#[derive(Debug, Default)]
pub(super) struct Ear {
    /// The line that is not complete yet.
    rest: Vec<u8>,
    total: usize,
    /// All text so far.
    text: String,
    /// Its last word; nothing counts after it.
    pub(super) last_word: Option<Result<Outcome, AssistantError>>,
    pub(super) resumes: bool,
}

impl Ear {
    pub(super) fn new(turn: &Turn) -> Self {
        Self { resumes: turn.resume.is_some(), ..Self::default() }
    }

    /// Takes in the next bytes, wherever they were cut.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> Result<Vec<Update>, AssistantError> {
        let mut updates = Vec::new();
        let mut pieces = bytes.split_inclusive(|byte| *byte == b'\n');
        while let (None, Some(piece)) = (&self.last_word, pieces.next()) {
            self.total += piece.len();
            self.rest.extend(piece);
            if self.rest.len() > MAX_LINE {
                return Err(AssistantError::Failed(format!("it wrote a line longer than {} KiB", MAX_LINE >> 10)));
            }
            if self.total > MAX_OUTPUT {
                return Err(AssistantError::Failed(format!("it wrote more than {} MiB", MAX_OUTPUT >> 20)));
            }
            if piece.ends_with(b"\n") {
                self.line(&mut updates)?;
            }
        }
        Ok(updates)
    }

    /// Nothing comes any more: what is left is a line without its end.
    pub(super) fn end(&mut self) -> Result<Vec<Update>, AssistantError> {
        let mut updates = Vec::new();
        if self.last_word.is_none() && !self.rest.is_empty() {
            self.line(&mut updates)?;
        }
        Ok(updates)
    }

    /// The outcome of a program that ended well without a last word.
    pub(super) fn outcome(self) -> Outcome {
        Outcome { session: None, answer: self.text.trim_end().to_owned() }
    }

    fn line(&mut self, updates: &mut Vec<Update>) -> Result<(), AssistantError> {
        let line = std::mem::take(&mut self.rest);
        match said(&line)? {
            Heard::Plain(text) | Heard::Said(Said::Text { text }) => self.piece(keepable(text), updates),
            Heard::Said(Said::Tool { text }) => updates.push(Update::Tool(one_line(&text))),
            Heard::Said(Said::Finished { answer, session }) => {
                let answer = answer.unwrap_or_else(|| std::mem::take(&mut self.text).trim_end().to_owned());
                let session = session.filter(|session| !session.is_empty()).map(keepable);
                if session.as_ref().is_some_and(|session| session.len() > MAX_SESSION) {
                    return Err(AssistantError::Failed(format!("it named a session of more than {MAX_SESSION} bytes")));
                }
                self.last_word = Some(Ok(Outcome { session, answer: keepable(answer) }));
            }
            Heard::Said(Said::Failed { message }) => {
                self.last_word = Some(Err(AssistantError::Failed(keepable(message))));
            }
            Heard::Said(Said::UnknownSession) => {
                self.last_word = Some(Err(if self.resumes {
                    AssistantError::UnknownSession
                } else {
                    AssistantError::Failed("it does not know a session, and was not asked for one".to_owned())
                }));
            }
            Heard::Other(kind) => tracing::debug!(kind, "an assistant said something that is not known"),
        }
        Ok(())
    }

    /// The next piece of the answer. Pieces that came together stay together.
    fn piece(&mut self, text: String, updates: &mut Vec<Update>) {
        self.text.push_str(&text);
        match updates.last_mut() {
            Some(Update::Text(before)) => before.push_str(&text),
            _ if text.is_empty() => {}
            _ => updates.push(Update::Text(text)),
        }
    }
}

enum Heard {
    Said(Said),
    /// A type that we do not know.
    Other(String),
    Plain(String),
}

fn said(line: &[u8]) -> Result<Heard, AssistantError> {
    let plain = || {
        let text = String::from_utf8_lossy(line);
        Heard::Plain(text.strip_suffix("\r\n").map_or_else(|| text.clone().into_owned(), |text| format!("{text}\n")))
    };
    if !line.trim_ascii_start().starts_with(b"{") {
        return Ok(plain());
    }
    let Ok(serde_json::Value::Object(object)) = serde_json::from_slice(line.trim_ascii()) else { return Ok(plain()) };
    let Some(kind) = object.get("type").and_then(|kind| kind.as_str()).map(str::to_owned) else { return Ok(plain()) };
    if !KNOWN.contains(&kind.as_str()) {
        return Ok(Heard::Other(one_line(&kind)));
    }
    match serde_json::from_value(serde_json::Value::Object(object)) {
        Ok(said) => Ok(Heard::Said(said)),
        Err(error) => Err(AssistantError::Failed(format!("its line of type `{kind}` is wrong: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&[u8]]) -> (Vec<Update>, Ear) {
        let mut ear = Ear { resumes: true, ..Ear::default() };
        let mut updates: Vec<_> = pieces.iter().flat_map(|piece| ear.hear(piece).expect("within bounds")).collect();
        updates.extend(ear.end().expect("within bounds"));
        (updates, ear)
    }

    fn text(text: &str) -> Update {
        Update::Text(text.to_owned())
    }

    #[test]
    fn what_is_no_message_is_plain_text() {
        let lines =
            b"plain\r\n[1]\n{\"a\":1}\n{\"type\":5}\n{broken\n\xff\n\n{\"type\":\"tool\",\"text\":\"x\"}\n\0end";
        let (updates, ear) = heard(&[lines]);
        let before = "plain\n[1]\n{\"a\":1}\n{\"type\":5}\n{broken\n\u{fffd}\n\n";
        assert_eq!(updates, [text(before), Update::Tool("x".to_owned()), text("\u{fffd}end")]);
        assert_eq!(ear.outcome().answer, format!("{before}\u{fffd}end"));
    }

    #[test]
    fn lines_are_whole_wherever_they_were_cut() {
        let line = "{\"type\":\"text\",\"text\":\"é\"}\n".as_bytes();
        for at in 0..line.len() {
            let (updates, _) = heard(&[&line[..at], &line[at..]]);
            assert_eq!(updates, [text("é")], "{at}");
        }
    }

    #[test]
    fn nothing_counts_after_the_last_word() {
        let finished = br#"{"type":"later","x":1}
            {"type":"text","text":"a"}
            {"type":"finished","session":"s","more":1}
            {"type":"failed","message":"no"}
            b"#;
        let (updates, ear) = heard(&[finished]);
        assert_eq!(updates, [text("a")]);
        let outcome = Outcome { session: Some("s".to_owned()), answer: "a".to_owned() };
        assert_eq!(ear.last_word.expect("it said so").expect("it went well"), outcome);
    }

    #[test]
    fn a_known_message_in_a_wrong_form_is_an_error() {
        for line in [&br#"{"type":"text"}"#[..], br#"{"type":"finished","answer":5}"#, br#"{"type":"failed"}"#] {
            let mut ear = Ear::default();
            let wrong = ear.hear(line).and_then(|_| ear.end()).expect_err("it is wrong");
            assert!(wrong.to_string().contains("is wrong"), "{wrong}");
        }
    }

    #[test]
    fn a_flood_is_an_error() {
        let mut ear = Ear::default();
        let kept = ear.hear(&vec![b'x'; MAX_LINE]).and_then(|_| ear.hear(b"x"));
        assert!(kept.expect_err("too long").to_string().contains("longer than 1024 KiB"));

        let line = ["y".repeat(1 << 19).as_bytes(), b"\n"].concat();
        let mut ear = Ear::default();
        let flood = (0..129).find_map(|_| ear.hear(&line).err()).expect("too much");
        assert!(flood.to_string().contains("more than 64 MiB"), "{flood}");
    }

    #[test]
    fn only_who_was_asked_for_a_session_can_have_forgotten_it() {
        let last_word = |resumes| {
            let mut ear = Ear { resumes, ..Ear::default() };
            ear.hear(b"{\"type\":\"unknown_session\"}\n").expect("within bounds");
            ear.last_word.expect("it said so").expect_err("it failed")
        };
        assert!(matches!(last_word(true), AssistantError::UnknownSession));
        assert!(matches!(last_word(false), AssistantError::Failed(_)));
    }
}
