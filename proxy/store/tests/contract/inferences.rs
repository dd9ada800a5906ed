//! The effects of one inference: all or nothing, once.

use futures_util::FutureExt;
use futures_util::future::join_all;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_store::budget::{self, Limit, Sums};
use svc_store::conversation::{self, Thread};
use svc_store::inference::{self, Opened, Progress, Settled, TurnRefusal};
use svc_store::seal::Content;
use svc_store::{Store, StoreError, audit, message};

use crate::database::TestDb;
use crate::fixture::{self, NOW};
use crate::postings;

on_both! {
    an_inference_leaves_two_rows_two_postings_and_its_use,
    opening_and_settling_twice_changes_nothing,
    settling_at_once_from_many_sides_books_once,
    whoever_leaves_while_opening_knows_whether_it_may_stand,
    a_refused_hold_leaves_nothing,
    a_refused_request_leaves_both_rows_and_no_hold,
    a_failed_run_books_its_cost_without_credits,
    a_run_without_upstream_books_nothing,
    only_what_was_opened_can_be_settled,
    a_run_over_the_end_of_a_cycle_moves_its_use_not_its_hold,
    a_turn_is_stored_with_its_settlement_or_neither_is,
    parallel_inferences_end_with_exact_sums,
}

async fn sums(store: &Store, org: &str) -> Sums {
    budget::sums(store, org, Mode::Live, fixture::cycle().start)
        .await
        .unwrap()
}

async fn open(store: &Store, org: &str, request: &str, credits: i64) -> Opened {
    let intent = fixture::intent(org, request);
    fixture::open(store, &intent, &fixture::hold(org, request, credits))
        .await
        .unwrap()
}

async fn events(store: &Store, org: &str, request: &str) -> Vec<String> {
    let rows = audit::by_request(store, org, Mode::Live, request)
        .await
        .unwrap();
    rows.iter()
        .map(|row| row["event"].as_str().unwrap().to_owned())
        .collect()
}

async fn an_inference_leaves_two_rows_two_postings_and_its_use(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    assert_eq!(open(&store, &org, "req_1", 700).await, Opened::Held);
    assert_eq!(events(&store, &org, "req_1").await, ["inference.requested"]);
    assert_eq!(sums(&store, &org).await.held_credits, Micro(700));
    let settlement = fixture::settlement(&org, "req_1", 52);
    assert_eq!(
        inference::settle(&store, &settlement).await.unwrap(),
        Settled::Done
    );
    assert_eq!(
        events(&store, &org, "req_1").await,
        ["inference.requested", "inference.completed"]
    );
    let used = Sums {
        used_credits: Micro(52),
        used_spend_usd: Micro(104),
        ..Sums::default()
    };
    assert_eq!(sums(&store, &org).await, used);
    let postings = postings::of_request(&db, &org, "req_1").await;
    let amounts: Vec<_> = postings
        .iter()
        .map(|posting| (posting.kind.as_str(), posting.amount.0, posting.cost_usd.0))
        .collect();
    assert_eq!(amounts, [("debit", 52, 104), ("credit", -52, -104)]);
    assert_eq!(postings[0].account, "org:usage");
    assert_eq!(
        postings[1].account,
        format!("org:cycle:{}", fixture::cycle().start)
    );
    let totals = postings::totals(&db, &org).await;
    assert_eq!(
        (totals.credits, totals.cost_usd, totals.requests),
        (Micro(52), Micro(104), 1)
    );
    let usage = fixture::usage();
    let tokens = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
    ];
    let tokens = tokens.map(|count| i64::try_from(count).unwrap());
    assert_eq!(
        (totals.tokens, totals.sonnet_equivalent_tokens),
        (tokens, 52)
    );
}

async fn opening_and_settling_twice_changes_nothing(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    assert_eq!(open(&store, &org, "req_1", 700).await, Opened::Held);
    assert_eq!(open(&store, &org, "req_1", 700).await, Opened::AlreadyOpen);
    assert_eq!(sums(&store, &org).await.held_credits, Micro(700));
    let settlement = fixture::settlement(&org, "req_1", 52);
    assert_eq!(
        inference::settle(&store, &settlement).await.unwrap(),
        Settled::Done
    );
    let before = sums(&store, &org).await;
    assert_eq!(
        inference::settle(&store, &settlement).await.unwrap(),
        Settled::AlreadySettled
    );
    let again = fixture::settlement(&org, "req_1", 99);
    assert_eq!(
        inference::settle(&store, &again).await.unwrap(),
        Settled::Completed
    );
    assert_eq!(open(&store, &org, "req_1", 700).await, Opened::AlreadyOpen);
    assert_eq!(sums(&store, &org).await, before);
    assert_eq!(postings::of_request(&db, &org, "req_1").await.len(), 2);
}

