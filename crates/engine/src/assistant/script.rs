//! The assistant that is any program: a turn goes in as one JSON line, its work comes back as lines.

use std::ffi::OsString;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use hedgerow_core::Lease;
use hedgerow_core::assistant::{Assistant, AssistantError, Outcome, Turn, Update, Updates};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep_until};

use super::live::Live;
use super::protocol::{self, Ear};
use super::start::{Running, start};
use super::words::Tail;
use crate::settings::Program;

/// How long a program may go on after its last word.
const MOMENT: Duration = Duration::from_secs(2);
/// How long we read on after a program has ended, when someone keeps its streams open.
const AFTERMATH: Duration = Duration::from_secs(1);
/// Updates that wait for whoever listens; a program that is quicker waits as well.
const WAITING: usize = 8;

type Ending = Result<Outcome, AssistantError>;

#[derive(Debug)]
pub(super) struct Script {
    program: Arc<Program>,
    supervisor: Arc<[OsString]>,
    live: Arc<Live>,
}

impl Script {
    pub(super) fn new(program: Program, supervisor: Vec<OsString>, live: Arc<Live>) -> Self {
        Self { program: Arc::new(program), supervisor: supervisor.into(), live }
    }
}

impl Assistant for Script {
    fn name(&self) -> &str {
        &self.program.name
    }

    /// The last item comes when nothing of the turn is at work any more.
    fn run(&self, lease: &Lease, turn: Turn) -> Updates {
        let (to, from) = channel(WAITING);
        let is_leased = lease.of() == turn.place.of;
        let (program, supervisor) = (Arc::clone(&self.program), Arc::clone(&self.supervisor));
        let alive = self.live.enter(turn.run);
        tokio::spawn(async move {
            let ending = if is_leased {
                drive(&program, &supervisor, &turn, &to).await
            } else {
                Some(Err(AssistantError::Failed("the lease is of another place".to_owned())))
            };
            drop(alive);
            if let Some(ending) = ending {
                let _ = to.send(ending.map(Update::Finished)).await;
            }
        });
        Box::pin(Heard(from))
    }
}

struct Heard(Receiver<Result<Update, AssistantError>>);

impl Stream for Heard {
    type Item = Result<Update, AssistantError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// Starts the program, listens, and ends whatever is left of it. `None` when nobody wants to know.
async fn drive(
    program: &Program,
    supervisor: &[OsString],
    turn: &Turn,
    to: &Sender<Result<Update, AssistantError>>,
) -> Option<Ending> {
    let mut running = match start(&program.command, supervisor, turn) {
        Ok(running) => running,
        Err(error) => return Some(Err(error)),
    };
    let ending = listen(&mut running, turn, to).await;
    running.end().await;
    ending.ok()
}

/// Nobody listens any more.
struct Deaf;

/// Hears the program until its last word or its end.
async fn listen(
    running: &mut Running,
    turn: &Turn,
    to: &Sender<Result<Update, AssistantError>>,
) -> Result<Ending, Deaf> {
    let (mut out, mut err) = (running.child.stdout.take(), running.child.stderr.take());
    let feeding = feed(running.child.stdin.take(), protocol::line(turn));
    tokio::pin!(feeding);
    let (mut ear, mut tail) = (Ear::new(turn), Tail::default());
    let (mut is_fed, mut ended, mut deadline) = (false, None::<ExitStatus>, None::<Instant>);
    while ended.is_none() || out.is_some() || err.is_some() {
        tokio::select! {
            biased;
            () = to.closed() => return Err(Deaf),
            () = passed(deadline) => break,
            () = &mut feeding, if !is_fed => is_fed = true,
            status = running.child.wait(), if ended.is_none() => match status {
                Ok(status) => {
                    ended = Some(status);
                    deadline = Some(Instant::now() + AFTERMATH);
                }
                Err(error) => return Ok(Err(AssistantError::Failed(format!("waiting for it: {error}")))),
            },
            chunk = next(&mut out), if out.is_some() => {
                if chunk.is_empty() {
                    out = None;
                }
                match ear.hear(&chunk) {
                    Ok(updates) => tell(updates, to).await?,
                    Err(flood) => return Ok(Err(flood)),
                }
                // However long whoever listens took: what is in the pipe is still heard.
                deadline = ended.map_or(deadline, |_| Some(Instant::now() + AFTERMATH));
            }
            // The last, or a program that floods it would never be seen to end.
            chunk = next(&mut err), if err.is_some() => {
                tail.take(&chunk);
                if chunk.is_empty() {
                    err = None;
                }
            }
        }
        if ear.last_word.is_some() && deadline.is_none() {
            deadline = Some(Instant::now() + MOMENT);
        }
    }
    match ear.end() {
        Ok(updates) => tell(updates, to).await?,
        Err(wrong) => return Ok(Err(wrong)),
    }
    Ok(judge(running, ear, ended, &tail))
}

/// What the turn came to: the program's last word, or else how it ended.
fn judge(running: &Running, mut ear: Ear, ended: Option<ExitStatus>, tail: &Tail) -> Ending {
    match (ear.last_word.take(), ended) {
        (Some(last_word), _) => last_word,
        (None, Some(status)) if !status.success() => {
            let (how, words) = (running.ending(status), tail.read());
            Err(AssistantError::Failed(if words.is_empty() { how } else { format!("{how}\n{words}") }))
        }
        (None, _) => Ok(ear.outcome()),
    }
}

async fn tell(updates: Vec<Update>, to: &Sender<Result<Update, AssistantError>>) -> Result<(), Deaf> {
    for update in updates {
        to.send(Ok(update)).await.map_err(|_| Deaf)?;
    }
    Ok(())
}

/// Gives the program its turn. One that does not read it is as good as any.
async fn feed(stdin: Option<ChildStdin>, line: Vec<u8>) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(&line).await;
    }
}

/// The next bytes; none at the end. A stream that cannot be read has ended.
async fn next(stream: &mut Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut buffer = vec![0; 32 << 10];
    let count = match stream {
        Some(stream) => stream.read(&mut buffer).await.unwrap_or(0),
        None => 0,
    };
    buffer.truncate(count);
    buffer
}

async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
