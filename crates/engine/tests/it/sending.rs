//! Replies on their way out: they arrive once, in order, whatever the platform or our own process does meanwhile.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::Timestamp;
use hedgerow_core::platform::{ConversationKey, Platform, PlatformKind};
use hedgerow_engine::Engine;
use hedgerow_engine::outbox::{self, AGAIN, Outbox};
use hedgerow_engine::store::{Claim, NewReply};
use hedgerow_testkit::talk::Trouble;
use hedgerow_testkit::{Talk, World};

const DEAD: &str = "here:dead";

/// A world with one platform and its sender.
struct Post {
    world: World,
    talk: Arc<Talk>,
    outbox: Outbox,
}

impl Post {
    async fn new() -> Self {
        let world = World::new().await;
        let talk = world.talk(PlatformKind::Slack);
        let outbox = sender(&world.engine, &talk, "here:1");
        Self { world, talk, outbox }
    }

    async fn writes(&self, conversation: &str, words: &str) {
        let now = self.world.engine.now();
        let key = ConversationKey { platform: self.talk.kind(), id: conversation.to_owned() };
        let known = self.world.engine.store().conversation(&key, now).await.expect("the store answers");
        let reply = NewReply { conversation: known.id, message: None, words: words.to_owned() };
        self.world.engine.store().say(&reply, now).await.expect("written");
    }

    async fn sends(&self) -> usize {
        self.outbox.round().await.expect("a round")
    }

    /// What waits for another try is due now.
    async fn waits(&self) {
        self.world.database().meddle("UPDATE outbox SET not_before = 0").await.expect("time passes");
    }

    /// Another process takes what is due, and dies.
    async fn somebody_dies_sending(&self) {
        self.takes_for(DEAD).await;
    }

    async fn takes_for(&self, holder: &str) {
        let now = self.world.engine.store_now().await.expect("a time");
        let claim = Claim { holder, now, until: now.plus_seconds(60) };
        let served = outbox::served(self.talk.as_ref());
        let taken = self.world.engine.store().take_replies(&served, &claim, 10).await.expect("taken");
        assert!(!taken.is_empty(), "there is something to send");
    }

    async fn takes_over(&self) -> usize {
        self.outbox.take_over(&|holder, _| holder == DEAD).await.expect("taken over")
    }

    async fn unsent(&self) -> u64 {
        self.world.engine.store().unsent(&outbox::served(self.talk.as_ref())).await.expect("counted")
    }

    fn said(&self, conversation: &str) -> Vec<String> {
        self.talk.said_in(conversation).into_iter().map(|(text, _)| text).collect()
    }
}

fn sender(engine: &Engine, talk: &Arc<Talk>, holder: &str) -> Outbox {
    let outbox = Outbox::new(engine.clone(), vec![talk.clone()], holder.to_owned());
    outbox.with_timeout(Duration::from_millis(50))
}

