//! The inbox and the outbox as the database holds them to their rules, whoever asks and however many.

use std::collections::BTreeSet;

use hedgerow_core::assistant::Usage;
use hedgerow_core::environment::Actor;
use hedgerow_core::message::{Accepted, DeliveryKey, RawEvent};
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::run::{MessageEnd, RunState, SessionEnd};
use hedgerow_core::{ConversationId, MessageId, RunId, SessionId};
use hedgerow_engine::store::{
    Claim, Conclusion, Delivered, Happened, LONGEST_MEMORY, NewReply, Run, RunEnd, RunEvent, Sent, Served, Session,
    SessionNews, Store, Which,
};

use crate::{Scene, time};

fn raw(delivery: &str, lane: &str) -> RawEvent {
    RawEvent {
        platform: PlatformKind::Slack,
        delivery: DeliveryKey { id: delivery.to_owned(), meaning: None },
        lane: lane.to_owned(),
        urgent: false,
        body: format!("body of {delivery}"),
        received_at: time(1),
    }
}

fn slack() -> Served {
    Served { platform: PlatformKind::Slack, only: None }
}

fn claim(holder: &str) -> Claim<'_> {
    Claim { holder, now: time(10), until: time(1000) }
}

async fn queued(store: &Store, raw: RawEvent) -> MessageId {
    match store.deliver(&[raw], 100).await.expect("written")[0] {
        Accepted::Queued(id) => id,
        other => panic!("{other:?}"),
    }
}

async fn take(store: &Store, holder: &str) -> Vec<Delivered> {
    store.take_messages(&slack(), &claim(holder), Which::All, 10).await.expect("taken")
}

async fn conversation(store: &Store, id: &str) -> ConversationId {
    let key = ConversationKey { platform: PlatformKind::Slack, id: id.to_owned() };
    store.conversation(&key, time(1)).await.expect("made").id
}

fn last_word<'a>(message: MessageId, holder: &'a str, conversation: ConversationId, words: &str) -> Conclusion<'a> {
    let replies = vec![NewReply { conversation, message: Some(message), words: words.to_owned() }];
    Conclusion { message, holder, end: MessageEnd::Answered, replies, run: None, fence: None, session: None }
}

#[tokio::test]
async fn a_delivery_is_recognised_by_its_id_and_by_its_meaning() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    let first = queued(&store, raw("1", "a")).await;
    let meant = RawEvent {
        delivery: DeliveryKey { id: "2".to_owned(), meaning: Some("comment 7".to_owned()) },
        ..raw("2", "a")
    };
    let second = queued(&store, meant.clone()).await;
    let again = RawEvent { delivery: DeliveryKey { id: "3".to_owned(), ..meant.delivery.clone() }, ..meant };
    let elsewhere = RawEvent { platform: PlatformKind::Github, ..raw("1", "a") };
    let answers = store.deliver(&[raw("1", "b"), again, elsewhere], 100).await.expect("written");
    assert_eq!(answers[..2], [Accepted::Duplicate(first), Accepted::Duplicate(second)]);
    assert!(matches!(answers[2], Accepted::Queued(_)), "another platform's ids are its own");
}

#[tokio::test]
async fn what_was_heard_is_known_by_its_meaning_and_by_what_it_is_about() {
    let scene = Scene::begin().await;
    let meaning = Some("comment:7:yesterday".to_owned());
    let heard = RawEvent { delivery: DeliveryKey { id: "1".to_owned(), meaning }, ..raw("1", "a") };
    queued(&scene.store, heard).await;
    for (about, is_known) in [
        ("comment:7:yesterday", true),
        ("comment:7:", true),
        ("comment:7", true),
        ("comment:7:today", false),
        ("comment:70:", false),
        ("comment", false),
    ] {
        let known = scene.store.knows(PlatformKind::Slack, about).await.expect("asked");
        assert_eq!(known, is_known, "{about}");
    }
    assert!(!scene.store.knows(PlatformKind::Github, "comment:7:").await.expect("asked"));
}

#[tokio::test]
async fn the_last_delivery_of_a_platform_is_its_own_and_the_latest() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    assert_eq!(store.last_delivery(PlatformKind::Slack).await.expect("asked"), None);
    for (delivery, at) in [("1", 5), ("2", 9), ("3", 7)] {
        queued(&store, RawEvent { received_at: time(at), ..raw(delivery, "a") }).await;
    }
    queued(&store, RawEvent { platform: PlatformKind::Github, received_at: time(99), ..raw("4", "a") }).await;
    assert_eq!(store.last_delivery(PlatformKind::Slack).await.expect("asked"), Some(time(9)));
}

