//! What a window shows, as lines: words as they stream, tools and plans in between, what it all took at the end, and an
//! answer that was seen is not shown again.

use hedgerow_core::platform::Glimpse;
use hedgerow_platforms::terminal::Shown;

use super::progress::Progress;

/// Longer lines of a stream are broken between words, so that something is to be seen before a paragraph ends.
const WIDE: usize = 100;

/// In which voice a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// The answer.
    Answer,
    /// What is said on the way to it.
    Aside,
    /// What it does, and what it is going to do.
    Tool,
    /// What it took.
    Figures,
}

/// What was shown so far, as far as it matters for what comes.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// The beginning of a line whose end has not come.
    open: String,
    is_code: bool,
    /// What this run has said.
    streamed: String,
    is_running: bool,
    progress: Progress,
}

impl Window {
    pub(super) const fn is_running(&self) -> bool {
        self.is_running
    }

    /// The lines to draw now.
    pub(super) fn take(&mut self, shown: &Shown) -> Vec<(Voice, String)> {
        let mut lines = Vec::new();
        if let Shown::Live(live) = shown {
            let plan = self.progress.take(&live.what);
            if !plan.is_empty() {
                self.rest(&mut lines);
            }
            lines.extend(plan.into_iter().map(|step| (Voice::Tool, step)));
        }
        match shown {
            Shown::Live(live) => match &live.what {
                Glimpse::Started => {
                    self.streamed.clear();
                    self.is_running = true;
                }
                Glimpse::Text(text) => {
                    self.streamed.push_str(text);
                    self.open.push_str(text);
                    self.whole_lines(&mut lines);
                }
                Glimpse::Tool(tool) => {
                    self.rest(&mut lines);
                    lines.push((Voice::Tool, tool.clone()));
                }
                Glimpse::Note(note) => {
                    self.rest(&mut lines);
                    lines.push((Voice::Aside, note.clone()));
                }
                Glimpse::Plan(_) | Glimpse::Usage(_) => {}
                Glimpse::Ended => {
                    self.rest(&mut lines);
                    self.is_running = false;
                }
            },
            Shown::Reply(reply) => {
                self.rest(&mut lines);
                let voice = if reply.last { Voice::Answer } else { Voice::Aside };
                let unseen = if reply.last { unseen(&self.streamed, &reply.text) } else { &reply.text };
                let is_partly_seen = unseen.len() < reply.text.len();
                if !unseen.trim().is_empty() {
                    lines.push((voice, unseen.trim_end().to_owned()));
                }
                // The stream has had its answer: the same words in the next one are to be seen.
                if is_partly_seen {
                    self.streamed.clear();
                }
                if reply.last {
                    lines.extend(self.progress.figures().map(|figures| (Voice::Figures, figures)));
                }
            }
        }
        lines
    }

    fn whole_lines(&mut self, lines: &mut Vec<(Voice, String)>) {
        loop {
            let end = match self.open.find('\n') {
                Some(end) => end,
                None if self.is_code => return,
                None => match break_at(&self.open) {
                    Some(end) => end,
                    None => return,
                },
            };
            let line: String = self.open.drain(..=end).collect();
            let line = line.trim_end();
            if ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence)) {
                self.is_code = !self.is_code;
            }
            lines.push((Voice::Answer, line.to_owned()));
        }
    }

    /// What is left of a line that will not go on.
    fn rest(&mut self, lines: &mut Vec<(Voice, String)>) {
        self.is_code = false;
        let open = std::mem::take(&mut self.open);
        if !open.trim().is_empty() {
            lines.push((Voice::Answer, open.trim_end().to_owned()));
        }
    }
}

/// The last space of the first `WIDE` characters of a line that is longer. It is one byte.
fn break_at(line: &str) -> Option<usize> {
    let (end, _) = line.char_indices().nth(WIDE)?;
    line[..end].rfind(' ').filter(|at| !line[..*at].trim().is_empty())
}

/// What of an answer was not in the stream. Only what can be seen counts.
fn unseen<'a>(streamed: &str, answer: &'a str) -> &'a str {
    let visible = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let seen = visible(streamed);
    if seen.is_empty() {
        return answer;
    }
    if seen.ends_with(&visible(answer)) {
        return "";
    }
    let mut left = seen.chars();
    let mut next = left.next();
    for (at, c) in answer.char_indices() {
        if next.is_none() {
            return answer[at..].trim_start();
        }
        if c.is_whitespace() {
            continue;
        }
        if Some(c) != next {
            return answer;
        }
        next = left.next();
    }
    answer
}

