//! What a person should know beside the answer.

use hedgerow_core::provider::Note;
use hedgerow_core::saved::Skipped;

use super::{Voice, bytes, veiled};

pub fn note(note: &Note, voice: Voice) -> String {
    let text = told(note, voice);
    match voice {
        Voice::Terminal => text,
        Voice::Chat => veiled(&text),
    }
}

fn told(note: &Note, voice: Voice) -> String {
    match note {
        Note::Offline { remote, why } => {
            format!("`{remote}` could not be reached, so its last known state was used ({why})")
        }
        Note::HeadBranchTaken { head, instead } => {
            let push = match voice {
                Voice::Terminal => format!("`git push <remote> HEAD:{head}` from it updates the pull request"),
                Voice::Chat => format!("`/worktree pr` pushes to `{head}`"),
            };
            format!("the main checkout holds `{head}`, so `{instead}` was made at the same commit; {push}")
        }
        Note::KeptOwnCommits { branch } => {
            format!("`{branch}` has commits of its own here and was left as it is")
        }
        Note::FastForwarded { branch, from, to } => {
            format!("`{branch}` was fast-forwarded from {} to {}", from.short(), to.short())
        }
        Note::ExistingBranch { branch } => format!("`{branch}` was there already and is used as it is"),
        Note::MovedHead { to } => {
            format!("the pull request's head has moved, and the environment with it: now at {}", to.short())
        }
        Note::HeadMovedKept { to } => format!(
            "the pull request's head has moved to {}; the environment has work of its own and was left alone",
            to.short()
        ),
        Note::LinkedElsewhere { work, environment } => linked_elsewhere(work, environment, voice),
        Note::Lost { environment, why } => format!("the earlier environment `{environment}` is no more: {why}"),
        Note::InTrash { name } => {
            format!("an earlier one is in the trash; `{}` brings it back", voice.restore(name))
        }
        Note::NotSaved { what } => not_saved(what),
        Note::NoSubmodules { why } => {
            format!("the submodules could not be filled; `git submodule update --init` there tries again ({why})")
        }
        Note::NotRun { what } => {
            format!("the repository's configuration would run programs; they were not run: {}", what.join(", "))
        }
        Note::RestoredOnBranch { branch, instead_of } => {
            format!("`{instead_of}` is taken, so it was restored on `{branch}`")
        }
        Note::RestoredElsewhere { path } => match voice {
            Voice::Terminal => format!("its old place is taken, so it was restored in {}", path.display()),
            Voice::Chat => "its old place is taken, so it was restored in another folder".to_owned(),
        },
        Note::MadeRoom { names } => {
            let back = match voice {
                Voice::Terminal => "hedgerow env restore <name>",
                Voice::Chat => "/worktree restore <name>",
            };
            let names = names.join(", ");
            format!("moved to the trash to make room, because they are merged: {names}; `{back}` brings one back")
        }
    }
}

/// The command that joins the other one is a chat's: a terminal has no conversation to link.
fn linked_elsewhere(work: &str, environment: &str, voice: Voice) -> String {
    match voice {
        Voice::Terminal => format!("`{work}` has another environment, `{environment}`"),
        Voice::Chat => {
            format!("`{work}` has another environment, `{environment}`; `/worktree link {work}` joins it")
        }
    }
}

/// So many of what was skipped are named; `hedgerow vault verify` names all.
const NAMED: usize = 5;

fn not_saved(what: &[Skipped]) -> String {
    let named: Vec<String> = what.iter().take(NAMED).map(skipped).collect();
    let more = what.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("not in the saved state: {}{more}", named.join("; "))
}

/// `data/big.bin (60.0 MB; ignored, and larger than 50 MB)`
pub fn skipped(skipped: &Skipped) -> String {
    format!("{} ({}; {})", skipped.path, bytes(skipped.bytes), skipped.because.phrase())
}
