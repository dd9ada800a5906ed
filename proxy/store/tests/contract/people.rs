//! People: what they were judged by when they are let in or changed, their codes and links, and how attempts are
//! counted.

use futures_util::future::join_all;
use svc_core::id::IdKind;
use svc_core::secret::{self, Mode};
use svc_store::identity::{self, Identity};
use svc_store::link::{self, Link, Purpose};
use svc_store::seal::Content;
use svc_store::second_factor::{self, Step};
use svc_store::session::{self, Session, Stage};
use svc_store::throttle::{self, Bucket, Buckets};
use svc_store::user::{self, Role, User};
use svc_store::{Store, Transaction, TransactionError, password};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    whoever_was_judged_by_an_older_password_is_not_let_in,
    no_session_of_an_older_password_outlives_its_change,
    of_two_who_replace_a_password_one_does,
    whoever_was_judged_and_stands_otherwise_is_not_let_in,
    an_identity_that_is_forgotten_lets_nobody_in,
    codes_put_at_once_are_one_set,
    links_issued_at_once_are_one,
    a_step_belongs_to_the_secret_that_was_judged,
    attempts_that_share_buckets_never_wait_for_each_other,
    attempts_that_have_to_wait_write_nothing,
    an_address_is_found_by_an_index_whatever_its_case,
}

/// Somebody whose password has the hash `old`.
async fn somebody(store: &Store) -> User {
    let org_id = fixture::organization(store).await.organization_id;
    let id = fixture::id(IdKind::User);
    let user = User {
        email: format!("{id}@Clinic.example"),
        id,
        org_id,
        name: "Joy".to_owned(),
        role: Role::Member,
        suspended: false,
        mfa_enabled: false,
        created_at: NOW,
        last_login_at: None,
    };
    user::create(store, &user).await.unwrap();
    assert!(change_password(store, &user, None, "old").await);
    user
}

/// What a transaction does, or that it does not.
macro_rules! done {
    ($store:expr, $tx:ident, $work:expr) => {
        $store
            .transaction(move |mut $tx| {
                Box::pin(async move { Ok::<_, TransactionError<()>>($work) })
            })
            .await
            .unwrap()
    };
}

/// Sets a password and ends all sessions, where `judged` is in force still.
async fn change_password(store: &Store, user: &User, judged: Option<&str>, phc: &str) -> bool {
    let (user, judged, phc) = (user.clone(), judged.map(str::to_owned), phc.to_owned());
    done!(store, tx, {
        let may = match &judged {
            Some(judged) => password::lock_as_judged(&mut tx, &user, judged).await?,
            None => user::lock_as_judged(&mut tx, &user).await?,
        };
        if may {
            password::put(&mut tx, &user.org_id, &user.id, &phc, NOW).await?;
            session::end_all(&mut tx, &user.id).await?;
        }
        may
    })
}

/// Lets somebody in whose password was right for `judged`.
async fn sign_in(store: &Store, user: &User, judged: &str, digest: [u8; 32]) -> bool {
    let (user, judged) = (user.clone(), judged.to_owned());
    done!(store, tx, {
        let may = password::lock_as_judged(&mut tx, &user, &judged).await?;
        if may {
            let session = Session {
                id: fixture::id(IdKind::Bare),
                user_id: user.id.clone(),
                org_id: user.org_id.clone(),
                mode: Mode::Live,
                stage: Stage::Whole,
                shown_by: "password".to_owned(),
                identity: None,
                created_at: NOW,
                seen_at: NOW,
                expires_at: NOW.plus_ms(1_000),
            };
            session::insert(&mut tx, &session, &digest).await?;
        }
        may
    })
}

async fn whoever_was_judged_by_an_older_password_is_not_let_in(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    assert!(sign_in(&store, &user, "old", [1; 32]).await);
    assert!(change_password(&store, &user, Some("old"), "new").await);
    assert!(!sign_in(&store, &user, "old", [2; 32]).await);
    assert!(sign_in(&store, &user, "new", [3; 32]).await);
    let mut there = Vec::new();
    for digest in [[1; 32], [2; 32], [3; 32]] {
        there.push(session::find(&store, &digest, NOW).await.unwrap().is_some());
    }
    assert_eq!(there, [false, false, true]);
}

