//! What an agent wishes for at the end of its turn: it cannot push, so it says that its commits are to become a pull
//! request, with a line that people could say too. It is done as the person who asked, under the lease of the run.

use hedgerow_core::RunId;

use super::Story;
use super::place::Ground;
use crate::failure::Outcome;
use crate::pull_requests::Proposed;
use crate::replies;
use crate::run::{End, Ran};

/// The whole last line of an answer that asks for it.
pub(super) const WISH: &str = "/worktree pr";

impl Story {
    /// Takes the wish out of the words, does it, and tells what came of it. Only a turn that ended well, in an
    /// environment, has a wish.
    pub(super) async fn grant(&self, run: RunId, ground: &Ground, ran: &mut Ran) -> Option<String> {
        let environment = ground.environment()?;
        let End::Answered(answer) = &mut ran.end else { return None };
        answer.answer = without_wish(&answer.answer)?.to_owned();
        let engine = &self.desk.engine;
        let done: Outcome<Proposed> = match engine.require_live(environment).await {
            Ok(now) => engine.propose_leased(ground.lease(), &now, &self.by).await,
            Err(gone) => Err(gone),
        };
        Some(match done {
            Ok(proposed) => replies::proposed(&proposed),
            Err(error) => {
                tracing::info!(%run, %error, "an agent's wish for a pull request was not granted");
                replies::failure(&error, Some(run))
            }
        })
    }
}

/// The words before the wish, if they end with it.
fn without_wish(words: &str) -> Option<&str> {
    let words = words.trim_end();
    let rest = words.strip_suffix(WISH)?;
    let before = rest.trim_end_matches([' ', '\t']);
    (before.is_empty() || before.ends_with('\n')).then(|| before.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_last_line_of_its_own_is_a_wish() {
        for (words, rest) in [
            ("Done.\n\n/worktree pr\n", Some("Done.")),
            ("/worktree pr", Some("")),
            ("Done.\n  /worktree pr  \n\n", Some("Done.")),
            ("Say /worktree pr", None),
            ("`/worktree pr`", None),
            ("/worktree pr\nThat would push it.", None),
            ("/worktree pr now", None),
            ("", None),
        ] {
            assert_eq!(without_wish(words), rest, "{words:?}");
        }
    }
}
