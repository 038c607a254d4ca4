//! What is said when an assistant could not do what it was asked: for each kind of trouble its own sentence, and what to do
//! next.

use hedgerow_core::assistant::AssistantError;

/// One sentence about it, and the next step. What its program wrote last comes below. `kept` says what became of its
/// changes.
pub(super) fn trouble(error: &AssistantError, assistant: &str, kept: &str) -> String {
    match error {
        AssistantError::Missing(why) => {
            told(&format!("`{assistant}` cannot be started"), why, " `/assistant <name>` chooses another.")
        }
        AssistantError::UnknownSession => {
            format!("`{assistant}` does not know its own session. `/reset` begins a new one.")
        }
        AssistantError::LoggedOut(why) => told(
            &format!("`{assistant}` is not logged in"),
            why,
            " Log it in on the server, as the user that runs Hedgerow, or give the server a key for its models; \
             `hedgerow doctor` there says how it stands. Then ask again.",
        ),
        AssistantError::Limited(why) => told(
            &format!("The model of `{assistant}` takes no more for now"),
            why,
            &format!("{kept} Ask again later, or choose another with `/assistant <name>`."),
        ),
        AssistantError::OutOfContext(_) => format!(
            "The session has grown too long for the model of `{assistant}`, so it was ended.{kept} The next message begins \
             a new one, which knows what was concluded."
        ),
        AssistantError::OutOfBounds(why) => told(
            &format!("`{assistant}` stopped at a limit that was set for it"),
            why,
            &format!("{kept} Tell it to go on, or have the limit raised in the settings of the server."),
        ),
        AssistantError::Crashed(why) => {
            told(&format!("`{assistant}` broke off"), why, &format!("{kept} Ask again to go on."))
        }
        AssistantError::Garbled(why) => told(
            &format!("`{assistant}` cannot be understood"),
            why,
            &format!("{kept} Is its command the right one? `hedgerow doctor` on the server looks at it."),
        ),
        AssistantError::Uncaged(why) => told(
            &format!("`{assistant}` was not started, because it cannot be caged as the server demands"),
            why,
            " `hedgerow doctor` on the server says what is missing.",
        ),
        AssistantError::Failed(why) => told(&format!("`{assistant}` failed"), why, kept),
    }
}

fn told(what: &str, why: &str, next: &str) -> String {
    let why = super::veiled(why);
    let (why, wrote) = why.trim().split_once('\n').unwrap_or((why.trim(), ""));
    let why = why.trim_end().trim_end_matches('.');
    let sentence = if why.is_empty() { format!("{what}.{next}") } else { format!("{what}: {why}.{next}") };
    format!("{sentence}\n{wrote}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const KEPT: &str = " Kept.";

    fn all(why: &str) -> Vec<AssistantError> {
        let why = || why.to_owned();
        vec![
            AssistantError::Missing(why()),
            AssistantError::UnknownSession,
            AssistantError::LoggedOut(why()),
            AssistantError::Limited(why()),
            AssistantError::OutOfContext(why()),
            AssistantError::OutOfBounds(why()),
            AssistantError::Crashed(why()),
            AssistantError::Garbled(why()),
            AssistantError::Uncaged(why()),
            AssistantError::Failed(why()),
        ]
    }

    #[test]
    fn each_trouble_has_a_sentence_of_its_own() {
        let told: BTreeSet<_> = all("why").iter().map(|error| trouble(error, "agent", KEPT)).collect();
        assert_eq!(told.len(), 10, "{told:#?}");
        for sentence in &told {
            assert!(sentence.contains("`agent`") && sentence.ends_with('.') && !sentence.contains(".."), "{sentence}");
        }
    }

    #[test]
    fn a_reader_sees_why_and_what_to_do_but_nothing_of_the_machine() {
        let limited = AssistantError::Limited("busy until noon.".to_owned());
        assert_eq!(
            trouble(&limited, "agent", KEPT),
            "The model of `agent` takes no more for now: busy until noon. Kept. Ask again later, or choose another with \
             `/assistant <name>`."
        );
        let crashed = AssistantError::Crashed("it ended with exit status 7\nat /home/me/x\ntwo".to_owned());
        assert_eq!(
            trouble(&crashed, "agent", KEPT),
            "`agent` broke off: it ended with exit status 7. Kept. Ask again to go on.\nat …\ntwo"
        );
        for error in all("in /home/me/secret") {
            assert!(!trouble(&error, "agent", KEPT).contains("secret"), "{error}");
        }
    }

    #[test]
    fn without_a_reason_the_sentence_is_still_one() {
        for error in all("") {
            let sentence = trouble(&error, "agent", "");
            assert!(!sentence.contains(": .") && !sentence.contains("  "), "{sentence}");
        }
    }
}
