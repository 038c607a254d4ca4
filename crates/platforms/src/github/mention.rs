//! Whether a text speaks to us, and what it says apart from that.
//!
//! What stands in code, in a quote or in a comment of HTML is somebody else's, or for nobody.

use hedgerow_core::command::{self, Parsed};

use super::prose;

/// What is said to `@name`, without the first mention of it. `None` when nobody meant us.
pub(super) fn said_to(name: &str, text: &str) -> Option<String> {
    let (start, end) = find(name, text)?;
    let (before, after) = (&text[..start], &text[end..]);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let opens_line = line.trim().is_empty();
    let after = if opens_line { after.trim_start_matches([',', ':']) } else { after };
    let rest = after.trim_start();
    if before.trim().is_empty() || is_command(rest, opens_line) {
        return Some(rest.trim_end().to_owned());
    }
    // One space goes with the mention, so that what was around it does not stand apart.
    let after = if opens_line || before.ends_with(' ') { after.trim_start_matches(' ') } else { after };
    Some(format!("{before}{after}").trim().to_owned())
}

/// What follows the mention on its line, for one that was put into another's words.
pub(super) fn said_behind(name: &str, text: &str) -> Option<String> {
    let (_, end) = find(name, text)?;
    let line = text[end..].lines().next().unwrap_or_default();
    Some(line.trim_start_matches([',', ':']).trim().to_owned())
}

