//! What a turn used, of the many figures that Claude gives.
//!
//! `total_cost_usd` and `modelUsage` are of the whole session, the turns before a resume included, and cannot be told
//! apart here. `model_usage_since_last_result` is of this turn alone, all models and subagents in it, so it is believed
//! where it is given. Where it is not, `usage` has the tokens of this turn, and the cost is known only when the session
//! began with it.

use hedgerow_core::assistant::Usage;
use serde_json::Value;

/// What the messages used that have ended, while the turn goes on.
#[derive(Debug, Default)]
pub(super) struct Meter {
    total: Usage,
    /// As the message that is being said began.
    begun: Usage,
}

impl Meter {
    pub(super) fn begin(&mut self, usage: &Value) {
        self.begun = of_message(usage);
    }

    /// The total after a message; its end counts all it put out, but not always what went in.
    pub(super) fn end(&mut self, usage: &Value) -> Usage {
        let (begun, ended) = (std::mem::take(&mut self.begun), of_message(usage));
        let total = &mut self.total;
        total.input_tokens = total.input_tokens.saturating_add(begun.input_tokens.max(ended.input_tokens));
        total.cached_tokens = total.cached_tokens.saturating_add(begun.cached_tokens.max(ended.cached_tokens));
        total.output_tokens = total.output_tokens.saturating_add(begun.output_tokens.max(ended.output_tokens));
        self.total
    }
}

/// What the turn used, as its result says; `None` when it says nothing of it.
pub(super) fn of_turn(result: &Value, resumes: bool) -> Option<Usage> {
    let by_model = result.get("model_usage_since_last_result").and_then(Value::as_object);
    let usage = match by_model.filter(|models| !models.is_empty()) {
        Some(models) => models.values().map(of_model).fold(Usage::default(), sum),
        None => {
            let cost = if resumes { None } else { result.get("total_cost_usd").and_then(micros) };
            Usage { cost_micros: cost, ..of_message(result.get("usage")?) }
        }
    };
    (usage.input_tokens > 0 || usage.output_tokens > 0 || usage.cost_micros > Some(0)).then_some(usage)
}

fn of_message(usage: &Value) -> Usage {
    let tokens = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let cached = tokens("cache_read_input_tokens");
    let written = tokens("cache_creation_input_tokens");
    Usage {
        input_tokens: tokens("input_tokens").saturating_add(cached).saturating_add(written),
        cached_tokens: cached,
        output_tokens: tokens("output_tokens"),
        cost_micros: None,
    }
}

fn of_model(usage: &Value) -> Usage {
    let tokens = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let cached = tokens("cacheReadInputTokens");
    let written = tokens("cacheCreationInputTokens");
    Usage {
        input_tokens: tokens("inputTokens").saturating_add(cached).saturating_add(written),
        cached_tokens: cached,
        output_tokens: tokens("outputTokens"),
        cost_micros: usage.get("costUSD").and_then(micros),
    }
}

fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        cached_tokens: one.cached_tokens.saturating_add(other.cached_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        cost_micros: match (one.cost_micros, other.cost_micros) {
            (None, cost) | (cost, None) => cost,
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
        },
    }
}

/// Dollars in millionths. What is no sum of money is not known.
fn micros(dollars: &Value) -> Option<u64> {
    format!("{:.0}", dollars.as_f64()? * 1e6).parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resumed_session_is_charged_for_this_turn_only() {
        let result = json!({
            "total_cost_usd": 0.5,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "modelUsage": {"big": {"inputTokens": 900, "costUSD": 0.5}},
            "model_usage_since_last_result": {
                "big": {"inputTokens": 10, "cacheReadInputTokens": 70, "cacheCreationInputTokens": 20, "outputTokens": 5, "costUSD": 0.000_14},
                "small": {"inputTokens": 3, "outputTokens": 2, "costUSD": 0.000_001},
            },
        });
        let expected = Usage { input_tokens: 103, cached_tokens: 70, output_tokens: 7, cost_micros: Some(141) };
        assert_eq!(of_turn(&result, true), Some(expected));
        assert_eq!(of_turn(&result, false), Some(expected));
    }

    #[test]
    fn an_older_version_tells_the_cost_of_the_first_turn_only() {
        let result = json!({
            "total_cost_usd": 0.25,
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2},
        });
        let tokens = Usage { input_tokens: 15, cached_tokens: 5, output_tokens: 2, cost_micros: None };
        assert_eq!(of_turn(&result, true), Some(tokens));
        assert_eq!(of_turn(&result, false), Some(Usage { cost_micros: Some(250_000), ..tokens }));
    }

    #[test]
    fn what_is_not_said_is_not_known() {
        for result in [json!({}), json!({"usage": {"input_tokens": 0}, "total_cost_usd": 0}), json!({"usage": [1]})] {
            assert_eq!(of_turn(&result, false), None, "{result}");
        }
        assert_eq!(micros(&json!(-1)), None);
        assert_eq!(micros(&json!("1")), None);
        assert_eq!(micros(&json!(1e300)), None);
    }

    #[test]
    fn what_was_used_so_far_grows_with_each_message() {
        let mut meter = Meter::default();
        meter.begin(&json!({"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1}));
        let first = meter.end(&json!({"output_tokens": 25}));
        assert_eq!((first.input_tokens, first.cached_tokens, first.output_tokens), (100, 90, 25));
        let second = meter.end(&json!({"input_tokens": 7, "output_tokens": 3}));
        assert_eq!((second.input_tokens, second.output_tokens), (107, 28));
    }
}
