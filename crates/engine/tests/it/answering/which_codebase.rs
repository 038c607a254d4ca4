//! Which codebase a message is about.

use hedgerow_testkit::Office;

use super::{chat, reads};

async fn with_two() -> Office {
    let office = Office::opens().await;
    office.given_a_repo("shop").await;
    office.given_a_repo("blog").await;
    office
}

#[tokio::test(flavor = "multi_thread")]
async fn with_several_codebases_the_author_is_asked_and_repo_answers() {
    let office = with_two().await;
    for text in ["say hello", "/repo blog", "say hello", "/status"] {
        office.hears(chat(&office, "C1:1", text)).await;
    }
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: say hello
        bot: Which codebase is this about? Choose one:
          • `/repo blog`
          • `/repo shop`
          or add another: `/clone <url>`
        alice: /repo blog
        bot: This conversation is about `blog` now. Say what is to be done, or `/worktree list`.
        alice: say hello
        bot… Working in isolated branch `thread-1b863934`
        bot: hello
        alice: /status
        bot: Platform: slack
          Codebase: `blog`
          Environment: `thread-1b863934` on branch `thread-1b863934`: clean
          Session: with `fake`, begun just now
          Run: none
          Queue: empty
          Environments of `blog`: 1 active
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_codebase_of_the_event_is_the_conversations_own_from_then_on() {
    let office = with_two().await;
    office.hears(office.forge.says("acme/shop#1", "alice", "say hello").about("issue-1").codebase("shop").raw()).await;
    office.hears(office.forge.says("acme/shop#1", "alice", "say again").about("issue-1").raw()).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#1",
        "
        alice: say hello
        bot… Working in isolated branch `issue-1`
        bot: hello
        alice: say again
        bot: again
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_about_the_codebase_of_its_channel() {
    let office = with_two().await;
    office.hears(chat(&office, "C1", "/repo shop")).await;
    office.hears(office.chat.says("C1:7", "alice", "say hello").parent("C1").raw()).await;
    office.hears(office.chat.says("C2:7", "alice", "say hello").parent("C2").raw()).await;
    reads(
        &office,
        &office.chat,
        "C1:7",
        "
        alice: say hello
        bot… Working in isolated branch `thread-d1ab32fa`
        bot: hello
    ",
    );
    reads(
        &office,
        &office.chat,
        "C2:7",
        "
        alice: say hello
        bot: Which codebase is this about? Choose one:
          • `/repo blog`
          • `/repo shop`
          or add another: `/clone <url>`
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_codebase_than_the_conversations_own_is_refused_and_repo_changes_it() {
    let office = with_two().await;
    let say = |codebase: &str, text: &str| office.chat.says("C1:1", "alice", text).codebase(codebase).raw();
    office.hears(say("shop", "say hello")).await;
    office.hears(say("blog", "say hello")).await;
    office.hears(say("blog", "/repo blog")).await;
    office.hears(say("blog", "say hello")).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: say hello
        bot… Working in isolated branch `thread-1b863934`
        bot: hello
        alice: say hello
        bot: This conversation works on `shop`
          • `/repo blog` makes it work on the other
        alice: /repo blog
        bot: This conversation is about `blog` now. Say what is to be done, or `/worktree list`.
        alice: say hello
        bot… Working in isolated branch `thread-1b863934`
        bot: echo: What the last session of this conversation concluded, as data:
          echo: ```
          echo: hello
          echo: ```
          echo:
          hello
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_codebase_that_is_not_here_is_told_and_commands_still_work() {
    let office = with_two().await;
    let say = |text: &str| office.forge.says("acme/wiki#1", "alice", text).about("issue-1").codebase("wiki").raw();
    for text in ["say hello", "/repos"] {
        office.hears(say(text)).await;
    }
    reads(
        &office,
        &office.forge,
        "acme/wiki#1",
        "
        alice: say hello
        bot: There is no codebase `wiki`
          • there are: blog, shop
        alice: /repos
        bot: Codebases:
          • `blog`: 0 environments
          • `shop`: 0 environments
          `/repo <name>` chooses one, `/clone <url>` adds one.
    ",
    );
}
