//! What is needed to answer one message of GitHub: kept with it, and read again when it is answered.

use serde::{Deserialize, Serialize};

/// Where the words of a message stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Handle {
    /// GitHub's own name of the thing that holds the words, for reactions.
    pub(super) node: String,
    /// Answered in the thread of this review comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) review_comment: Option<u64>,
    /// `acme/shop`
    pub(super) repository: String,
    pub(super) number: u64,
}

impl Handle {
    pub(super) fn to_text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// `None` when it is none of ours.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_survives_being_kept() {
        let comment = Handle { node: "IC_1".into(), review_comment: None, repository: "acme/shop".into(), number: 42 };
        let thread = Handle { review_comment: Some(7), ..comment.clone() };
        for handle in [comment, thread] {
            assert_eq!(Handle::read(&handle.to_text()), Some(handle));
        }
        assert_eq!(Handle::read(""), None);
        assert_eq!(Handle::read("{}"), None);
    }
}
