//! A year of rounds, day by day, and clocks that jump.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{Codebase, Environment, Timestamp, Work};
use hedgerow_engine::Clock as _;
use hedgerow_engine::engine::{Round, SweptOutcome};
use hedgerow_testkit::git::{command, git};
use hedgerow_testkit::repo::write;
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{TestRepo, World};

use super::DAY;
use crate::acts::Acts as _;
use crate::cleaning::changed_at;

/// Issues 1 to 7 of one codebase, each with its own habits, and a calendar.
struct Year {
    world: World,
    repo: TestRepo,
    codebase: Codebase,
    all: Vec<Environment>,
    start: Timestamp,
}

impl Year {
    async fn begin() -> Self {
        let world = World::new().await;
        let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
        let start = world.clock.now();
        let mut all = Vec::new();
        for issue in 1..=7 {
            all.push(world.environment(&codebase, Work::Issue(issue)).await);
        }
        let mine = world.folder().join("mine");
        repo.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().expect("a plain path")]);
        world.engine.adopt(&codebase, &mine, &alice()).await.expect("adopted");
        world.engine.pin(&all[PINNED], true, &alice()).await.expect("pinned");
        world.talks(PlatformKind::Telegram, "7", &all[TELEGRAM]).await;
        write(&all[DIRTY].path, "notes", "mine\n");
        changed_at(&all[DIRTY].path.join("notes"), start);
        Self { world, repo, codebase, all, start }
    }

    /// Rounds come an hour after what people do on a day.
    fn at(&self, day: i64, hour: i64) -> Timestamp {
        self.start.plus_seconds(day * DAY + hour * 3600)
    }

    async fn is_used(&self, which: usize) {
        self.world.engine.touch(&self.all[which]).await.expect("used");
    }

    /// What is there is committed, now by the clock of this world.
    fn commits(&self, which: usize) {
        let path = &self.all[which].path;
        git(path, &["add", "--all"]);
        let now = self.world.clock.now().to_string();
        let mut commit = command(path);
        let status = commit.env("GIT_COMMITTER_DATE", now).args(["commit", "--quiet", "-m", "work"]).status();
        assert!(status.expect("git can be started").success());
    }

    /// One round, and not a second one at the same moment. Names of what it removed.
    async fn one_round(&self) -> BTreeSet<String> {
        let round = self.world.engine.run_if_due().await.expect("an answer").expect("a round is due");
        let again = self.world.engine.run_if_due().await.expect("an answer");
        assert!(again.is_none(), "a round was done twice");
        removed(&round)
    }

    async fn live(&self) -> BTreeSet<String> {
        let live = self.world.engine.store().live(self.codebase.id).await.expect("the store answers");
        live.iter().map(|environment| environment.name().to_owned()).collect()
    }
}

const WEEKLY: usize = 0;
const ABANDONED: usize = 1;
const MERGED: usize = 2;
const PINNED: usize = 3;
const TELEGRAM: usize = 4;
const DIRTY: usize = 5;
const RETURNING: usize = 6;

fn removed(round: &Round) -> BTreeSet<String> {
    let gone = |outcome| matches!(outcome, SweptOutcome::Removed | SweptOutcome::Forgotten | SweptOutcome::Failed);
    let lines = round.codebases.iter().flat_map(|tidied| &tidied.report);
    lines.filter(|line| gone(line.outcome)).map(|line| line.name.clone()).collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_year_of_rounds_removes_exactly_what_the_rules_say_on_the_day_they_say_it() {
    let year = Year::begin().await;
    // Days on which something goes; on all others nothing may.
    let calendar: BTreeMap<i64, &[&str]> = BTreeMap::from([
        (14, &["issue-2", "issue-7"][..]),
        (30, &["issue-3"]),
        (54, &["issue-7"]),
        (210, &["issue-1"]),
        (264, &["issue-6"]),
        (300, &["issue-4"]),
    ]);
    let mut expected = year.live().await;
    assert_eq!(expected.len(), 8);
    for day in 1..=365 {
        year.world.clock.set(year.at(day, 0));
        if day % 7 == 0 && day <= 200 {
            year.is_used(WEEKLY).await;
        }
        match day {
            10 | 20 => {
                write(&year.all[MERGED].path, &format!("day-{day}"), "work\n");
                year.commits(MERGED);
            }
            30 => drop(year.repo.git(&["merge", "--quiet", "--no-ff", "-m", "Merge it", "issue-3"])),
            // Whoever asks for the work again gets it back as it was.
            15 | 40 => {
                let back = year.world.environment(&year.codebase, Work::Issue(7)).await;
                if day == 15 {
                    assert_eq!(back.id, year.all[RETURNING].id);
                } else {
                    assert!(expected.contains("issue-7"), "it is used again, and does not get stale on day 29");
                }
                year.world.engine.touch(&back).await.expect("used");
                expected.insert("issue-7".to_owned());
            }
            28 => year.world.engine.touch(&year.all[RETURNING]).await.expect("used"),
            250 => year.commits(DIRTY),
            300 => drop(
                year.world
                    .engine
                    .pin(&year.world.row(&year.all[PINNED]).await, false, &alice())
                    .await
                    .expect("unpinned"),
            ),
            _ => {}
        }
        year.world.clock.set(year.at(day, 1));
        let today = names(calendar.get(&day).copied().unwrap_or_default());
        assert_eq!(year.one_round().await, today, "day {day}");
        expected.retain(|name| !today.contains(name));
        assert_eq!(year.live().await, expected, "day {day}");
    }
    assert_eq!(expected, names(&["issue-5", "task-mine"]));
    assert!(year.world.engine.require_path(&year.all[TELEGRAM]).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_a_year_does_one_round_and_removes_what_the_rules_say() {
    let year = Year::begin().await;
    let all = year.live().await;
    let none = names(&[]);
    year.world.clock.set(year.at(1, 0));
    assert_eq!(year.one_round().await, none);
    // A year back: what was used in the future was used just now.
    year.world.clock.set(year.at(-365, 0));
    assert_eq!(year.one_round().await, none);
    year.world.clock.set(year.at(-364, 0));
    assert_eq!(year.one_round().await, none, "the rounds go on from there");
    // And forth again: nothing is older than it was.
    year.world.clock.set(year.at(2, 0));
    assert_eq!(year.one_round().await, none);
    assert_eq!(year.live().await, all);
    year.is_used(WEEKLY).await;
    // A year ahead: all that nobody protects is stale. Nothing protected goes, however old.
    year.world.clock.set(year.at(367, 0));
    let stale = names(&["issue-1", "issue-2", "issue-3", "issue-7"]);
    assert_eq!(year.one_round().await, stale);
    let left = year.live().await;
    assert_eq!(left, all.difference(&stale).cloned().collect());
    // Back to the real time: what the jump took is in the trash and can be had again.
    year.world.clock.set(year.at(3, 0));
    assert_eq!(year.one_round().await, none);
    assert_eq!(year.live().await, left);
    for name in ["issue-1", "issue-7"] {
        year.world.engine.restore(&year.codebase, name, &alice()).await.expect("it comes back");
    }
    assert_eq!(year.all[ABANDONED].id, year.world.environment(&year.codebase, Work::Issue(2)).await.id);
}
