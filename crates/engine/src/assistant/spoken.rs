//! What an agent has said in a turn that comes in several messages, piece by piece.

use super::words::keepable;

/// Keeps messages apart, and the last of them: that is where an agent says what came of it.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// A message is being said.
    is_open: bool,
    /// Its name, if it has one.
    name: Option<String>,
    /// All of it.
    last: String,
}

impl Spoken {
    /// The next piece of a message, as it is to be shown.
    pub(super) fn piece(&mut self, message: Option<&str>, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let text = keepable(text.to_owned());
        if self.is_said(message) {
            self.last.push_str(&text);
            return text;
        }
        // An empty line between two messages, of which the first may have written some of it.
        let gap = match () {
            () if self.last.is_empty() || self.last.ends_with("\n\n") => "",
            () if self.last.ends_with('\n') => "\n",
            () => "\n\n",
        };
        self.is_open = true;
        self.name = message.map(str::to_owned);
        self.last.clone_from(&text);
        format!("{gap}{text}")
    }

    /// Something else was done: what is said next is another message.
    pub(super) fn pause(&mut self) {
        self.is_open = false;
    }

    /// What a message lacks yet, when all of it is told in the end.
    pub(super) fn rest(&mut self, message: &str, whole: &str) -> String {
        if !self.is_said(Some(message)) {
            return self.piece(Some(message), whole);
        }
        let whole = keepable(whole.to_owned());
        let rest = whole.strip_prefix(self.last.as_str()).unwrap_or_default().to_owned();
        self.piece(Some(message), &rest)
    }

    fn is_said(&self, message: Option<&str>) -> bool {
        self.is_open && self.name.as_deref() == message
    }

    /// The last message.
    pub(super) fn answer(&self) -> String {
        self.last.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_kept_apart_and_the_last_is_the_answer() {
        let mut spoken = Spoken::default();
        let shown = [
            spoken.piece(Some("a"), "Let me "),
            spoken.piece(Some("a"), "look."),
            spoken.piece(Some("b"), "Do"),
            spoken.rest("b", "Done.\n"),
        ];
        assert_eq!(shown.concat(), "Let me look.\n\nDone.\n");
        assert_eq!(spoken.answer(), "Done.");
        assert_eq!(spoken.rest("b", "other"), "", "it was told otherwise; nothing is told twice");
        assert_eq!(spoken.rest("c", "more"), "\nmore");
    }

    #[test]
    fn a_pause_ends_a_message_without_a_name() {
        let mut spoken = Spoken::default();
        let first = spoken.piece(None, "a") + &spoken.piece(None, "b");
        spoken.pause();
        assert_eq!(first + &spoken.piece(None, "") + &spoken.piece(None, "c\0"), "ab\n\nc\u{fffd}");
        assert_eq!(spoken.answer(), "c\u{fffd}");
    }
}
