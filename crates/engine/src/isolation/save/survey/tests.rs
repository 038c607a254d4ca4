//! Which files are saved, by table.

use super::*;

fn seen(path: &str, kind: Kind, size: u64) -> Seen {
    let mode = if kind == Kind::Folder { 0o755 } else { 0o644 };
    Seen::new(PathBuf::from(path), kind, mode, size, false)
}

fn entry(path: &str, object: &str) -> IndexEntry {
    IndexEntry {
        path: path.as_bytes().to_vec(),
        mode: 0o100_644,
        object: object.to_owned(),
        stage: 0,
        is_hidden: false,
    }
}

fn saved(survey: &Survey<'_>) -> Vec<String> {
    survey.save.iter().map(|thing| thing.path.display().to_string()).collect()
}

#[test]
fn a_tracked_file_stays_out_only_if_git_would_write_these_very_bytes() {
    let files = [
        seen("clean", Kind::File, 5),
        seen("converted", Kind::File, 7),
        seen("encoded", Kind::File, 5),
        seen("hidden", Kind::File, 5),
        seen("hidden-same", Kind::File, 5),
        seen("link", Kind::Link, 5),
        seen("lost-object", Kind::File, 5),
        seen("stamped", Kind::File, 5),
        seen("touched", Kind::File, 5),
    ];
    let hidden = |path| IndexEntry { is_hidden: true, ..entry(path, "five") };
    let known = Known {
        index: vec![
            entry("clean", "five"),
            entry("converted", "five"),
            entry("deleted", "five"),
            entry("encoded", "five"),
            hidden("hidden"),
            hidden("hidden-same"),
            entry("link", "five"),
            entry("lost-object", "nowhere"),
            entry("stamped", "five"),
            entry("touched", "five"),
        ],
        changed: [b"stamped".to_vec(), b"touched".to_vec()].into(),
        sizes: [("five".to_owned(), 5)].into(),
        raw: [
            (b"stamped".to_vec(), "other".to_owned()),
            (b"touched".to_vec(), "five".to_owned()),
            (b"encoded".to_vec(), "other".to_owned()),
            (b"hidden".to_vec(), "other".to_owned()),
            (b"hidden-same".to_vec(), "five".to_owned()),
        ]
        .into(),
        converted: [b"encoded".to_vec()].into(),
        ..Known::default()
    };
    assert_eq!(doubtful(&files, &known), [&b"encoded"[..], b"hidden", b"hidden-same", b"stamped", b"touched"]);
    let survey = survey(&files, &known);
    assert_eq!(saved(&survey), ["converted", "encoded", "hidden", "link", "lost-object", "stamped"]);
    let changed: Vec<_> = survey.changed.iter().map(|path| String::from_utf8_lossy(path)).collect();
    assert_eq!(changed, ["converted", "deleted", "encoded", "hidden", "link", "lost-object", "stamped"]);
    assert_eq!(survey.skipped, []);
}

#[test]
fn unusual_permissions_are_saved_and_usual_ones_remembered() {
    let mut files = [seen("a", Kind::File, 1), seen("b", Kind::File, 1), seen("c", Kind::File, 1)];
    files[0].mode = 0o664;
    files[1].mode = 0o664;
    files[2].mode = 0o600;
    let known = Known {
        index: vec![entry("a", "one"), entry("b", "one"), entry("c", "one")],
        sizes: [("one".to_owned(), 1)].into(),
        ..Known::default()
    };
    let survey = survey(&files, &known);
    assert_eq!(survey.modes.plain, 0o664);
    assert_eq!(saved(&survey), ["c"]);
}

#[test]
fn limits_are_for_ignored_files_only_and_what_they_keep_out_is_listed() {
    let large = MOST_OF_ONE + 1;
    let mut inner = seen("target/inner/file", Kind::File, large);
    inner.in_repository = true;
    let mut files = vec![
        seen("ignored.bin", Kind::File, large),
        seen("mine.bin", Kind::File, large),
        seen("socket", Kind::Other, 0),
        seen("target", Kind::Folder, 0),
        seen("target/deep", Kind::Folder, 0),
        seen("target/deep/x", Kind::File, 7),
        inner,
        seen("vendor/target", Kind::Folder, 0),
        seen("vendor/target/tracked", Kind::File, 1),
        seen("vendor/target/ignored", Kind::File, 1),
    ];
    files.extend((0..11).map(|nth| seen(&format!("z{nth:02}"), Kind::File, MOST_OF_ONE)));
    let known = Known {
        index: vec![entry("vendor/target/tracked", "one")],
        untracked: [b"mine.bin".to_vec()].into(),
        sizes: [("one".to_owned(), 1)].into(),
        ..Known::default()
    };
    let survey = survey(&files, &known);
    let skipped: Vec<_> = survey.skipped.iter().map(|it| (it.path.as_str(), it.because, it.bytes)).collect();
    assert_eq!(
        skipped,
        [
            ("ignored.bin", SkippedBecause::TooLarge, large),
            ("socket", SkippedBecause::NoFile, 0),
            // One byte of the room went to `vendor/target/ignored`.
            ("z09", SkippedBecause::TooMuch, MOST_OF_ONE),
            ("z10", SkippedBecause::TooMuch, MOST_OF_ONE),
            ("target", SkippedBecause::Cache, 7),
        ]
    );
    let saved = saved(&survey);
    for kept in ["mine.bin", "target/inner/file", "vendor/target", "vendor/target/ignored", "z08"] {
        assert!(saved.iter().any(|path| path == kept), "{kept} is saved");
    }
    assert!(!saved.iter().any(|path| path == "vendor/target/tracked"), "git has it");
}
