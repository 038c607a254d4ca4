//! Money, in millionths of a dollar: small enough for one token of a cheap model, and whole numbers add up.

use std::fmt;
use std::str::FromStr;

const MICROS: u64 = 1_000_000;
/// More than anybody gives an agent.
const MOST_DOLLARS: u64 = 1_000_000_000;

/// An amount in dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money {
    pub micros: u64,
}

impl Money {
    pub const fn from_micros(micros: u64) -> Self {
        Self { micros }
    }

    pub const fn dollars(dollars: u64) -> Self {
        Self { micros: dollars * MICROS }
    }
}

impl fmt::Display for Money {
    /// Cents, and what is less than a cent where that is all there is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, rest) = (self.micros / MICROS, self.micros % MICROS);
        if dollars == 0 && rest > 0 && rest < 10_000 {
            return write!(f, "$0.{rest:06}");
        }
        write!(f, "${dollars}.{:02}", rest / 10_000)
    }
}

impl FromStr for Money {
    type Err = &'static str;

    /// `5`, `0.25`: dollars with at most six digits after the point, as people write them.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const MUST: &str = "must be dollars such as `5` or `0.25`, with at most six digits after the point";
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(part) || part.len() > 6 {
            return Err(MUST);
        }
        let dollars: u64 = whole.parse().ok().filter(|dollars| *dollars <= MOST_DOLLARS).ok_or(MUST)?;
        let micros: u64 = format!("{part:0<6}").parse().map_err(|_| MUST)?;
        Ok(Self { micros: dollars * MICROS + micros })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_read_exactly_and_shown_shortly() {
        for (text, micros, shown) in [
            ("5", 5_000_000, "$5.00"),
            ("0.25", 250_000, "$0.25"),
            ("12.345678", 12_345_678, "$12.34"),
            ("0.000001", 1, "$0.000001"),
            ("0.0125", 12_500, "$0.01"),
            ("0", 0, "$0.00"),
        ] {
            let money: Money = text.parse().expect("dollars");
            assert_eq!((money.micros, money.to_string().as_str()), (micros, shown), "{text}");
        }
        for wrong in ["", ".", "5.", ".5", "-1", "+1", "1e3", "0.0000001", "1,5", "$5", "99999999999999999999"] {
            assert!(wrong.parse::<Money>().is_err(), "{wrong}");
        }
    }
}
