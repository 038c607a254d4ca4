//! Every point of every act in every scene, several times: the whole matrix, or a cut of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::act::{Act, PAIRS, Scene};
use super::aim::{Aim, Calls, Kill, Whom, scramble};
use super::check::{Outcome, attempt};
use super::count::{Points, Tracing, tracing};
use super::run::{Ended, Runner};
use super::stage::Stage;

/// How much is killed.
#[derive(Debug, Clone)]
pub struct Matrix {
    pub pairs: Vec<(Act, Scene)>,
    /// Steps before this one are left out.
    pub first_step: usize,
    /// Rounds of every step.
    pub step_rounds: u64,
    /// Rounds of every system call, and every how-manieth of them.
    pub call_rounds: u64,
    pub every: usize,
    /// Every how-manieth of our own in each round, of which there are many: most are the store's. Each round begins one
    /// further, so that as many rounds meet all of them.
    pub own_every: usize,
    /// Kills at any moment, for each act and scene.
    pub moments: u64,
    /// Kills of the settling itself: after every how-manieth step of the act. 0 is none.
    pub settling_every: usize,
    pub jobs: usize,
    pub seed: u64,
}

impl Matrix {
    /// All there is.
    pub fn whole() -> Self {
        Self {
            pairs: PAIRS.into(),
            first_step: 1,
            step_rounds: 5,
            call_rounds: 3,
            every: 1,
            own_every: 3,
            moments: 20,
            settling_every: 1,
            jobs: 4,
            seed: 1,
        }
    }

    /// Does it all. `tell` hears of every outcome as it comes.
    pub async fn run(self, runner: Runner, tell: impl Fn(&Outcome)) -> Report {
        let mut report = Report { untraced: tracing() != Tracing::Possible, ..Report::default() };
        let room = Arc::new(Semaphore::new(self.jobs));
        let mut listing = JoinSet::new();
        for (act, scene) in self.pairs.clone() {
            let (runner, room, matrix) = (runner.clone(), room.clone(), self.clone());
            listing.spawn(async move {
                let _seat = room.acquire_owned().await.expect("it is never closed");
                let points = Box::pin(points(&runner, act, scene)).await;
                let kills = Box::pin(matrix.kills(&runner, act, scene, &points)).await;
                (Arc::new(points), kills)
            });
        }
        let mut killing = JoinSet::new();
        while let Some(listed) = listing.join_next().await {
            let (points, kills) = listed.expect("what an act does can be listed");
            if let Some(first) = kills.first() {
                report.lines.entry((first.act, first.scene)).or_default().points = distinct(&kills);
            }
            for kill in kills {
                let (runner, room, points) = (runner.clone(), room.clone(), points.clone());
                killing.spawn(async move {
                    let _seat = room.acquire_owned().await.expect("it is never closed");
                    Box::pin(attempt(&runner, kill, &points)).await
                });
            }
        }
        while let Some(outcome) = killing.join_next().await {
            let outcome = outcome.expect("a kill that can be judged");
            tell(&outcome);
            report.add(outcome);
        }
        report
    }

    /// Every kill of one act in one scene.
    async fn kills(&self, runner: &Runner, act: Act, scene: Scene, points: &Points) -> Vec<Kill> {
        let mut kills = Vec::new();
        let steps = self.first_step..=points.steps.len();
        kills.extend(self.rounds(act, scene, self.step_rounds, steps.map(Aim::Step)));
        let calls = points.git.iter().enumerate().flat_map(|(call, nths)| nths.iter().map(move |nth| (call + 1, *nth)));
        let git = calls.enumerate().map(|(at, (call, nth))| {
            // One of two lives on, and the next round it is the other way about.
            let whom = if at % 2 == 0 { Whom::Git } else { Whom::Both };
            Aim::Git { call, nth, whom }
        });
        kills.extend(turned(self.rounds(act, scene, self.call_rounds, git.step_by(self.every))));
        for (calls, nths) in [(Calls::Files, &points.files), (Calls::Store, &points.store)] {
            for round in 0..self.call_rounds {
                let first = usize::try_from(round).unwrap_or(0) % self.own_every;
                let own = nths.iter().skip(first).step_by(self.own_every).map(|nth| Aim::Own { calls, nth: *nth });
                kills.extend(self.round(act, scene, round, own));
            }
        }
        let moments = (0..self.moments).map(|nth| Aim::Moment(scramble(self.seed ^ (nth << 32)) % 1000));
        kills.extend(self.rounds(act, scene, 1, moments));
        if self.settling_every > 0 {
            for step in (1..=points.steps.len()).step_by(self.settling_every) {
                let settling = Box::pin(settling_steps(runner, act, scene, points, step)).await;
                kills.extend(self.rounds(act, scene, 1, (1..=settling).map(|nth| Aim::Settling(step, nth))));
            }
        }
        kills
    }

