//! What tokens cost. Makers change their prices, so ours are only defaults: those of the settings come first.

use super::money::Money;

/// What one call used, as the model's maker counts it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// All that went in, what the model had in its cache and what it wrote there included.
    pub input_tokens: u64,
    /// Read from the cache.
    pub cached_tokens: u64,
    /// Written to the cache.
    pub written_tokens: u64,
    pub output_tokens: u64,
}

/// What a million tokens of some models cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Models whose names begin so.
    pub models: String,
    pub input: Money,
    /// Input that the model has in its cache.
    pub cached: Money,
    pub output: Money,
}

/// Families of models that are well known, in dollars for a million tokens of input, cached input and output. A newer
/// model of a family is taken to cost what the family does.
const DEFAULTS: &[(&str, &str, &str, &str)] = &[
    ("claude-opus", "5", "0.5", "25"),
    ("claude-opus-4-0", "15", "1.5", "75"),
    ("claude-opus-4-1", "15", "1.5", "75"),
    ("claude-opus-4-2", "15", "1.5", "75"),
    ("claude-3-opus", "15", "1.5", "75"),
    ("claude-sonnet", "3", "0.3", "15"),
    ("claude-3-7-sonnet", "3", "0.3", "15"),
    ("claude-3-5-sonnet", "3", "0.3", "15"),
    ("claude-haiku", "1", "0.1", "5"),
    ("claude-3-5-haiku", "0.8", "0.08", "4"),
    ("claude-3-haiku", "0.25", "0.03", "1.25"),
    ("gpt-5", "1.75", "0.175", "14"),
    ("gpt-5-", "1.25", "0.125", "10"),
    ("gpt-5.1", "1.25", "0.125", "10"),
    ("gpt-5-mini", "0.25", "0.025", "2"),
    ("gpt-5.1-codex-mini", "0.25", "0.025", "2"),
    ("gpt-5-nano", "0.05", "0.005", "0.4"),
    ("gpt-4.1", "2", "0.5", "8"),
    ("gpt-4.1-mini", "0.4", "0.1", "1.6"),
    ("gpt-4.1-nano", "0.1", "0.025", "0.4"),
    ("gpt-4o", "2.5", "1.25", "10"),
    ("gpt-4o-mini", "0.15", "0.075", "0.6"),
    ("codex-mini", "1.5", "0.375", "6"),
    ("o3", "2", "0.5", "8"),
    ("o3-mini", "1.1", "0.55", "4.4"),
    ("o4-mini", "1.1", "0.275", "4.4"),
    ("gemini-3", "2", "0.2", "12"),
    ("gemini-3-flash", "0.5", "0.05", "3"),
    ("gemini-2.5-pro", "1.25", "0.125", "10"),
    ("gemini-2.5-flash", "0.3", "0.03", "2.5"),
    ("gemini-2.5-flash-lite", "0.1", "0.01", "0.4"),
    ("gemini-2.0-flash", "0.1", "0.025", "0.4"),
];

/// The prices that hold: those somebody set, then ours.
#[derive(Debug)]
pub(super) struct Prices {
    set: Vec<Price>,
    defaults: Vec<Price>,
}

impl Prices {
    pub(super) fn new(set: Vec<Price>) -> Self {
        let money = |text: &str| text.parse().expect("a default is good");
        let default = |(models, input, cached, output): &(&str, &str, &str, &str)| Price {
            models: (*models).to_owned(),
            input: money(input),
            cached: money(cached),
            output: money(output),
        };
        Self { set, defaults: DEFAULTS.iter().map(default).collect() }
    }

    /// What it would cost with the model that costs most.
    pub(super) fn dearest(&self, counted: &Counted) -> Money {
        let all = self.set.iter().chain(&self.defaults).map(|price| price.cost(counted).micros);
        Money::from_micros(all.max().unwrap_or(0))
    }

    /// Of those that fit a model, the one that says most about it.
    pub(super) fn of(&self, model: &str) -> Option<&Price> {
        // Gateways of others put the maker before the name: `anthropic/claude-…`.
        let bare = model.rsplit('/').next().unwrap_or(model);
        let best = |prices: &'_ [Price], name: &str| {
            let fitting = prices.iter().enumerate().filter(|(_, price)| name.starts_with(&price.models));
            fitting.max_by_key(|(_, price)| price.models.len()).map(|(nth, _)| nth)
        };
        let set = best(&self.set, model).or_else(|| best(&self.set, bare)).map(|nth| &self.set[nth]);
        set.or_else(|| best(&self.defaults, bare).map(|nth| &self.defaults[nth]))
    }
}

impl Price {
    /// What is written to a cache costs a quarter more than what is only read, as its one maker charges it.
    pub(super) fn cost(&self, counted: &Counted) -> Money {
        let plain = counted.input_tokens.saturating_sub(counted.cached_tokens).saturating_sub(counted.written_tokens);
        let input = u128::from(self.input.micros);
        let micros = u128::from(plain) * input
            + u128::from(counted.written_tokens) * input * 5 / 4
            + u128::from(counted.cached_tokens) * u128::from(self.cached.micros)
            + u128::from(counted.output_tokens) * u128::from(self.output.micros);
        // Rounded up: a call is never free.
        Money::from_micros(u64::try_from(micros.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(models: &str, dollars: u64) -> Price {
        let money = Money::dollars(dollars);
        Price { models: models.to_owned(), input: money, cached: money, output: money }
    }

    #[test]
    fn what_somebody_set_wins_and_the_longest_beginning_says_most() {
        let prices = Prices::new(vec![price("claude", 7), price("claude-sonnet", 8)]);
        let input = |model: &str| prices.of(model).map(|price| price.input.to_string());
        assert_eq!(input("claude-opus-4-5").as_deref(), Some("$7.00"));
        assert_eq!(input("claude-sonnet-4-5-20250929").as_deref(), Some("$8.00"));
        assert_eq!(input("gpt-5-mini-2025-08-07").as_deref(), Some("$0.25"));
        assert_eq!(input("gpt-5.2-codex").as_deref(), Some("$1.75"));
        assert_eq!(input("openai/gpt-5").as_deref(), Some("$1.75"));
        assert_eq!(input("nobody-knows-1"), None);
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let prices = Prices::new(Vec::new());
        let sonnet = prices.of("claude-sonnet-4-5").expect("a price");
        let counted =
            Counted { input_tokens: 1_000_000, cached_tokens: 400_000, written_tokens: 200_000, output_tokens: 10_000 };
        // 0.4 plain at 3, 0.2 written at 3.75, 0.4 cached at 0.3, 0.01 out at 15.
        assert_eq!(sonnet.cost(&counted).micros, 1_200_000 + 750_000 + 120_000 + 150_000);
        let one = Counted { output_tokens: 1, ..Counted::default() };
        assert_eq!(sonnet.cost(&one).micros, 15);
        let odd = Counted { input_tokens: 1, cached_tokens: 5, ..Counted::default() };
        assert_eq!(sonnet.cost(&odd).micros, 2, "figures that cannot be right do not break anything");
    }
}
