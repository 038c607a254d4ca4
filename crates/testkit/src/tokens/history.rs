//! Tokens in commits.

use super::fact::{Fact, answer, blob, is_at};
use super::place::{Crop, Place};

pub(super) fn committed(place: &Place) -> Crop {
    let (first, second) = (place.token("committed first"), place.token("committed"));
    let one = place.commit("committed", &first, "One");
    let two = place.commit("committed", &second, "Two");
    let branch = format!("refs/heads/{}", place.branch);
    vec![
        blob(&format!("{one}:committed"), first),
        blob(&format!("{two}:committed"), &second),
        answer(&["merge-base", "--is-ancestor", &two, &branch], ""),
        Fact::File { name: "committed".into(), bytes: second.into(), mode: 0o644 },
    ]
    .into()
}

pub(super) fn detached(place: &Place) -> Crop {
    place.git(&["switch", "--quiet", "--detach"]);
    let content = place.token("on no branch");
    let commit = place.commit("detached", &content, "On no branch");
    vec![
        blob(&format!("{commit}:detached"), &content),
        // A later kind may have gone on from here.
        answer(&["merge-base", "--is-ancestor", &commit, "HEAD"], ""),
        answer(&["rev-parse", "--symbolic-full-name", "HEAD"], "HEAD\n"),
        Fact::File { name: "detached".into(), bytes: content.into(), mode: 0o644 },
    ]
    .into()
}

pub(super) fn reflog(place: &Place) -> Crop {
    let content = place.token("amended away");
    let message = content.trim_end();
    let commit = place.commit("amended", &content, message);
    place.write("amended", "nothing of it\n");
    place.git(&["commit", "--quiet", "--all", "--amend", "-m", "Amend"]);
    vec![blob(&format!("{commit}:amended"), &content), is_logged("HEAD", message, &commit)].into()
}

/// The branch was elsewhere for a moment, which its worktree did not notice.
pub(super) fn branch_log(place: &Place) -> Crop {
    let content = place.token("in the branch's log");
    let message = content.trim_end();
    let head = place.head();
    let commit = place.loose_commit(&head, "logged", &content, message);
    let branch = format!("refs/heads/{}", place.branch);
    for (to, from) in [(&commit, &head), (&head, &commit)] {
        place.repo.git(&["update-ref", "-m", "elsewhere for a moment", &branch, to, from]);
    }
    vec![blob(&format!("{commit}:logged"), &content), is_logged(&branch, message, &commit)].into()
}

fn is_logged(name: &str, message: &str, commit: &str) -> Fact {
    let grep = format!("--grep={message}");
    answer(&["log", "--walk-reflogs", "--max-count=1", "--format=%H", &grep, name, "--"], format!("{commit}\n"))
}

pub(super) fn stash(place: &Place) -> Crop {
    let (changed, new) = (place.token("stashed"), place.token("stashed, new"));
    place.write("tracked/stashed", &changed);
    place.write("stashed-new", &new);
    place.git(&["stash", "push", "--quiet", "--include-untracked"]);
    let stash = place.git(&["rev-parse", "refs/stash"]);
    vec![
        is_at("refs/stash", &stash),
        blob(&format!("{stash}:tracked/stashed"), changed),
        blob(&format!("{stash}^3:stashed-new"), new),
    ]
    .into()
}
