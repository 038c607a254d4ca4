//! Who may do what: removing and forgetting what is not one's own needs an admin.

use hedgerow_core::environment::Actor;
use hedgerow_core::{Environment, Kind, UserError};

use crate::engine::Engine;
use crate::failure::Outcome;

impl Engine {
    /// `Protected` unless the person first asked for the environment, or is an admin. `act` is what they may not do.
    pub(super) async fn require_owner(&self, by: &Actor, environment: &Environment, act: &str) -> Outcome<()> {
        let owner = &environment.created_by;
        if owner == by || self.is_admin(by).await? {
            return Ok(());
        }
        let name = environment.name();
        let error =
            UserError::new(Kind::Protected, format!("only its owner (`{owner}`) or an admin may {act} `{name}`"));
        Err(error.hint("ask them to do it").into())
    }

    /// `Protected` unless the person is an admin.
    pub(super) async fn require_admin(&self, by: &Actor, act: &str) -> Outcome<()> {
        if self.is_admin(by).await? {
            return Ok(());
        }
        let error = UserError::new(Kind::Protected, format!("only an admin may {act}"));
        Err(error
            .hint(format!("ask an admin to do it; `admins` in hedgerow.toml names them, and `{by}` is not one"))
            .into())
    }
}
