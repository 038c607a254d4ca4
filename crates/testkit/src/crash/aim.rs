//! Where a process dies, as text: `remove-forced/rebase/step:3#12` says it all, and can be repeated.

use std::fmt;
use std::str::FromStr;

use super::act::{Act, Scene};

/// Where the kill hits. All numbers begin at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aim {
    /// The nth step of the act.
    Step(usize),
    /// The nth step, and then the mth step of the start that settles it.
    Settling(usize, usize),
    /// A system call of a call of git.
    Git { call: usize, nth: usize, whom: Whom },
    /// A system call of our own process.
    Own { calls: Calls, nth: usize },
    /// After so many thousandths of the time that the act takes; git goes on for a moment, alone.
    Moment(u64),
}

/// Who dies when git does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whom {
    /// Hedgerow lives on and has to deal with it.
    Git,
    Both,
}

/// Which of our own system calls are counted. Each group is made by one thread, so that the nth is the nth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Calls {
    /// Names and contents of files.
    Files,
    /// What the store writes.
    Store,
}

/// One kill, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kill {
    pub act: Act,
    pub scene: Scene,
    pub aim: Aim,
    /// Varies the timing; 0 dies at once.
    pub seed: u64,
}

impl Kill {
    /// How long to wait before dying, in microseconds, and, at a step, whether the act goes on meanwhile.
    pub fn pause(&self) -> (u64, bool) {
        if self.seed == 0 {
            return (0, false);
        }
        let random = scramble(self.seed);
        (random % 3000, random & (1 << 40) != 0)
    }

    /// Where there are two ways to go on after a kill, each is gone at half of the points, and the next round it is the
    /// other way about.
    pub fn goes_the_other_way(&self) -> bool {
        let nth = match self.aim {
            Aim::Step(nth) | Aim::Settling(_, nth) | Aim::Git { nth, .. } | Aim::Own { nth, .. } => nth as u64,
            Aim::Moment(permille) => permille,
        };
        !(nth + self.seed).is_multiple_of(2)
    }
}

/// splitmix64: enough to vary timing, and the same everywhere.
pub fn scramble(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(nth) => write!(f, "step:{nth}"),
            Self::Settling(step, nth) => write!(f, "settling:{step}:{nth}"),
            Self::Git { call, nth, whom: Whom::Git } => write!(f, "git:{call}:{nth}"),
            Self::Git { call, nth, whom: Whom::Both } => write!(f, "both:{call}:{nth}"),
            Self::Own { calls: Calls::Files, nth } => write!(f, "files:{nth}"),
            Self::Own { calls: Calls::Store, nth } => write!(f, "store:{nth}"),
            Self::Moment(permille) => write!(f, "moment:{permille}"),
        }
    }
}

impl FromStr for Aim {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let fields: Vec<&str> = text.split(':').collect();
        let number = |nth: usize| fields.get(nth).and_then(|text| text.parse::<usize>().ok()).ok_or(());
        Ok(match fields[0] {
            "step" => Self::Step(number(1)?),
            "settling" => Self::Settling(number(1)?, number(2)?),
            "git" => Self::Git { call: number(1)?, nth: number(2)?, whom: Whom::Git },
            "both" => Self::Git { call: number(1)?, nth: number(2)?, whom: Whom::Both },
            "files" => Self::Own { calls: Calls::Files, nth: number(1)? },
            "store" => Self::Own { calls: Calls::Store, nth: number(1)? },
            "moment" => Self::Moment(u64::try_from(number(1)?).map_err(drop)?),
            _ => return Err(()),
        })
    }
}

impl fmt::Display for Kill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}#{}", self.act.name(), self.scene.name(), self.aim, self.seed)
    }
}

impl FromStr for Kill {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (what, seed) = text.split_once('#')?;
            let mut fields = what.split('/');
            let (act, scene) = (Act::parse(fields.next()?)?, Scene::parse(fields.next()?)?);
            let aim = fields.next()?.parse().ok()?;
            Some(Self { act, scene, aim, seed: seed.parse().ok()? })
        };
        read().ok_or_else(|| format!("`{text}` is not a kill; one looks like `remove-forced/rebase/step:3#12`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_is_read_as_it_is_written() {
        let texts = ["step:3", "settling:2:1", "git:7:12", "both:7:12", "files:4", "store:9", "moment:500"];
        for aim in texts {
            let text = format!("remove-forced/rebase/{aim}#12");
            assert_eq!(text.parse::<Kill>().expect("a kill").to_string(), text);
        }
        assert!("remove/nowhere/step:1#1".parse::<Kill>().is_err());
    }
}