    fn rounds(&self, act: Act, scene: Scene, rounds: u64, aims: impl Iterator<Item = Aim>) -> Vec<Kill> {
        let aims: Vec<Aim> = aims.collect();
        (0..rounds).flat_map(|round| self.round(act, scene, round, aims.iter().copied())).collect()
    }

    fn round(&self, act: Act, scene: Scene, round: u64, aims: impl Iterator<Item = Aim>) -> Vec<Kill> {
        // The first round dies at once; the others wait, or go on, for a moment.
        let seed = if round == 0 { 0 } else { self.seed * 1000 + round };
        aims.map(|aim| Kill { act, scene, aim, seed }).collect()
    }
}

/// In every second round the other one dies.
fn turned(mut kills: Vec<Kill>) -> Vec<Kill> {
    for kill in kills.iter_mut().filter(|kill| kill.seed % 2 == 1) {
        if let Aim::Git { whom, .. } = &mut kill.aim {
            *whom = if *whom == Whom::Git { Whom::Both } else { Whom::Git };
        }
    }
    kills
}

/// Does the act once and counts.
pub async fn points(runner: &Runner, act: Act, scene: Scene) -> Points {
    let stage = Box::pin(Stage::prepare(act, scene)).await;
    runner.points(&stage, act, tracing() == Tracing::Possible).await
}

/// How many steps the start has that settles an act which died at this step.
async fn settling_steps(runner: &Runner, act: Act, scene: Scene, points: &Points, step: usize) -> usize {
    let stage = Box::pin(Stage::prepare(act, scene)).await;
    let kill = Kill { act, scene, aim: Aim::Step(step), seed: 0 };
    runner.kill(&stage, &kill, points).await;
    match runner.settle(&stage, None).await {
        Ended::Lived(told) => told.steps.len(),
        Ended::Killed => 0,
    }
}

/// Repeats one kill.
pub async fn repeat(runner: &Runner, kill: Kill) -> Outcome {
    let points = Box::pin(points(runner, kill.act, kill.scene)).await;
    Box::pin(attempt(runner, kill, &points)).await
}

fn distinct(kills: &[Kill]) -> usize {
    let aims: std::collections::BTreeSet<Aim> = kills.iter().map(|kill| without_whom(kill.aim)).collect();
    aims.len()
}

fn without_whom(aim: Aim) -> Aim {
    match aim {
        Aim::Git { call, nth, .. } => Aim::Git { call, nth, whom: Whom::Git },
        other => other,
    }
}

/// What came of a matrix.
#[derive(Debug, Default)]
pub struct Report {
    pub lines: BTreeMap<(Act, Scene), Line>,
    pub violations: Vec<Outcome>,
    /// This machine does not let us trace processes, so no system call was aimed at.
    pub untraced: bool,
}

/// One act in one scene.
#[derive(Debug, Default, Clone, Copy)]
pub struct Line {
    pub points: usize,
    pub kills: usize,
    /// The act was over before the kill came.
    pub missed: usize,
    pub violations: usize,
    pub slowest: Duration,
    /// All attempts one after the other.
    pub spent: Duration,
}

impl Report {
    fn add(&mut self, outcome: Outcome) {
        let line = self.lines.entry((outcome.kill.act, outcome.kill.scene)).or_default();
        line.kills += usize::from(outcome.hit);
        line.missed += usize::from(!outcome.hit);
        line.slowest = line.slowest.max(outcome.recovery);
        line.spent += outcome.spent;
        if !outcome.violations.is_empty() {
            line.violations += 1;
            self.violations.push(outcome);
        }
    }

    pub fn totals(&self) -> Line {
        self.lines.values().fold(Line::default(), |sum, line| Line {
            points: sum.points + line.points,
            kills: sum.kills + line.kills,
            missed: sum.missed + line.missed,
            violations: sum.violations + line.violations,
            slowest: sum.slowest.max(line.slowest),
            spent: sum.spent + line.spent,
        })
    }

    /// The table, and the totals as its last line.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{:<14} {:<13} {:>6} {:>6} {:>6} {:>10} {:>16} {:>7}\n",
            "act", "scene", "points", "kills", "missed", "violations", "slowest recovery", "spent"
        );
        for ((act, scene), line) in &self.lines {
            let Line { points, kills, missed, violations, slowest, spent } = line;
            let (act, scene, slowest, spent) = (act.name(), scene.name(), slowest.as_millis(), spent.as_secs());
            let _ = writeln!(
                text,
                "{act:<14} {scene:<13} {points:>6} {kills:>6} {missed:>6} {violations:>10} {slowest:>13} ms {spent:>5} s"
            );
        }
        let Line { points, kills, violations, slowest, .. } = self.totals();
        let slowest = slowest.as_millis();
        let _ = write!(text, "points {points}, kills {kills}, violations {violations}, slowest recovery {slowest} ms");
        text
    }
}
