//! What is settled with an agent between its session and our prompt: its mode and its model.

use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, SessionConfigOption, SessionConfigOptionCategory, SessionModeState,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Modes in which an agent goes without a sandbox of its own, which would make `.git` read-only. The cage is around it.
const UNBOUNDED: [&str; 2] = ["agent-full-access", "full-access"];

/// What we want of it.
#[derive(Debug, Default)]
pub(super) struct Wanted<'a> {
    pub(super) mode: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    /// Without a mode of the owner's choice: may it go without asking?
    pub(super) may_be_unbounded: bool,
    /// What it was told of the session may still be on its way. An answer to one more question comes after that.
    pub(super) is_loaded: bool,
}

/// What an agent says of a session that it made or found.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Offer {
    #[serde(deserialize_with = "or_none")]
    modes: Option<SessionModeState>,
    #[serde(deserialize_with = "or_none")]
    config_options: Option<Vec<SessionConfigOption>>,
    /// Of agents that have no options for it yet.
    models: Value,
}

/// What is wrong in an offer is as good as not offered.
fn or_none<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

/// The requests that settle it, and what cannot be settled.
pub(super) fn settle(offer: &Offer, session: &str, wanted: &Wanted<'_>) -> (Vec<(&'static str, Value)>, Vec<String>) {
    let (mut requests, mut regrets) = (Vec::new(), Vec::new());
    let option = |category: &SessionConfigOptionCategory, value: &str| {
        let options = offer.config_options.as_deref().unwrap_or_default();
        let option = options.iter().find(|option| option.category.as_ref() == Some(category))?;
        let params = json!({"sessionId": session, "configId": option.id, "value": value});
        Some((AGENT_METHOD_NAMES.session_set_config_option, params))
    };
    if let Some(mode) = wanted.mode.or_else(|| offer.mode(wanted)) {
        if offer.modes.is_some() {
            requests.push((AGENT_METHOD_NAMES.session_set_mode, json!({"sessionId": session, "modeId": mode})));
        } else if let Some(request) = option(&SessionConfigOptionCategory::Mode, mode) {
            requests.push(request);
        } else {
            regrets.push(format!("this agent has no modes, so `permissions = \"{mode}\"` does nothing"));
        }
    }
    if let Some(model) = wanted.model {
        if let Some(request) = option(&SessionConfigOptionCategory::Model, model) {
            requests.push(request);
        } else if offer.models.is_object() {
            requests.push(("session/set_model", json!({"sessionId": session, "modelId": model})));
        } else {
            regrets.push(format!("this agent does not let its model be chosen, so `model = \"{model}\"` does nothing"));
        }
    }
    (requests, regrets)
}

impl Offer {
    /// The mode that we choose ourselves.
    fn mode(&self, wanted: &Wanted<'_>) -> Option<&str> {
        let modes = self.modes.as_ref()?;
        let mut offered = modes.available_modes.iter().map(|mode| &*mode.id.0);
        let unbounded = offered.find(|mode| wanted.may_be_unbounded && UNBOUNDED.contains(mode));
        unbounded.or_else(|| wanted.is_loaded.then_some(&*modes.current_mode_id.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(offer: Value, wanted: &Wanted<'_>) -> (Vec<String>, usize) {
        let (requests, regrets) = settle(&serde_json::from_value(offer).expect("an offer"), "s", wanted);
        (requests.into_iter().map(|(method, params)| format!("{method} {params}")).collect(), regrets.len())
    }

    #[test]
    fn mode_and_model_are_asked_for_as_the_agent_offers_them() {
        let wanted = Wanted { mode: Some("plan"), model: Some("m"), ..Wanted::default() };
        let modes = json!({"currentModeId": "default", "availableModes": [{"id": "default", "name": "D"}]});
        let option = |category: &str| json!({"id": "x", "name": "X", "category": category, "type": "select", "currentValue": "a", "options": []});
        let (asked, regrets) = settled(json!({"modes": modes, "models": {"availableModels": []}}), &wanted);
        assert_eq!(
            asked,
            [
                r#"session/set_mode {"sessionId":"s","modeId":"plan"}"#,
                r#"session/set_model {"sessionId":"s","modelId":"m"}"#
            ]
        );
        assert_eq!(regrets, 0);
        let (asked, _) = settled(json!({"configOptions": [option("mode"), option("model")]}), &wanted);
        assert_eq!(asked.iter().filter(|asked| asked.starts_with("session/set_config_option")).count(), 2, "{asked:?}");
        assert_eq!(settled(json!({"modes": 7, "configOptions": {}}), &wanted), (Vec::new(), 2));
    }

    #[test]
    fn a_sandbox_inside_the_cage_is_left_out_unless_the_owner_wants_it() {
        let modes = json!({"currentModeId": "agent", "availableModes": [
            {"id": "agent", "name": "A"}, {"id": "agent-full-access", "name": "F"}]});
        let asked = |wanted| settled(json!({"modes": modes}), &wanted).0.concat();
        assert!(asked(Wanted { may_be_unbounded: true, ..Wanted::default() }).contains("agent-full-access"));
        assert!(
            asked(Wanted { mode: Some("agent"), may_be_unbounded: true, ..Wanted::default() }).contains(r#""agent""#)
        );
        assert!(asked(Wanted { is_loaded: true, ..Wanted::default() }).contains(r#""agent""#));
        assert_eq!(asked(Wanted::default()), "");
    }
}
