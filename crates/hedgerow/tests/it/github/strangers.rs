//! Somebody who may not ask: whatever they do, nothing happens but one polite sentence in each conversation.

use std::collections::BTreeMap;
use std::time::Duration;

use hedgerow_testkit::Tree;
use hedgerow_testkit::database::Fields;
use hedgerow_testkit::outside::github::{GitHubIssue, GitHubPull, GitHubRepository, Role};

use super::commands::every_ask;
use super::town::{BOT, Town};

/// Where nothing may change. What was heard, what was said to it and the conversations it was in are looked at apart; the
/// clock of the machines and of its rounds goes on by itself.
const TABLES: [&str; 14] = [
    "codebases",
    "environments",
    "environment_works",
    "environment_keywords",
    "events",
    "saved_states",
    "checkpoints",
    "sessions",
    "runs",
    "run_events",
    "templates",
    "memories",
    "spending",
    "people",
];

/// All that could be harmed.
struct Belongings {
    tables: BTreeMap<&'static str, Vec<Fields>>,
    conversations: Vec<Fields>,
    /// The clones, their refs and the environments.
    disk: Tree,
    runs: Vec<String>,
}

impl Belongings {
    async fn of(town: &Town) -> Self {
        let mut tables = BTreeMap::new();
        for table in TABLES {
            let mut rows = town.desk.rows(table).await;
            // That something was said is told; what was said is looked at apart.
            rows.retain(|row| row.get("what").is_none_or(|what| what != "reply"));
            tables.insert(table, rows);
        }
        let disk = Tree::of(&town.desk.home()).without_times();
        let files = ["hedgerow.db", "hedgerow.db-wal", "hedgerow.db-shm"];
        let disk = files.into_iter().fold(disk, Tree::without);
        Self { tables, conversations: town.desk.rows("conversations").await, disk, runs: town.runs() }
    }

