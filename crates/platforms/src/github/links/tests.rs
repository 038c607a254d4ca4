//! Bodies of pull requests, and what they close.

use proptest::prelude::*;

use super::*;

fn closed_by(body: &str) -> Vec<u64> {
    let repository = "acme/shop".parse().expect("a name");
    closing_words(body, &repository, "https://github.com")
}

#[test]
fn all_of_githubs_forms_are_understood() {
    for keyword in KEYWORDS {
        for form in ["#42", "GH-42", "gh-42", "acme/shop#42", "Acme/SHOP#42", "https://github.com/acme/shop/issues/42"]
        {
            for line in [format!("{keyword} {form}"), format!("{keyword}: {form}"), format!("{keyword}:{form}")] {
                for text in [line.clone(), line.to_uppercase(), format!("It **{line}**."), format!("- ({line}), yes")] {
                    assert_eq!(closed_by(&text), [42], "{text}");
                }
            }
        }
    }
}

#[test]
fn each_issue_is_closed_once_and_in_order() {
    assert_eq!(closed_by("Fixes #7, closes #3. Resolves #7\nfixes #1 and #2"), [7, 3, 1]);
    let many: Vec<String> = (1..=50).map(|n| format!("fixes #{n}")).collect();
    assert_eq!(closed_by(&many.join("\n")), (1..=20).collect::<Vec<u64>>());
}

#[test]
fn what_only_looks_like_it_closes_nothing() {
    for text in [
        "",
        "#42",
        "see #42",
        "prefixes #42",
        "hot-fix #42",
        "_fixes #42",
        "fixing #42",
        "fixes#42",
        "fixes\n#42",
        "fixes # 42",
        "fixes #0",
        "fixes #042",
        "fixes #42nd",
        "fixes #42_x",
        "fixes #99999999999",
        "fixes other/shop#42",
        "fixes acme/shop2#42",
        "fixes x/acme/shop#42",
        "fixes acme/shop/pull/42",
        "fixes https://github.com/acme/shop/pull/42",
        "fixes https://github.com/other/shop/issues/42",
        "fixes https://evil.example/acme/shop/issues/42",
        "fixes http://github.com.evil.example/acme/shop/issues/42",
        "fixes GH42",
    ] {
        assert_eq!(closed_by(text), [] as [u64; 0], "{text:?}");
    }
}

#[test]
fn what_is_code_or_a_quote_or_a_comment_is_not_said() {
    for (text, expected) in [
        ("`fixes #1` fixes #2", vec![2]),
        ("``a ` fixes #1`` fixes #2", vec![2]),
        ("`a\nfixes #1\nb` fixes #2", vec![2]),
        ("a ` b fixes #1", vec![1]),
        ("a ` b\n\nfixes #1 ` c", vec![1]),
        ("```\nfixes #1\n```\nfixes #2", vec![2]),
        ("```rust\nfixes #1\n``\n~~~\nfixes #3\n`````\nfixes #2", vec![2]),
        ("~~~\nfixes #1\n```\nfixes #3\n~~~\nfixes #2", vec![2]),
        ("```\nfixes #1", vec![]),
        ("```x``` fixes #1", vec![1]),
        ("> fixes #1\nfixes #3\n\nfixes #2", vec![3, 2]),
        ("  > fixes #1\n\nfixes #2", vec![2]),
        ("    fixes #1\n    fixes #3\nfixes #2", vec![2]),
        ("\tfixes #1\n\nfixes #2", vec![2]),
        ("a list:\n    fixes #1", vec![1]),
        ("<!-- fixes #1 --> fixes #2", vec![2]),
        ("<!-- fixes #1\n```\nfixes #3 --> fixes #2", vec![2]),
        ("fixes <!-- #1 --> #2", vec![2]),
        ("fixes #2\n<!-- fixes #1", vec![2]),
        ("fixes #2\r\n<!-- a -->b<!-- c -->\r\nfixes #3\r\n", vec![2, 3]),
    ] {
        assert_eq!(closed_by(text), expected, "{text:?}");
    }
}

#[test]
fn an_own_github_has_its_own_address() {
    let repository = "acme/shop".parse().expect("a name");
    let closed = |body| closing_words(body, &repository, "https://ghe.example");
    assert_eq!(closed("fixes https://GHE.example/acme/shop/issues/42#issuecomment-1"), [42]);
    assert_eq!(closed("fixes https://github.com/acme/shop/issues/42"), [] as [u64; 0]);
}

proptest! {
    #[test]
    fn any_text_can_be_read(body in ".*") {
        prop_assert!(closed_by(&body).len() <= MOST_LINKS);
    }

    #[test]
    fn any_mix_of_marks_can_be_read(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "`", "``", "```", "~~~", "\n", "\n\n", ">", " ", "    ", "<!--", "-->", "fixes", ":", "#4", "é", "GH-4", "acme/shop",
            ]),
            0..40,
        )
    ) {
        let closed = closed_by(&parts.concat());
        prop_assert!(closed.iter().all(|number| *number > 0));
        let mut once = closed.clone();
        once.dedup();
        prop_assert_eq!(once, closed);
    }

    #[test]
    fn a_line_of_its_own_counts_after_any_words(before in "[a-z ,.]{0,40}", number in 1_u64..1_000_000) {
        let closed = closed_by(&format!("{before}\n\nFixes #{number}\n"));
        prop_assert_eq!(closed.last(), Some(&number));
    }
}
