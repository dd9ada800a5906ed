//! Holds, caps and sums.

use futures_util::future::join_all;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_store::budget::{self, Caps, HoldRequest, Judgement, Limit, Refusal, Room, Sums};
use svc_store::inference::{self, Opened, Settled};
use svc_store::{Store, TransactionError};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    a_hold_counts_until_its_run_is_settled,
    each_limit_is_named_in_the_order_of_the_checks,
    a_limit_of_zero_blocks_even_a_free_run,
    parallel_holds_never_pass_the_cap,
    parallel_holds_never_pass_a_cap_of_ones_own,
    parallel_repeats_of_one_request_hold_once,
    parallel_changes_of_caps_are_all_kept,
    modes_and_organizations_have_their_own_budgets,
}

async fn sums(store: &Store, org: &str) -> Sums {
    budget::sums(store, org, Mode::Live, fixture::cycle().start)
        .await
        .unwrap()
}

/// Takes a hold, with the intent of its request.
async fn reserve(store: &Store, hold: &HoldRequest) -> Opened {
    let mut intent = fixture::intent(&hold.org_id, &hold.request_id);
    intent.mode = Some(hold.mode);
    fixture::open(store, &intent, hold).await.unwrap()
}

async fn refusal(store: &Store, hold: &HoldRequest) -> Refusal {
    match reserve(store, hold).await {
        Opened::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

async fn a_hold_counts_until_its_run_is_settled(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    assert_eq!(sums(&store, &org).await, Sums::default());
    let fits = |credits: i64| {
        Judgement::Fits(Room {
            credits: Micro(credits),
            spend_usd: Micro(i64::MAX),
        })
    };
    let hold = fixture::hold(&org, "req_1", 700);
    assert_eq!(budget::check(&store, &hold).await.unwrap(), fits(1_000));
    assert_eq!(sums(&store, &org).await, Sums::default());
    assert_eq!(reserve(&store, &hold).await, Opened::Held);
    // A repeat is no second hold, also where a second one would not fit.
    assert_eq!(reserve(&store, &hold).await, Opened::AlreadyOpen);
    let held = Sums {
        held_credits: Micro(700),
        held_spend_usd: Micro(1_400),
        ..Sums::default()
    };
    assert_eq!(sums(&store, &org).await, held);
    let next = fixture::hold(&org, "req_2", 301);
    let refused = refusal(&store, &next).await;
    assert_eq!(
        budget::check(&store, &next).await.unwrap(),
        Judgement::Refused(refused)
    );
    assert_eq!((refused.limit, refused.sums), (Limit::PlanCredits, held));
    assert_eq!(refused.allotment, Some(Micro(1_000)));
    let exact = fixture::hold(&org, "req_3", 300);
    assert_eq!(budget::check(&store, &exact).await.unwrap(), fits(300));
    assert_eq!(reserve(&store, &exact).await, Opened::Held);
    for request in ["req_1", "req_3"] {
        let mut settlement = fixture::settlement(&org, request, 0);
        settlement.entry = None;
        for expected in [Settled::Done, Settled::AlreadySettled] {
            let settled = inference::settle(&store, &settlement).await;
            assert_eq!(settled.unwrap(), expected);
        }
    }
    assert_eq!(sums(&store, &org).await, Sums::default());
}

async fn each_limit_is_named_in_the_order_of_the_checks(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let caps = async |credits: Option<i64>, spend: Option<i64>| {
        let caps = Caps {
            credits: credits.map(Micro),
            spend_usd: spend.map(Micro),
            alert_thresholds: vec![Micro(500_000), Micro(1_000_000)],
            updated_by: Some("user_1".to_owned()),
            updated_at: None,
        };
        put_caps(&store, &org, &caps).await;
        let stored = budget::caps(&store, &org, Mode::Live).await.unwrap();
        assert_eq!(
            stored,
            Caps {
                updated_at: Some(NOW),
                ..caps
            }
        );
    };
    let limit = async |credits: i64| {
        let hold = fixture::hold(&org, "req_1", credits);
        refusal(&store, &hold).await.limit
    };
    caps(Some(500), Some(400)).await;
    assert_eq!(limit(1_001).await, Limit::PlanCredits);
    assert_eq!(limit(501).await, Limit::CreditCap);
    assert_eq!(limit(201).await, Limit::SpendCap);
    caps(None, None).await;
    let mut unlimited = fixture::hold(&org, "req_1", 5_000);
    unlimited.allotment = None;
    assert_eq!(reserve(&store, &unlimited).await, Opened::Held);
}

async fn put_caps(store: &Store, org: &str, caps: &Caps) {
    let (org, caps) = (org.to_owned(), caps.clone());
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            budget::put_caps(&mut tx, &org, Mode::Live, &caps, NOW).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done.await.unwrap();
}

async fn a_limit_of_zero_blocks_even_a_free_run(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let mut free = fixture::hold(&org, "req_1", 0);
    free.allotment = Some(Micro::ZERO);
    assert_eq!(refusal(&store, &free).await.limit, Limit::PlanCredits);
    free.allotment = None;
    let mut caps = Caps {
        spend_usd: Some(Micro::ZERO),
        ..Caps::default()
    };
    put_caps(&store, &org, &caps).await;
    assert_eq!(refusal(&store, &free).await.limit, Limit::SpendCap);
    caps.credits = Some(Micro::ZERO);
    put_caps(&store, &org, &caps).await;
    assert_eq!(refusal(&store, &free).await.limit, Limit::CreditCap);
}

async fn parallel_holds_never_pass_the_cap(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    ten_of_sixty_are_held(&store, &org, fixture::hold, Limit::PlanCredits).await;
}

async fn parallel_holds_never_pass_a_cap_of_ones_own(db: TestDb) {
    let store = db.open().await;
    let unlimited = |org: &str, request: &str, credits| HoldRequest {
        allotment: None,
        ..fixture::hold(org, request, credits)
    };
    for (credits, spend_usd, limit) in [
        (Some(1_000), None, Limit::CreditCap),
        (None, Some(2_000), Limit::SpendCap),
    ] {
        let org = fixture::organization(&store).await.organization_id;
        let caps = Caps {
            credits: credits.map(Micro),
            spend_usd: spend_usd.map(Micro),
            ..Caps::default()
        };
        put_caps(&store, &org, &caps).await;
        ten_of_sixty_are_held(&store, &org, unlimited, limit).await;
    }
}

/// 1000 credits in holds of 100, asked for 60 times at once.
async fn ten_of_sixty_are_held(
    store: &Store,
    org: &str,
    hold: impl Fn(&str, &str, i64) -> HoldRequest,
    limit: Limit,
) {
    let works = (0..60).map(|number| {
        let hold = hold(org, &format!("{org}_{number}"), 100);
        async move { reserve(store, &hold).await }
    });
    let mut held = 0;
    for done in join_all(works).await {
        match done {
            Opened::Held => held += 1,
            Opened::Refused(refusal) => assert_eq!(refusal.limit, limit),
            Opened::AlreadyOpen => panic!("every request is another one"),
        }
    }
    assert_eq!(held, 10);
    assert_eq!(sums(store, org).await.held_credits, Micro(1_000));
}

async fn parallel_repeats_of_one_request_hold_once(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let works = (0..8).map(|_| {
        let hold = fixture::hold(&org, "req_same", 100);
        let store = store.clone();
        async move { reserve(&store, &hold).await }
    });
    let all = join_all(works).await;
    let held = all.iter().filter(|opened| **opened == Opened::Held).count();
    let there = all
        .iter()
        .filter(|opened| **opened == Opened::AlreadyOpen)
        .count();
    assert_eq!((held, there), (1, 7));
    assert_eq!(sums(&store, &org).await.held_credits, Micro(100));
}

async fn parallel_changes_of_caps_are_all_kept(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let works = (0..40).map(|number| {
        let org = org.clone();
        store.transaction(move |mut tx| {
            Box::pin(async move {
                let mut caps = budget::lock_caps(&mut tx, &org, Mode::Live).await?;
                let cap = if number % 2 == 0 {
                    &mut caps.credits
                } else {
                    &mut caps.spend_usd
                };
                *cap = Some(Micro(cap.map_or(1, |cap| cap.0 + 1)));
                budget::put_caps(&mut tx, &org, Mode::Live, &caps, NOW).await?;
                Ok::<_, TransactionError<()>>(())
            })
        })
    });
    for done in join_all(works).await {
        done.unwrap();
    }
    let caps = budget::caps(&store, &org, Mode::Live).await.unwrap();
    let both = (caps.credits, caps.spend_usd);
    assert_eq!(both, (Some(Micro(20)), Some(Micro(20))));
}

async fn modes_and_organizations_have_their_own_budgets(db: TestDb) {
    let store = db.open().await;
    let mine = fixture::organization(&store).await.organization_id;
    let theirs = fixture::organization(&store).await.organization_id;
    let full = fixture::hold(&mine, "req_1", 1_000);
    assert_eq!(reserve(&store, &full).await, Opened::Held);
    let other = fixture::hold(&theirs, "req_2", 1_000);
    assert_eq!(reserve(&store, &other).await, Opened::Held);
    let mut test = fixture::hold(&mine, "req_3", 1_000);
    test.mode = Mode::Test;
    assert_eq!(reserve(&store, &test).await, Opened::Held);
}
