//! The hidden lines that our comments begin with. By them a comment is known for ours, and for which of ours.

use hedgerow_core::RunId;

const BEGIN: &str = "<!-- hedgerow:";
const END: &str = " -->";

/// What a comment of ours says about itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// The run that it shows, or showed.
    pub(super) run: Option<String>,
    /// The reply that it is.
    pub(super) reply: Option<String>,
}

impl Marks {
    /// From the first lines of a comment. Markers further down are somebody's words.
    pub(super) fn of(comment: &str) -> Self {
        let mut marks = Self::default();
        for line in comment.lines() {
            let Some(marker) = line.trim_end().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END)) else {
                break;
            };
            match marker.split_once(':') {
                Some(("run", run)) => marks.run = Some(run.to_owned()),
                Some(("reply", key)) => marks.reply = Some(key.to_owned()),
                _ => {}
            }
        }
        marks
    }

    pub(super) fn is_reply(&self, key: &str) -> bool {
        self.reply.as_deref() == Some(plain(key).as_str())
    }

    /// Whether it shows a run and has not become anything else.
    pub(super) fn is_live(&self, run: RunId) -> bool {
        self.reply.is_none() && self.run.as_deref() == Some(run.to_string().as_str())
    }
}

pub(super) fn of_run(run: RunId) -> String {
    format!("{BEGIN}run:{run}{END}\n")
}

pub(super) fn of_reply(key: &str) -> String {
    format!("{BEGIN}reply:{}{END}\n", plain(key))
}

/// A key that cannot end its marker.
fn plain(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_tells_what_it_is_in_its_first_lines_only() {
        let run = RunId::new();
        let live = Marks::of(&format!("{}Working", of_run(run)));
        assert!(live.is_live(run) && !live.is_live(RunId::new()));
        let answer = Marks::of(&format!("{}{}Done.", of_run(run), of_reply("a-1")).replace('\n', "\r\n"));
        assert!(answer.is_reply("a-1") && !answer.is_reply("a-2") && !answer.is_live(run));
        assert_eq!(answer.run, Some(run.to_string()));
        for other in [format!("> {}", of_run(run)), format!("See\n{}", of_reply("a-1")), format!(" {}", of_run(run))] {
            assert_eq!(Marks::of(&other), Marks::default(), "{other}");
        }
        assert!(Marks::of(&of_reply("a --> b")).is_reply("a --> b"));
        assert_eq!(of_reply("a --> b").matches("-->").count(), 1);
    }
}
