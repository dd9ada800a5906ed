//! Idempotency keys: who runs, who waits, who is answered again, and what a crash leaves.

use futures_util::future::{join, join_all};
use svc_core::secret::{self, Mode};
use svc_store::idempotency::{self, Claim, Claimed, Envelope, LEASE_MS, REPLAY_MS, Scope};
use svc_store::{Store, TransactionError};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    one_of_many_claims_a_key,
    a_response_is_given_again_for_a_day,
    a_claim_whose_owner_died_is_swept,
    an_effect_and_its_response_stand_or_fall_together,
    the_database_alone_opens_no_response,
}

async fn claim_of(store: &Store, key_text: &str, owner: &str) -> Claim {
    let made = fixture::organization(store).await;
    Claim {
        scope: Scope {
            org_id: made.organization_id,
            mode: Mode::Live,
            principal_id: made.api_key_id,
            key_digest: secret::digest(key_text),
        },
        fingerprint: [1; 32],
        owner: owner.to_owned(),
        now: NOW,
    }
}

async fn complete(
    store: &Store,
    claim: &Claim,
    response: &[u8],
) -> Result<(), TransactionError<()>> {
    let (claim, response) = (claim.clone(), response.to_vec());
    let completing = store.transaction(move |mut tx| {
        Box::pin(async move {
            idempotency::complete(&mut tx, &claim.scope, &claim.owner, response, claim.now).await?;
            Ok(())
        })
    });
    completing.await
}

async fn one_of_many_claims_a_key(db: TestDb) {
    let store = db.open().await;
    let claim = claim_of(&store, "k", "req").await;
    let claims = (0..20).map(|at| Claim {
        owner: format!("req_{at}"),
        ..claim.clone()
    });
    let claims: Vec<Claim> = claims.collect();
    let all = join_all(claims.iter().map(|claim| idempotency::claim(&store, claim))).await;
    let mine = all
        .iter()
        .filter(|claimed| matches!(claimed, Ok(Claimed::Mine)));
    assert_eq!(mine.count(), 1);
    let first_seen_at = NOW;
    let is_waiting = |claimed: &Claimed| *claimed == Claimed::InProgress { first_seen_at };
    let waiting = all.iter().filter_map(|claimed| claimed.as_ref().ok());
    assert_eq!(waiting.filter(|claimed| is_waiting(claimed)).count(), 19);
    let different = Claim {
        fingerprint: [2; 32],
        ..claim.clone()
    };
    let refused = idempotency::claim(&store, &different).await.unwrap();
    assert_eq!(refused, Claimed::Mismatch { first_seen_at });
    // Its owner is gone: whoever asks after the lease is the one.
    let later = Claim {
        now: NOW.plus_ms(LEASE_MS),
        owner: "req_later".to_owned(),
        ..different
    };
    assert_eq!(
        idempotency::claim(&store, &later).await.unwrap(),
        Claimed::Mine
    );
    let lost = complete(&store, &claims[0], b"too late").await;
    assert!(lost.is_err(), "a claim that was lost has no effect");
    complete(&store, &later, b"response").await.unwrap();
}

async fn a_response_is_given_again_for_a_day(db: TestDb) {
    let store = db.open().await;
    let claim = claim_of(&store, "k", "req_1").await;
    assert_eq!(
        idempotency::claim(&store, &claim).await.unwrap(),
        Claimed::Mine
    );
    complete(&store, &claim, b"sealed").await.unwrap();
    let again = Claim {
        owner: "req_2".to_owned(),
        now: NOW.plus_ms(REPLAY_MS - 1),
        ..claim.clone()
    };
    let found = idempotency::claim(&store, &again).await.unwrap();
    assert_eq!(found, Claimed::Completed(b"sealed".to_vec()));
    assert_eq!(idempotency::sweep(&store, again.now).await.unwrap(), 0);
    let over = NOW.plus_ms(REPLAY_MS);
    let new = Claim { now: over, ..again };
    assert_eq!(
        idempotency::claim(&store, &new).await.unwrap(),
        Claimed::Mine
    );
    complete(&store, &new, b"new").await.unwrap();
    assert_eq!(
        idempotency::sweep(&store, over.plus_ms(REPLAY_MS))
            .await
            .unwrap(),
        1
    );
}

