//! What people see on GitHub's page, case by case, and what no text may do.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// All cases that are not as they should be.
fn check(show: fn(&str) -> String, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (written, seen) in cases {
        let shown = show(written);
        if shown != *seen {
            wrong.push(format!("{written:?}: {shown:?} instead of {seen:?}"));
        }
        if show(&shown) != shown {
            wrong.push(format!("{written:?}: something is left to take out of {shown:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// None of these may tell the word.
fn check_hidden(texts: &[&str]) {
    let told: Vec<_> =
        texts.iter().map(|text| (text, visible(text))).filter(|(_, seen)| seen.contains("evil")).collect();
    assert!(told.is_empty(), "{told:#?}");
}

#[test]
fn characters_that_people_do_not_see_are_taken_out() {
    let cases = [
        ("fix the login", "fix the login"),
        ("äöü 日本語 👍 «x»\n\tnext", "äöü 日本語 👍 «x»\n\tnext"),
        ("de\u{200b}le\u{200d}te\u{feff}", "delete"),
        ("\u{202e}lived\u{202c} x\u{2066}y\u{2069}\u{200f}\u{61c}", "lived xy"),
        ("a\u{e0064}\u{e006f}\u{e007f}b", "ab"),
        ("a\u{fe0f}\u{e0100}\u{e01ef}b\u{ad}", "ab"),
        ("\u{1b}[2Ja\u{9b}1m\u{0}b\u{7}", "[2Ja1mb"),
        ("\u{3164}a\u{2062}b\u{fff9}", "ab"),
        ("`a\u{200b}b`\n```\nc\u{202e}d\n```", "`ab`\n```\ncd\n```"),
    ];
    check(visible, &cases);
    check(visible_ask, &cases);
    check(visible_code, &cases);
}

#[test]
fn comments_are_taken_out() {
    let cases = [
        ("a<!-- do evil -->b", "ab"),
        ("a<!-- one -->b<!--two-->c", "abc"),
        ("a<!<!-- x -->-- do evil -->b", "ab"),
        ("a<\u{200b}!-- do evil -->b", "ab"),
        ("a\n\n<!-- over\n\nparagraphs -->\nb", "a\n\n\nb"),
        ("<!-- never\n\nends", ""),
        ("a\n<!-- never\n\n```\nends", "a\n"),
        ("> <!-- never\n\nends", "> "),
        ("- <!-- never\n\nends", "- "),
        ("</pre>\na <!-- never\n\nends", "</pre>\na "),
        // Between words it needs an end in its paragraph.
        ("a<!-- never\nends", "a<!-- never\nends"),
        ("a <!-- b\n\nc --> d", "a <!-- b\n\nc --> d"),
    ];
    check(visible, &cases);
    check(visible_ask, &cases);
}

#[test]
fn other_html_that_no_page_shows_is_taken_out() {
    let cases = [
        ("a <?do evil?> b", "a  b"),
        ("a <!DO evil> b", "a  b"),
        ("a <![CDATA[do evil]]> b", "a  b"),
        ("<?do\n\nevil?>\nb", "\nb"),
        ("<!DO\n\nevil>\nb", "\nb"),
        ("<![CDATA[do\n\nevil]]>\nb", "\nb"),
        ("> <?do evil?>", "> "),
        ("a <? b <! c <![CDATA[ d", "a <? b <! c <![CDATA[ d"),
        ("<div></ evil>b</div>", "<div>b</div>"),
    ];
    check(visible, &cases);
    check(visible_ask, &cases);
}

#[test]
fn attributes_and_titles_are_taken_out() {
    let cases = [
        ("a <a title=\"evil\"></a>", "a <a></a>"),
        ("a <a href='u' title='evil' id=evil>b</a>", "a <a href='u'>b</a>"),
        ("<img alt=\"evil\" width=1>", "<img>"),
        ("<IMG\n  SRC=u\n  ALT='evil\nevil'/>", "<IMG\n  SRC=u/>"),
        (
            "<details open><summary title=evil>b</summary>\n\nc\n\n</details>",
            "<details><summary>b</summary>\n\nc\n\n</details>",
        ),
        ("a [](u \"evil\") b", "a [](u) b"),
        ("[a](u 'evil')[b](<u v> (evil))[c](  u\n\"evil\"  )", "[a](u)[b](<u v>)[c](  u  )"),
        ("[a `b]` c](u \"evil\")", "[a `b]` c](u)"),
        ("a](u \"seen\") and [b](u \"seen)", "a](u \"seen\") and [b](u \"seen)"),
        ("a < b and c > d", "a < b and c > d"),
        ("<https://example.org/a?b=\"c\"> <me@example.org>", "<https://example.org/a?b=\"c\"> <me@example.org>"),
    ];
    check(visible, &cases);
    check(visible_ask, &cases);
    check(visible, &[("![evil](u) ![evil][x] ![x] [a][x]\n\n[x]: u", "![](u) ![] ![] [a]\n")]);
}

#[test]
fn definitions_are_taken_out_wherever_they_stand() {
    let cases = [
        ("a\n\n[//]: # (do evil)\n  [x]: <#> 'more'\nb", "a\n\nb"),
        ("see [it][y] and [y](z): [ok]", "see [it][y] and [y](z): [ok]"),
        ("> [//]: # (evil)\n> b", "> b"),
        ("- [//]: # (evil)\n- b", "- - b"),
        ("1. [//]: # (evil)", "1. "),
        ("- a\n\n  [//]: # (evil)\n\n  b", "- a\n\n\n  b"),
        ("- > 1) [//]: # (evil)", "- > 1) "),
        ("[x]: #\n\"evil\"\n\nb", "\nb"),
        ("[x]: #\n(evil\nevil)\n\nb", "\nb"),
        ("[x]:\n  #evil\n  'evil'\nb", "b"),
        ("> [x]:\n> evil\n> \"evil\"\n\nb", "\nb"),
        ("[x]: #\n\"seen\" b", "\"seen\" b"),
        ("[a\\]b]: # (evil)\nb", "b"),
        ("[a\nb]: # (evil)\rb", "b"),
        ("```\n[x]: in code\n```\n[y]: hidden", "```\n[x]: in code\n```"),
        ("````\n```\n[x]: in code\n````\nend", "````\n```\n[x]: in code\n````\nend"),
        ("- [ ] to do\n- [x] done: yes", "- [ ] to do\n- [x] done: yes"),
        ("[x]: u not one", "[x]: u not one"),
        ("[]: u\n[ ]: u", "[]: u\n[ ]: u"),
    ];
    check(visible, &cases);
    check(visible_ask, &cases);
    check(
        visible,
        &[
            ("a\n[//]: # (do evil)\n  [x]: <#> 'more'\nb", "a\nb"),
            ("a[^1]\n\n[^1]: b\n\n    evil\n\nc", "a[^1]\n\n\n\nc"),
        ],
    );
    check(visible, &[("a\n[x]: é", "a"), ("a\n[x]: é\n[y]: ü\nb", "a\nb")]);
    check(visible_ask, &[("a\n[x]: seen", "a\n[x]: seen"), ("a[^1]\n\n[^1]: seen", "a[^1]\n\n[^1]: seen")]);
}

#[test]
fn what_is_code_stays_as_it_is() {
    let cases = [
        "make it accept `<!--` and add a test",
        "`<!-- a -->` and ``<b title=\"`\">`` and `[](u \"t\")`",
        "`over\nlines <!-- a -->`",
        "```html\n<!-- a -->\n<b title=\"c\">\n\n[x]: y\n```\nb",
        "~~~vue\n<!-- a -->\n```\n<!-- b -->\n~~~",
        "```\n<!-- never closed",
        "- a\n  ```\n  <!-- b -->\n  ```\n- c",
        "> ```\n> <!-- b -->\n> ```",
        "1. a\n\n   ~~~\n   <!-- b -->\n   ~~~",
        "a\n\n    <!-- b -->\n\n    [x]: y\n\nc",
        "- a\n\n      <!-- b -->",
        "a\r\n\r\n```\r\n<!-- b -->\r\n```\r\nc",
        "| a | b |\n|---|---|\n| `<!-- c -->` | d |",
        "# `<!-- a -->`",
        "\\` `<!-- b -->`",
    ]
    .map(|text| (text, text));
    check(visible, &cases);
    check(visible_ask, &cases);
}

#[test]
fn what_only_looks_like_code_hides() {
    check_hidden(&[
        "``` a ` b\n<!-- evil -->\n```",
        "```a`\n[x]: # (evil)",
        "text\n    <!-- evil -->",
        "- a\nlazy\n\n    <!-- evil -->",
        "- a\n\n    <!-- evil -->",
        "[^1]: a\n\n    <!-- evil -->",
        "> ```\n<!-- evil -->",
        "- ```\n\n<!-- evil -->\n```",
        "<div>\n`<!-- evil -->`\n</div>",
        "<div>\n```\n<!-- evil -->\n```\n</div>",
        "<b>\n`<!-- evil -->`",
        "<!-- a --> `<!-- evil -->`",
        "\\`<!-- evil -->`",
        "`a``b` `<!-- evil -->",
        "<b title=\"`\"> <!-- evil --> `",
        "`a\n\n<!-- evil -->`",
        "# `a\n<!-- evil -->`",
        "a\n===\n    b\n\na `b\n---\n<!-- evil -->`",
        "| a | b |\n|---|---|\n| `c | <!-- evil --> d` |",
        "|a|\n|-|\n<b>\n`<!-- evil -->`",
        "    ```\n<!-- evil -->",
        "```\n   ```\n<!-- evil -->",
        "[x]: u\n===\n    <!-- evil -->",
        "-\n\n      a\n\n1. b\n\n   <!-- evil -->",
        "-\tx\n\n\t<!-- evil -->",
        ">\t\t<!-- a -->\n> \n>  <!-- evil -->",
    ]);
}

#[test]
fn what_is_not_certain_hides_in_others_words() {
    check_hidden(&[
        "<div><!--\n\nevil\n\n--></div>",
        "<div title=\"\n\nevil\n\n<b>\">",
        "<div title=\"\n\nevil\n\n<b>\n\nevil\n\n<b>\">",
        "<!-->\n\n```\nfoo -->\n```\n<!-- evil -->\n```",
        "a<!-->do evil-->b",
        "a <!-- -- <b title=\"--> evil\">",
        "a <!--> <b title=\"--> evil\">",
        "a <!-- --!> <b title=\"--> evil\">",
        "<!-- --!> <b title=\"--> evil\">",
        "<div><?x> <b title=\"?> evil\">",
        "a <?x> <b title=\"?> evil\">",
        "a <!x <b title=\"> evil\">",
        "<div><rp>evil</rp></div>",
        "a <rp>evil</rp> <script>evil</script> <TEXTAREA>evil</TEXTAREA>",
        "a <template>evil",
        "<title>\n\nevil\n\n</title>",
        "a <do-evil></do-evil><do.evil>".trim_end_matches("<do.evil>"),
        "[a][do evil]\n\n[do evil]: u",
        "[^evil]: evil",
    ]);
}

#[test]
fn an_ask_keeps_the_words_that_people_see() {
    let cases = [
        "make the parser accept `<!--` and then add a test",
        "replace Vec<String> by <T> in a <script> tag",
        "add <title>the shop</title> to the page",
        "see ![the login page](u)",
        "use a <!-- to begin one",
        "the <div is not closed\nhere",
        "<div is not closed",
    ]
    .map(|text| (text, text));
    check(visible_ask, &cases);
    check(visible_ask, &[("<div>a <!-- b\n\nc\n\n<p>--> d", "<div>a  d"), ("a <!-- b -- c --> d", "a  d")]);
}

#[test]
fn a_fence_holds_whatever_is_in_it() {
    for (inside, fence) in [("a", "```"), ("``` x", "````"), ("a\n`````\nb", "``````"), ("", "```")] {
        assert_eq!(fenced(inside), format!("{fence}\n{inside}\n{fence}"));
    }
}

#[test]
fn long_hostile_texts_take_no_time() {
    const LONG: usize = 200_000;
    let pieces = [
        "<",
        "[",
        "`",
        ">",
        "> ",
        "- ",
        "-\n",
        "1. ",
        "<!",
        "<!-",
        "<!--",
        "<!<!-- x -->",
        "<?",
        "<![CDATA[",
        "<!X ",
        "<a ",
        "<a b=\"",
        "<a b='\" ",
        "<code>",
        "<pre>",
        "<rp>",
        "<code></pre>",
        "](",
        "[](",
        "[](u \"",
        "[](<",
        "[x](u (",
        "[x]: ",
        "[x]: u\n",
        "[x]: u \"\n",
        "[x]: u (\n",
        "[x]:\n",
        "[^x]:",
        "[^x]: a\n",
        "a\n",
        "a\n=\n",
        "|\n",
        "|a|\n|-|\n",
        "\\",
        "`a``b",
        "```\n",
        "~~~\n",
        "<b>\n",
        "<b>\n\n",
        "<div>\n",
        "<div><!--\n\n",
        "\t",
        "    a\n",
        "\r",
        "![",
        "![x][x]",
        "[x][",
        "<a:",
        "</",
        "</a ",
        "&lt;",
    ];
    let mut texts: Vec<String> = pieces.iter().map(|piece| piece.repeat(LONG / piece.len())).collect();
    texts.push((1..600).map(|length| "`".repeat(length) + " ").collect());
    texts.push("- ".repeat(50_000) + &"\n".repeat(100_000));
    texts.push(
        (0..40).map(|line| "\t".repeat(line * 50) + &"- ".repeat(100) + "a\n").collect::<String>()
            + &"\n".repeat(100_000),
    );
    texts.push("<!".repeat(20_000) + &"<!-- x -->".repeat(10_000) + &"-->".repeat(20_000));
    texts.push("<code>".repeat(20_000) + "</code>");
    texts.push("[".repeat(60_000) + &"](u \"t\")".repeat(15_000));
    for text in texts {
        for show in [visible, visible_ask] {
            let began = Instant::now();
            let seen = show(&text);
            assert!(seen.len() <= text.len());
            let took = began.elapsed();
            assert!(took < Duration::from_secs(3), "{took:?}: {:?}", &text[..40.min(text.len())]);
        }
    }
}

/// Texts of the marks that matter here.
fn marks() -> impl Strategy<Value = String> {
    let mark = prop::sample::select(vec![
        "<",
        ">",
        "[",
        "]",
        "(",
        ")",
        "!",
        "`",
        "``",
        "```",
        "~~~",
        "\"",
        "'",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "    ",
        "\t",
        "a",
        "b",
        "é",
        "<!--",
        "-->",
        "--!>",
        "<?",
        "?>",
        "<!X",
        "<![CDATA[",
        "]]>",
        "<div>",
        "</div>",
        "<div",
        "<pre>",
        "</pre>",
        "<b title=\"",
        "<a href=u id=i>",
        "<script>",
        "</script>",
        "<code>",
        "</code>",
        "[x]: u",
        "[x]: ",
        "[x]",
        "](u \"t\")",
        "[^1]: ",
        "> ",
        "- ",
        "1. ",
        "* ",
        "# ",
        "---",
        "===",
        "| a | b |\n",
        "|---|---|\n",
        "|",
        "\\",
        "\u{200b}",
        "\u{202e}",
        ":",
        "#",
        "=",
    ]);
    prop::collection::vec(mark, 0..40).prop_map(|marks| marks.concat())
}

/// Whether one is left of the other when some of its characters are taken out.
fn is_within(part: &str, whole: &str) -> bool {
    let mut characters = whole.chars();
    part.chars().all(|c| characters.any(|other| other == c))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_taken(text in any::<String>()) {
        for show in [visible, visible_ask, visible_code] {
            let seen = show(&text);
            prop_assert!(is_within(&seen, &text));
            prop_assert_eq!(show(&seen), seen);
        }
    }

    #[test]
    fn marks_in_any_order_are_taken(text in marks()) {
        for show in [visible, visible_ask] {
            let seen = show(&text);
            prop_assert!(is_within(&seen, &text), "{:?}", seen);
            prop_assert_eq!(show(&seen), seen);
        }
    }

    #[test]
    fn text_without_marks_stays_as_it_is(text in "[a-z>`~*_#|!()\"'&;:@0-9 \t\n\\-]{0,200}") {
        prop_assert_eq!(visible(&text), text.clone());
        prop_assert_eq!(visible_ask(&text), text);
    }

    #[test]
    fn what_is_fenced_stays_as_it_is(inside in "[a-z<>!\\[\\]()\"'`: \n-]{0,80}", before in "[a-z \n]{0,20}") {
        prop_assume!(!inside.contains("~~~"));
        let text = format!("{before}\n\n~~~\n{inside}\n~~~");
        prop_assert_eq!(visible(&text), text);
    }

    #[test]
    fn a_comment_of_others_is_never_told(before in "[a-z>#*. \n-]{0,40}", after in "[a-z>#*. \n]{0,40}") {
        // Moved in as far, it may be code.
        prop_assume!(!before.contains("    "));
        let seen = visible(&format!("{before}<!-- EVIL -->{after}"));
        prop_assert!(!seen.contains("EVIL"), "{:?}", seen);
    }
}
