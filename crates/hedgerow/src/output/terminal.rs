//! The terminal as it was found. A line editor changes its modes; whoever is ended while it reads leaves them changed.

use std::io::stdin;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Gives the terminal back as it was when this goes.
pub(crate) struct Terminal(Option<Termios>);

impl Terminal {
    pub(crate) fn keep() -> Self {
        Self(tcgetattr(stdin()).ok())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(modes) = &self.0 {
            // A terminal that is gone needs nothing back.
            let _ = tcsetattr(stdin(), OptionalActions::Now, modes);
        }
    }
}
