//! Acceptance: real agents do real work through the real server, with a model on this machine that does what the prompt
//! says. Every story is told with Claude Code, with Codex, and with opencode, which speaks ACP.
//!
//! They need the agents' programs, so plain `cargo test` leaves them out; `./test --agents` installs those and runs these.

mod agent;
mod scene;
mod stories;

use agent::Agent;

/// Each story as a test of its own for each agent.
macro_rules! tell {
    ($($story:ident,)*) => {
        tell!(@with claude Claude: $($story,)*);
        tell!(@with codex Codex: $($story,)*);
        tell!(@with opencode Opencode: $($story,)*);
    };
    (@with $name:ident $agent:ident: $($story:ident,)*) => {
        mod $name {
            use super::{Agent, stories};

            $(
                #[tokio::test(flavor = "multi_thread")]
                #[ignore = "needs the real agents; `./test --agents` installs and drives them"]
                async fn $story() {
                    stories::$story(Agent::$agent).await;
                }
            )*
        }
    };
}

tell! {
    work_is_committed_in_the_environment_and_the_next_message_resumes,
    a_stop_keeps_what_was_said_and_leaves_nothing_running,
    a_server_that_is_killed_reports_the_run_once_and_the_next_one_resumes,
    a_conversation_remembers_in_another_environment,
    trouble_with_the_model_is_told_apart,
    a_missing_program_is_said_to_be_missing,
    the_key_stays_with_the_server,
}
