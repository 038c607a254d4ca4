//! Cuts by table, and what holds for every cut by ten thousand texts.

use proptest::prelude::*;
use proptest::sample::select;

use super::{Kind, Page, split, split_off};

fn parts(text: &str, longest: usize) -> Vec<String> {
    let parts = split(text, longest);
    let longest = longest.max(1);
    for part in &parts {
        assert!(part.chars().count() <= longest, "{} characters: {part:?}", part.chars().count());
        assert!(!part.trim().is_empty(), "a blank part of {text:?}");
    }
    parts
}

#[test]
fn what_fits_stays_as_it_is_and_what_is_blank_is_not_sent() {
    for text in ["hello", "  indented\n\n", "```\nnever closed", "été 👩‍👩‍👧", "exactly ten"] {
        assert_eq!(parts(text, text.chars().count()), [text]);
    }
    for blank in ["", " ", "\n\n\t\n"] {
        assert_eq!(parts(blank, 1), Vec::<String>::new());
    }
}

#[test]
fn the_best_border_that_fits_is_the_cut() {
    for (text, longest, expected) in [
        ("one two\n\nthree\nfour five", 20, vec!["one two", "three\nfour five"]),
        ("one two\nthree\nfour five", 16, vec!["one two\nthree", "four five"]),
        ("one two three four", 9, vec!["one two", "three", "four"]),
        ("abcdefghij", 4, vec!["abcd", "efgh", "ij"]),
        ("one\r\n\r\ntwo three", 10, vec!["one", "two three"]),
        ("1. a\n   - nested item", 17, vec!["1. a", "   - nested item"]),
        ("one\n\n\n\n\n\n\n\n\n\ntwo", 5, vec!["one", "two"]),
        ("one          two", 5, vec!["one", "two"]),
        ("ääää öööö", 5, vec!["ääää", "öööö"]),
    ] {
        assert_eq!(parts(text, longest), expected, "{text:?} in {longest}");
    }
}

#[test]
fn what_people_see_as_one_character_stays_one() {
    let family = "👩‍👩‍👧";
    assert_eq!(parts(&family.repeat(3), 12), [family.repeat(2), family.to_owned()]);
    assert_eq!(parts(&"e\u{301}".repeat(4), 5), ["e\u{301}".repeat(2), "e\u{301}".repeat(2)]);
    assert_eq!(parts("🇩🇪🇫🇷🇮🇹", 3), ["🇩🇪", "🇫🇷", "🇮🇹"]);
    assert_eq!(parts("👍🏽👍🏽", 3), ["👍🏽", "👍🏽"]);
    assert_eq!(parts(family, 2).concat(), family, "there is no room for it, so it is cut");
}

#[test]
fn a_fence_that_is_cut_is_closed_and_opened_again_as_it_was() {
    for (text, longest, expected) in [
        (
            "```rust title=\"a b\"\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\nDone.",
            60,
            vec!["```rust title=\"a b\"\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```", "Done."],
        ),
        (
            "```rust\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\nDone.",
            36,
            vec!["```rust\nlet a = 1;\nlet b = 2;\n```", "```rust\nlet c = 3;\n```\nDone."],
        ),
        ("~~~~ sh\n~~~\nls one\nls two\n~~~~", 28, vec!["~~~~ sh\n~~~\nls one\n~~~~", "~~~~ sh\nls two\n~~~~"]),
        ("  ```\n  one two\n  three four\n  ```", 28, vec!["  ```\n  one two\n  ```", "  ```\n  three four\n  ```"]),
        ("- ```\n  one two\n  three four\n  ```", 28, vec!["- ```\n  one two\n  ```", "  ```\n  three four\n  ```"]),
        ("> ```\n> one two\n> three four\n> ```", 28, vec!["> ```\n> one two\n> ```", "> ```\n> three four\n> ```"]),
        ("```\none\n\n\ntwo two two two\n```", 24, vec!["```\none\n```", "```\ntwo two two two\n```"]),
        ("Look at this:\n```\nlong code\n```", 24, vec!["Look at this:", "```\nlong code\n```"]),
        ("```\nnever closed by anyone\nat all", 31, vec!["```\nnever closed by anyone\n```", "```\nat all\n```"]),
        ("```\none two three four\n```", 20, vec!["```\none two\n```", "```\nthree four\n```"]),
    ] {
        assert_eq!(parts(text, longest), expected, "{text:?} in {longest}");
    }
}

#[test]
fn a_cut_makes_no_fence_where_there_was_none() {
    // Backticks in the middle of a line open nothing; at the beginning of a part they would.
    assert_eq!(parts("0123456789012345 ```js and more words", 30), ["0123456789012345 ```js and", "more words"]);
    assert_eq!(parts("01234567890123456789 ```js", 24), ["01234567890123456789 ```", "js"]);
    // In a fence, a line that only begins like the end of one is code.
    let code = "```\n``` is three backticks, you know\n```";
    for longest in 20..code.len() {
        assert!(parts(code, longest).iter().all(|part| is_balanced(part)), "{longest}: {:?}", parts(code, longest));
    }
}

