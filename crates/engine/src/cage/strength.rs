//! How much of the cage holds, in words for people.

use hedgerow_core::words;

use super::probe::Ability;

words! {
    /// What holds agents in.
    Strength as "strength of the cage" {
        /// A view of their own, and rules inside it.
        Whole = "whole",
        /// A view of their own; the kernel has no Landlock.
        View = "view",
        /// Landlock alone.
        Rules = "rules",
        /// The system can enforce nothing.
        None = "none",
        /// It was switched off.
        Off = "off",
    }
}

impl Strength {
    pub(super) fn of(ability: &Ability) -> Self {
        match (&ability.view, ability.landlock) {
            (Ok(()), Some(_)) => Self::Whole,
            (Ok(()), None) => Self::View,
            (Err(_), Some(_)) => Self::Rules,
            (Err(_), None) => Self::None,
        }
    }

    /// Whether people should be told before an agent starts.
    pub const fn is_weak(self) -> bool {
        matches!(self, Self::Rules | Self::None | Self::Off)
    }

    /// One plain sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Whole => "agents see only their environment, and Landlock holds them there once more",
            Self::View => "agents see only their environment; this kernel has no Landlock as a second layer",
            Self::Rules => {
                "agents are held by Landlock alone: they can change the repository's hooks and configuration, \
                 see other processes, and are not asked to work on strangers' pull requests"
            }
            Self::None => "agents are not caged: this system cannot enforce it, and they can do whatever you can",
            Self::Off => "agents are not caged: `sandbox.mode` is `off`, and they can do whatever you can",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weaker_the_louder() {
        let able = |view: bool, landlock| Ability { view: if view { Ok(()) } else { Err("no".to_owned()) }, landlock };
        let strengths = [able(true, Some(7)), able(true, None), able(false, Some(1)), able(false, None)];
        let strengths = strengths.map(|ability| Strength::of(&ability));
        assert_eq!(strengths, [Strength::Whole, Strength::View, Strength::Rules, Strength::None]);
        assert_eq!(strengths.map(Strength::is_weak), [false, false, true, true]);
        assert!(Strength::Off.is_weak() && Strength::Off.sentence().contains("not caged"));
    }
}
