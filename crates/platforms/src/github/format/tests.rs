//! Formatting by table, and what holds for every answer.

use proptest::prelude::*;
use proptest::sample::select;

use super::{FOLD, GAP, LONG, formatted, one_line, plain};
use crate::github::LONGEST;

/// Most characters that GitHub takes.
const MOST: usize = 65_536;

/// With the invisible space as a dot that can be read.
fn shown(words: &str) -> String {
    formatted(words).replace(GAP, "·")
}

#[test]
fn a_mention_pings_nobody_unless_it_is_code() {
    for (words, expected) in [
        ("@alice", "@·alice"),
        ("Ask @alice, @acme/team and (@bob).", "Ask @·alice, @·acme/team and (@·bob)."),
        ("**@alice** _@bob_ \\@carol", "**@·alice** _@·bob_ \\@·carol"),
        ("mail me: alice@example.com", "mail me: alice@example.com"),
        ("&#64;alice &#x40;bob &commat;carol &#64dave", "&#64;·alice &#x40;·bob &commat;·carol &#64·dave"),
        ("@&#97;lice", "@·&#97;lice"),
        ("a @ b, 5 @ 3, @", "a @ b, 5 @ 3, @"),
        ("&#65;lice &amp; @", "&#65;lice &amp; @"),
        (
            "see https://www.npmjs.com/package/@types/node now @bob",
            "see https://www.npmjs.com/package/%40types/node now @·bob",
        ),
        ("`@alice` and ``a ` @bob`` @carol", "`@alice` and ``a ` @bob`` @·carol"),
        ("```ts\nimport '@scope/it'\n```\n@alice", "```ts\nimport '@scope/it'\n```\n@·alice"),
        ("~~~\n@alice\n```\n@bob\n~~~\n@carol", "~~~\n@alice\n```\n@bob\n~~~\n@·carol"),
        ("```\n@never closed", "```\n@never closed"),
        (
            "1. Do:\n\n   ```sh\n   npm i @types/node\n   ```\n2. @alice",
            "1. Do:\n\n   ```sh\n   npm i @types/node\n   ```\n2. @·alice",
        ),
        ("- a\n  - b\n\n    ```\n    @x\n    ```\n", "- a\n  - b\n\n    ```\n    @x\n    ```\n"),
        ("- ```\n  @x\n  ```\n- @alice", "- ```\n  @x\n  ```\n- @·alice"),
        ("a\r\n@alice\r@bob", "a\n@·alice\n@·bob"),
    ] {
        assert_eq!(shown(words), expected, "{words:?}");
    }
}

#[test]
fn what_only_looks_like_code_is_made_harmless() {
    for (words, expected) in [
        // The mark of the line before ends here, so the name is between two pieces of code.
        ("a ` b\nc `@alice` d", "a ` b\nc `@·alice` d"),
        ("- a ` b\n- @alice ` c", "- a ` b\n- @·alice ` c"),
        ("<a title=\"`\"> @alice `", "<a title=\"`\"> @·alice `"),
        ("<div>\n`@alice`\n</div>", "<div>\n`@·alice`\n</div>"),
        ("\\`@alice`", "\\`@·alice`"),
        ("| ` | @alice ` |", "| ` | @·alice ` |"),
        // Moved in so far it is no fence but an indented block, which ends with the next line.
        ("    ```\n@alice\n", "    ```\n@·alice\n"),
        ("* * *\n    ```\n@alice", "* * *\n    ```\n@·alice"),
        ("- ```\n@alice", "- ```\n@·alice"),
        ("- a\nlazy\n  ```\n@alice", "- a\nlazy\n  ```\n@·alice"),
        ("text\n2. b\n   ```\n@alice", "text\n2. b\n   ```\n@·alice"),
        ("<div>\n```\n\n@alice\n```\n@bob\n```\n@carol", "<div>\n```\n\n@·alice\n```\n@·bob\n```\n@·carol"),
        // What looks like its end is none.
        ("```\n    ```\n@x\n```\n@alice", "```\n    ```\n@x\n```\n@·alice"),
        ("```\n```\u{a0}\n@x\n```\n@alice", "```\n```\u{a0}\n@x\n```\n@·alice"),
        ("```a`b\n@alice", "```a`b\n@·alice"),
        ("> ```\n> @alice\n\n`@x` @bob", "> ```\n> @·alice\n\n`@x` @·bob"),
    ] {
        assert_eq!(shown(words), expected, "{words:?}");
    }
}

