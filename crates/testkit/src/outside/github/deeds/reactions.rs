//! Reactions. GitHub delivers none of them.

use crate::outside::github::state::{Node, Reaction, World};

impl World {
    /// Reacts; the same person's same reaction is there once. `None` when there is no such thing.
    pub(crate) fn reacts(&mut self, node: Node, who: u64, content: &str) -> Option<(Reaction, bool)> {
        let (id, created_at) = (self.id(), self.clock.now());
        let reactions = self.reactions(node)?;
        if let Some(old) = reactions.iter().find(|reaction| reaction.who == who && reaction.content == content) {
            return Some((old.clone(), false));
        }
        let new = Reaction { id, who, content: content.to_owned(), created_at };
        reactions.push(new.clone());
        Some((new, true))
    }

    /// Takes a reaction back. `None` when there is none.
    pub(crate) fn unreacts(&mut self, node: Node, is_it: impl Fn(&Reaction) -> bool) -> Option<Reaction> {
        let reactions = self.reactions(node)?;
        let place = reactions.iter().position(is_it)?;
        Some(reactions.remove(place))
    }
}