#[tokio::test]
async fn a_full_queue_takes_no_more_and_still_recognises_what_it_has() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    let batch: Vec<_> = (0..4).map(|n| raw(&n.to_string(), "a")).collect();
    let answers = store.deliver(&batch, 3).await.expect("written");
    let Accepted::Queued(first) = answers[0] else { panic!("{answers:?}") };
    assert!(answers[..3].iter().all(|answer| matches!(answer, Accepted::Queued(_))), "{answers:?}");
    assert_eq!(answers[3], Accepted::Busy);
    let answers = store.deliver(&[raw("0", "a"), raw("9", "a")], 3).await.expect("written");
    assert_eq!(answers, [Accepted::Duplicate(first), Accepted::Busy]);
    assert_eq!(store.waiting().await.expect("counted"), 3);
    take(&store, "one").await;
    assert!(matches!(store.deliver(&[raw("9", "a")], 3).await.expect("written")[0], Accepted::Queued(_)));
}

#[tokio::test]
async fn a_lane_is_taken_in_order_one_at_a_time_and_what_is_urgent_passes() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    let first = queued(&store, raw("1", "a")).await;
    let second = queued(&store, raw("2", "a")).await;
    let other = queued(&store, raw("3", "b")).await;
    let taken: Vec<_> = take(&store, "one").await.iter().map(|message| message.id).collect();
    assert_eq!(taken, [first, other]);
    assert_eq!(take(&store, "two").await, []);
    let urgent = queued(&store, RawEvent { urgent: true, ..raw("4", "a") }).await;
    queued(&store, raw("5", "c")).await;
    let only = store.take_messages(&slack(), &claim("none"), Which::Urgent, 10).await.expect("taken");
    assert_eq!(only.iter().map(|message| message.id).collect::<Vec<_>>(), [urgent]);
    assert!(store.put_back(urgent, "none", time(0)).await.expect("put back"));
    assert_eq!(take(&store, "two").await[0].id, urgent);
    let talk = conversation(&store, "a").await;
    assert!(store.conclude(&last_word(first, "one", talk, "done"), time(20)).await.expect("written"));
    let taken = take(&store, "two").await;
    assert_eq!((taken[0].id, taken[0].attempts, taken[0].raw.body.as_str()), (second, 1, "body of 2"));
}

#[tokio::test]
async fn however_many_take_at_once_each_message_has_one_holder() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    for n in 0..60 {
        queued(&store, raw(&n.to_string(), &format!("lane {}", n % 20))).await;
    }
    let mut taking = tokio::task::JoinSet::new();
    for n in 0..8 {
        let store = store.clone();
        taking.spawn(async move {
            let holder = format!("holder {n}");
            let mut mine = Vec::new();
            for _ in 0..6 {
                mine.extend(store.take_messages(&slack(), &claim(&holder), Which::All, 3).await.expect("taken"));
            }
            mine
        });
    }
    let taken: Vec<_> = taking.join_all().await.into_iter().flatten().collect();
    let ids: BTreeSet<_> = taken.iter().map(|message| message.id).collect();
    let lanes: BTreeSet<_> = taken.iter().map(|message| message.raw.lane.clone()).collect();
    assert_eq!((ids.len(), lanes.len(), taken.len()), (20, 20, 20), "one of each lane, each once");
}

#[tokio::test]
async fn a_process_that_serves_one_conversation_takes_nothing_else() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    queued(&store, raw("1", "a")).await;
    let mine = queued(&store, raw("2", "b")).await;
    let served = Served { only: Some("b".to_owned()), ..slack() };
    let taken = store.take_messages(&served, &claim("one"), Which::All, 10).await.expect("taken");
    assert_eq!(taken.iter().map(|message| message.id).collect::<Vec<_>>(), [mine]);
    assert_eq!(store.unfinished(&served).await.expect("counted"), 1);
    assert_eq!(store.unfinished(&slack()).await.expect("counted"), 2);
}