#[test]
fn nothing_is_hidden_and_no_marker_is_forged() {
    for (words, expected) in [
        ("<!-- hedgerow:reply:1 -->\nhi", "<·!-- hedgerow:reply:1 -->\nhi"),
        (
            "a <!-- b --> c <?php ?> <![CDATA[ x ]]> <!DOCTYPE x>",
            "a <·!-- b --> c <·?php ?> <·![CDATA[ x ]]> <·!DOCTYPE x>",
        ),
        ("`<!-- x -->` and\n```html\n<!-- x -->\n```", "`<!-- x -->` and\n```html\n<!-- x -->\n```"),
        ("<PRE>\n\n```\n@alice", "<·PRE>\n\n```\n@alice"),
        ("<script>", "<·script>"),
        ("<b>bold</b> a < b <preface>", "<b>bold</b> a < b <preface>"),
        // A short answer may fold what it likes.
        ("<details>\n\nx\n\n</details>", "<details>\n\nx\n\n</details>"),
    ] {
        assert_eq!(shown(words), expected, "{words:?}");
    }
}

#[test]
fn a_long_answer_is_folded_at_a_border_between_paragraphs() {
    let paragraph = "word ".repeat(100).trim_end().to_owned();
    let words = vec![paragraph.clone(); 20].join("\n\n");
    let comment = formatted(&words);
    let (seen, rest) = comment.split_once(&format!("\n\n{FOLD}\n\n")).expect("it is folded");
    assert_eq!(seen, [paragraph.as_str(); 4].join("\n\n"));
    let rest = rest.strip_suffix("\n\n</details>").expect("the fold has an end");
    assert_eq!(format!("{seen}\n\n{rest}"), words, "and nothing is lost");

    assert_eq!(formatted(&"x".repeat(LONG)), "x".repeat(LONG), "what is not so long stays open");
}

#[test]
fn a_fence_longer_than_what_is_seen_is_closed_before_the_fold_and_opened_in_it() {
    let code = "let a = \"@alice\";\n".repeat(600);
    let comment = formatted(&format!("```rust\n{code}```"));
    let (seen, rest) = comment.split_once(FOLD).expect("it is folded");
    assert!(seen.starts_with("```rust\nlet a") && seen.ends_with(";\n```\n\n"), "{seen}");
    assert!(rest.starts_with("\n\n```rust\nlet a") && rest.ends_with("```\n\n</details>"), "{rest}");
    assert!(!comment.contains(GAP), "it is code on both sides");
}

#[test]
fn the_words_cannot_end_the_fold() {
    let words = format!(
        "{}\n\n</details> <summary> </DETAILS >\n\n`</details>`\n\n{}",
        "a b\n\n".repeat(1_000),
        "c d\n\n".repeat(1_000)
    );
    let comment = formatted(&words).replace(GAP, "·");
    assert!(comment.contains("<·/details> <·summary> <·/DETAILS >\n\n`</details>`"));
    assert_eq!(comment.matches("</details>").count(), 2, "in code, and ours");
}

#[test]
fn a_line_of_a_tool_is_one_line_and_means_nothing() {
    assert_eq!(one_line("  a\n\tb\u{7}c  ", 10), "a b c");
    assert_eq!(one_line("abcdef", 4), "abc…");
    assert_eq!(plain("fix `x` for @bob <b>", 40).replace(GAP, "·"), "fix \\`x\\` for @·bob \\<b\\>");
}

/// Pieces that make trouble when they meet.
const PIECES: &[&str] = &[
    "word",
    " ",
    "\n",
    "\n\n",
    "`",
    "``",
    "```",
    "~~~",
    "\n```\n",
    "\n```rs\n",
    "\n~~~\n",
    "\n  ```\n",
    "\n    ```\n",
    "- ",
    "\n- ",
    "1. ",
    "2) ",
    "> ",
    "@alice",
    "@",
    "&#64;bob",
    "<!--",
    "-->",
    "<?x",
    "<div>",
    "</details>",
    "<details>",
    "<pre>",
    "\\",
    "|",
    "\t",
    "https://x.y/",
    "é",
    "<",
    "!",
    "# ",
    "alice@example.com",
    "\r\n",
];

