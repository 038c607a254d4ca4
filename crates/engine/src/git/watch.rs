//! Watching a call of git: its streams are read as they come, within bounds of time and size.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::provider::Progress;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::{GitError, GitResult};
use crate::remote_url::without_secrets;

/// No answer that is gathered whole is longer, and no single record of one that is not.
const MAX_STDOUT: usize = 64 << 20;
/// Enough of what git complains about.
const MAX_STDERR: usize = 64 << 10;

/// How long we read on after git has ended.
const AFTERMATH: Duration = Duration::from_secs(1);

/// How long a call may take.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    Total(Duration),
    Silence(Duration),
}

impl Patience {
    const fn span(self) -> Duration {
        match self {
            Self::Total(span) | Self::Silence(span) => span,
        }
    }
}

/// What happens to the answer.
pub(super) enum Sink<'a> {
    /// It is kept whole.
    Gather,
    /// Each record is handed over when its NUL has come; nothing is kept.
    Records(&'a mut (dyn FnMut(&[u8]) + Send)),
    /// Each piece is handed over as it comes, wherever it was cut; nothing is kept.
    Pieces(&'a mut (dyn FnMut(&[u8]) -> std::io::Result<()> + Send)),
}

/// Reads both streams until they end, within the call's patience.
pub(super) struct Watch<'a> {
    what: String,
    patience: Patience,
    deadline: Instant,
    progress: Option<&'a dyn Progress>,
    sink: Sink<'a>,
    /// Told of each piece of input that git has taken.
    fed: Arc<Notify>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(what: String, patience: Patience, progress: Option<&'a dyn Progress>, sink: Sink<'a>) -> Self {
        let deadline = Instant::now() + patience.span();
        Self { what, patience, deadline, progress, sink, fed: Arc::default() }
    }

    /// Whoever feeds git says here that it has taken something: as good a sign of life as a word.
    pub(super) fn fed(&self) -> Arc<Notify> {
        Arc::clone(&self.fed)
    }

    /// The exit status, what is left of the answer, and the complaints in readable form.
    ///
    /// Once git has ended, what is in its pipes is read, but nobody waits for a child of its own that keeps them open.
    pub(super) async fn until_it_ends(&mut self, child: &mut Child) -> GitResult<(ExitStatus, Vec<u8>, String)> {
        let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut ended: Option<ExitStatus> = None;
        while ended.is_none() || out.is_some() || err.is_some() {
            tokio::select! {
                chunk = next(&mut out), if out.is_some() => match chunk? {
                    Some(bytes) => self.take(&mut stdout, &bytes)?,
                    None => out = None,
                },
                chunk = next(&mut err), if err.is_some() => match chunk? {
                    Some(bytes) => {
                        self.report(&bytes);
                        stderr.extend(bytes);
                        let excess = stderr.len().saturating_sub(MAX_STDERR);
                        stderr.drain(..excess);
                    }
                    None => err = None,
                },
                status = child.wait(), if ended.is_none() => {
                    ended = Some(status.map_err(GitError::io("waiting for git"))?);
                    self.deadline = Instant::now() + AFTERMATH;
                }
                () = self.fed.notified() => {}
                () = sleep_until(self.deadline) => match ended {
                    Some(_) => break,
                    None => return Err(self.timeout()),
                },
            }
            if let (Patience::Silence(span), None) = (self.patience, ended) {
                self.deadline = Instant::now() + span;
            }
        }
        let status = ended.ok_or_else(|| self.timeout())?;
        Ok((status, stdout, without_secrets(&printable(&stderr))))
    }

    /// Takes a piece of the answer in. What stays in `kept` is the whole of it, or the record that is not complete yet.
    fn take(&mut self, kept: &mut Vec<u8>, bytes: &[u8]) -> GitResult<()> {
        if let Sink::Pieces(each) = &mut self.sink {
            return each(bytes).map_err(GitError::io("taking in what git says"));
        }
        kept.extend(bytes);
        if let Sink::Records(each) = &mut self.sink
            && let Some(last) = kept.iter().rposition(|byte| *byte == 0)
        {
            for record in kept[..last].split(|byte| *byte == 0) {
                each(record);
            }
            kept.drain(..=last);
        }
        if kept.len() > MAX_STDOUT {
            return Err(GitError::TooMuch { what: self.what.clone(), limit: MAX_STDOUT });
        }
        Ok(())
    }

    fn timeout(&self) -> GitError {
        GitError::Timeout { what: self.what.clone(), seconds: self.patience.span().as_secs() }
    }

    /// `Receiving objects:  45% (9/20)` becomes 45.
    fn report(&self, bytes: &[u8]) {
        let Some(progress) = self.progress else { return };
        let text = String::from_utf8_lossy(bytes);
        let percent =
            text.rsplit(['\r', '\n']).find_map(|line| line.split_once('%')?.0.rsplit(' ').next()?.parse().ok());
        if let Some(percent) = percent {
            progress.percent(percent);
        }
    }
}

async fn next(stream: &mut Option<impl AsyncRead + Unpin>) -> GitResult<Option<Vec<u8>>> {
    let Some(stream) = stream else { return Ok(None) };
    let mut buffer = vec![0; 32 << 10];
    let count = stream.read(&mut buffer).await.map_err(GitError::io("reading from git"))?;
    buffer.truncate(count);
    Ok((count > 0).then_some(buffer))
}

/// Progress lines overwrite themselves with `\r`; what remains readable is what matters.
fn printable(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(|line| line.rsplit('\r').next().unwrap_or(line).trim_end());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The process group of a call. Dropped before the call has finished, it takes the whole group down: git's own
/// children (ssh, checkout workers) would otherwise go on writing.
pub(super) struct Group(Option<Pid>);

impl Group {
    pub(super) fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    pub(super) fn finished(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_handed_over_as_their_ends_come() {
        let mut seen: Vec<String> = Vec::new();
        let mut each = |record: &[u8]| seen.push(String::from_utf8_lossy(record).into_owned());
        let patience = Patience::Total(Duration::from_secs(1));
        let mut watch = Watch::new("status".into(), patience, None, Sink::Records(&mut each));
        let mut kept = Vec::new();
        for piece in ["a", "b\0c\0\0d", "e\0", "rest"] {
            watch.take(&mut kept, piece.as_bytes()).expect("little is kept");
        }
        assert_eq!(kept, b"rest");
        assert_eq!(seen, ["ab", "c", "", "de"]);
    }

    #[test]
    fn progress_and_blank_lines_leave_only_what_can_be_read() {
        assert_eq!(
            printable(b"Counting: 10%\rCounting: 100%, done.\n\nfatal: no\n"),
            "Counting: 100%, done.\nfatal: no"
        );
    }
}
