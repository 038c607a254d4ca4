//! The words of a prompt that the assistant of the tests obeys.

use std::time::Duration;

/// One line of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order<'a> {
    Say(&'a str),
    Tool(&'a str),
    /// Steps between commas; `x` before one that is done, `>` before the one at work.
    Plan(&'a str),
    /// Asks for leave, and says what came of it.
    Ask(&'a str),
    Write(&'a str, &'a str),
    Append(&'a str, &'a str),
    Commit(&'a str),
    Touch(&'a str),
    Sleep(Duration),
    /// Blocks until the file is there.
    WaitFor(&'a str),
    /// A process that outlives the run, out of its session and its family; it writes its id into the file.
    SpawnDaemon(&'a str),
    Remember(&'a str),
    Recall,
    ForgetSession,
    /// As if nobody were logged in.
    LogOut,
    /// Says all of what it was told before the prompt.
    Briefing,
    /// Says what is in a file, or that it is not there.
    Cat(&'a str),
    /// Says how a variable is set.
    Variable(&'a str),
    /// Tells the name of its session now, and not only at the end.
    TellSession,
    Usage(&'a str),
    Note(&'a str),
    /// What Hedgerow is to keep of the session.
    Keep(&'a str),
    /// Says what was kept.
    Kept,
    OutOfContext,
    Fail(&'a str),
    Exit(u8),
    /// Never answers, deaf to its stdin.
    Hang,
    /// Bytes that are neither text nor JSON.
    Garbage,
    /// A line without an end.
    Flood,
}

impl<'a> Order<'a> {
    /// `None` for words that mean nothing here.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim();
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        let file = || (!rest.is_empty()).then(|| rest.split_once(' ').unwrap_or((rest, "")));
        Some(match (verb, rest) {
            ("say", _) => Self::Say(rest),
            ("tool", _) => Self::Tool(rest),
            ("ask-for", what) if !what.is_empty() => Self::Ask(what),
            ("write", _) => file().map(|(path, text)| Self::Write(path, text))?,
            ("append", _) => file().map(|(path, text)| Self::Append(path, text))?,
            ("commit", message) if !message.is_empty() => Self::Commit(message),
            ("touch", path) if !path.is_empty() => Self::Touch(path),
            ("sleep", millis) => Self::Sleep(Duration::from_millis(millis.parse().ok()?)),
            ("wait-for", path) if !path.is_empty() => Self::WaitFor(path),
            ("spawn-daemon", path) if !path.is_empty() => Self::SpawnDaemon(path),
            ("remember", word) if !word.is_empty() => Self::Remember(word),
            ("recall", "") => Self::Recall,
            ("forget-session", "") => Self::ForgetSession,
            ("log-out", "") => Self::LogOut,
            ("briefing", "") => Self::Briefing,
            ("cat", path) if !path.is_empty() => Self::Cat(path),
            ("variable", name) if !name.is_empty() => Self::Variable(name),
            ("tell-session", "") => Self::TellSession,
            ("plan", steps) if !steps.is_empty() => Self::Plan(steps),
            ("usage", counts) if counts.starts_with(|c: char| c.is_ascii_digit()) => Self::Usage(counts),
            ("note", text) if !text.is_empty() => Self::Note(text),
            ("keep", text) if !text.is_empty() => Self::Keep(text),
            ("kept", "") => Self::Kept,
            ("out-of-context", "") => Self::OutOfContext,
            ("fail", _) => Self::Fail(rest),
            ("exit", code) => Self::Exit(code.parse().ok()?),
            ("hang", "") => Self::Hang,
            ("garbage", "") => Self::Garbage,
            ("flood", "") => Self::Flood,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_s_words_are_no_orders() {
        for line in ["hello", "hang on", "write", "sleep well", "recall what I said", "", "exit now"] {
            assert_eq!(Order::parse(line), None, "{line}");
        }
        assert_eq!(Order::parse(" write a.txt two words "), Some(Order::Write("a.txt", "two words")));
        assert_eq!(Order::parse("sleep 20"), Some(Order::Sleep(Duration::from_millis(20))));
    }
}
