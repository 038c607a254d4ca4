//! How many processes an answer takes: a list of a hundred environments asks a hundred times.

use std::process::Command;

use hedgerow_engine::git::Git;
use hedgerow_engine::merged::{Question, verdict};

use crate::story::{Story, lines};

/// The word of the verdict and how often git was started for it.
async fn asked(story: &Story) -> (&'static str, usize) {
    let (program, log) = (story.beside("counting-git"), story.beside("calls"));
    let script = format!("#!/bin/sh\necho call >> '{}'\nexec git \"$@\"\n", log.display());
    // Written by another process: a file that this one has open for writing cannot be started by a thread beside.
    let mut write = Command::new("sh");
    write.args(["-c", "printf %s \"$1\" > \"$0\" && chmod +x \"$0\""]).arg(&program).arg(script);
    assert!(write.status().expect("sh starts").success());
    let repo = Git::new(program, Vec::new()).open_untrusted(&story.path()).await.expect("opens");
    std::fs::write(&log, "").expect("writes");
    let (tip, main) = (story.sha("work"), story.sha("main"));
    // The local base and its remote counterpart are mostly the same commit.
    let targets = [main.clone(), main];
    let question = Question { tip: &tip, targets: &targets, recorded_base: Some(&story.began), pr: None };
    let word = verdict(&repo, &question).await.word();
    (word, std::fs::read_to_string(&log).expect("reads").lines().count())
}

#[tokio::test]
async fn an_answer_takes_few_processes() {
    let story = Story::new();
    story.set("main", "third", "theirs\n");
    assert_eq!(asked(&story).await, ("new", 0));

    story.set("work", "file", lines(&[(3, "mine")]));
    assert_eq!(asked(&story).await, ("unmerged", 6));

    story.squash();
    assert_eq!(asked(&story).await, ("merge-adds-nothing", 4));

    story.set("main", "file", lines(&[(3, "better")]));
    assert_eq!(asked(&story).await, ("squash-patch", 9));

    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.squash();
    assert_eq!(asked(&story).await, ("equal-tree", 3));

    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.merge();
    story.set("main", "third", "later\n");
    assert_eq!(asked(&story).await, ("ancestor", 4));
}
