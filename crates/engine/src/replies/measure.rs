//! Ages, days, sizes, figures, and names that can be pasted into a shell.

use std::time::Duration;

use hedgerow_core::Timestamp;
use hedgerow_core::assistant::Usage;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long ago, in its greatest unit: `3 h`.
pub fn age(then: Timestamp, now: Timestamp) -> String {
    match now.seconds_since(then) {
        seconds if seconds < MINUTE => "just now".to_owned(),
        seconds if seconds < HOUR => format!("{} min", seconds / MINUTE),
        seconds if seconds < DAY => format!("{} h", seconds / HOUR),
        seconds => format!("{} d", seconds / DAY),
    }
}

/// The same as an answer to "when?": `3 h ago`.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    match age(then, now).as_str() {
        recent @ "just now" => recent.to_owned(),
        age => format!("{age} ago"),
    }
}

/// A moment, and how long ago it was.
pub fn moment(then: Timestamp, now: Timestamp) -> String {
    format!("{then} ({})", ago(then, now))
}

/// `3 May`, with the year when it is not this one.
pub fn day(then: Timestamp, now: Timestamp) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let (then, now) = (then.to_string(), now.to_string());
    let number = |range| then.get(range).and_then(|digits: &str| digits.parse::<usize>().ok());
    match (number(8..10), number(5..7).and_then(|month| MONTHS.get(month.wrapping_sub(1)))) {
        (Some(day), Some(month)) if then.get(..4) == now.get(..4) => format!("{day} {month}"),
        (Some(day), Some(month)) => format!("{day} {month} {}", &then[..4]),
        // A moment outside the calendar's years is shown as it is.
        _ => then,
    }
}

/// A size in the unit that keeps it short: `1.5 MB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    let mut tenths = u128::from(count) * 10;
    if count < 1000 {
        return format!("{count} B");
    }
    for unit in UNITS {
        tenths /= 1000;
        if tenths < 10_000 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{} PB", tenths / 10)
}

/// What a run took: `12.3k in (10.1k cached), 0.8k out, $0.04, 1 min 12 s`.
pub fn figures(usage: &Usage, took: Duration) -> String {
    format!("{}, {}", used(usage), span(took))
}

/// What was used, without the time.
pub fn used(usage: &Usage) -> String {
    let cached = match usage.cached_tokens {
        0 => String::new(),
        cached => format!(" ({} cached)", tokens(cached)),
    };
    let cost = usage.cost_micros.map(|micros| format!(", {}", dollars(micros))).unwrap_or_default();
    format!("{} in{cached}, {} out{cost}", tokens(usage.input_tokens), tokens(usage.output_tokens))
}

/// A count of tokens, short.
fn tokens(count: u64) -> String {
    match count {
        0..100 => count.to_string(),
        100..999_950 => tenths(count, 1000, 'k'),
        _ => tenths(count, 1_000_000, 'M'),
    }
}

fn tenths(count: u64, unit: u64, letter: char) -> String {
    let tenths = (count / (unit / 10)).saturating_add(u64::from(count % (unit / 10) >= unit / 20));
    format!("{}.{}{letter}", tenths / 10, tenths % 10)
}

/// Money, to the cent; what is less is said to be less.
fn dollars(micros: u64) -> String {
    match micros {
        0 => "$0.00".to_owned(),
        1..5000 => "under $0.01".to_owned(),
        _ => {
            let cents = micros.saturating_add(5000) / 10_000;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
}

/// How long something took: `12 s`, `1 min 12 s`, `2 h 5 min`.
pub fn span(took: Duration) -> String {
    let seconds = took.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A word for a shell: as it is when that is safe, else in single quotes.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-05-03T10:00:00Z
    const THEN: Timestamp = Timestamp::from_millis(1_777_802_400_000);

    #[test]
    fn ages_are_given_in_their_greatest_unit() {
        for (seconds, text) in [
            (-5, "just now"),
            (59, "just now"),
            (60, "1 min"),
            (3599, "59 min"),
            (3600, "1 h"),
            (86_399, "23 h"),
            (86_400, "1 d"),
            (400 * DAY, "400 d"),
        ] {
            assert_eq!(age(THEN, THEN.plus_seconds(seconds)), text);
        }
    }

    #[test]
    fn days_name_another_year() {
        assert_eq!(day(THEN, THEN.plus_seconds(9 * DAY)), "3 May");
        assert_eq!(day(THEN, THEN.plus_seconds(365 * DAY)), "3 May 2026");
        assert!(day(Timestamp::from_millis(i64::MAX), THEN).ends_with("ms"));
    }

    #[test]
    fn sizes_stay_short() {
        for (count, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1_550_000, "1.5 MB"),
            (999_999, "999.9 kB"),
            (u64::MAX, "18446 PB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn figures_stay_short() {
        let all = |input, cached, output, cost| {
            used(&Usage { input_tokens: input, cached_tokens: cached, output_tokens: output, cost_micros: cost })
        };
        assert_eq!(all(12_345, 10_100, 800, Some(40_000)), "12.3k in (10.1k cached), 0.8k out, $0.04");
        assert_eq!(all(42, 0, 99, None), "42 in, 99 out");
        assert_eq!(all(999_949, 1, 999_950, Some(4999)), "999.9k in (1 cached), 1.0M out, under $0.01");
        assert_eq!(all(u64::MAX, 0, 0, Some(12_345_678)), "18446744073709.6M in, 0 out, $12.35");
        assert_eq!(all(0, 0, 0, Some(0)), "0 in, 0 out, $0.00");
        for (seconds, text) in [(0, "0 s"), (59, "59 s"), (72, "1 min 12 s"), (3600, "1 h 0 min"), (7530, "2 h 5 min")]
        {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn names_can_be_pasted_into_a_shell() {
        for (word, shown) in
            [("feature/auth", "feature/auth"), ("x$(id)", "'x$(id)'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(quoted(word), shown);
        }
    }
}