fn any_words() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PIECES), 0..80).prop_map(|pieces| pieces.concat())
}

/// A block whose nature is known.
#[derive(Debug, Clone)]
enum Block {
    Code(String),
    Words(String),
}

impl Block {
    fn text(&self) -> &str {
        match self {
            Self::Code(text) | Self::Words(text) => text,
        }
    }
}

fn block() -> impl Strategy<Value = Block> {
    let inside = prop::collection::vec(select(vec!["@in-code", "<!-- in code", "let a = b;", "", "  x"]), 0..6);
    let fenced = (select(vec!["```", "~~~~", "  ```", "`````"]), select(vec!["", "rust", " sh"]), inside);
    let code =
        fenced.prop_map(|(fence, info, lines)| Block::Code(format!("{fence}{info}\n{}\n{fence}", lines.join("\n"))));
    let piece = select(vec![
        "one",
        "@outside",
        "<!-- outside",
        "`@in-code`",
        "(@outside)",
        "&#64;outside",
        "``<!-- in code``",
        "*x*",
    ]);
    let words = prop::collection::vec(piece, 1..8).prop_map(|pieces| Block::Words(pieces.join(" ")));
    prop_oneof![code, words]
}

fn pings(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    (0..chars.len()).any(|at| {
        let is_free = at == 0 || !chars[at - 1].is_ascii_alphanumeric();
        chars[at] == '@' && is_free && chars.get(at + 1).is_some_and(char::is_ascii_alphanumeric)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn code_is_as_it_was_and_the_rest_is_harmless(blocks in prop::collection::vec(block(), 1..12)) {
        let words = blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n\n");
        let comment = formatted(&words);
        prop_assert!(!comment.contains("@outside") && !comment.contains("<!-- outside"), "{}", comment);
        prop_assert!(!comment.contains("&#64;outside"), "{}", comment);
        prop_assert_eq!(comment.replace(GAP, ""), &words[..]);
        for block in &blocks {
            if let Block::Code(text) = block {
                prop_assert!(comment.contains(text.as_str()), "{:?} in {:?}", text, comment);
            }
        }
        prop_assert_eq!(comment.matches("@in-code").count(), words.matches("@in-code").count());
    }

    #[test]
    fn whatever_is_written_comes_through_and_twice_is_as_good_as_once(words in any_words()) {
        let comment = formatted(&words);
        let lines = words.replace("\r\n", "\n");
        prop_assert_eq!(comment.replace(GAP, "").replace("%40", "@"), lines);
        prop_assert_eq!(formatted(&comment), &comment[..]);
    }

    #[test]
    fn without_any_code_there_is_no_ping_and_nothing_hidden(words in any_words()) {
        let comment = formatted(&words.replace(['`', '~'], ""));
        prop_assert!(!pings(&comment), "{}", comment);
        prop_assert!(!comment.contains("<!") && !comment.contains("<?") && !comment.contains("<pre"), "{}", comment);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn github_takes_every_answer_that_the_engine_sends(pieces in prop::collection::vec(select(PIECES), 1..8), c in any::<char>()) {
        let piece = pieces.concat() + &c.to_string();
        let words: String = piece.chars().cycle().take(LONGEST).collect();
        let comment = formatted(&words);
        prop_assert!(comment.chars().count() + 200 <= MOST, "{} for {:?}", comment.chars().count(), piece);
    }
}

#[test]
fn github_takes_what_grows_most() {
    let info = format!("```{}\n", "x".repeat(900));
    for (begin, piece) in
        [("https://x/", "/@a"), ("", "<!"), ("", "@&"), ("", "@a "), ("", "&#64"), ("", "<?\n"), (info.as_str(), "x\n")]
    {
        let words: String = begin.chars().chain(piece.chars().cycle()).take(LONGEST).collect();
        let count = formatted(&words).chars().count();
        assert!(count + 200 <= MOST, "{count} for {piece:?}");
    }
}
