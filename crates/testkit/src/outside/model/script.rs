//! What the prompt makes the model do.
//!
//! A line of a prompt that begins with `model:` is an instruction; all others are words of a person. One call of the API
//! obeys them up to a tool call, the next call goes on when the result of the tool is there:
//!
//! ```text
//! Please rename the function.
//! model: think Which file is it in?
//! model: say I look at it.
//! model: tool Bash {"command": "git grep old_name"}
//! model: say It is done.
//! ```

use std::time::Duration;

use serde_json::Value;

use super::trouble::Trouble;

const MARK: &str = "model:";
/// The longest that a model may be told to wait: what no test stops goes away by itself.
const LONGEST: f64 = 600.0;

/// One instruction.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Say(String),
    Think(String),
    Tool(String, Value),
    /// Says nothing for so long; the connection stays open.
    Wait(Duration),
    /// At the beginning of a call an answer with an error, later a stream that breaks with one; only so many times, if
    /// that is said.
    Error(Trouble, Option<u32>),
    /// Hangs up.
    Drop,
    /// Nothing now; what `recall` says later.
    Remember(String),
    /// Says what all prompts of the conversation told it to remember.
    Recall,
    /// Says the result of the last tool.
    Read,
}

/// The instructions of a prompt; none in the words of a person.
pub(super) fn steps(prompt: &str) -> Result<Vec<Step>, String> {
    let lines = prompt.lines().filter_map(|line| line.trim().strip_prefix(MARK));
    lines
        .map(|line| step(line.trim()).ok_or_else(|| format!("the model does not understand `{}`", line.trim())))
        .collect()
}

fn step(line: &str) -> Option<Step> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    let text = || (!rest.is_empty()).then(|| rest.to_owned());
    Some(match verb {
        "say" => Step::Say(text()?),
        "think" => Step::Think(text()?),
        "remember" => Step::Remember(text()?),
        "tool" => {
            let (name, input) = rest.split_once(' ')?;
            Step::Tool(name.to_owned(), serde_json::from_str(input).ok()?)
        }
        "wait" => {
            let seconds = rest.parse().ok().filter(|seconds| (0.0..=LONGEST).contains(seconds))?;
            Step::Wait(Duration::from_secs_f64(seconds))
        }
        "error" => {
            let (kind, times) = rest.split_once(' ').map_or((rest, None), |(kind, times)| (kind, Some(times)));
            let times =
                times.map(|times| times.parse().ok().filter(|times| *times > 0)).map_or(Some(None), |t| t.map(Some))?;
            Step::Error(Trouble::named(kind)?, times)
        }
        "drop" if rest.is_empty() => Step::Drop,
        "recall" if rest.is_empty() => Step::Recall,
        "read" if rest.is_empty() => Step::Read,
        _ => return None,
    })
}

/// Those of the call that comes after so many results of tools: up to the next tool, which is among them.
pub(super) fn call(steps: &[Step], results: usize) -> &[Step] {
    let mut calls = steps.split_inclusive(|step| matches!(step, Step::Tool(..)));
    calls.nth(results).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_goes_up_to_a_tool_and_the_next_goes_on_behind_it() {
        let prompt = "Do it.\nmodel: say One.\n  model: tool Bash {\"command\": \"ls\"}\nmodel: say Two.\nThanks!";
        let steps = steps(prompt).expect("a script");
        assert_eq!(call(&steps, 0).len(), 2);
        assert_eq!(call(&steps, 1), [Step::Say("Two.".to_owned())]);
        assert_eq!(call(&steps, 2), []);
    }

    #[test]
    fn what_it_does_not_understand_is_no_script() {
        for line in [
            "model: sing",
            "model: tool Bash",
            "model: tool Bash {",
            "model: wait long",
            "model: error 418",
            "model: error 429 0",
        ] {
            assert!(steps(line).is_err(), "{line}");
        }
        assert_eq!(steps("the model: say nothing"), Ok(Vec::new()), "it begins the line, or it is a person's");
        assert_eq!(steps("model: error 429 2"), Ok(vec![Step::Error(Trouble::Limited, Some(2))]));
    }
}