#[tokio::test]
async fn what_was_begun_is_not_put_back_and_a_message_has_one_last_word() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    let id = queued(&store, raw("1", "a")).await;
    let talk = conversation(&store, "a").await;
    take(&store, "one").await;
    assert!(store.put_back(id, "one", time(50)).await.expect("put back"));
    assert_eq!(take(&store, "two").await, [], "not before its time");
    let late = Claim { now: time(50), ..claim("two") };
    let taken = store.take_messages(&slack(), &late, Which::All, 10).await.expect("taken");
    assert_eq!(taken[0].attempts, 1, "waiting is no attempt");
    assert!(!store.begin_message(id, "one", time(51)).await.expect("asked"), "it is another's by now");
    assert!(store.begin_message(id, "two", time(51)).await.expect("asked"));
    assert!(!store.put_back(id, "two", time(0)).await.expect("asked"), "it was begun");
    // Its holder is gone; somebody takes over, and only one of those who try.
    let seen = store.taken_by_others(&slack(), "three").await.expect("read");
    assert!(store.take_over_message(&seen[0], &claim("three")).await.expect("asked"));
    assert!(!store.take_over_message(&seen[0], &claim("four")).await.expect("asked"));
    assert!(
        !store.conclude(&last_word(id, "two", talk, "late"), time(60)).await.expect("asked"),
        "not the old holder's"
    );
    assert!(store.conclude(&last_word(id, "three", talk, "interrupted"), time(61)).await.expect("asked"));
    assert!(!store.conclude(&last_word(id, "three", talk, "again"), time(62)).await.expect("asked"));
    let replies = store.replies_to(id).await.expect("read");
    assert_eq!(
        replies.iter().map(|(_, words, last)| (words.as_str(), *last)).collect::<Vec<_>>(),
        [("interrupted", true)]
    );
    assert_eq!(store.replies_to(MessageId::new()).await.expect("read"), []);
    let said = store.spoken(talk, 10).await.expect("read");
    assert_eq!(said.iter().map(|said| (said.text.as_str(), said.last)).collect::<Vec<_>>(), [("interrupted", true)]);
}

fn run(
    message: MessageId,
    conversation: ConversationId,
    scene: &Scene,
    environment: hedgerow_core::EnvironmentId,
) -> Run {
    Run {
        id: RunId::new(),
        message: Some(message),
        conversation,
        codebase: Some(scene.codebase),
        environment: Some(environment),
        session: None,
        assistant: "fake".to_owned(),
        author: Actor::new("slack", "alice"),
        state: RunState::Running,
        holder: "one".to_owned(),
        epoch: 1,
        started_at: time(5),
        ended_at: None,
        stop_asked_at: None,
        stop_asked_by: None,
        usage: Usage::default(),
    }
}

#[tokio::test]
async fn a_last_word_needs_the_lease_it_was_found_under_and_is_all_or_nothing() {
    let scene = Scene::begin().await;
    let store = &scene.store;
    let environment = scene.issue(42).await;
    let (id, talk) = (queued(store, raw("1", "a")).await, conversation(store, "a").await);
    take(store, "one").await;
    assert_eq!(store.take_lease(environment.id, "here:1", time(1), 60).await.expect("asked"), Some(1));
    let run = run(id, talk, &scene, environment.id);
    assert!(store.begin_run(&run).await.expect("begun"));
    assert!(!store.begin_run(&Run { id: RunId::new(), ..run.clone() }).await.expect("asked"), "it is begun once");
    assert_eq!(store.running_in(environment.id).await.expect("read"), Some(run.clone()));
    // The lease has passed to somebody else.
    store.release_lease(environment.id, 1).await.expect("released");
    assert_eq!(store.take_lease(environment.id, "there:1", time(2), 60).await.expect("asked"), Some(2));
    let done = Conclusion {
        run: Some(RunEnd { run: run.id, state: RunState::Done, why: None }),
        fence: Some((environment.id, 1)),
        ..last_word(id, "one", talk, "done")
    };
    assert!(!store.conclude(&done, time(9)).await.expect("asked"));
    assert!(store.running_in(environment.id).await.expect("read").is_some(), "nothing of it was written");
    assert!(store.spoken(talk, 10).await.expect("read").is_empty());
    let done = Conclusion { fence: Some((environment.id, 2)), ..done };
    assert!(store.conclude(&done, time(9)).await.expect("asked"));
    let ended = store.run_of(id).await.expect("read").expect("there");
    assert_eq!((ended.state, ended.ended_at), (RunState::Done, Some(time(9))));
    assert!(!store.ask_to_stop(run.id, &Actor::automation(), time(10)).await.expect("asked"), "it has ended");
}