#[cfg(test)]
mod tests {
    use hedgerow_core::RunId;
    use hedgerow_core::assistant::{Step, StepState, Usage};
    use hedgerow_core::platform::{Live, Reply};

    use super::*;
    use Voice::{Answer, Aside, Figures, Tool};

    fn live(what: Glimpse) -> Shown {
        Shown::Live(Live { run: RunId::new(), what })
    }

    fn text(text: &str) -> Shown {
        live(Glimpse::Text(text.to_owned()))
    }

    fn reply(text: &str, last: bool) -> Shown {
        Shown::Reply(Reply::new(text, last, text))
    }

    fn drawn(all: &[Shown]) -> Vec<(Voice, String)> {
        let mut window = Window::default();
        all.iter().flat_map(|shown| window.take(shown)).collect()
    }

    #[test]
    fn a_stream_is_shown_line_by_line_and_the_answer_once() {
        let all = [
            reply("Working in isolated branch `issue-42`", false),
            live(Glimpse::Started),
            text("I look at "),
            text("the code.\nThen"),
            live(Glimpse::Tool("read src/login.rs".to_owned())),
            text(" I fix it."),
            live(Glimpse::Ended),
            reply("I look at the code.\nThen I fix it.", true),
        ];
        let expected = [
            (Aside, "Working in isolated branch `issue-42`"),
            (Answer, "I look at the code."),
            (Answer, "Then"),
            (Tool, "read src/login.rs"),
            (Answer, " I fix it."),
        ];
        assert_eq!(drawn(&all), expected.map(|(voice, line)| (voice, line.to_owned())));
    }

    #[test]
    fn a_plan_a_note_and_the_figures_stand_among_the_words() {
        let plan = vec![Step { text: "fix it".to_owned(), state: StepState::Active }];
        let usage = Usage { input_tokens: 1500, output_tokens: 200, ..Usage::default() };
        let all = [
            live(Glimpse::Started),
            text("I begin"),
            live(Glimpse::Plan(plan)),
            live(Glimpse::Note("it waits for its model".to_owned())),
            live(Glimpse::Usage(usage)),
            live(Glimpse::Ended),
            reply("Done.", true),
        ];
        let expected = [
            (Answer, "I begin"),
            (Tool, "[>] fix it"),
            (Aside, "it waits for its model"),
            (Answer, "Done."),
            (Figures, "1.5k in, 0.2k out, 0 s"),
        ];
        assert_eq!(drawn(&all), expected.map(|(voice, line)| (voice, line.to_owned())));
    }

    #[test]
    fn the_same_answer_to_another_message_is_shown() {
        let all =
            [live(Glimpse::Started), text("Done."), live(Glimpse::Ended), reply("Done.", true), reply("Done.", true)];
        assert_eq!(drawn(&all), [(Answer, "Done.".to_owned()), (Answer, "Done.".to_owned())]);
    }

    #[test]
    fn of_an_answer_only_what_was_not_seen_is_shown() {
        for (streamed, answer, expected) in [
            ("", "Done.", "Done."),
            ("Done.", "Done.", ""),
            ("First I look. Done.", "Done.", ""),
            ("Done.\n", "Done.\n\nIts changes are kept.", "Its changes are kept."),
            ("Something else", "Done.", "Done."),
            ("Done. And more", "Done.", "Done."),
        ] {
            assert_eq!(unseen(streamed, answer), expected, "{streamed:?} then {answer:?}");
        }
    }

    #[test]
    fn a_run_knows_that_it_is_one_and_an_answer_without_one_is_shown_whole() {
        let mut window = Window::default();
        assert_eq!(window.take(&reply("one\ntwo\n", true)), [(Answer, "one\ntwo".to_owned())]);
        window.take(&live(Glimpse::Started));
        assert!(window.is_running());
        window.take(&live(Glimpse::Ended));
        assert!(!window.is_running());
    }

    #[test]
    fn a_long_line_is_broken_between_words_unless_it_is_code() {
        let long = "word ".repeat(50);
        let lines = drawn(&[text(&long)]);
        assert!(lines.len() == 2 && lines.iter().all(|(_, line)| line.len() <= WIDE), "{lines:?}");
        let code = format!("```\n{long}\n```\n");
        assert_eq!(drawn(&[text(&code)]).len(), 3);
    }
}