async fn a_claim_whose_owner_died_is_swept(db: TestDb) {
    let store = db.open().await;
    let claim = claim_of(&store, "k", "req_1").await;
    assert_eq!(
        idempotency::claim(&store, &claim).await.unwrap(),
        Claimed::Mine
    );
    let swept = async |after_ms: i64| {
        let now = NOW.plus_ms(after_ms);
        idempotency::sweep(&store, now).await.unwrap()
    };
    // Whoever comes late has its effect all the same.
    assert_eq!(swept(LEASE_MS + REPLAY_MS - 1).await, 0);
    assert_eq!(swept(LEASE_MS + REPLAY_MS).await, 1);
    assert!(complete(&store, &claim, b"too late").await.is_err());
}

/// SQLite has one writer: nothing happens there while it sweeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_gets_another_response_while_it_is_swept_stays() {
    let db = TestDb::postgres().await;
    let store = db.open().await;
    let claim = claim_of(&store, "k", "req_1").await;
    idempotency::claim(&store, &claim).await.unwrap();
    complete(&store, &claim, b"sealed").await.unwrap();
    let over = NOW.plus_ms(REPLAY_MS);
    let anew = format!(
        "UPDATE idempotency SET expires_at = {}",
        over.plus_ms(REPLAY_MS).0
    );
    let under_way = db.begin().await.run(&anew).await;
    let answering = async {
        db.until_somebody_waits().await;
        under_way.commit().await;
    };
    let (swept, ()) = join(idempotency::sweep(&store, over), answering).await;
    assert_eq!(swept.unwrap(), 0);
    let again = Claim { now: over, ..claim };
    let found = idempotency::claim(&store, &again).await.unwrap();
    assert_eq!(found, Claimed::Completed(b"sealed".to_vec()));
}

async fn an_effect_and_its_response_stand_or_fall_together(db: TestDb) {
    let store = db.open().await;
    let claim = claim_of(&store, "k", "req_1").await;
    assert_eq!(
        idempotency::claim(&store, &claim).await.unwrap(),
        Claimed::Mine
    );
    let undone = claim.clone();
    let failing = store.transaction(move |mut tx| {
        Box::pin(async move {
            let Claim {
                scope, owner, now, ..
            } = &undone;
            idempotency::complete(&mut tx, scope, owner, b"never".to_vec(), *now).await?;
            Err::<(), _>(TransactionError::Refused("decided otherwise"))
        })
    });
    assert!(matches!(
        failing.await,
        Err(TransactionError::Refused("decided otherwise"))
    ));
    let waiting = Claim {
        owner: "req_2".to_owned(),
        ..claim.clone()
    };
    let found = idempotency::claim(&store, &waiting).await.unwrap();
    assert_eq!(found, Claimed::InProgress { first_seen_at: NOW });
    let released = claim.clone();
    let releasing = store.transaction(move |mut tx| {
        Box::pin(async move {
            idempotency::release(&mut tx, &released.scope, &released.owner).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    releasing.await.unwrap();
    assert_eq!(
        idempotency::claim(&store, &waiting).await.unwrap(),
        Claimed::Mine
    );
}

async fn the_database_alone_opens_no_response(db: TestDb) {
    let store = db.open().await;
    let claim = claim_of(&store, "the key", "req_1").await;
    let envelope = Envelope::of(&store, &claim.scope, "the key").await.unwrap();
    let sealed = envelope.seal(b"a secret").unwrap();
    assert_eq!(envelope.open(&store, &sealed).await.unwrap(), b"a secret");
    let other = Envelope::of(&store, &claim.scope, "another key")
        .await
        .unwrap();
    assert!(other.open(&store, &sealed).await.is_err());
}
