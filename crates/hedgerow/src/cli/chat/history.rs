//! What was typed before: a file in the home that only its owner reads, and that does not grow for ever.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Lines that are kept; when there are twice as many, the older half goes.
pub(super) const KEPT: usize = 1_000;

pub(super) struct History {
    path: PathBuf,
}

impl History {
    pub(super) fn in_home(home: &Path) -> Self {
        Self { path: home.join("chat-history") }
    }

    /// The last lines, oldest first. A history that cannot be read is an empty one.
    pub(super) fn lines(&self) -> Vec<String> {
        let text = fs::read(&self.path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(KEPT)..].iter().map(|line| read(line)).collect()
    }

    pub(super) fn add(&self, line: &str) -> io::Result<()> {
        let is_long = fs::read(&self.path).is_ok_and(|bytes| bytes.split(|byte| *byte == b'\n').count() > 2 * KEPT);
        if is_long {
            let kept: String = self.lines().iter().map(|line| written(line) + "\n").collect();
            let beside = self.path.with_extension("new");
            private().truncate(true).open(&beside)?.write_all(kept.as_bytes())?;
            fs::rename(&beside, &self.path)?;
        }
        private().append(true).open(&self.path)?.write_all((written(line) + "\n").as_bytes())
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).write(true).mode(0o600);
    options
}

/// One line, whatever was typed or pasted.
fn written(line: &str) -> String {
    line.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn read(line: &str) -> String {
    let mut read = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => read.push('\n'),
                Some('r') => read.push('\r'),
                Some(other) => read.push(other),
                None => {}
            },
            (c, false) => read.push(c),
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_was_typed_is_there_again_private_and_bounded() {
        let home = tempfile::tempdir().expect("a folder");
        let history = History::in_home(home.path());
        assert_eq!(history.lines(), Vec::<String>::new());
        let odd = "two\nlines \\n and a \\ and\r";
        history.add(odd).expect("written");
        assert_eq!(History::in_home(home.path()).lines(), [odd]);
        let path = home.path().join("chat-history");
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        fs::write(&path, "x\n".repeat(2 * KEPT)).expect("written");
        history.add("newest").expect("written");
        let lines = fs::read_to_string(&path).expect("read");
        assert_eq!((lines.lines().count(), lines.lines().last()), (KEPT + 1, Some("newest")));
        assert_eq!((history.lines().len(), history.lines().last().map(String::as_str)), (KEPT, Some("newest")));
    }
}
