//! Starting the child: under `strace`, with a stand-in for git, or plainly; and waiting until it is dead.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;

use hedgerow_engine::Clock as _;
use tokio::process::Command;

use super::act::Act;
use super::aim::{Aim, Kill, Whom};
use super::child::{Dies, Order, Told};
use super::count::{GIT_CALLS, Points, read_logs};
use super::stage::Stage;

/// Long enough for any act in a tiny repository on a busy machine; who takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a child ended.
#[derive(Debug)]
pub enum Ended {
    Killed,
    /// It lived, and says what it did.
    Lived(Told),
}

/// Starts children of one program, the `crash` binary.
#[derive(Debug, Clone)]
pub struct Runner {
    pub program: PathBuf,
}

impl Runner {
    /// Does the act of a kill, and kills.
    pub async fn kill(&self, stage: &Stage, kill: &Kill, points: &Points) -> Ended {
        let mut order = order(stage, kill.act);
        let mut strace = Vec::new();
        match kill.aim {
            Aim::Step(at) | Aim::Settling(at, _) => order.dies = Some(dies(kill, at)),
            Aim::Git { .. } => order.git = git_that_dies(stage.desk.path(), kill),
            Aim::Own { calls, nth } => {
                let inject = format!("inject={}:signal=KILL:{}", calls.names(), when(kill, nth));
                let trace = format!("trace={}", calls.names());
                strace = ["-f", "-qq", "-b", "execve", "-o", "/dev/null", "-e", &trace, "-e", &inject]
                    .map(str::to_owned)
                    .into();
            }
            Aim::Moment(permille) => {
                let after = Duration::from_micros(points.micros * permille / 1000);
                return self.start(stage, &order, &strace, Some(after)).await;
            }
        }
        self.start(stage, &order, &strace, None).await
    }

    /// A restart: whatever was left is settled. It may be killed on the way as well.
    pub async fn settle(&self, stage: &Stage, dies: Option<Dies>) -> Ended {
        self.start(stage, &Order { dies, ..order(stage, Act::Settle) }, &[], None).await
    }

    /// Does an act, undisturbed.
    pub async fn perform(&self, stage: &Stage, act: Act) -> Told {
        match self.start(stage, &order(stage, act), &[], None).await {
            Ended::Lived(told) => told,
            Ended::Killed => Told { failure: Some("nobody killed it, and it died".to_owned()), ..Told::default() },
        }
    }

    /// Does an act, undisturbed but watched: what there is to kill.
    pub async fn points(&self, stage: &Stage, act: Act, traced: bool) -> Points {
        let mut order = order(stage, act);
        let mut strace = Vec::new();
        let desk = stage.desk.path();
        if traced {
            let own = desk.join("own").display().to_string();
            order.git = git_that_is_watched(desk);
            let trace = format!("trace={GIT_CALLS}");
            strace = ["-ff", "-y", "-qq", "-b", "execve", "-o", &own, "-e", &trace, "-e", "signal=none"]
                .map(str::to_owned)
                .into();
        }
        let told = match self.start(stage, &order, &strace, None).await {
            Ended::Lived(told) if told.failure.is_none() => told,
            other => panic!("{} {} fails by itself: {other:?}", act.name(), stage.scene.name()),
        };
        let mut points = Points { steps: told.steps, micros: told.micros, ..Points::default() };
        read_logs(desk, &mut points);
        points
    }

    async fn start(&self, stage: &Stage, order: &Order, strace: &[String], dies_after: Option<Duration>) -> Ended {
        let file = stage.desk.path().join("order.json");
        fs::write(&file, serde_json::to_vec(order).expect("it is plain data")).expect("the desk");
        let mut command = if strace.is_empty() {
            Command::new(&self.program)
        } else {
            let mut command = Command::new("strace");
            command.args(strace).arg(&self.program);
            command
        };
        command.arg("child").arg(&file).stdin(Stdio::null()).kill_on_drop(true);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the child can be started");
        if let Some(after) = dies_after {
            tokio::time::sleep(after).await;
            // It may have ended by then.
            let _ = child.start_kill();
        }
        match tokio::time::timeout(PATIENCE, child.wait_with_output()).await {
            Ok(output) => ended(&output.expect("the child can be waited for")),
            Err(_) => Ended::Lived(Told { failure: Some(format!("{} hangs", order.act)), ..Told::default() }),
        }
    }
}

