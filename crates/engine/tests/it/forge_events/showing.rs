//! What a platform is given to show how it stands: marks on the message, and what answers which run.

use hedgerow_core::message::RawEvent;
use hedgerow_core::platform::Mark::{Done, Failed, Seen, Working};
use hedgerow_engine::Clock as _;
use hedgerow_testkit::talk::Trouble;

use super::{SHOP, Scene, last};

fn says(scene: &Scene, handle: &str, text: &str) -> RawEvent {
    let saying = scene.office.forge.says("acme/shop#42", "alice", text);
    saying.repository(SHOP).about("issue-42").handle(handle).raw()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_marked_as_seen_worked_on_and_done() {
    let scene = Scene::begin().await;
    for (handle, text, marks) in [
        ("run", "say hello", vec![Seen, Working, Done]),
        ("failing", "fail badly", vec![Seen, Working, Failed]),
        ("command", "/status", vec![Seen, Done]),
        ("slow command", "/worktree create x", vec![Seen, Working, Done]),
        ("refused command", "/worktree link issue-1", vec![Seen, Failed]),
    ] {
        scene.office.hears(says(&scene, handle, text)).await;
        scene.office.forge.marked(handle, *marks.last().expect("a mark")).await;
        assert_eq!(scene.office.forge.marks_of(handle), marks, "{handle}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_shows_nothing_holds_up_no_answer() {
    let scene = Scene::begin().await;
    scene.office.forge.cannot_show();
    let begun = std::time::Instant::now();
    scene.office.hears(says(&scene, "h", "say hello")).await;
    assert_eq!(last(&scene.office, "acme/shop#42"), "hello");
    assert!(begun.elapsed() < std::time::Duration::from_secs(9), "nobody waited for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_died_with_its_server_is_marked_as_failed_by_the_next() {
    let mut scene = Scene::begin().await;
    let began = scene.office.signal("began");
    let text = format!("touch {}\nwait-for {}", began.display(), scene.office.signal("never").display());
    scene.office.gets(says(&scene, "h", &text)).await;
    scene.office.sees(&began).await;
    scene.office.crashes().await;
    scene.office.starts_again().await;
    scene.office.is_idle().await;
    scene.office.forge.marked("h", Failed).await;
    assert_eq!(scene.office.forge.marks_of("h"), [Seen, Working, Failed]);
    let reply = scene.office.forge.replies().pop().expect("the notice");
    assert!(reply.text.starts_with("Interrupted"), "{}", reply.text);
    assert!(reply.run.is_some() && reply.handle.as_deref() == Some("h"), "it takes the place of what was shown");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_part_of_a_run_s_last_word_names_the_run_and_all_name_the_message() {
    let scene = Scene::begin().await;
    scene.office.forge.set_longest(120);
    let line = "many words ".repeat(8);
    scene.office.hears(says(&scene, "h1", &format!("say {line}\nsay {line}\nsay {line}"))).await;
    scene.office.hears(says(&scene, "h2", "/worktree keep")).await;
    let replies = scene.office.forge.replies();
    assert!(replies.len() >= 5, "an introduction, several parts, an answer: {replies:#?}");
    let runs: Vec<bool> = replies.iter().map(|reply| reply.run.is_some()).collect();
    let mut expected = vec![false; replies.len()];
    expected[1] = true;
    assert_eq!(runs, expected, "{replies:#?}");
    let run = scene.office.engine.store().newest_runs(None, 1).await.expect("the store answers").remove(0);
    assert_eq!(replies[1].run, Some(run.id));
    assert!(!replies[1].last && replies[replies.len() - 2].last);
    let (command, answer) = replies.split_last().expect("replies");
    assert!(answer.iter().all(|reply| reply.handle.as_deref() == Some("h1")));
    assert_eq!(command.handle.as_deref(), Some("h2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_again_still_names_its_run_and_message() {
    let scene = Scene::begin().await;
    scene.office.hears(says(&scene, "h1", "say hello")).await;
    scene.office.forge.meets([Trouble::ArriveAndFail]);
    scene.office.forge.does_not_recognise_repeats();
    scene.office.gets(says(&scene, "h2", "say again")).await;
    let arrived = || scene.office.forge.said_in("acme/shop#42").iter().filter(|(_, last)| *last).count();
    let twice = async {
        while arrived() < 3 {
            scene.office.clock.set(scene.office.clock.now().plus_seconds(2));
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), twice).await.expect("it is sent again");
    scene.office.is_idle().await;
    let replies = scene.office.forge.replies();
    let [.., first, second] = replies.as_slice() else { panic!("{replies:#?}") };
    assert!(!first.is_repeat && second.is_repeat);
    assert_eq!((first.run, &first.handle), (second.run, &second.handle));
    assert!(second.run.is_some() && second.handle.as_deref() == Some("h2"));
}
