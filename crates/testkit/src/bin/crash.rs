//! `crash` kills Hedgerow at every point there is, restarts it, and checks that every promise was kept.
//!
//! It is also the process that dies: it starts itself with `child <order>`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use hedgerow_testkit::crash::act::PAIRS;
use hedgerow_testkit::crash::check::Outcome;
use hedgerow_testkit::crash::count::{Tracing, tracing};
use hedgerow_testkit::crash::run::Runner;
use hedgerow_testkit::crash::{Kill, Matrix, child, matrix};

const USAGE: &str = "\
Usage: crash [--only TEXT] [--rounds N] [--jobs N] [--seed N]
       crash points [TEXT]
       crash repeat KILL

  --only TEXT   acts and scenes whose `act/scene` contains this
  --rounds N    kills of each step (5); system calls of git get 3, or fewer when N is less; of our own, each gets one
  --every N     only every Nth system call (1)
  --jobs N      kills at the same time (4)
  --seed N      varies the timing (1)
  points        lists what there is to kill
  repeat KILL   one kill again, such as `remove-forced/rebase/step:3#12`
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("child") => obey(&arguments),
        Some("repeat") => repeat(&arguments),
        Some("points") => list_points(arguments.get(1).map_or("", String::as_str)),
        Some("--help" | "-h") => {
            say(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        _ => kill_all(&arguments),
    };
    done.unwrap_or_else(|error| {
        complain(&format!("error: {error:#}"));
        ExitCode::from(2)
    })
}

fn obey(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let order = arguments.get(1).context("no order given")?;
    say(&serde_json::to_string(&child::obey(order.as_ref())?)?);
    Ok(ExitCode::SUCCESS)
}

fn repeat(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let kill = arguments.get(1).context(USAGE)?;
    let kill: Kill = kill.parse().map_err(|error: String| anyhow::anyhow!(error))?;
    let outcome = runtime()?.block_on(matrix::repeat(&runner()?, kill));
    tell(&outcome);
    say(if outcome.hit { "it died" } else { "it was not hit" });
    Ok(if outcome.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn list_points(only: &str) -> anyhow::Result<ExitCode> {
    let (runtime, runner) = (runtime()?, runner()?);
    for (act, scene) in
        PAIRS.into_iter().filter(|(act, scene)| format!("{}/{}", act.name(), scene.name()).contains(only))
    {
        let points = runtime.block_on(matrix::points(&runner, act, scene));
        let (git, own) = (points.git.iter().map(BTreeSet::len).sum::<usize>(), points.files.len() + points.store.len());
        say(&format!("{}/{}: {git} system calls of git, {own} of our own", act.name(), scene.name()));
        for (nth, step) in points.steps.iter().enumerate() {
            say(&format!("    step {}: {step}", nth + 1));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn kill_all(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let mut matrix = Matrix::whole();
    for pair in arguments.chunks(2) {
        let [option, value] = pair else { bail!(USAGE) };
        match option.as_str() {
            "--only" => matrix.pairs.retain(|(act, scene)| format!("{}/{}", act.name(), scene.name()).contains(value)),
            "--rounds" => {
                matrix.step_rounds = value.parse()?;
                matrix.call_rounds = matrix.step_rounds.min(matrix.call_rounds);
            }
            "--every" => {
                matrix.every = value.parse::<usize>()?.max(1);
                matrix.own_every = 3 * matrix.every;
            }
            "--jobs" => matrix.jobs = value.parse()?,
            "--seed" => matrix.seed = value.parse()?,
            _ => bail!(USAGE),
        }
    }
    match tracing() {
        Tracing::Possible => {}
        Tracing::Missing => bail!("strace is not here; `./test` installs it, or `apt-get install strace`"),
        Tracing::Forbidden => complain("SKIPPED: this machine forbids tracing; no system call is aimed at"),
    }
    let judged = Cell::new(0_usize);
    let report = runtime()?.block_on(matrix.run(runner()?, |outcome| {
        tell(outcome);
        judged.set(judged.get() + 1);
        if judged.get().is_multiple_of(100) {
            complain(&format!("{} kills so far", judged.get()));
        }
    }));
    say(&report.table());
    Ok(if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is wrong, as it is found, with the command that shows it again.
fn tell(outcome: &Outcome) {
    if outcome.violations.is_empty() {
        return;
    }
    complain(&format!("VIOLATION {}", outcome.kill));
    for violation in &outcome.violations {
        complain(&format!("    {violation}"));
    }
    complain(&format!("    repeat: cargo run -q -p hedgerow-testkit --bin crash -- repeat '{}'", outcome.kill));
}

fn runner() -> anyhow::Result<Runner> {
    let program: PathBuf = std::env::current_exe()?;
    Ok(Runner { program })
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    // The scenes are prepared by plain calls of git, which block their thread.
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(8).enable_all().build()?)
}

#[expect(clippy::print_stdout, reason = "this program's answer")]
fn say(text: &str) {
    println!("{}", text.trim_end());
}

#[expect(clippy::print_stderr, reason = "this program's words to a person")]
fn complain(text: &str) {
    eprintln!("{text}");
}