/// Whether the name is called anywhere, be it in code, in a quote or in what nobody sees.
pub(super) fn is_named(name: &str, text: &str) -> bool {
    let has_name =
        |at: usize| text.get(at + 1..at + 1 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
    text.match_indices('@').any(|(at, _)| has_name(at))
}

/// What comes after a mention is a command of ours, whatever was said before. Where a line only goes on, it must be one
/// that we know, for there `/usr` may be meant.
fn is_command(rest: &str, opens_line: bool) -> bool {
    match command::parse(rest) {
        Parsed::Command(_) | Parsed::Wrong { .. } => true,
        Parsed::Template { .. } => opens_line,
        Parsed::NotACommand | Parsed::Unknown { .. } => false,
    }
}

/// From where to where the first mention is.
fn find(name: &str, text: &str) -> Option<(usize, usize)> {
    if name.is_empty() || !text.contains('@') {
        return None;
    }
    let is_in_prose = |at: usize, prose: &[std::ops::Range<usize>]| {
        let next = prose.partition_point(|piece| piece.end <= at);
        prose.get(next).is_some_and(|piece| piece.contains(&at))
    };
    let candidates: Vec<(usize, usize)> =
        text.match_indices('@').filter_map(|(at, _)| Some((at, whole(name, text, at)?))).collect();
    if candidates.is_empty() {
        return None;
    }
    let prose = prose::pieces(text);
    candidates.into_iter().find(|(at, _)| is_in_prose(*at, &prose))
}

/// Where the mention ends that begins here; `None` when it is a piece of something longer.
fn whole(name: &str, text: &str, at: usize) -> Option<usize> {
    let end = at + 1 + name.len();
    if !text.get(at + 1..end)?.eq_ignore_ascii_case(name) || continues_before(&text[..at]) {
        return None;
    }
    let rest = &text[end..];
    // As an App is shown; nobody types it, but it can be copied.
    let suffix = rest.get(..5).filter(|suffix| suffix.eq_ignore_ascii_case("[bot]")).map_or(0, str::len);
    if continues_after(&rest[suffix..]) { None } else { Some(end + suffix) }
}

/// Whether what ends here goes on with `@`: an address, a path, a URL.
fn continues_before(before: &str) -> bool {
    let Some(last) = before.chars().next_back() else { return false };
    if last.is_alphanumeric() || "_-+/@=&%`".contains(last) {
        return true;
    }
    if last.is_whitespace() {
        return false;
    }
    // Longer words are not looked through: it would take as long as there are mentions in them.
    let word = before.char_indices().rev().take(WORD).take_while(|(_, c)| !c.is_whitespace()).last();
    word.is_some_and(|(start, _)| before[start..].contains("://"))
}

/// Most characters of a word that is looked through.
const WORD: usize = 200;

/// Whether a name goes on here: `@hedgerow-dev`, `@hedgerow/team`, `@hedgerow.dev`.
fn continues_after(after: &str) -> bool {
    let mut characters = after.chars();
    match characters.next() {
        None => false,
        Some('.') => characters.next().is_some_and(|next| next.is_alphanumeric() || next == '_'),
        Some(next) => next.is_alphanumeric() || "_-/@".contains(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(text: &str) -> Option<String> {
        said_to("hedgerow", text)
    }

    #[test]
    fn what_is_said_comes_without_the_mention() {
        for (text, expected) in [
            ("@hedgerow fix the login", "fix the login"),
            ("  @Hedgerow fix it\n", "fix it"),
            ("@hedgerow, fix it", "fix it"),
            ("@HEDGEROW: fix it", "fix it"),
            ("@hedgerow", ""),
            ("@hedgerow\n\nfix it", "fix it"),
            ("@hedgerow[bot] fix it", "fix it"),
            ("could you @hedgerow fix it?", "could you fix it?"),
            ("fix it, @hedgerow", "fix it,"),
            ("fix it @hedgerow.", "fix it ."),
            ("fix it (@hedgerow)", "fix it ()"),
            ("ask:@hedgerow do", "ask: do"),
            ("Done.@hedgerow go on", "Done. go on"),
            ("@hedgerow... go", "... go"),
            ("@hedgerow fix it, and @hedgerow test it", "fix it, and @hedgerow test it"),
            ("> it fails\n\n@hedgerow, fix it", "> it fails\n\nfix it"),
            ("- @hedgerow one\n- two", "- one\n- two"),
            ("「@hedgerow」です", "「」です"),
        ] {
            assert_eq!(said(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_command_after_the_mention_stands_at_the_beginning() {
        for (text, expected) in [
            ("@hedgerow /status", "/status"),
            ("@hedgerow, /status", "/status"),
            ("@hedgerow\n/worktree pr", "/worktree pr"),
            ("Thanks!\n\n@hedgerow /worktree pr", "/worktree pr"),
            ("Thanks, @hedgerow /stop", "/stop"),
            ("> was wrong\n\n@hedgerow /review src", "/review src"),
            ("see @hedgerow /usr/bin is broken", "see /usr/bin is broken"),
            ("see @hedgerow /usr is broken", "see /usr is broken"),
        ] {
            assert_eq!(said(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_names_and_addresses_are_not_ours() {
        for text in [
            "",
            "hedgerow",
            "@ hedgerow",
            "@hedge",
            "@hedgerow-dev",
            "@hedgerow_dev",
            "@hedgerow2",
            "@hedgerow/team",
            "@hedgerow.dev",
            "@hedgerows",
            "@hedgerow@example.org",
            "me@hedgerow.dev",
            "me@hedgerow",
            "me+x@hedgerow",
            "@@hedgerow",
            "https://example.org/@hedgerow",
            "https://example.org/(@hedgerow)",
            "https://example.org/?q=@hedgerow",
            "@hedgerowé",
            "日本@hedgerow",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }

    #[test]
    fn code_quotes_and_comments_are_not_for_us() {
        for text in [
            "`@hedgerow fix`",
            "``a ` @hedgerow``",
            "`one\n@hedgerow two`",
            "```\n@hedgerow fix\n```",
            "```sh\n@hedgerow fix",
            "~~~~\n@hedgerow\n~~~\n@hedgerow\n~~~~",
            "- a\n  ```\n  @hedgerow\n  ```",
            "x\n\n    @hedgerow in code",
            "\t@hedgerow in code",
            "> @hedgerow fix",
            ">@hedgerow fix",
            "   > @hedgerow fix",
            "> > @hedgerow fix",
            "- > @hedgerow fix",
            "> ```\n> @hedgerow\n> ```",
            "<!-- @hedgerow fix -->",
            "a <!-- one\n@hedgerow two -->",
            "<!-- one\n\n@hedgerow two -->",
            "<?\n@hedgerow ?>",
            "> [x]: # (@hedgerow fix)",
            "<b title='@hedgerow fix'></b>",
            "<!-- never ends\n\n@hedgerow",
            "<!--\n```\n-->\n`@hedgerow`",
            "<pre>\n\n@hedgerow\n</pre>",
            "<code>@hedgerow</code>",
            "<!-- a --><!-- @hedgerow -->",
            "```\r\n@hedgerow\r\n```\r\n",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_code_is_for_us() {
        for text in [
            "`code` @hedgerow fix",
            "a ` b @hedgerow fix",
            "`a\n\n@hedgerow b`",
            "```\ncode\n```\n@hedgerow fix",
            "~~~\n```\n~~~\n@hedgerow fix",
            "``` not ` a fence @hedgerow fix",
            "> quote\n@hedgerow fix",
            "<!-- a --> @hedgerow fix",
            "a <!-- one\n\n@hedgerow two -->",
            "- a\nlazy\n\n    @hedgerow in the item",
            "`<!--` @hedgerow fix",
            "```\n<!--\n```\n@hedgerow fix",
            "- item\n\n    @hedgerow in the item",
            "text\n    @hedgerow goes on",
            "<prefix> @hedgerow fix",
            "a < b @hedgerow",
        ] {
            assert!(said(text).is_some(), "{text}");
        }
    }

    #[test]
    fn long_hostile_texts_take_no_time() {
        let runs: String = (1..700).map(|length| "`".repeat(length) + " ").collect();
        let unclosed = "<!-".repeat(20_000);
        let mentions = "(@hedgerow-x)".repeat(20_000);
        let tags = "<code>".repeat(20_000);
        let began = std::time::Instant::now();
        for text in [runs, unclosed, mentions, tags, "> ".repeat(100_000), "- ".repeat(100_000)] {
            assert!(said(&format!("{text}\n\n\n@hedgerow fix")).is_some());
        }
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in any::<String>(), name in "[a-z]{0,8}") {
            let _ = said_to(&name, &text);
        }

        #[test]
        fn marks_in_any_order_are_taken(text in "([`~>@<!\\-/ \n\ta.é]|<!--|-->|@hedgerow|```|<pre>|</pre>|<code>|</code>){0,60}") {
            let _ = said(&text);
        }

        #[test]
        fn what_is_fenced_is_never_for_us(inside in "[a-z @.,\n]{0,40}", fence in "`{3,5}|~{3,5}") {
            let text = format!("{fence}\n{inside} @hedgerow\n{fence}");
            prop_assert_eq!(said(&text), None);
        }

        #[test]
        fn a_plain_request_comes_out_as_it_is(words in "[a-z][a-z ,.]{0,40}[a-z]") {
            prop_assert_eq!(said(&format!("@hedgerow {words}")), Some(words));
        }

        #[test]
        fn a_longer_name_is_never_us(tail in "[a-z0-9_-]{1,10}") {
            prop_assert_eq!(said(&format!("@hedgerow{tail} fix")), None);
        }
    }
}
