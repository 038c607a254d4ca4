//! The MCP servers that an assistant gets, as people write them everywhere: an `mcpServers` object.

use hedgerow_core::assistant::AssistantError;
use serde_json::{Map, Value};

/// Each server by its name, as it is written. A whole file with `mcpServers` in it is understood as well.
pub(super) fn servers(written: Option<&str>) -> Result<Map<String, Value>, AssistantError> {
    let wrong = |why: &str| AssistantError::Failed(format!("`mcp_servers` in its settings is wrong: {why}"));
    let Some(written) = written else { return Ok(Map::new()) };
    let mut servers: Map<String, Value> = serde_json::from_str(written).map_err(|error| wrong(&error.to_string()))?;
    if let Some(Value::Object(inner)) = servers.remove("mcpServers") {
        servers = inner;
    }
    for (name, server) in &servers {
        if !["command", "url"].iter().any(|key| server.get(key).is_some_and(Value::is_string)) {
            return Err(wrong(&format!("the server `{name}` has neither a `command` nor a `url`")));
        }
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_bare_or_in_their_file() {
        let bare = servers(Some(r#"{"a": {"command": "x"}}"#)).expect("it is right");
        assert_eq!(bare, servers(Some(r#"{"mcpServers": {"a": {"command": "x"}}}"#)).expect("it is right"));
        assert_eq!(bare.keys().collect::<Vec<_>>(), ["a"]);
        assert!(servers(None).expect("none").is_empty());
        for wrong in ["[]", "{", r#"{"a": {}}"#, r#"{"a": {"command": 5}}"#] {
            let told = servers(Some(wrong)).expect_err(wrong).to_string();
            assert!(told.contains("`mcp_servers` in its settings is wrong"), "{told}");
        }
    }
}