#[tokio::test]
async fn replies_go_out_in_the_order_of_their_conversation() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    let (one, two) = (conversation(&store, "a").await, conversation(&store, "b").await);
    let reply = |conversation, words: &str| NewReply { conversation, message: None, words: words.to_owned() };
    for (conversation, words) in [(one, "1"), (one, "2"), (two, "3")] {
        store.say(&reply(conversation, words), time(1)).await.expect("written");
    }
    let took = |replies: &[hedgerow_engine::store::Outgoing]| {
        replies.iter().map(|reply| reply.words.clone()).collect::<Vec<_>>()
    };
    let taken = store.take_replies(&slack(), &claim("one"), 10).await.expect("taken");
    assert_eq!(took(&taken), ["1", "3"]);
    assert_eq!(store.take_replies(&slack(), &claim("two"), 10).await.expect("taken"), []);
    let later = Sent::Later { not_before: time(500), why: "away".to_owned() };
    assert!(store.settle_reply(taken[0].id, "one", &later, time(20)).await.expect("settled"));
    assert_eq!(store.take_replies(&slack(), &claim("two"), 10).await.expect("taken"), [], "the second waits for it");
    let late = Claim { now: time(500), ..claim("two") };
    let again = store.take_replies(&slack(), &late, 10).await.expect("taken");
    assert_eq!((took(&again), again[0].attempts), (vec!["1".to_owned()], 2));
    assert!(
        !store.settle_reply(again[0].id, "one", &Sent::Yes, time(501)).await.expect("asked"),
        "not the old holder's"
    );
    let no = Sent::No { why: "refused".to_owned() };
    assert!(store.settle_reply(again[0].id, "two", &no, time(501)).await.expect("settled"));
    assert_eq!(took(&store.take_replies(&slack(), &late, 10).await.expect("taken")), ["2"]);
    assert_eq!(store.unsent(&slack()).await.expect("counted"), 2);
}

#[tokio::test]
async fn a_conversation_is_told_of_an_environment_once() {
    let scene = Scene::begin().await;
    let (first, second) = (scene.issue(1).await, scene.issue(2).await);
    let talk = conversation(&scene.store, "a").await;
    let reply = NewReply { conversation: talk, message: None, words: "Working in …".to_owned() };
    for (environment, is_news) in [(&first, true), (&first, false), (&second, true), (&first, true)] {
        let told = scene.store.introduce(&reply, environment.id, time(1)).await.expect("asked");
        assert_eq!(told.is_some(), is_news);
    }
}

#[tokio::test]
async fn a_conversation_has_one_session_at_a_time() {
    let scene = Scene::begin().await;
    let store = &scene.store;
    let talk = conversation(store, "a").await;
    let session = Session {
        id: SessionId::new(),
        conversation: talk,
        assistant: "fake".to_owned(),
        assistant_session: None,
        environment: None,
        last_command: None,
        conclusion: None,
        started_at: time(1),
        ended: None,
    };
    store.start_session(&session).await.expect("started");
    let second = Session { id: SessionId::new(), ..session.clone() };
    store.start_session(&second).await.expect_err("it has one");
    let id = queued(store, raw("1", "a")).await;
    take(store, "one").await;
    let news = SessionNews {
        session: session.id,
        assistant_session: Some("s-1".to_owned()),
        conclusion: Some("all is well".to_owned()),
        last_command: None,
        ended: None,
    };
    let done = Conclusion { session: Some(news), ..last_word(id, "one", talk, "done") };
    assert!(store.conclude(&done, time(2)).await.expect("asked"));
    let active = store.active_session(talk).await.expect("read").expect("there");
    assert_eq!((active.assistant_session.as_deref(), active.conclusion.as_deref()), (Some("s-1"), Some("all is well")));
    for because in SessionEnd::ALL {
        assert!(store.end_session(talk, *because, time(3)).await.expect("ended"));
        let last = store.last_session(talk).await.expect("read").expect("there");
        assert_eq!(last.ended, Some((time(3), *because)));
        store.start_session(&Session { id: SessionId::new(), ..session.clone() }).await.expect("started");
    }
}

