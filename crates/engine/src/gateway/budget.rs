//! What may be spent: by a run, and within a day by a codebase and by a person.
//!
//! Asked before each call. What a call costs is known at its end, so the last one may go beyond; the next is refused.

use hedgerow_core::Timestamp;

use super::money::Money;
use super::{Call, Holder};
use crate::failure::Outcome;
use crate::store::Spender;

/// The last 24 hours, at any time.
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Each `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budgets {
    pub run: Option<Money>,
    pub codebase_day: Option<Money>,
    pub person_day: Option<Money>,
}

impl Budgets {
    pub(super) const fn is_any(&self) -> bool {
        self.run.is_some() || self.codebase_day.is_some() || self.person_day.is_some()
    }

    /// Which limits hold for a run, whose spending counts from when, and what to tell people.
    fn of<'a>(&self, holder: &'a Holder, now: Timestamp) -> Vec<(Money, Spender<'a>, Timestamp, &'static str)> {
        let day = now.plus_seconds(-DAY_SECONDS);
        let ever = Timestamp::from_millis(0);
        let run = self.run.map(|most| (most, Spender::Run(holder.run), ever, "of a run (`llm.budget.run`)"));
        let codebase = self.codebase_day.zip(holder.codebase).map(|(most, codebase)| {
            (most, Spender::Codebase(codebase), day, "of a codebase for 24 hours (`llm.budget.codebase_day`)")
        });
        let person = self.person_day.map(|most| {
            (most, Spender::Person(&holder.person), day, "of a person for 24 hours (`llm.budget.person_day`)")
        });
        [run, codebase, person].into_iter().flatten().collect()
    }
}

impl Call {
    /// Why there is no money left for it, in a sentence for people; `None` when there is.
    pub async fn refusal(&self) -> Outcome<Option<String>> {
        let now = self.gateway.clock.now();
        for (most, spender, since, which) in self.gateway.budgets.of(&self.holder, now) {
            let spent = Money::from_micros(self.gateway.store.spent(spender, since).await?.cost_micros);
            if spent >= most {
                let why = format!("the budget {which} is spent: {spent} of {most}");
                tracing::warn!(run = %self.holder.run, why, "a call of a model is refused");
                _ = self.holder.refused.set(why.clone());
                return Ok(Some(why));
            }
        }
        Ok(None)
    }
}
