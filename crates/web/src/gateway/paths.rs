//! Which calls are passed on: those that ask a model, and those that ask about models. Anything else an account can do
//! (files, batches, keys, bills) is nobody's here.

use axum::http::Method;
use hedgerow_core::assistant::Maker;

/// Longest path of a call.
const LONGEST: usize = 300;

/// A call that may be passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known<'a> {
    /// Below the URL of its maker, without a slash before it.
    pub(super) path: &'a str,
    /// Whether a model is put to work, which costs something.
    pub(super) is_metered: bool,
    /// The model, where the path names it.
    pub(super) model: Option<&'a str>,
}

/// Whose API is meant by what comes behind `/llm/<run>/`, and the path below that maker's URL.
pub(super) fn maker(below: &str) -> (Maker, &str) {
    let prefixed = [(Maker::Openai, "openai/"), (Maker::Gemini, "gemini/")];
    let found = prefixed.into_iter().find_map(|(maker, prefix)| Some((maker, below.strip_prefix(prefix)?)));
    found.unwrap_or((Maker::Anthropic, below))
}

/// The call at this path, as it stands in the request: nothing is decoded, so that nothing can be hidden.
pub(super) fn known<'a>(maker: Maker, method: &Method, path: &'a str) -> Option<Known<'a>> {
    if path.len() > LONGEST {
        return None;
    }
    let parts: Vec<&str> = path.split('/').collect();
    if !parts.iter().all(|part| is_plain(part)) {
        return None;
    }
    let (is_metered, model) = match (maker, method.as_str(), &parts[..]) {
        (Maker::Anthropic, "POST", ["v1", "messages"])
        | (Maker::Openai, "POST", ["v1", "responses"] | ["v1", "chat", "completions"]) => (true, None),
        (Maker::Anthropic, "POST", ["v1", "messages", "count_tokens"])
        | (Maker::Anthropic | Maker::Openai, "GET", ["v1", "models"] | ["v1", "models", _])
        | (Maker::Gemini, "GET", ["v1" | "v1beta", "models"] | ["v1" | "v1beta", "models", _]) => (false, None),
        (Maker::Gemini, "POST", ["v1" | "v1beta", "models", called]) => match called.split_once(':')? {
            (model, "generateContent" | "streamGenerateContent") => (true, Some(model)),
            (model, "countTokens") => (false, Some(model)),
            _ => return None,
        },
        _ => return None,
    };
    Some(Known { path, is_metered, model })
}

fn is_plain(part: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte);
    !part.is_empty() && part.bytes().any(|byte| byte != b'.') && part.bytes().all(is_plain)
}

/// What of the query is passed on: words that say how to answer, never one that could be a key.
pub(super) fn query(query: Option<&str>) -> Option<String> {
    const KNOWN: [&str; 8] =
        ["alt", "beta", "limit", "after_id", "before_id", "pageSize", "pageToken", "client_version"];
    let is_known = |pair: &&str| KNOWN.contains(&pair.split('=').next().unwrap_or_default());
    let kept: Vec<&str> = query?.split('&').filter(is_known).collect();
    (!kept.is_empty()).then(|| kept.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(method: &Method, below: &str) -> Option<(Maker, bool)> {
        let (maker, path) = maker(below);
        known(maker, method, path).map(|known| (maker, known.is_metered))
    }

    #[test]
    fn what_agents_call_is_known() {
        for (method, below, maker, is_metered) in [
            (Method::POST, "v1/messages", Maker::Anthropic, true),
            (Method::POST, "v1/messages/count_tokens", Maker::Anthropic, false),
            (Method::GET, "v1/models", Maker::Anthropic, false),
            (Method::GET, "v1/models/claude-sonnet-4-5", Maker::Anthropic, false),
            (Method::POST, "openai/v1/responses", Maker::Openai, true),
            (Method::POST, "openai/v1/chat/completions", Maker::Openai, true),
            (Method::GET, "openai/v1/models", Maker::Openai, false),
            (Method::POST, "gemini/v1beta/models/gemini-2.5-pro:generateContent", Maker::Gemini, true),
            (Method::POST, "gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent", Maker::Gemini, true),
            (Method::POST, "gemini/v1beta/models/gemini-2.5-pro:countTokens", Maker::Gemini, false),
        ] {
            assert_eq!(of(&method, below), Some((maker, is_metered)), "{method} {below}");
        }
    }

    #[test]
    fn whatever_else_an_account_can_do_is_not_and_no_trick_gets_there() {
        for below in [
            "",
            "v1",
            "v1/messages/",
            "v1//messages",
            "/v1/messages",
            "v1/messages/batches",
            "v1/../v1/messages",
            "v1/models/..",
            "v1/models/.",
            "v1/models/%2e%2e%2ffiles",
            "v1/models/..%2ffiles",
            "v1%2fmessages",
            "v1/messages;x",
            "v1/messages\\..",
            "v1/files",
            "v1/organizations/api_keys",
            "openai/v1/responses/resp_1",
            "openai/v1/files",
            "openai/openai/v1/responses",
            "gemini/v1beta/models/x:batchGenerateContent",
            "gemini/v1beta/models/x/y:generateContent",
            "gemini/v1beta/cachedContents",
            "gemini/v1beta/models/:generateContent:x",
        ] {
            assert_eq!(of(&Method::POST, below), None, "{below}");
        }
        assert_eq!(of(&Method::GET, "v1/messages"), None);
        assert_eq!(of(&Method::DELETE, "v1/models/x"), None);
        assert_eq!(of(&Method::GET, &format!("v1/models/{}", "x".repeat(400))), None);
    }

    #[test]
    fn a_query_keeps_what_says_how_to_answer() {
        assert_eq!(query(Some("beta=true")).as_deref(), Some("beta=true"));
        assert_eq!(query(Some("alt=sse&key=secret&x=1")).as_deref(), Some("alt=sse"));
        assert_eq!(query(Some("key=secret")), None);
        assert_eq!(query(None), None);
    }
}