#[tokio::test]
async fn what_has_ended_long_ago_is_forgotten_and_nothing_else() {
    let scene = Scene::begin().await;
    let store = scene.store.clone();
    let talk = conversation(&store, "a").await;
    for (delivery, ended) in [("1", 100), ("2", 900)] {
        let id = queued(&store, raw(delivery, "a")).await;
        take(&store, "one").await;
        assert!(store.conclude(&last_word(id, "one", talk, delivery), time(ended)).await.expect("asked"));
        let taken = store.take_replies(&slack(), &claim("one"), 10).await.expect("taken");
        store.settle_reply(taken[0].id, "one", &Sent::Yes, time(ended)).await.expect("settled");
    }
    let waiting = queued(&store, raw("3", "a")).await;
    assert!(!store.forget_talk(time(500)).await.expect("forgotten"));
    let said: Vec<_> = store.spoken(talk, 10).await.expect("read").into_iter().map(|said| said.text).collect();
    assert_eq!(said, ["2"]);
    assert!(matches!(store.deliver(&[raw("1", "a")], 100).await.expect("written")[0], Accepted::Queued(_)));
    assert_eq!(store.deliver(&[raw("3", "a")], 100).await.expect("written"), [Accepted::Duplicate(waiting)]);
}

#[tokio::test]
async fn the_log_of_a_run_and_what_is_remembered_of_its_session_go_when_they_are_old() {
    let scene = Scene::begin().await;
    let store = &scene.store;
    let talk = conversation(store, "a").await;
    let environment = scene.issue(42).await;
    let id = queued(store, raw("1", "a")).await;
    take(store, "one").await;
    let begun = Session {
        id: SessionId::new(),
        conversation: talk,
        assistant: "fake".to_owned(),
        assistant_session: None,
        environment: None,
        last_command: None,
        conclusion: None,
        started_at: time(1),
        ended: None,
    };
    store.start_session(&begun).await.expect("started");
    let run = run(id, talk, &scene, environment.id);
    assert!(store.begin_run(&run).await.expect("begun"));
    let usage = Usage { input_tokens: 7, cached_tokens: 5, output_tokens: 3, cost_micros: Some(2) };
    let event = |seq, what| RunEvent { seq, at: time(2), what };
    let batch = [event(1, Happened::Text("a\0b".to_owned())), event(2, Happened::Usage(usage))];
    for _ in 0..2 {
        store.log_run(run.id, &batch).await.expect("a batch can be written again");
    }
    assert!(store.name_session(begun.id, run.id, "s-1").await.expect("asked"));
    let memory = vec![0, 255, 10];
    assert!(store.remember(begun.id, run.id, memory.clone(), time(3)).await.expect("asked"));
    assert!(store.remember(begun.id, run.id, vec![0; LONGEST_MEMORY + 1], time(3)).await.is_err());
    assert_eq!(store.memory(begun.id).await.expect("read"), Some(memory.clone()));

    let why = Some("it broke".to_owned());
    let ended = RunEnd { run: run.id, state: RunState::Failed, why: why.clone() };
    let done = Conclusion { run: Some(ended), ..last_word(id, "one", talk, "done") };
    assert!(store.conclude(&done, time(9)).await.expect("asked"));
    let log: Vec<_> = store.run_events(run.id, 0, 9).await.expect("read").into_iter().map(|it| it.what).collect();
    let end = Happened::End { state: RunState::Failed, why };
    assert_eq!(log, [Happened::Text("a\u{fffd}b".to_owned()), Happened::Usage(usage), end]);
    assert_eq!(store.run_events(run.id, 2, 9).await.expect("read").len(), 1);
    assert_eq!(store.run(run.id).await.expect("read").expect("there").usage, usage);
    let whole = run.id.to_string();
    assert_eq!(store.runs_beginning(&whole[..20]).await.expect("read").len(), 1);
    assert_eq!(store.runs_beginning("%").await.expect("read"), []);
    // A run that is over has no more to say about its session.
    assert!(!store.name_session(begun.id, run.id, "s-2").await.expect("asked"));
    assert!(!store.remember(begun.id, run.id, vec![1], time(10)).await.expect("asked"));
    assert_eq!(store.memory(begun.id).await.expect("read"), Some(memory));

    store.end_session(talk, SessionEnd::Reset, time(11)).await.expect("ended");
    store.forget_talk(time(500)).await.expect("forgotten");
    assert_eq!(store.run_events(run.id, 0, 9).await.expect("read"), []);
    assert_eq!(store.memory(begun.id).await.expect("read"), None);
}
