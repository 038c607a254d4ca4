//! What was spent, for people: by codebase and by person, in the last 24 hours and the last 30 days.

use serde::Serialize;

use crate::engine::Engine;
use crate::failure::Outcome;
use crate::store::{Spent, SpentBy};

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// All of it. Those who spent most come first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spending {
    pub codebases: Vec<SpendingLine>,
    pub people: Vec<SpendingLine>,
}

/// Somebody's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpendingLine {
    /// `None`: of conversations without a codebase.
    pub name: Option<String>,
    /// In the last 24 hours.
    pub day: Spent,
    /// In the last 30 days.
    pub month: Spent,
}

impl Engine {
    /// What went through the gateway, of all machines that share the store.
    pub async fn spending(&self) -> Outcome<Spending> {
        Ok(Spending {
            codebases: self.spending_by(SpentBy::Codebase).await?,
            people: self.spending_by(SpentBy::Person).await?,
        })
    }

    async fn spending_by(&self, by: SpentBy) -> Outcome<Vec<SpendingLine>> {
        let now = self.clock.now();
        let month = self.store.spent_by(by, now.plus_seconds(-30 * DAY_SECONDS)).await?;
        let days = self.store.spent_by(by, now.plus_seconds(-DAY_SECONDS)).await?;
        let day_of = |name: &Option<String>| {
            days.iter().find(|(other, _)| other == name).map(|(_, spent)| *spent).unwrap_or_default()
        };
        let line = |(name, month): (Option<String>, Spent)| SpendingLine { day: day_of(&name), name, month };
        Ok(month.into_iter().map(line).collect())
    }
}