fn again(words: &str) -> String {
    format!("{AGAIN}\n{words}")
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_go_out_once_in_the_order_of_their_conversation() {
    let post = Post::new().await;
    assert_eq!(post.outbox.next_due().await.expect("asked"), None, "nothing waits");
    for n in 0..5 {
        post.writes("C1:1", &format!("one {n}")).await;
        post.writes("C1:2", &format!("two {n}")).await;
    }
    assert!(post.outbox.next_due().await.expect("asked").is_some());
    assert_eq!(post.sends().await, 10);
    assert_eq!(post.said("C1:1"), ["one 0", "one 1", "one 2", "one 3", "one 4"]);
    assert_eq!(post.said("C1:2"), ["two 0", "two 1", "two 2", "two 3", "two 4"]);
    assert_eq!((post.sends().await, post.unsent().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_senders_share_the_work_and_nothing_is_doubled() {
    let post = Post::new().await;
    post.talk.does_not_recognise_repeats();
    for n in 0..5 {
        for conversation in 0..40 {
            post.writes(&format!("C1:{conversation}"), &format!("{n}")).await;
        }
    }
    let other = sender(&post.world.another_engine().await, &post.talk, "here:2");
    let (one, two) = tokio::join!(post.outbox.round(), other.round());
    let (one, two) = (one.expect("a round"), two.expect("a round"));
    // Whoever is left alone with the last conversations sends the rest.
    let rest = post.sends().await;
    assert_eq!(one + two + rest, 200, "{one} and {two} and {rest}");
    for conversation in 0..40 {
        assert_eq!(post.said(&format!("C1:{conversation}")), ["0", "1", "2", "3", "4"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_fails_for_a_while_gets_it_later_and_in_order() {
    let post = Post::new().await;
    post.talk.does_not_recognise_repeats();
    post.writes("C1:1", "one").await;
    post.writes("C1:1", "two").await;
    post.talk.meets([Trouble::Transient, Trouble::Transient]);
    for _ in 0..2 {
        assert_eq!(post.sends().await, 1, "the second waits behind the first");
        let now = post.world.engine.store_now().await.expect("a time");
        let due = post.outbox.next_due().await.expect("asked").expect("one waits");
        assert!(due.as_millis() > now.as_millis() - 1_000, "due {due:?}, now {now:?}");
        assert_eq!(post.sends().await, 0, "not yet");
        post.waits().await;
    }
    assert_eq!(post.sends().await, 2);
    assert_eq!(post.said("C1:1"), ["one", "two"], "what did not arrive is no repeat");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_not_tried_again_and_holds_up_nobody() {
    let post = Post::new().await;
    post.writes("C1:1", "one").await;
    post.writes("C1:1", "two").await;
    post.talk.meets([Trouble::Refuse]);
    assert_eq!(post.sends().await, 2);
    assert_eq!((post.said("C1:1"), post.unsent().await, post.talk.sends()), (vec!["two".to_owned()], 0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_day_a_reply_is_given_up_and_the_next_one_goes() {
    let post = Post::new().await;
    post.writes("C1:1", "old news").await;
    post.talk.always_meets(Trouble::Transient);
    assert_eq!(post.sends().await, 1);
    post.world.clock.days_pass(1);
    post.writes("C1:1", "news").await;
    post.waits().await;
    assert_eq!(post.sends().await, 2, "a last try of the old one, a first one of the new");
    post.talk.recovers();
    post.waits().await;
    assert_eq!(post.sends().await, 1);
    assert_eq!((post.said("C1:1"), post.unsent().await), (vec!["news".to_owned()], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_hangs_holds_up_its_own_conversation_only() {
    let post = Post::new().await;
    // The one that hangs has all the time in the world.
    let outbox = Arc::new(sender(&post.world.engine, &post.talk, "here:1").with_timeout(Duration::from_mins(10)));
    post.writes("C1:1", "hangs").await;
    post.talk.meets([Trouble::Hang]);
    let round = tokio::spawn({
        let outbox = outbox.clone();
        async move { outbox.round().await }
    });
    while post.talk.sends() == 0 {
        tokio::task::yield_now().await;
    }
    post.writes("C1:2", "does not").await;
    outbox.poke();
    tokio::time::timeout(Duration::from_secs(30), async {
        while post.said("C1:2").is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it is sent while the other one hangs");
    assert!(!round.is_finished());
    round.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_does_not_answer_is_sent_it_again_without_a_word_if_it_recognises_repeats() {
    let post = Post::new().await;
    post.writes("C1:1", "one").await;
    post.talk.meets([Trouble::ArriveAndHang, Trouble::Hang, Trouble::ArriveAndHang]);
    for _ in 0..3 {
        assert_eq!(post.sends().await, 1);
        post.waits().await;
    }
    assert_eq!(post.sends().await, 1);
    assert_eq!((post.said("C1:1"), post.unsent().await), (vec!["one".to_owned()], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_does_not_answer_gets_one_marked_repeat_if_it_does_not() {
    for (second, expected) in [
        (None, vec!["one".to_owned(), again("one"), "two".to_owned()]),
        (Some(Trouble::Hang), vec!["one".to_owned(), "two".to_owned()]),
        (Some(Trouble::ArriveAndHang), vec!["one".to_owned(), again("one"), "two".to_owned()]),
    ] {
        let post = Post::new().await;
        post.talk.does_not_recognise_repeats();
        post.writes("C1:1", "one").await;
        post.writes("C1:1", "two").await;
        post.talk.meets([Trouble::ArriveAndHang]);
        post.talk.meets(second);
        assert_eq!(post.sends().await, 1);
        post.waits().await;
        assert_eq!(post.sends().await, 2, "the repeat, and the next one after it");
        assert_eq!((post.said("C1:1"), post.unsent().await), (expected, 0), "{second:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_that_died_leaves_one_marked_repeat_and_never_two() {
    let post = Post::new().await;
    post.talk.does_not_recognise_repeats();
    post.writes("C1:1", "one").await;
    post.somebody_dies_sending().await;
    assert_eq!((post.sends().await, post.takes_over().await), (0, 1));
    assert_eq!((post.sends().await, post.said("C1:1")), (1, vec![again("one")]));

    post.writes("C1:2", "twice unlucky").await;
    post.writes("C1:2", "next").await;
    for _ in 0..2 {
        post.somebody_dies_sending().await;
        assert_eq!(post.takes_over().await, 1);
    }
    assert_eq!((post.sends().await, post.said("C1:2")), (1, vec!["next".to_owned()]));
    assert_eq!((post.takes_over().await, post.unsent().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_before_a_death_do_not_cost_the_repeat() {
    let post = Post::new().await;
    post.talk.does_not_recognise_repeats();
    post.writes("C1:1", "one").await;
    post.talk.meets([Trouble::Transient, Trouble::Transient, Trouble::Transient]);
    for _ in 0..3 {
        assert_eq!(post.sends().await, 1);
        post.waits().await;
    }
    post.somebody_dies_sending().await;
    assert_eq!(post.takes_over().await, 1);
    post.talk.meets([Trouble::Transient]);
    assert_eq!(post.sends().await, 1, "this one did not arrive for certain");
    post.waits().await;
    assert_eq!((post.sends().await, post.said("C1:1")), (1, vec![again("one")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_repeats_are_recognised_a_death_goes_unnoticed() {
    let post = Post::new().await;
    post.writes("C1:1", "one").await;
    for _ in 0..3 {
        post.somebody_dies_sending().await;
        assert_eq!(post.takes_over().await, 1);
    }
    assert_eq!((post.sends().await, post.said("C1:1")), (1, vec!["one".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_sender_took_without_hearing_of_it_is_sent_all_the_same() {
    let post = Post::new().await;
    post.writes("C1:1", "one").await;
    // The store took it for the sender, and its reply was lost on the way.
    post.takes_for("here:1").await;
    post.writes("C1:1", "two").await;
    assert_eq!(post.sends().await, 0);
    post.outbox.settle_the_dropped().await.expect("settled");
    assert_eq!(post.sends().await, 2);
    assert_eq!(post.said("C1:1"), ["one", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_on_its_way_is_not_taken_for_dropped() {
    let post = Post::new().await;
    post.talk.does_not_recognise_repeats();
    post.talk.meets([Trouble::ArriveAndHang]);
    post.writes("C1:1", "one").await;
    let settling = async {
        while post.talk.sends() == 0 {
            tokio::task::yield_now().await;
        }
        post.outbox.settle_the_dropped().await.expect("settled");
        assert_eq!(post.outbox.next_due().await.expect("asked"), None, "it is being sent");
    };
    let (_, ()) = tokio::join!(post.sends(), settling);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_that_lives_is_left_alone() {
    let post = Post::new().await;
    post.writes("C1:1", "one").await;
    post.somebody_dies_sending().await;
    assert_eq!(post.outbox.take_over(&|_, _| false).await.expect("asked"), 0);
    // It moves its claim on between our look and our hand.
    let renews = |holder: &str, until: Timestamp| {
        let (store, holder, until) = (post.world.engine.store().clone(), holder.to_owned(), until.plus_seconds(60));
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(store.renew_claims(&holder, until)).expect("renewed");
        });
        true
    };
    assert_eq!(post.outbox.take_over(&renews).await.expect("asked"), 0);
    assert_eq!((post.sends().await, post.unsent().await), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_this_process_serves_is_sent() {
    let post = Post::new().await;
    post.writes("mine", "one").await;
    post.writes("theirs", "two").await;
    let window = post.world.talk(PlatformKind::Slack);
    window.serves_only("mine");
    assert_eq!(sender(&post.world.engine, &window, "here:2").round().await.expect("a round"), 1);
    assert_eq!((window.said_in("mine").len(), window.said_in("theirs").len()), (1, 0));
    assert_eq!((post.sends().await, post.said("theirs").len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_leave_room_for_the_line_that_marks_a_repeat() {
    let post = Post::new().await;
    post.talk.set_longest(100);
    let text = "word ".repeat(50);
    assert!(outbox::parts(post.talk.as_ref(), &text)[0].len() > 90);
    post.talk.does_not_recognise_repeats();
    for part in outbox::parts(post.talk.as_ref(), &text) {
        assert!(again(&part).chars().count() <= 100, "{part}");
        post.writes("C1:1", &part).await;
        post.somebody_dies_sending().await;
        assert_eq!((post.takes_over().await, post.sends().await), (1, 1));
    }
}