async fn no_session_of_an_older_password_outlives_its_change(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    for round in 0..20_u8 {
        let (old, new) = if round % 2 == 0 {
            ("old", "new")
        } else {
            ("new", "old")
        };
        let digest = move |number: u8| {
            let mut digest = [round; 32];
            digest[0] = number;
            digest
        };
        let sign_ins = (0..6).map(|number| sign_in(&store, &user, old, digest(number)));
        let change = change_password(&store, &user, Some(old), new);
        let (_, changed) = tokio::join!(join_all(sign_ins), change);
        assert!(changed);
        for number in 0..6 {
            let found = session::find(&store, &digest(number), NOW).await.unwrap();
            assert!(found.is_none(), "{round}");
        }
    }
}

async fn of_two_who_replace_a_password_one_does(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    let wanted: Vec<String> = (0..8).map(|number| format!("new {number}")).collect();
    let changes = wanted
        .iter()
        .map(|new| change_password(&store, &user, Some("old"), new));
    let changed = join_all(changes).await;
    let winners: Vec<&String> = wanted
        .iter()
        .zip(changed)
        .filter_map(|(new, changed)| changed.then_some(new))
        .collect();
    let in_force = password::of(&store, &user.id).await.unwrap().unwrap();
    assert_eq!(winners, [&in_force]);
}

async fn whoever_was_judged_and_stands_otherwise_is_not_let_in(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    let suspended = user.clone();
    done!(&store, tx, {
        user::lock_with_owners(&mut tx, &suspended.org_id, &suspended.id).await?;
        let User { org_id, id, .. } = &suspended;
        user::put_standing(&mut tx, org_id, id, Role::Member, true).await?;
    });
    assert!(!sign_in(&store, &user, "old", [1; 32]).await);
    let user = password::find(&store, &user.email)
        .await
        .unwrap()
        .unwrap()
        .0;
    let reinstated = user.clone();
    done!(&store, tx, {
        let User { org_id, id, .. } = &reinstated;
        user::put_standing(&mut tx, org_id, id, Role::Member, false).await?;
    });
    assert!(
        !sign_in(&store, &user, "old", [1; 32]).await,
        "judged as suspended"
    );

    let user = password::find(&store, &user.email)
        .await
        .unwrap()
        .unwrap()
        .0;
    let step = begin(&store, &user).await;
    let asked = user.clone();
    done!(&store, tx, {
        assert!(second_factor::use_step(&mut tx, &asked.id, &step).await?);
        second_factor::confirm(&mut tx, &asked.org_id, &asked.id, &[[1; 32]], NOW).await?;
    });
    assert!(
        !sign_in(&store, &user, "old", [1; 32]).await,
        "without the second factor"
    );
    let asked = password::find(&store, &user.email)
        .await
        .unwrap()
        .unwrap()
        .0;
    assert!(sign_in(&store, &asked, "old", [1; 32]).await);
}

async fn an_identity_that_is_forgotten_lets_nobody_in(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    let identity = Identity {
        issuer: "https://login.example".to_owned(),
        subject: "248289761001".to_owned(),
    };
    let is_let_in = async || {
        let (user, identity) = (user.clone(), identity.clone());
        done!(
            &store,
            tx,
            identity::lock_as_judged(&mut tx, &user, &identity).await?
        )
    };
    assert!(!is_let_in().await);
    let (tied, known) = (user.clone(), identity.clone());
    let is_tied = done!(&store, tx, {
        user::lock(&mut tx, &tied.org_id, &tied.id).await?;
        identity::tie(&mut tx, &tied, &known, NOW).await?
    });
    assert!(is_tied && is_let_in().await);
    let id = user.id.clone();
    done!(&store, tx, identity::forget(&mut tx, &id).await?);
    assert!(!is_let_in().await);
}

async fn codes_put_at_once_are_one_set(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    for round in 0..5_u8 {
        let sets = (0..6_u8).map(|set| {
            let user = user.clone();
            let store = &store;
            async move {
                done!(store, tx, {
                    let codes: Vec<[u8; 32]> = (0..10)
                        .map(|code| secret::digest(&format!("{round}/{set}/{code}")))
                        .collect();
                    second_factor::put_codes(&mut tx, &user.org_id, &user.id, &codes).await?;
                });
            }
        });
        join_all(sets).await;
        let left = second_factor::codes_left(&store, &user.id).await.unwrap();
        assert_eq!(left, 10, "{round}");
    }
}

async fn links_issued_at_once_are_one(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    for round in 0..5_u8 {
        let digest = move |number: u8| {
            let mut digest = [round; 32];
            digest[0] = number;
            digest
        };
        let issues = (0..6).map(|number| {
            let link = Link {
                user_id: user.id.clone(),
                org_id: user.org_id.clone(),
                purpose: Purpose::Reset,
                issued_by: None,
                created_at: NOW,
                expires_at: NOW.plus_ms(1_000),
            };
            let store = &store;
            async move {
                done!(
                    store,
                    tx,
                    link::issue(&mut tx, &link, &digest(number)).await?
                );
            }
        });
        join_all(issues).await;
        let mut good = 0;
        for number in 0..6 {
            let found = link::find(&store, &digest(number), NOW).await.unwrap();
            good += usize::from(found.is_some());
        }
        assert_eq!(good, 1, "{round}");
    }
}

