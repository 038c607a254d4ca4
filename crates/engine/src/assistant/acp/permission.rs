//! Leave for a tool: given, unless the tool is disallowed.

use super::updates::command;
use agent_client_protocol_schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
    SelectedPermissionOutcome, ToolCall,
};

const ALLOWING: [PermissionOptionKind; 2] = [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways];
const REJECTING: [PermissionOptionKind; 2] = [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways];

/// The first of the options that says what we mean. An agent that offers none is told that nobody chose.
pub(super) fn answer(options: &[PermissionOption], is_allowed: bool) -> RequestPermissionResponse {
    let wanted = if is_allowed { ALLOWING } else { REJECTING };
    let chosen = wanted.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    RequestPermissionResponse::new(chosen.map_or(RequestPermissionOutcome::Cancelled, |option| {
        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
    }))
}

/// Whether a call is one of those that must not be made: `Bash`, or `Bash(git push:*)` for commands that begin so.
pub(super) fn is_disallowed(call: &ToolCall, disallowed: &[String]) -> bool {
    disallowed.iter().any(|entry| {
        let (tool, words) = match entry.split_once('(') {
            Some((tool, words)) => (tool, Some(words.trim_end_matches(')'))),
            None => (entry.as_str(), None),
        };
        is_called(call, tool.trim()) && words.is_none_or(|words| begins(call, words))
    })
}

/// By its name, its kind, or for want of both its title.
fn is_called(call: &ToolCall, tool: &str) -> bool {
    let kind = serde_json::to_value(call.kind).unwrap_or_default();
    let in_meta = call.meta.as_ref().and_then(|meta| meta.get("claudeCode")?.get("toolName")?.as_str());
    let names = [call.name.as_deref(), in_meta, kind.as_str(), Some(call.title.as_str())];
    names.into_iter().flatten().any(|name| name.eq_ignore_ascii_case(tool))
}

fn begins(call: &ToolCall, words: &str) -> bool {
    let words = words.trim_end_matches('*').trim_end_matches(':').trim();
    command(call).unwrap_or(&call.title).trim_start().starts_with(words)
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::ToolKind;
    use serde_json::{Value, json};

    use super::*;

    fn options(kinds: &[&str]) -> Vec<PermissionOption> {
        let option = |kind: &&str| json!({"optionId": format!("id-{kind}"), "name": "x", "kind": kind});
        serde_json::from_value(Value::Array(kinds.iter().map(option).collect())).expect("options")
    }

    #[test]
    fn once_is_enough_and_nothing_that_fits_is_no_choice() {
        let chosen = |kinds: &[&str], is_allowed| {
            serde_json::to_value(answer(&options(kinds), is_allowed)).expect("JSON")["outcome"].to_string()
        };
        assert!(chosen(&["allow_always", "allow_once", "reject_once"], true).contains("id-allow_once"));
        assert!(chosen(&["allow_always", "reject_once"], true).contains("id-allow_always"));
        assert!(chosen(&["allow_always", "reject_always"], false).contains("id-reject_always"));
        assert_eq!(chosen(&["allow_once"], false), r#"{"outcome":"cancelled"}"#);
    }

    #[test]
    fn a_disallowed_tool_is_known_by_its_name_its_kind_and_its_command() {
        let push = ToolCall::new("1", "git push origin").name("Bash".to_owned()).kind(ToolKind::Execute);
        let push = push.raw_input(json!({"command": "git push origin"}));
        let is_disallowed = |entry: &str| is_disallowed(&push, &["Other".to_owned(), entry.to_owned()]);
        for entry in ["Bash", "bash", "execute", "Bash(git push:*)", "Bash(git push *)", "git push origin"] {
            assert!(is_disallowed(entry), "{entry}");
        }
        for entry in ["Edit", "Bash(git pull:*)", "git"] {
            assert!(!is_disallowed(entry), "{entry}");
        }
    }
}