    /// Nothing of it is another now. New conversations are known by name and have nothing.
    async fn are_untouched(&self, town: &Town) {
        let now = Self::of(town).await;
        for (table, rows) in &self.tables {
            let new: Vec<&Fields> = now.tables[table].iter().filter(|row| !rows.contains(row)).collect();
            assert_eq!((new, rows.len()), (Vec::new(), now.tables[table].len()), "{table}");
        }
        assert_eq!(self.disk.differences(&now.disk), Vec::<String>::new());
        assert_eq!(self.runs, now.runs);
        for known in &self.conversations {
            assert!(now.conversations.contains(known), "{known:?} is another in {:?}", now.conversations);
        }
        for new in now.conversations.iter().filter(|row| !self.conversations.contains(row)) {
            let has =
                ["codebase_id", "environment_id", "parent_id"].into_iter().find(|column| new.contains_key(*column));
            assert_eq!(has, None, "{new:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_lost_the_right_while_they_waited_is_refused() {
    let (town, shop) = Town::opens().await;
    let shop = shop.with("bob", Role::Write);
    let issue = shop.issue(42).opened_by("alice").await;
    let gate = town.desk.folder().join("gate");
    issue.says("alice", &format!("@hedgerow write a.txt a\ncommit Add a\nwait-for {}", gate.display())).await;
    town.until("the run is on", |town| town.runs().len() == 1).await;
    let fix = shop.issue(43).opened_by("alice").await;
    fix.says("bob", "@hedgerow /worktree link issue-42").await;
    fix.says("bob", "@hedgerow say Done.").await;
    town.until("they wait", |_| fix.transcript().contains("acme/shop#42")).await;
    shop.gives("bob", Role::Read);
    // What was prepared a moment ago is not asked again.
    tokio::time::sleep(Duration::from_secs(3)).await;
    std::fs::write(&gate, "").expect("a gate");
    town.is_quiet().await;
    let told = fix.transcript();
    assert!(told.contains("write access") && !told.contains("hedgerow: Done."), "{told}");
    assert_eq!(town.runs().len(), 1);
    // The environment is free for who may.
    fix.says("alice", "@hedgerow say Mine.").await;
    town.is_quiet().await;
    assert!(fix.transcript().contains("hedgerow: Mine."), "{}", fix.transcript());
}

/// How often the bot spoke there, also on lines.
fn spoken(place: &GitHubIssue) -> usize {
    place.comments().iter().filter(|said| said.author == BOT).count()
}

fn spoken_at(pull: &GitHubPull) -> usize {
    spoken(pull) + pull.review_comments().iter().filter(|said| said.author == BOT).count()
}

/// Says it in every place where something can be said to us. The conversations that are new with it.
async fn asks_everywhere(
    who: &str,
    shop: &GitHubRepository,
    (issue, pull): (&GitHubIssue, &GitHubPull),
    ask: &str,
    number: u64,
) -> Vec<GitHubIssue> {
    let text = &format!("@hedgerow {ask}");
    issue.says(who, text).await;
    let harmless = issue.says(who, "I like it.").await;
    issue.edits(who, harmless, text).await;
    pull.says(who, text).await;
    let remark = pull.review_comment(who, &format!("change-{}.txt", pull.number()), 1, text).await;
    let remark = pull.answers(who, remark, "I like it.").await;
    pull.edits_review_comment(who, remark, text).await;
    pull.review(who, text).await;
    pull.requests_changes(who, text).await;
    let opened = shop.issue(number).saying(text).opened_by(who).await;
    let edited = shop.issue(number + 1).opened_by(who).await;
    edited.edits_body(who, text).await;
    let branch = format!("branch-{number}");
    let proposed = shop.pull_request(number + 2).from_fork(who).from_branch(&branch).saying(text).by(who).await;
    vec![opened, edited, (*proposed).clone()]
}

/// What happens besides words.
async fn does_all_else(who: &str, town: &Town, shop: &GitHubRepository, (issue, pull): (&GitHubIssue, &GitHubPull)) {
    pull.requests_review_of(who, BOT).await;
    for _ in 0..2 {
        issue.closes(who).await;
        issue.reopens(who).await;
        pull.closes(who).await;
        pull.reopens(who).await;
    }
    let elsewhere = town.github.repository("acme/elsewhere");
    let moved = shop.issue(90).saying("@hedgerow say hello").opened_by(who).await;
    moved.transferred_to(who, &elsewhere).await;
    shop.issue(91).opened_by(who).await.deleted_by(who).await;
    town.github.repository(&format!("{who}/shop")).deletes_branch(who, "branch-100").await;
    // GitHub would not let them; we do not rely on it.
    shop.deletes_branch(who, "issue-1").await;
}

/// After its last word a run still has its checkpoint made, and only then lets go of the environment.
async fn is_let_go(town: &Town) {
    let let_go = async {
        while town.desk.rows("environments").await.iter().any(|row| row.contains_key("lease_owner")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), let_go).await.expect("it is let go in time");
}

/// `mallory` opened an issue that alice had something done about, and a pull request.
async fn scene() -> (Town, GitHubRepository, GitHubIssue, GitHubPull) {
    let (town, shop) = Town::opens().await;
    let issue = shop.issue(1).opened_by("mallory").await;
    issue.says("alice", "@hedgerow write a.txt one\ncommit One\nwrite b.txt two\nsay Done.").await;
    let pull = shop.pull_request(2).from_fork("mallory").by("mallory").await;
    town.is_quiet().await;
    is_let_go(&town).await;
    assert_eq!(town.works(), [(vec!["issue-1".to_owned()], "issue-1".to_owned())]);
    (town, shop, issue, pull)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_stranger_asks_wherever_only_one_polite_sentence_comes() {
    let (town, shop, issue, pull) = scene().await;
    shop.gives("mallory", Role::Read);
    let (before, said) = (Belongings::of(&town).await, spoken(&issue));
    let main = shop.rev("main");
    // Both hooks tell of everything.
    town.github.delivers_twice();
    let mut places = Vec::new();
    for (number, ask) in (100..).step_by(10).zip(every_ask()) {
        places.extend(asks_everywhere("mallory", &shop, (&issue, &pull), &ask, number).await);
    }
    does_all_else("mallory", &town, &shop, (&issue, &pull)).await;
    town.is_quiet().await;

    before.are_untouched(&town).await;
    assert_eq!((shop.rev("main"), shop.branches()), (main, vec!["main".to_owned()]));
    assert_eq!((spoken(&issue) - said, spoken_at(&pull)), (1, 1));
    for place in &places {
        assert_eq!(spoken(place), 1, "{}", place.transcript());
        assert!(place.transcript().contains("Thank you for asking, but I work only for people with write access"));
    }
    let theirs = issue.comments().into_iter().filter(|said| said.author == "mallory");
    for comment in theirs {
        assert_eq!(issue.reactions_of(comment.id), Vec::<String>::new(), "nothing of it was taken up");
    }
    let said =
        town.desk.rows("outbox").await.into_iter().filter(|row| row["words"].starts_with("Thank you for asking"));
    // One of the transferred issue, which was heard where it was.
    assert_eq!(said.count(), places.len() + 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_nobody_listed_is_not_even_answered() {
    let (town, shop, issue, pull) = scene().await;
    town.github.bot("robot");
    town.github.bot("renovate[bot]");
    shop.gives("robot", Role::Write);
    shop.gives("renovate[bot]", Role::Admin);
    let before = Belongings::of(&town).await;
    let said = town.desk.rows("outbox").await;
    for (number, ask) in (100..).step_by(10).zip(every_ask()) {
        let text = format!("@hedgerow {ask}");
        issue.says("robot", &text).await;
        pull.says("renovate[bot]", &text).await;
        pull.review_comment("robot", "change-2.txt", 1, &text).await;
        pull.review("robot", &text).await;
        shop.issue(number).saying(&text).opened_by("renovate[bot]").await;
    }
    pull.requests_review_of("robot", BOT).await;
    // Ourselves, as somebody who has our token could.
    issue.says(BOT, "@hedgerow say hello").await;
    town.is_quiet().await;
    before.are_untouched(&town).await;
    assert_eq!(town.desk.rows("outbox").await, said);
}