async fn settling_at_once_from_many_sides_books_once(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    open(&store, &org, "req_1", 700).await;
    let works = (0..8).map(|_| {
        let (store, settlement) = (store.clone(), fixture::settlement(&org, "req_1", 52));
        async move { inference::settle(&store, &settlement).await.unwrap() }
    });
    let mut booked = 0;
    for done in join_all(works).await {
        booked += usize::from(done == Settled::Done);
    }
    assert_eq!(booked, 1);
    assert_eq!(sums(&store, &org).await.used_credits, Micro(52));
}

async fn whoever_leaves_while_opening_knows_whether_it_may_stand(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    // The first of a cycle is opened in two steps.
    open(&store, &org, "req_0", 100).await;
    let (intent, hold) = (
        fixture::intent(&org, "req_1"),
        fixture::hold(&org, "req_1", 100),
    );
    let progress = Progress::default();
    // Handed in, and left.
    let left = inference::open(&store, &intent, &hold, &progress).now_or_never();
    assert!(left.is_none());
    assert!(progress.may_stand());
    // Finishes what was handed in.
    store.close().await;
    assert!(progress.may_stand());
    let later = db.open().await;
    assert_eq!(events(&later, &org, "req_1").await.len(), 1);
    let progress = Progress::default();
    let refused = inference::open(&store, &intent, &hold, &progress).await;
    assert!(matches!(refused, Err(StoreError::Closed)));
    assert!(!progress.may_stand());
}

async fn a_refused_hold_leaves_nothing(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let Opened::Refused(refusal) = open(&store, &org, "req_1", 1_001).await else {
        panic!("opened")
    };
    assert_eq!(refusal.limit, Limit::PlanCredits);
    assert!(events(&store, &org, "req_1").await.is_empty());
    assert_eq!(sums(&store, &org).await, Sums::default());
}

async fn a_refused_request_leaves_both_rows_and_no_hold(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    fixture::lone_hold(&db, &org, "req_1", 700).await;
    let (intent, terminal) = (
        fixture::intent(&org, "req_1"),
        fixture::terminal(&org, "req_1"),
    );
    assert!(inference::refuse(&store, &intent, &terminal).await.unwrap());
    assert!(!inference::refuse(&store, &intent, &terminal).await.unwrap());
    assert_eq!(events(&store, &org, "req_1").await.len(), 2);
    assert_eq!(sums(&store, &org).await, Sums::default());
    assert!(postings::of_request(&db, &org, "req_1").await.is_empty());
    let swapped = inference::refuse(&store, &terminal, &intent).await;
    assert!(matches!(swapped, Err(StoreError::Missing(_))));
}

async fn a_failed_run_books_its_cost_without_credits(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    open(&store, &org, "req_1", 700).await;
    let mut settlement = fixture::settlement(&org, "req_1", 0);
    settlement.entry = Some(fixture::entry(0, 104));
    inference::settle(&store, &settlement).await.unwrap();
    let sums = sums(&store, &org).await;
    assert_eq!(
        (sums.used_credits, sums.used_spend_usd),
        (Micro::ZERO, Micro(104))
    );
    assert_eq!(
        (sums.held_credits, sums.held_spend_usd),
        (Micro::ZERO, Micro::ZERO)
    );
}

async fn a_run_without_upstream_books_nothing(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    open(&store, &org, "req_1", 700).await;
    let mut settlement = fixture::settlement(&org, "req_1", 0);
    settlement.entry = None;
    assert_eq!(
        inference::settle(&store, &settlement).await.unwrap(),
        Settled::Done
    );
    assert_eq!(sums(&store, &org).await, Sums::default());
    let totals = postings::totals(&db, &org).await;
    assert_eq!((totals.requests, totals.tokens), (0, [0; 4]));
}

async fn only_what_was_opened_can_be_settled(db: TestDb) {
    let store = db.open().await;
    let mine = fixture::organization(&store).await.organization_id;
    let theirs = fixture::organization(&store).await.organization_id;
    let never = inference::settle(&store, &fixture::settlement(&mine, "req_1", 52)).await;
    assert!(matches!(never, Err(StoreError::Missing(_))));
    open(&store, &mine, "req_1", 700).await;
    let stolen = inference::settle(&store, &fixture::settlement(&theirs, "req_1", 52)).await;
    assert!(matches!(stolen, Err(StoreError::Missing(_))));
    assert_eq!(sums(&store, &mine).await.held_credits, Micro(700));
    assert!(events(&store, &theirs, "req_1").await.is_empty());
}

