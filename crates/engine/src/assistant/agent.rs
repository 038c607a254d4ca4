//! An agent at work: its program is started, spoken to as its driver says, heard to the end, and ended with all that it
//! started. The same for every kind of agent.

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
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use super::dialogue::{Dialogue, Driver, Parting};
use super::lines::Lines;
use super::live::{Alive, Live};
use super::memory::Memory;
use super::start::{Running, Starting};
use super::words::Tail;
use crate::cage::{Cage, REFUSED};
use crate::settings::Program;

/// How long a program may go on after its last word.
const MOMENT: Duration = Duration::from_secs(2);
/// How long we read on after a program has ended, when someone keeps its streams open.
const AFTERMATH: Duration = Duration::from_secs(1);
/// Updates that wait for whoever listens; a program that is quicker waits as well.
const WAITING: usize = 8;

type Ending = Result<Outcome, AssistantError>;
type Told = Sender<Result<Update, AssistantError>>;

/// A program and how to talk to it.
#[derive(Debug)]
pub(super) struct Agent {
    shared: Arc<Shared>,
    live: Arc<Live>,
}

#[derive(Debug)]
struct Shared {
    program: Program,
    driver: Arc<dyn Driver>,
    supervisor: Vec<OsString>,
    cage: Arc<Cage>,
}

impl Agent {
    pub(super) fn new(
        program: Program,
        driver: Arc<dyn Driver>,
        supervisor: Vec<OsString>,
        cage: Arc<Cage>,
        live: Arc<Live>,
    ) -> Self {
        Self { shared: Arc::new(Shared { program, driver, supervisor, cage }), live }
    }
}

impl Assistant for Agent {
    fn name(&self) -> &str {
        &self.shared.program.name
    }

    /// The last item comes when nothing of the turn is at work any more.
    fn run(&self, lease: &Lease, turn: Turn) -> Updates {
        let (to, from) = channel(WAITING);
        let is_leased = lease.of() == turn.place.of;
        let shared = Arc::clone(&self.shared);
        let alive = self.live.enter(turn.run);
        tokio::spawn(async move {
            let ending = if is_leased {
                shared.drive(&turn, &to, &alive).await
            } else {
                Some(Err(AssistantError::Failed("the lease is of another place".to_owned())))
            };
            drop(alive);
            if let Some(ending) = ending {
                let _ = to.send(ending.map(Update::Finished)).await;
            }
        });
        Box::pin(Updating(from))
    }
}

struct Updating(Receiver<Result<Update, AssistantError>>);

impl Stream for Updating {
    type Item = Result<Update, AssistantError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

impl Shared {
    /// Starts the program, listens, and ends whatever is left of it. `None` when nobody wants to know.
    async fn drive(self: &Arc<Self>, turn: &Turn, to: &Told, alive: &Alive) -> Option<Ending> {
        let (mut running, memory) = match self.start(turn).await {
            Ok(started) => started,
            Err(error) => return Some(Err(error)),
        };
        let mut talk = Talk::new(self.driver.dialogue(turn), running.child.stdin.take());
        let ending = talk.listen(&mut running, to).await;
        let ending = match ending {
            Ok(Ok(parted)) => Some(parted.refusal().map_or_else(|| talk.dialogue.end(&parted.parting()), Err)),
            Ok(Err(error)) => Some(Err(error)),
            Err(Deaf) => None,
        };
        running.end().await;
        let session = talk.session.or(ending.as_ref().and_then(|ending| ending.as_ref().ok()?.session.clone()));
        if let Some(bytes) = memory.recalled(&self.driver, session).await
            && let Err(SendError(Ok(Update::Memory(unheard)))) = to.send(Ok(Update::Memory(bytes))).await
        {
            alive.leave(unheard);
        }
        ending
    }

    async fn start(self: &Arc<Self>, turn: &Turn) -> Result<(Running, Memory), AssistantError> {
        let (shared, planned) = (Arc::clone(self), turn.clone());
        let ready = spawn_blocking(move || {
            let starting = Starting {
                program: &shared.program,
                belongings: shared.driver.belongings(),
                supervisor: &shared.supervisor,
                cage: &shared.cage,
            };
            let ready = starting.ready(&planned)?;
            let memory = Memory::new(ready.fitted.home.clone(), ready.folder.clone());
            memory.remind(&*shared.driver, planned.resume.as_deref(), planned.memory.as_deref());
            Ok((ready, memory))
        });
        let (ready, memory) = ready.await.map_err(|error| AssistantError::Failed(error.to_string()))??;
        Ok((ready.start(&self.driver.launch(turn), turn)?, memory))
    }
}

/// Nobody listens any more.
struct Deaf;

/// How the program went, and what it wrote to stderr.
struct Parted {
    status: Option<ExitStatus>,
    how: String,
    words: String,
}

impl Parted {
    /// What the supervisor said, if it could not build the cage.
    fn refusal(&self) -> Option<AssistantError> {
        let (_, why) =
            self.words.split_once(REFUSED).filter(|_| self.status.is_some_and(|status| !status.success()))?;
        Some(AssistantError::Uncaged(why.to_owned()))
    }

