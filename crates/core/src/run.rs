//! The words of a run: what became of a message, of a turn, and of the session it was part of.

use crate::words;

words! {
    /// What became of a message that was accepted.
    MessageEnd as "end of a message" {
        Answered = "answered",
        /// It could not be done; its author was told why.
        Failed = "failed",
        /// Whoever was at it died. It is not done again; its author was told.
        Interrupted = "interrupted",
        /// Nobody meant us.
        Ignored = "ignored",
    }
}

words! {
    /// How a turn of an assistant stands.
    RunState as "state of a run" {
        Running = "running",
        Done = "done",
        Failed = "failed",
        /// Somebody asked for it.
        Stopped = "stopped",
        /// Its process died, or could not keep its lease.
        Interrupted = "interrupted",
    }
}

words! {
    /// Why a session ended.
    SessionEnd as "end of a session" {
        Reset = "reset",
        /// Its environment was removed on request.
        Removed = "removed",
        Closed = "closed",
        /// Its environment was lost.
        Lost = "lost",
        /// The conversation works in another environment now.
        Moved = "moved",
        /// The assistant no longer knew it, or can hold no more of it.
        Unknown = "unknown",
        /// The conversation uses another assistant now.
        Assistant = "assistant",
    }
}

words! {
    /// What kind of thing happened in a run.
    RunEventKind as "kind of event of a run" {
        /// The assistant named its session.
        Session = "session",
        Text = "text",
        Tool = "tool",
        Plan = "plan",
        Usage = "usage",
        Note = "note",
        /// Something of the assistant's own.
        Other = "other",
        /// How it ended; always the last.
        End = "end",
    }
}
