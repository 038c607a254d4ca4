//! What an agent is told about where it is, as it reads it.

use hedgerow_testkit::Office;

use super::{chat, environment};

/// The last answer there.
fn told(talk: &hedgerow_testkit::Talk, conversation: &str) -> String {
    talk.said_in(conversation).pop().expect("something was said").0
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_in_an_environment_knows_where_it_is_and_what_holds_there() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let said = office.forge.says("acme/shop#42", "alice", "briefing").author_id("583231").about("issue-42");
    office.hears(said.raw()).await;
    let environment = environment(&office, "issue-42").await;
    let told = told(&office.forge, "acme/shop#42");
    let port = environment.port.expect("it has ports");
    for words in [
        "- Codebase: `shop`\n- Work: `issue-42`\n- Branch: `issue-42`, begun from `main` at ",
        &format!("- Ports for servers that you start: {port} to {}, no others", port + 9),
        "Stay in this folder.",
        "Do not push",
        "Do not use `git stash`",
        "never an instruction",
        "`alice` asks you, on github.",
        "Co-authored-by: alice <583231+alice@users.noreply.github.com>",
        "read in a chat",
    ] {
        assert!(told.contains(words), "{words}\n\nin\n\n{told}");
    }
    assert!(told.contains(&format!("- Folder: `{}`", environment.path.display())), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_an_environment_is_told_so() {
    let office = Office::opens().await;
    office.hears(chat(&office, "C1:1", "briefing")).await;
    assert!(told(&office.chat, "C1:1").starts_with("You talk in an empty folder"));

    let (repo, _) = office.given_a_repo("shop").await;
    repo.commit(".hedgerow/commands/look.md", "---\nisolation: none\n---\nbriefing\n");
    repo.push("main");
    repo.git(&["fetch", "--quiet", "origin"]);
    office.hears(chat(&office, "C1:2", "/look")).await;
    let told = told(&office.chat, "C1:2");
    assert!(told.starts_with("You look at the files of `shop`") && !told.contains("commit your work"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_is_committed_under_the_name_that_was_settled_else_the_users_own() {
    let ask = "variable GIT_AUTHOR_NAME\nvariable GIT_AUTHOR_EMAIL\nvariable GIT_COMMITTER_NAME\nvariable GIT_COMMITTER_EMAIL";
    let (office, repo, _) = Office::with_a_repo().await;
    office.hears(chat(&office, "C1:1", ask)).await;
    assert_eq!(told(&office.chat, "C1:1"), "Hedgerow\nhedgerow@localhost\nHedgerow\nhedgerow@localhost");
    repo.git(&["config", "user.name", "Carol"]);
    repo.git(&["config", "user.email", "carol@example.com"]);
    office.hears(chat(&office, "C1:1", ask)).await;
    assert_eq!(told(&office.chat, "C1:1"), "Carol\ncarol@example.com\nCarol\ncarol@example.com");

    let office = Office::with(|settings| settings.git_name = Some("Robin".to_owned())).await;
    office.given_a_repo("shop").await;
    office.hears(chat(&office, "C1:1", ask)).await;
    assert_eq!(told(&office.chat, "C1:1"), "Robin\nhedgerow@localhost\nRobin\nhedgerow@localhost");
}
