//! What Claude is going to do. It has two tools to say so, and which one depends on its version and variables: `TodoWrite`
//! gives the whole plan each time, `TaskCreate` and `TaskUpdate` one step.

use hedgerow_core::assistant::{Step, StepState};
use serde_json::Value;

use crate::assistant::words::one_line;

/// Most steps that are kept of a plan.
const MOST: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<(String, Step)>,
}

impl Plan {
    /// The plan as it is after this tool call; `None` when the call is not about it.
    pub(super) fn called(&mut self, name: &str, call: &str, input: &Value) -> Option<Vec<Step>> {
        match name {
            "TodoWrite" => {
                let steps = input.get("todos")?.as_array()?.iter().take(MOST);
                self.steps = steps.filter_map(|todo| Some((String::new(), step(todo, "content")?))).collect();
            }
            "TaskCreate" if self.steps.len() < MOST => self.steps.push((call.to_owned(), step(input, "subject")?)),
            "TaskUpdate" => self.change(input)?,
            _ => return None,
        }
        Some(self.steps.iter().map(|(_, step)| step.clone()).collect())
    }

    /// A step that a call has made gets its id with the result.
    pub(super) fn made(&mut self, call: &str, id: &str) {
        if let Some((known, _)) = self.steps.iter_mut().find(|(known, _)| known == call) {
            id.clone_into(known);
        }
    }

    fn change(&mut self, input: &Value) -> Option<()> {
        let id = input.get("taskId")?.as_str()?;
        let at = self.steps.iter().position(|(known, _)| known == id)?;
        let status = input.get("status").and_then(Value::as_str);
        if status == Some("deleted") {
            self.steps.remove(at);
            return Some(());
        }
        let (_, step) = &mut self.steps[at];
        if let Some(subject) = input.get("subject").and_then(Value::as_str) {
            step.text = one_line(subject);
        }
        if let Some(status) = status {
            step.state = state(status);
        }
        Some(())
    }
}

fn step(todo: &Value, text: &str) -> Option<Step> {
    let text = one_line(todo.get(text)?.as_str()?);
    Some(Step { text, state: todo.get("status").and_then(Value::as_str).map_or(StepState::Pending, state) })
}

fn state(status: &str) -> StepState {
    match status {
        "completed" => StepState::Done,
        "in_progress" => StepState::Active,
        _ => StepState::Pending,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(steps: Option<Vec<Step>>) -> Vec<String> {
        let steps = steps.expect("it is about the plan");
        steps.iter().map(|step| format!("{} {}", step.state, step.text)).collect()
    }

    #[test]
    fn a_plan_is_told_whole_each_time() {
        let mut plan = Plan::default();
        let todos = json!({"todos": [
            {"content": "look", "status": "completed", "activeForm": "Looking"},
            {"content": "mend", "status": "in_progress"},
            {"content": "test\nall", "status": "later"},
            {"no": "content"},
        ]});
        assert_eq!(shown(plan.called("TodoWrite", "", &todos)), ["done look", "active mend", "pending test all"]);
        assert_eq!(shown(plan.called("TodoWrite", "", &json!({"todos": []}))), [""; 0]);
        assert_eq!(plan.called("TodoWrite", "", &json!({"todos": 1})), None);
        assert_eq!(plan.called("Bash", "", &json!({})), None);
    }

    #[test]
    fn a_plan_that_is_told_step_by_step_is_told_whole_as_well() {
        let mut plan = Plan::default();
        for (call, subject, id) in [("call-a", "look", "1"), ("call-b", "mend", "2"), ("call-c", "test", "7")] {
            plan.called("TaskCreate", call, &json!({"subject": subject, "description": "d"}));
            plan.made(call, id);
        }
        let change = json!({"taskId": "2", "status": "in_progress", "subject": "mend it"});
        assert_eq!(shown(plan.called("TaskUpdate", "", &change)), ["pending look", "active mend it", "pending test"]);
        let deleted = json!({"taskId": "1", "status": "deleted"});
        assert_eq!(shown(plan.called("TaskUpdate", "", &deleted)), ["active mend it", "pending test"]);
        let done = json!({"taskId": "7", "status": "completed"});
        assert_eq!(shown(plan.called("TaskUpdate", "", &done)), ["active mend it", "done test"]);
        assert_eq!(plan.called("TaskUpdate", "", &json!({"taskId": "9", "status": "completed"})), None);
    }
}