/// Begins an enrolment; gives a step of its secret.
async fn begin(store: &Store, user: &User) -> Step {
    let secret = Content::new("JBSWY3DPEHPK3PXP");
    let User { org_id, id, .. } = user.clone();
    let sealed = second_factor::seal_secret(store, &org_id, &id, &secret)
        .await
        .unwrap();
    done!(
        store,
        tx,
        second_factor::begin(&mut tx, &org_id, &id, sealed, NOW).await?
    );
    let found = second_factor::find(store, &user.org_id, &user.id).await;
    found.unwrap().unwrap().at(7)
}

async fn use_step(tx: &mut Transaction<'_>, id: &str, step: &Step) -> bool {
    second_factor::use_step(tx, id, step).await.unwrap()
}

async fn a_step_belongs_to_the_secret_that_was_judged(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    let judged = begin(&store, &user).await;
    let next = begin(&store, &user).await;
    let used = done!(&store, tx, {
        let (tx, id) = (&mut tx, &user.id);
        [
            use_step(tx, id, &judged).await,
            use_step(tx, id, &next).await,
            use_step(tx, id, &next).await,
        ]
    });
    assert_eq!(used, [false, true, false]);
}

async fn attempts_that_share_buckets_never_wait_for_each_other(db: TestDb) {
    let store = db.open().await;
    let account = |number: usize| format!("{number}@clinic.example");
    let attempts = (0..24_usize).map(|number| {
        let (account, store) = (account(number % 4), &store);
        async move {
            let own = Bucket::own(&["pair", &account], 1_000);
            let shared = Bucket::shared(&["account", &account], 1_000);
            let network = Bucket::shared(&["network"], 1_000);
            let counted = match number % 3 {
                0 => Buckets::from([own, shared, network]),
                1 => Buckets::from([network, own, shared]),
                _ => Buckets::from([shared, network, own]),
            };
            for _ in 0..8 {
                assert_eq!(throttle::take(store, &counted, NOW).await.unwrap(), None);
                let counted = counted.clone();
                done!(store, tx, throttle::forgive(&mut tx, &counted).await?);
            }
        }
    });
    join_all(attempts).await;
    // All is forgiven.
    let left = "SELECT CAST(SUM(attempts) AS TEXT) FROM login_attempts";
    assert_eq!(db.texts(left).await, ["0"]);
}

async fn attempts_that_have_to_wait_write_nothing(db: TestDb) {
    let store = db.open().await;
    let attempt = |account: &str| {
        let network = Bucket::shared(&["network"], 2);
        Buckets::from([network, Bucket::own(&["pair", account], 10)])
    };
    let wait_ms = async |account: &str| {
        let counted = attempt(account);
        throttle::take(&store, &counted, NOW).await.unwrap()
    };
    assert_eq!(wait_ms("one").await, None);
    assert_eq!(wait_ms("two").await, None);
    let buckets = "SELECT CAST(COUNT(*) AS TEXT) FROM login_attempts";
    assert_eq!(db.texts(buckets).await, ["3"]);
    for account in ["three", "four"] {
        assert_eq!(wait_ms(account).await, Some(60_000));
    }
    assert_eq!(db.texts(buckets).await, ["3"]);
}

/// As a role that row-level security binds: it lets no function see what a row holds before the policy has judged it.
async fn an_address_is_found_by_an_index_whatever_its_case(db: TestDb) {
    let store = db.open().await;
    let user = somebody(&store).await;
    for typed in [user.email.to_uppercase(), format!(" {} ", user.email)] {
        let found = password::find(&store, &typed).await.unwrap();
        let (found, phc) = found.unwrap();
        assert_eq!((found.id, phc.as_deref()), (user.id.clone(), Some("old")));
        assert_eq!(found.email, user::plain_email(&user.email));
    }
    let query = "SELECT * FROM users WHERE email = 'joy@clinic.example'";
    if db.is_sqlite() {
        return;
    }
    // So few rows are read faster without one.
    let prefer = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database()); END $$";
    db.tamper(prefer).await.unwrap();
    let plan = db.texts(&format!("EXPLAIN {query}")).await.join("\n");
    assert!(plan.contains("Index Cond: (email = "), "{plan}");
}
