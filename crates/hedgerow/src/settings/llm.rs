//! The model gateway's settings: whose models, by which key, for how much.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_core::UserError;
use hedgerow_core::assistant::Maker;
use hedgerow_engine::gateway::money::Money;
use hedgerow_engine::gateway::{ApiKey, Budgets, GatewaySettings, Price, Upstream};

use super::keys::{self, Key};
use super::reader::Reader;
use super::{Given, Origin, checks};

/// The keys of each maker.
const MAKERS: [(Maker, &Key, &Key); 3] = [
    (Maker::Anthropic, &keys::ANTHROPIC_KEY, &keys::ANTHROPIC_URL),
    (Maker::Openai, &keys::OPENAI_KEY, &keys::OPENAI_URL),
    (Maker::Gemini, &keys::GEMINI_KEY, &keys::GEMINI_URL),
];

/// The prices in the file: by the beginning of a model's name, then by what is paid for.
pub(super) type Prices = BTreeMap<String, (BTreeMap<&'static str, Given>, Origin)>;

/// What is paid for.
pub(super) const PAID_FOR: [&str; 3] = ["input", "cached", "output"];

/// There is a gateway as soon as there is a key. All of it is checked in any case.
pub(super) fn gateway(reader: &mut Reader<'_>) -> Result<Option<Arc<GatewaySettings>>, UserError> {
    let mut upstreams = Vec::new();
    for (maker, key, url) in MAKERS {
        let url = reader.text_or_default(url, checks::llm_url)?;
        if let Some(secret) = reader.text(key, checks::llm_key)? {
            upstreams.push(Upstream { maker, url, key: ApiKey::new(secret.reveal()) });
        }
    }
    let budgets = Budgets {
        run: money(reader, &keys::BUDGET_RUN)?,
        codebase_day: money(reader, &keys::BUDGET_CODEBASE)?,
        person_day: money(reader, &keys::BUDGET_PERSON)?,
    };
    let prices = prices(reader)?;
    let is_on = !upstreams.is_empty();
    Ok(is_on.then(|| Arc::new(GatewaySettings { upstreams, budgets, prices })))
}

fn money(reader: &mut Reader<'_>, key: &Key) -> Result<Option<Money>, UserError> {
    reader.text(key, checks::money)
}

fn prices(reader: &mut Reader<'_>) -> Result<Vec<Price>, UserError> {
    let mut prices = Vec::new();
    for (models, (given, origin)) in std::mem::take(&mut reader.file.prices) {
        let money = |name: &str| checks::text(&keys::PRICES, &given[name], checks::money);
        let price = Price { input: money("input")?, cached: money("cached")?, output: money("output")?, models };
        let shown = format!("input {}, cached {}, output {}", price.input, price.cached, price.output);
        reader.note(keys::PRICES.name.replace("<model>", &price.models), shown, origin);
        prices.push(price);
    }
    Ok(prices)
}
