//! A repository whose configuration runs things is asked without running any of them.

use crate::story::{Story, lines};

#[tokio::test]
async fn no_program_of_the_repository_runs_while_asking() {
    let story = Story::new();
    let canary = story.beside("canary");
    let evil = format!("touch '{}'; false", canary.display());
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "dir/other", lines(&[(3, "mine")]));
    story.squash();
    story.set("main", "file", lines(&[(3, "better")]));
    story.on("work");
    let names = ["evil", "a=b"];
    let attributes: Vec<String> =
        names.iter().map(|name| format!("* diff={name} merge={name} filter={name}\n")).collect();
    for name in names {
        for setting in ["diff.{}.command", "diff.{}.textconv", "merge.{}.driver"] {
            story.git(["config", &setting.replace("{}", name), &evil]);
        }
    }
    for setting in ["diff.external", "merge.default", "core.fsmonitor", "core.pager", "pager.diff", "gpg.program"] {
        story.git(["config", setting, &evil]);
    }
    story.git(["config", "log.showSignature", "true"]);
    story.git(["config", "merge.renormalize", "true"]);
    for attributes in attributes {
        std::fs::write(story.path().join(".git/info/attributes"), &attributes).expect("writes");
        std::fs::write(story.path().join(".gitattributes"), &attributes).expect("writes");
        story.says("squash-patch").await;
        let repo = story.repo().await;
        repo.would_conflict(&story.sha("work"), &story.sha("main")).await.expect("answers");
        let patch = repo.diff(&story.began, false).await.expect("shows");
        assert!(String::from_utf8_lossy(&patch).contains("+mine"));
        repo.diff(&story.began, true).await.expect("shows");
        assert!(!canary.exists(), "with {attributes}");
    }
}

/// Filters run whenever git compares a worktree's file with the index.
#[tokio::test]
async fn no_filter_of_the_repository_runs_while_showing_a_diff() {
    let story = Story::new();
    let canary = story.beside("canary");
    story.on("work");
    story.write("file", lines(&[(3, "mine")]));
    story.write("new", "untracked\n");
    for key in ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process"] {
        story.git(["config", key, &format!("touch '{}'", canary.display())]);
    }
    std::fs::write(story.path().join(".git/info/attributes"), "* filter=evil\n").expect("writes");
    let patch = story.repo().await.diff(&story.began, false).await.expect("shows");
    let text = String::from_utf8_lossy(&patch);
    assert!(text.contains("+mine") && text.contains("+untracked"), "{text}");
    assert!(!canary.exists());
}
