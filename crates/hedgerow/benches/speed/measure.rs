//! Timing by turns: every round, each side runs once, in an order the dice decide.

use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One side of a comparison and how long it took, round by round.
pub(crate) struct Side<'a> {
    pub(crate) times: Times,
    run: Box<dyn FnMut(usize) -> Duration + 'a>,
}

impl<'a> Side<'a> {
    /// `run` gets the number of the round and answers with the time that counts; what it prepares is its own affair.
    pub(crate) fn new(run: impl FnMut(usize) -> Duration + 'a) -> Self {
        Self { times: Times::default(), run: Box::new(run) }
    }
}

/// Lets every side run once.
pub(crate) fn round(dice: &mut Dice, number: usize, sides: &mut [Side<'_>]) {
    for index in dice.order(sides.len()) {
        let side = &mut sides[index];
        let took = (side.run)(number);
        side.times.push(took);
    }
}

/// What was measured, one time per round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(crate) fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        sorted[sorted.len() / 2]
    }

    pub(crate) fn min(&self) -> Duration {
        *self.0.iter().min().expect("something was measured")
    }
}

/// Runs a program to its end.
pub(crate) fn time(mut command: Command) -> Duration {
    let start = Instant::now();
    let output = command.output().expect("the program can be started");
    let took = start.elapsed();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    took
}

/// Where chance comes from; good enough to take turns.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
        Self(now.as_secs() | 1)
    }

    fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            // Marsaglia's xorshift.
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            let other = usize::try_from(self.0 % (last as u64 + 1)).expect("it is at most `last`");
            order.swap(last, other);
        }
        order
    }
}
