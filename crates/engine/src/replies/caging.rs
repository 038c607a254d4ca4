//! What is said of what keeps assistants in, when it is not all that it should be.

use super::capital;
use crate::cage::Strength;

/// The sentence that people read wherever assistants begin to work: where nothing keeps them in, and where what does is
/// not whole. `None` when all is as it should be.
pub fn sandbox_words(strength: Strength) -> Option<String> {
    strength.is_weak().then(|| format!("{}.", capital(strength.sentence())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_warned_of_a_whole_cage() {
        assert_eq!(sandbox_words(Strength::Whole), None);
        assert_eq!(sandbox_words(Strength::View), None);
        let off = sandbox_words(Strength::Off).expect("it is loud");
        assert!(off.starts_with("Agents are not caged: ") && off.ends_with('.'), "{off}");
        assert!(sandbox_words(Strength::Rules).is_some_and(|words| words.contains("Landlock alone")));
    }
}