#[test]
fn a_fence_that_leaves_no_room_is_cut_like_plain_text() {
    assert_eq!(parts("```rust\nabc\n```", 10), ["```rust", "abc\n```"]);
    let long = format!("```{}\ncode\n```", "x".repeat(100));
    assert_eq!(visible(&parts(&long, 50).concat()), visible(&long));
}

#[test]
fn what_is_only_too_long_by_its_white_space_is_one_part_that_closes_its_fence() {
    assert_eq!(parts(&format!("```\ncode\n{}", " ".repeat(40)), 30), ["```\ncode\n```"]);
}

#[test]
fn a_very_long_text_is_cut_quickly() {
    let began = std::time::Instant::now();
    for text in ["`".repeat(200_000), "word ".repeat(100_000), "> ```\n".repeat(50_000), "👩‍👩‍👧".repeat(40_000)]
    {
        let many = parts(&text, 2_000).len();
        assert!(many >= text.chars().count() / 2_000, "{many}");
    }
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

/// Whether no fence is open at the end. One in a quote ends where the quote does.
fn is_balanced(part: &str) -> bool {
    let page = Page::of(part, usize::MAX);
    page.fence_at(part.len()).is_none_or(|fence| fence.is_left_by(""))
}

/// Whether every fence is short enough to be opened again in each part.
fn has_room(text: &str, longest: usize) -> bool {
    let kinds = |longest| Page::of(text, longest).lines.iter().map(|line| line.kind).collect::<Vec<_>>();
    kinds(longest) == kinds(usize::MAX)
}

/// What can be seen, without the lines of fences.
fn content(text: &str) -> String {
    let page = Page::of(text, usize::MAX);
    let lines = page.lines.iter().filter(|line| matches!(line.kind, Kind::Plain | Kind::Inside(_)));
    lines.flat_map(|line| text[line.start..line.end].chars()).filter(|c| !c.is_whitespace()).collect()
}

fn visible(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

const PIECES: &[&str] = &[
    "word",
    "a",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\n\n\n",
    "\r\n",
    "\t",
    "- item\n",
    "1. ",
    "é",
    "e\u{301}",
    "👩‍👩‍👧",
    "🇩🇪",
    "`code`",
    "``",
    "longerwordwithoutanyspace",
    "```",
    "~~~",
];
const FENCES: &[&str] = &[
    "\n```\n",
    "\n```rust\n",
    "\n~~~\n",
    "\n````md\n",
    "\n````\n",
    "\n  ```\n",
    "\n    ```\n",
    "\n~~~ x y\n",
    "\n> ```\n",
    "\n> text\n",
    "\n- ```sh\n",
    "\n```a`b\n",
];

/// Answers of an assistant: words, lists, blank lines, code, emoji, and fences that do not fit together.
fn answer() -> impl Strategy<Value = String> {
    let piece = prop_oneof![2 => select(PIECES), 1 => select(FENCES)];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_part_fits_is_balanced_and_nothing_is_lost(text in answer(), longest in 44_usize..160) {
        if !has_room(&text, longest) {
            return Ok(());
        }
        let parts = parts(&text, longest);
        if text.chars().count() <= longest {
            prop_assert_eq!(visible(&parts.concat()), visible(&text));
        } else {
            for part in &parts {
                prop_assert!(is_balanced(part), "{:?} of {:?}", part, parts);
            }
            let kept: String = parts.iter().map(|part| content(part)).collect();
            prop_assert_eq!(kept, content(&text), "{:?}", parts);
        }
    }

    #[test]
    fn what_is_split_off_comes_first_and_all_the_rest_stays_together(text in answer(), longest in 44_usize..160) {
        let (first, rest) = split_off(&text, longest);
        let parts = parts(&text, longest);
        prop_assert_eq!(&first, parts.first().unwrap_or(&text));
        prop_assert_eq!(rest.is_empty(), parts.len() < 2);
        if has_room(&text, longest) && !rest.is_empty() {
            prop_assert!(is_balanced(&first) && is_balanced(&rest), "{:?} and {:?}", first, rest);
            prop_assert_eq!(content(&first) + &content(&rest), content(&text));
        }
    }

    #[test]
    fn however_little_fits_it_ends_and_nothing_is_lost(text in answer(), longest in 0_usize..20) {
        let parts = parts(&text, longest);
        if longest < 16 {
            prop_assert_eq!(visible(&parts.concat()), visible(&text));
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_at_all(text in "(?s).{0,200}", longest in 1_usize..50) {
        parts(&text, longest);
    }
}
