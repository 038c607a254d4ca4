//! Why a turn of Codex failed, by its own codes.

use hedgerow_core::assistant::AssistantError;
use serde::Deserialize;
use serde_json::Value;

use super::super::rpc::Fault;
use super::super::words::keepable;

/// The error of a turn.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Trouble {
    pub(super) message: String,
    additional_details: Option<String>,
    codex_error_info: Value,
}

impl Trouble {
    pub(super) fn told(&self) -> String {
        let told = match &self.additional_details {
            Some(details) if !self.message.contains(details.as_str()) => format!("{}: {details}", self.message),
            _ => self.message.clone(),
        };
        keepable(told)
    }

    pub(super) fn kind(&self) -> AssistantError {
        let told = if self.message.is_empty() { "it does not say why".to_owned() } else { self.told() };
        match (self.codex_error_info.as_str(), self.status()) {
            (Some("contextWindowExceeded"), _) => AssistantError::OutOfContext(told),
            (Some("sessionBudgetExceeded"), _) => AssistantError::OutOfBounds(told),
            (Some("unauthorized"), _) | (_, Some(401 | 403)) => AssistantError::LoggedOut(told),
            (
                Some(
                    "usageLimitExceeded"
                    | "rateLimitExceeded"
                    | "serverOverloaded"
                    | "flexUnavailable"
                    | "policyCapacityUnavailable",
                ),
                _,
            )
            | (_, Some(402 | 429 | 503 | 529)) => AssistantError::Limited(told),
            _ => AssistantError::Failed(told),
        }
    }

    /// The status of the model's API, as in `{"httpConnectionFailed": {"httpStatusCode": 401}}`.
    fn status(&self) -> Option<u64> {
        self.codex_error_info.as_object()?.values().find_map(|info| info.get("httpStatusCode")?.as_u64())
    }
}

/// Why a thread cannot be resumed. That it is unknown, Codex tells in words. A thread that was begun with another provider
/// of models, or with one that is no longer there, it does not go on with: that one is lost as well.
pub(super) fn of_resuming(fault: &Fault, thread: &str) -> AssistantError {
    let is_unknown = fault.message.starts_with("no rollout found")
        || fault.message.starts_with("invalid session id")
        || fault.message.starts_with("invalid thread id")
        || (fault.message.contains("not found") && fault.message.contains(thread))
        || matches!(
            fault.data.get("type").and_then(Value::as_str),
            Some("modelProviderNotConfigured" | "modelProviderMismatch")
        );
    if is_unknown { AssistantError::UnknownSession } else { of_asking(fault) }
}

pub(super) fn of_asking(fault: &Fault) -> AssistantError {
    AssistantError::Failed(fault.told())
}
