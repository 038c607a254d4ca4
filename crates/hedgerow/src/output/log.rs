//! The log: to stderr, errors only unless asked for more. What a person can act on reaches them as words. A server says
//! more, because nobody sits before it.

use std::io::{self, Write};

use hedgerow_core::{Kind, UserError};
use tracing_subscriber::EnvFilter;

use super::err;
use super::escape::{escape_json, escape_lines};

/// Starts the log. `filter` is `HEDGEROW_LOG`; without one, each `-v` shows more. A server logs in JSON when it is
/// asked for JSON.
pub(crate) fn start_log(filter: Option<&str>, verbosity: u8, is_json: bool, is_server: bool) -> Result<(), UserError> {
    let filter = filter.unwrap_or(match verbosity + u8::from(is_server) {
        // A script reads stderr as JSON; what is wrong reaches it as the error.
        0 if is_json => "off",
        0 => "error",
        1 => "info,sqlx=warn",
        2 => "debug,sqlx=info",
        _ => "trace",
    });
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        UserError::new(Kind::Usage, format!("`HEDGEROW_LOG` is not a log filter: {error}"))
            .hint("a level such as `debug`, or `hedgerow_engine=debug,warn`")
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    if is_server && is_json {
        log.json().flatten_event(true).with_writer(|| EscapedJson).init();
    } else {
        log.with_writer(|| Escaped).init();
    }
    Ok(())
}

/// Log lines carry names from repositories like everything else.
struct Escaped;

impl Write for Escaped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        err(&escape_lines(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The same in lines of JSON, which stay JSON.
struct EscapedJson;

impl Write for EscapedJson {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        err(&escape_json(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