fn ended(output: &Output) -> Ended {
    if was_killed(output.status) {
        return Ended::Killed;
    }
    let told = serde_json::from_slice(&output.stdout);
    Ended::Lived(told.unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Told { failure: Some(format!("it said nothing that can be read ({error}): {said}")), ..Told::default() }
    }))
}

fn was_killed(status: ExitStatus) -> bool {
    status.signal() == Some(9) || status.code() == Some(128 + 9)
}

pub fn dies(kill: &Kill, at: usize) -> Dies {
    let (after_micros, goes_on) = kill.pause();
    Dies { at, after_micros, goes_on }
}

fn order(stage: &Stage, act: Act) -> Order {
    let database = match stage.world.database().database() {
        hedgerow_engine::store::Database::Sqlite(path) => path.display().to_string(),
        hedgerow_engine::store::Database::Postgres(url) => url,
    };
    Order {
        folder: stage.world.folder().to_owned(),
        database,
        git: PathBuf::from("git"),
        act: act.name().to_owned(),
        scene: stage.scene.name().to_owned(),
        now: stage.world.clock.now().as_millis(),
        dies: None,
    }
}

/// A stand-in for git whose calls are numbered from 1.
fn stand_in(desk: &Path, script: &str) -> PathBuf {
    let (path, count) = (desk.join("git"), desk.join("calls"));
    let count = count.display();
    let text = format!(
        "#!/bin/sh\nn=0; [ -f '{count}' ] && read -r n < '{count}'\nn=$((n + 1)); echo $n > '{count}'\n{script}\n\
         exec git \"$@\"\n"
    );
    // Written by another process: a file that this one has open for writing while a neighbour forks cannot be run.
    let mut writing = std::process::Command::new("sh");
    writing.args(["-c", "printf '%s' \"$SCRIPT\" > \"$0\" && chmod 755 \"$0\""]).arg(&path).env("SCRIPT", text);
    assert!(writing.status().expect("a shell").success());
    path
}

fn git_that_is_watched(desk: &Path) -> PathBuf {
    let logs = desk.join("git");
    let script =
        format!("exec strace -ff -y -qq -o '{}'.$n -e trace='{GIT_CALLS}' -e signal=none git \"$@\"", logs.display());
    stand_in(desk, &script)
}

/// The nth of them, after a moment.
fn when(kill: &Kill, nth: usize) -> String {
    match kill.pause() {
        (0, _) => format!("when={nth}"),
        (micros, _) => format!("delay_enter={micros}:when={nth}"),
    }
}

/// Where it is written down that git, or a process of git's, really died.
const DIED: &str = "died";

pub fn git_died(stage: &Stage) -> bool {
    fs::read_to_string(stage.desk.path().join(DIED)).is_ok_and(|log| log.contains("+++ killed by SIGKILL"))
}

fn git_that_dies(desk: &Path, kill: &Kill) -> PathBuf {
    let Aim::Git { call, nth, whom } = kill.aim else { unreachable!("it is asked for this aim") };
    let (micros, _) = kill.pause();
    let and_us = match whom {
        // Whatever git left running has this long.
        Whom::Both => format!("sleep 0.{micros:06}; kill -9 $PPID"),
        Whom::Git => ":".to_owned(),
    };
    let (died, when) = (desk.join(DIED), when(kill, nth));
    let script = format!(
        "if [ $n = {call} ]; then\n  strace -f -qq -o '{}' -e trace='{GIT_CALLS}' \
         -e inject='{GIT_CALLS}:signal=KILL:{when}' git \"$@\"\n  code=$?\n  {and_us}\n  exit $code\nfi",
        died.display()
    );
    stand_in(desk, &script)
}
