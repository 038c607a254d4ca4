//! From the instructions in a prompt to what one call says.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use super::asked::Asked;
use super::script::{self, Step};
use super::trouble::Trouble;

/// One thing that happens in an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Beat {
    Think(String),
    Say(String),
    Call(String, Value),
    Wait(Duration),
    Break(Trouble),
    Drop,
}

/// How often each instruction to fail was obeyed, by prompt and place in it.
#[derive(Debug, Default)]
pub(super) struct Failures(HashMap<(String, usize, usize), u32>);

/// Words that are not instructions come back, so much of them.
const ECHO: usize = 200;

/// What the model answers, or why the test is wrong.
pub(super) fn beats(asked: &Asked, failures: &mut Failures) -> Result<Vec<Beat>, String> {
    let (prompt, results) = asked.prompt();
    let steps = script::steps(prompt)?;
    if steps.is_empty() {
        let said: String = prompt.trim().chars().take(ECHO).collect();
        return Ok(vec![Beat::Say(format!("You said: {said}"))]);
    }
    let steps = script::call(&steps, results);
    if asked.tools.is_empty() {
        return Ok(aside(steps));
    }
    let mut beats = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        match step {
            Step::Say(text) => beats.push(Beat::Say(text.clone())),
            Step::Think(text) => beats.push(Beat::Think(text.clone())),
            Step::Wait(time) => beats.push(Beat::Wait(*time)),
            Step::Recall => beats.push(Beat::Say(recalled(asked))),
            Step::Read => beats.push(Beat::Say(asked.last_result().unwrap_or("There is no result.").to_owned())),
            Step::Remember(_) => {}
            Step::Drop => beats.push(Beat::Drop),
            Step::Error(trouble, times) => {
                let failed = failures.0.entry((prompt.to_owned(), results, place)).or_default();
                if times.is_none_or(|times| *failed < times) {
                    *failed += 1;
                    beats.push(Beat::Break(*trouble));
                    return Ok(beats);
                }
            }
            Step::Tool(tool, _) if !asked.tools.contains(tool) => {
                return Err(format!("there is no tool `{tool}`; there are: {}", asked.tools.join(", ")));
            }
            Step::Tool(tool, input) => beats.push(Beat::Call(tool.clone(), input.clone())),
        }
    }
    if !beats.iter().any(|beat| !matches!(beat, Beat::Wait(_))) {
        beats.push(Beat::Say("Done.".to_owned()));
    }
    Ok(beats)
}

/// What is asked without any tool, such as a title for the conversation, is answered at once and in words only.
fn aside(steps: &[Step]) -> Vec<Beat> {
    let words = steps.iter().find_map(|step| match step {
        Step::Say(text) => Some(text.as_str()),
        _ => None,
    });
    vec![Beat::Say(words.unwrap_or("A few words.").to_owned())]
}

fn recalled(asked: &Asked) -> String {
    match asked.remembered().as_slice() {
        [] => "I remember nothing.".to_owned(),
        words => format!("I remember {}.", words.join(", ")),
    }
}