async fn a_run_over_the_end_of_a_cycle_moves_its_use_not_its_hold(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    open(&store, &org, "req_1", 700).await;
    let (start, end) = fixture::cycle().end.cycle(1);
    let mut settlement = fixture::settlement(&org, "req_1", 52);
    let entry = settlement.entry.as_mut().unwrap();
    entry.cycle = budget::Cycle { start, end };
    assert_eq!(
        inference::settle(&store, &settlement).await.unwrap(),
        Settled::Done
    );
    assert_eq!(sums(&store, &org).await, Sums::default());
    let next = budget::sums(&store, &org, Mode::Live, start).await.unwrap();
    assert_eq!(
        (next.used_credits, next.held_credits),
        (Micro(52), Micro::ZERO)
    );
}

async fn a_turn_is_stored_with_its_settlement_or_neither_is(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let thread = fixture::new_thread();
    let id = fixture::thread_id(&thread);
    open(&store, &org, "req_1", 100).await;
    let mut settlement = fixture::settlement(&org, "req_1", 52);
    let mut turn = fixture::turn(thread, ["hello", "good day"]);
    turn.phi_map = Some(Content::new("{}"));
    let reply = turn.messages[1].id.clone();
    settlement.turn = Some(turn);
    assert_eq!(
        inference::settle(&store, &settlement).await.unwrap(),
        Settled::Done
    );
    let stored = message::find(&store, &org, Mode::Live, &reply)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (stored.request_id.as_str(), stored.content.as_str()),
        ("req_1", "good day")
    );

    let loaded = conversation::load(&store, &org, Mode::Live, &id, 10)
        .await
        .unwrap()
        .unwrap();
    let mut faster = fixture::turn(Thread::Existing(loaded.handle.clone()), ["a", "b"]);
    faster.phi_map = Some(Content::new("{\"NAME_1\":\"x\"}"));
    fixture::append(&store, &org, Mode::Live, &faster, NOW).await;
    open(&store, &org, "req_2", 100).await;
    let mut late = fixture::settlement(&org, "req_2", 52);
    late.turn = Some(fixture::turn(Thread::Existing(loaded.handle), ["c", "d"]));
    if let Some(turn) = &mut late.turn {
        turn.phi_map = Some(Content::new("{\"NAME_1\":\"y\"}"));
    }
    let refused = Settled::TurnRefused(TurnRefusal::Moved);
    assert_eq!(inference::settle(&store, &late).await.unwrap(), refused);
    assert_eq!(events(&store, &org, "req_2").await, ["inference.requested"]);
    assert_eq!(sums(&store, &org).await.held_credits, Micro(100));
    let again = conversation::load(&store, &org, Mode::Live, &id, 10)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(again.history.len(), 4);
    if let Some(turn) = &mut late.turn {
        turn.thread = Thread::Existing(again.handle);
    }
    assert_eq!(
        inference::settle(&store, &late).await.unwrap(),
        Settled::Done
    );

    let theirs = fixture::organization(&store).await.organization_id;
    open(&store, &theirs, "req_3", 100).await;
    let mut stray = fixture::settlement(&theirs, "req_3", 52);
    stray.turn = late.turn.clone();
    let gone = Settled::TurnRefused(TurnRefusal::Gone);
    assert_eq!(inference::settle(&store, &stray).await.unwrap(), gone);
}

async fn parallel_inferences_end_with_exact_sums(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let works = (0..40).map(|number| {
        let (store, org) = (store.clone(), org.clone());
        async move {
            let request = format!("req_{number}");
            let intent = fixture::intent(&org, &request);
            let hold = fixture::hold(&org, &request, 25);
            assert_eq!(
                fixture::open(&store, &intent, &hold).await.unwrap(),
                Opened::Held
            );
            let mut settlement = fixture::settlement(&org, &request, 7);
            settlement.turn = Some(fixture::turn(fixture::new_thread(), ["q", "a"]));
            assert_eq!(
                inference::settle(&store, &settlement).await.unwrap(),
                Settled::Done
            );
        }
    });
    join_all(works).await;
    let totals = postings::totals(&db, &org).await;
    let sums = sums(&store, &org).await;
    assert_eq!((totals.requests, totals.credits), (40, Micro(280)));
    assert_eq!(
        (sums.used_credits, sums.used_spend_usd),
        (totals.credits, totals.cost_usd)
    );
    assert_eq!(
        (sums.held_credits, sums.held_spend_usd),
        (Micro::ZERO, Micro::ZERO)
    );
}
