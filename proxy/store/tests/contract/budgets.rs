//! Holds, caps and sums.

use futures_util::future::join_all;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_store::Store;
use svc_store::budget::{self, Caps, Limit, Refusal, Reservation, Sums};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    a_hold_counts_until_it_is_released,
    each_limit_is_named_in_the_order_of_the_checks,
    a_limit_of_zero_blocks_even_a_free_run,
    parallel_holds_never_pass_the_cap,
    parallel_repeats_of_one_request_hold_once,
    modes_and_organizations_have_their_own_budgets,
}

async fn sums(store: &Store, org: &str) -> Sums {
    budget::sums(store, org, Mode::Live, fixture::cycle().start)
        .await
        .unwrap()
}

fn refusal(reservation: Reservation) -> Refusal {
    match reservation {
        Reservation::Refused(refusal) => refusal,
        Reservation::Held => panic!("held"),
    }
}

async fn a_hold_counts_until_it_is_released(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    assert_eq!(sums(&store, &org).await, Sums::default());
    let hold = fixture::hold(&org, "req_1", 700);
    assert_eq!(
        budget::check(&store, &hold).await.unwrap(),
        Reservation::Held
    );
    assert_eq!(sums(&store, &org).await, Sums::default());
    for _ in 0..2 {
        assert_eq!(
            budget::reserve(&store, &hold).await.unwrap(),
            Reservation::Held
        );
    }
    let held = Sums {
        held_credits: Micro(700),
        held_spend_usd: Micro(1_400),
        ..Sums::default()
    };
    assert_eq!(sums(&store, &org).await, held);
    // A repeat is no second hold, also where a second one would not fit.
    let next = fixture::hold(&org, "req_2", 301);
    let refused = refusal(budget::check(&store, &next).await.unwrap());
    assert_eq!(
        refused,
        refusal(budget::reserve(&store, &next).await.unwrap())
    );
    assert_eq!((refused.limit, refused.sums), (Limit::PlanCredits, held));
    assert_eq!(refused.allotment, Some(Micro(1_000)));
    let exact = fixture::hold(&org, "req_3", 300);
    assert_eq!(
        budget::reserve(&store, &exact).await.unwrap(),
        Reservation::Held
    );
    assert!(budget::release(&store, "req_1").await.unwrap());
    assert!(budget::release(&store, "req_3").await.unwrap());
    assert!(!budget::release(&store, "req_1").await.unwrap());
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
        budget::save_caps(&store, &org, Mode::Live, &caps, NOW)
            .await
            .unwrap();
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
        let answer = budget::reserve(&store, &fixture::hold(&org, "req_1", credits))
            .await
            .unwrap();
        refusal(answer).limit
    };
    caps(Some(500), Some(400)).await;
    assert_eq!(limit(1_001).await, Limit::PlanCredits);
    assert_eq!(limit(501).await, Limit::CreditCap);
    assert_eq!(limit(201).await, Limit::SpendCap);
    caps(None, None).await;
    let mut unlimited = fixture::hold(&org, "req_1", 5_000);
    unlimited.allotment = None;
    assert_eq!(
        budget::reserve(&store, &unlimited).await.unwrap(),
        Reservation::Held
    );
}

async fn a_limit_of_zero_blocks_even_a_free_run(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let mut free = fixture::hold(&org, "req_1", 0);
    free.allotment = Some(Micro::ZERO);
    assert_eq!(
        refusal(budget::reserve(&store, &free).await.unwrap()).limit,
        Limit::PlanCredits
    );
    free.allotment = None;
    let mut caps = Caps {
        spend_usd: Some(Micro::ZERO),
        ..Caps::default()
    };
    budget::save_caps(&store, &org, Mode::Live, &caps, NOW)
        .await
        .unwrap();
    assert_eq!(
        refusal(budget::reserve(&store, &free).await.unwrap()).limit,
        Limit::SpendCap
    );
    caps.credits = Some(Micro::ZERO);
    budget::save_caps(&store, &org, Mode::Live, &caps, NOW)
        .await
        .unwrap();
    assert_eq!(
        refusal(budget::reserve(&store, &free).await.unwrap()).limit,
        Limit::CreditCap
    );
}

async fn parallel_holds_never_pass_the_cap(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    // 1000 credits in holds of 100, asked for 60 times at once.
    let works = (0..60).map(|number| {
        let hold = fixture::hold(&org, &format!("req_{number}"), 100);
        let store = store.clone();
        async move { budget::reserve(&store, &hold).await.unwrap() }
    });
    let mut held = 0;
    for done in join_all(works).await {
        match done {
            Reservation::Held => held += 1,
            Reservation::Refused(refusal) => assert_eq!(refusal.limit, Limit::PlanCredits),
        }
    }
    assert_eq!(held, 10);
    assert_eq!(sums(&store, &org).await.held_credits, Micro(1_000));
}

async fn parallel_repeats_of_one_request_hold_once(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let works = (0..8).map(|_| {
        let hold = fixture::hold(&org, "req_same", 100);
        let store = store.clone();
        async move { budget::reserve(&store, &hold).await }
    });
    for done in join_all(works).await {
        assert_eq!(done.unwrap(), Reservation::Held);
    }
    assert_eq!(sums(&store, &org).await.held_credits, Micro(100));
}

async fn modes_and_organizations_have_their_own_budgets(db: TestDb) {
    let store = db.open().await;
    let mine = fixture::organization(&store).await.organization_id;
    let theirs = fixture::organization(&store).await.organization_id;
    let full = fixture::hold(&mine, "req_1", 1_000);
    assert_eq!(
        budget::reserve(&store, &full).await.unwrap(),
        Reservation::Held
    );
    let other = fixture::hold(&theirs, "req_2", 1_000);
    assert_eq!(
        budget::reserve(&store, &other).await.unwrap(),
        Reservation::Held
    );
    let mut test = fixture::hold(&mine, "req_3", 1_000);
    test.mode = Mode::Test;
    assert_eq!(
        budget::reserve(&store, &test).await.unwrap(),
        Reservation::Held
    );
}
