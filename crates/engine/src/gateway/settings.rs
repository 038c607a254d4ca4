//! What the gateway must be told.

use std::fmt;

use hedgerow_core::assistant::Maker;

use super::{Budgets, Price};

/// There is a gateway where at least one maker's key is set.
#[derive(Debug, Clone)]
pub struct GatewaySettings {
    /// At most one for each maker.
    pub upstreams: Vec<Upstream>,
    pub budgets: Budgets,
    /// Win over the defaults.
    pub prices: Vec<Price>,
}

/// Where the models of a maker are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub maker: Maker,
    /// What stands before `/v1/…`, without a slash at the end.
    pub url: String,
    pub key: ApiKey,
}

/// The key of an account. Shown to nobody by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the one header it goes into.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
