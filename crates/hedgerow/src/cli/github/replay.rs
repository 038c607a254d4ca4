//! `hedgerow github replay`: saved deliveries go through the real door, signed as GitHub signs them.

use std::fs::File;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hedgerow_core::{Kind, MessageId, UserError};
use hedgerow_engine::Outcome;
use hedgerow_platforms::github::manifest::webhook_url;
use hedgerow_platforms::github::post::{Answered, Delivery, deliver};
use serde_json::{Value, json};

use crate::output::Output;
use crate::settings::{Server, Surroundings};

/// Most bytes of a payload that GitHub delivers.
const LARGEST: u64 = 25 * 1024 * 1024;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hedgerow github replay issue_comment.created.json
  hedgerow github replay saved.json --event issues --delivery 72d3162e-cc78-11e3-81ab-4c9367dc0958

The event is the beginning of the file's name, up to its first dot, unless --event says it. Each file is a new delivery \
unless --delivery says which; what a delivery is about is recognised all the same, so that a comment that was answered \
is not answered again.

Exit status: 0 the server took all of them, 1 it did not, 2 wrong usage, 4 nobody listens there, 6 the server is busy.")]
pub(in crate::cli) struct Arguments {
    /// Files with one payload each, as GitHub delivered it
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The event, as GitHub names it in `X-GitHub-Event`
    #[arg(long, value_parser = event)]
    event: Option<String>,
    /// The id of the delivery; otherwise a new one
    #[arg(long, value_name = "ID", value_parser = delivery)]
    delivery: Option<String>,
    /// Where the server is; otherwise where it listens by the settings
    #[arg(long)]
    url: Option<String>,
}

fn event(text: &str) -> Result<String, String> {
    let is_good = (1..=100).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_good {
        Ok(text.to_owned())
    } else {
        Err("it must be the name of an event, such as `issue_comment`".to_owned())
    }
}

fn delivery(text: &str) -> Result<String, String> {
    let is_good =
        (1..=100).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_good { Ok(text.to_owned()) } else { Err("it must be letters, digits and `-`".to_owned()) }
}

pub(super) async fn run(wanted: &Arguments, server: &Server, out: &Output, around: &Surroundings) -> Outcome<ExitCode> {
    let secret = server.github.webhook_secrets.first().ok_or_else(|| {
        UserError::new(Kind::Usage, "no webhook secret is set, so nothing can be signed")
            .hint("set GITHUB_WEBHOOK_SECRET, or `github.webhook_secrets` in hedgerow.toml, to what the server has")
    })?;
    if wanted.delivery.is_some() && wanted.files.len() > 1 {
        return Err(
            UserError::new(Kind::Usage, "`--delivery` is the id of one delivery, and there are several files").into()
        );
    }
    let url = webhook_url(wanted.url.clone().unwrap_or_else(|| usual_url(server)).trim_end_matches('/'));
    // All of them are looked at before the first is sent.
    let mut payloads = Vec::new();
    for file in &wanted.files {
        let event = match &wanted.event {
            Some(event) => event.clone(),
            None => guessed(file)?,
        };
        payloads.push((file, event, payload(&absolute(file, around)?, file)?));
    }
    let mut worst = None;
    for (file, event, body) in payloads {
        let id = wanted.delivery.clone().unwrap_or_else(|| MessageId::new().to_string());
        let answered = deliver(&url, secret, Delivery { event: &event, id: &id, body }).await.map_err(|why| {
            UserError::new(Kind::NotFound, format!("nobody answers at {url}: {why}"))
                .hint("start the server with `hedgerow serve`, or say where it is with `--url`")
        })?;
        worst = worst.max(failed(&answered));
        tell(out, file, &event, &id, &answered)?;
    }
    Ok(worst.map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn absolute(file: &Path, around: &Surroundings) -> Result<PathBuf, UserError> {
    if file.is_absolute() { Ok(file.to_owned()) } else { Ok(around.require_here()?.join(file)) }
}

/// `http://127.0.0.1:4747`; a server that listens everywhere also listens here.
fn usual_url(server: &Server) -> String {
    let mut address = server.listen;
    if address.ip().is_unspecified() {
        let here: IpAddr = if address.is_ipv4() { [127, 0, 0, 1].into() } else { [0, 0, 0, 0, 0, 0, 0, 1].into() };
        address.set_ip(here);
    }
    format!("http://{address}")
}

/// `issue_comment.created.json` is an `issue_comment`.
fn guessed(file: &Path) -> Result<String, UserError> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    event(name.split('.').next().unwrap_or_default()).map_err(|_| {
        UserError::new(Kind::Usage, format!("the name of {} does not begin with an event", file.display()))
            .hint("say which it is, such as `--event issue_comment`")
    })
}

/// The bytes as they are: the signature is over them, and the server sees what GitHub sent.
fn payload(path: &Path, shown: &Path) -> Result<Vec<u8>, UserError> {
    let cannot = |error| UserError::new(Kind::Usage, format!("cannot read {}: {error}", shown.display()));
    let file = File::open(path).map_err(cannot)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("{} is larger than 25 MB, which GitHub delivers at most", shown.display());
        return Err(UserError::new(Kind::Usage, message));
    }
    Ok(bytes)
}

/// The exit status for what was not taken.
fn failed(answered: &Answered) -> Option<u8> {
    match answered.status {
        200..=299 => None,
        429 => Some(Kind::Limit.exit_code()),
        503 => Some(Kind::Busy.exit_code()),
        _ => Some(Kind::Failed.exit_code()),
    }
}

fn tell(out: &Output, file: &Path, event: &str, delivery: &str, answered: &Answered) -> Outcome<()> {
    let text = String::from_utf8_lossy(&answered.body);
    let parsed: Option<Value> = serde_json::from_str(&text).ok();
    if out.is_json() {
        return out.json_line(&json!({
            "file": file.to_string_lossy(),
            "event": event,
            "delivery": delivery,
            "status": answered.status,
            "answer": parsed.unwrap_or_else(|| text.trim().into()),
        }));
    }
    let became = parsed.as_ref().and_then(said).unwrap_or_else(|| text.trim().to_owned());
    out.say(&format!("{}  {event}  {}  {became}", file.display(), answered.status));
    Ok(())
}

/// What an answer of the door says, in words.
fn said(answer: &Value) -> Option<String> {
    let text = |pointer| answer.pointer(pointer).and_then(Value::as_str);
    text("/error/message")
        .map(ToOwned::to_owned)
        .or_else(|| text("/message_id").map(|id| format!("taken as message {id}")))
        .or_else(|| text("/duplicate").map(|of| format!("known already ({of})")))
        .or_else(|| text("/ignored").map(|why| format!("ignored: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_is_the_beginning_of_the_files_name() {
        for (file, expected) in [
            ("issue_comment.created.json", Some("issue_comment")),
            ("saved/issues.json", Some("issues")),
            ("ping", Some("ping")),
            ("2026-saved.json", None),
            (".json", None),
            ("..", None),
        ] {
            assert_eq!(guessed(Path::new(file)).ok().as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn every_answer_of_the_door_has_words() {
        for (answer, words) in [
            (json!({"message_id": "01"}), Some("taken as message 01")),
            (json!({"duplicate": "comment:7:x"}), Some("known already (comment:7:x)")),
            (json!({"ignored": "nobody meant us"}), Some("ignored: nobody meant us")),
            (json!({"error": {"message": "the signature does not fit"}}), Some("the signature does not fit")),
            (json!({"other": 1}), None),
        ] {
            assert_eq!(said(&answer).as_deref(), words, "{answer}");
        }
    }
}