    fn parting(&self) -> Parting<'_> {
        let went_well = self.status.is_none_or(|status| status.success());
        Parting { went_well, how: &self.how, words: &self.words }
    }
}

/// The talk with one program.
struct Talk {
    dialogue: Box<dyn Dialogue>,
    lines: Lines,
    tail: Tail,
    /// What waits to be written to it; gone when there is no more to say.
    say: Option<UnboundedSender<Vec<u8>>>,
    hearing: Option<(ChildStdin, UnboundedReceiver<Vec<u8>>)>,
    is_over: bool,
    /// The agent's own name of the session, as soon as it has said it.
    session: Option<String>,
}

impl Talk {
    fn new(mut dialogue: Box<dyn Dialogue>, stdin: Option<ChildStdin>) -> Self {
        let (say, to_say) = unbounded_channel();
        let _ = say.send(dialogue.opening());
        let goes_on = dialogue.goes_on();
        Self {
            dialogue,
            lines: Lines::default(),
            tail: Tail::default(),
            say: goes_on.then_some(say),
            hearing: stdin.map(|stdin| (stdin, to_say)),
            is_over: false,
            session: None,
        }
    }

    /// Hears the program until its last word or its end.
    async fn listen(&mut self, running: &mut Running, to: &Told) -> Result<Result<Parted, AssistantError>, Deaf> {
        let (mut out, mut err) = (running.child.stdout.take(), running.child.stderr.take());
        let feeding = feed(self.hearing.take());
        tokio::pin!(feeding);
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
                    Err(error) => return Ok(Err(AssistantError::Crashed(format!("waiting for it: {error}")))),
                },
                chunk = next(&mut out), if out.is_some() => {
                    if chunk.is_empty() {
                        out = None;
                    }
                    match self.hear(&chunk) {
                        Ok(updates) => tell(updates, to).await?,
                        Err(wrong) => return Ok(Err(wrong)),
                    }
                    // However long whoever listens took: what is in the pipe is still heard.
                    deadline = ended.map_or(deadline, |_| Some(Instant::now() + AFTERMATH));
                }
                // The last, or a program that floods it would never be seen to end.
                chunk = next(&mut err), if err.is_some() => {
                    self.tail.take(&chunk);
                    if chunk.is_empty() {
                        err = None;
                    }
                }
            }
            if self.is_over && deadline.is_none() {
                self.say = None;
                deadline = Some(Instant::now() + MOMENT);
            }
        }
        if let Some(line) = self.lines.last() {
            let mut updates = Vec::new();
            match self.line(&line, &mut updates) {
                Ok(()) => tell(updates, to).await?,
                Err(wrong) => return Ok(Err(wrong)),
            }
        }
        let how = ended.map(|status| running.ending(status)).unwrap_or_default();
        Ok(Ok(Parted { status: ended, how, words: self.tail.read() }))
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Vec<Update>, AssistantError> {
        let mut updates = Vec::new();
        let mut lines = std::mem::take(&mut self.lines);
        let heard = lines.take(bytes, |line| self.line(line, &mut updates));
        self.lines = lines;
        heard.map(|()| updates)
    }

    /// Nothing counts after the last word.
    fn line(&mut self, line: &[u8], updates: &mut Vec<Update>) -> Result<(), AssistantError> {
        if self.is_over {
            return Ok(());
        }
        let heard = self.dialogue.hear(line)?;
        for update in heard.updates {
            if let Update::Session(session) = &update {
                self.session = Some(session.clone());
            }
            // Pieces that came together stay together.
            match (updates.last_mut(), update) {
                (Some(Update::Text(before)), Update::Text(text)) => before.push_str(&text),
                (_, Update::Text(text)) if text.is_empty() => {}
                (_, update) => updates.push(update),
            }
        }
        if !heard.reply.is_empty()
            && let Some(say) = &self.say
        {
            let _ = say.send(heard.reply);
        }
        self.is_over = heard.is_over;
        Ok(())
    }
}

async fn tell(updates: Vec<Update>, to: &Told) -> Result<(), Deaf> {
    for update in updates {
        to.send(Ok(update)).await.map_err(|_| Deaf)?;
    }
    Ok(())
}

/// Writes what is to be said, until there is no more of it. A program that does not read it is as good as any.
async fn feed(hearing: Option<(ChildStdin, UnboundedReceiver<Vec<u8>>)>) {
    let Some((mut stdin, mut to_say)) = hearing else { return };
    while let Some(words) = to_say.recv().await {
        if stdin.write_all(&words).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
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
