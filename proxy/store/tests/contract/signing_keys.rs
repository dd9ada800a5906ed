//! Signing keys: one per purpose whoever asks first, kept under the master key alone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use svc_store::master_key::MasterKey;
use svc_store::seal::SealError;
use svc_store::signing_key::{self, Purpose};
use svc_store::{Store, StoreError};

use crate::database::TestDb;
use crate::fixture::NOW;

on_both! {
    every_replica_signs_with_one_key_per_purpose,
    a_key_does_not_become_one_of_another_purpose,
    a_new_key_signs_and_the_old_one_still_verifies,
    the_master_key_is_replaced_below_signing_keys,
}

async fn key_id(store: &Store, purpose: Purpose) -> String {
    let key = signing_key::current(store, purpose, NOW).await.unwrap();
    let signature = Signature::from_bytes(&key.sign(b"what is signed"));
    let public = VerifyingKey::from_bytes(&key.public.bytes).unwrap();
    public.verify_strict(b"what is signed", &signature).unwrap();
    assert!(public.verify_strict(b"another", &signature).is_err());
    key.public.key_id.clone()
}

async fn every_replica_signs_with_one_key_per_purpose(db: TestDb) {
    let (one, other) = (db.open().await, db.open().await);
    let asked = tokio::join!(
        key_id(&one, Purpose::Agreement),
        key_id(&other, Purpose::Agreement),
        key_id(&one, Purpose::AuditCheckpoint),
    );
    assert_eq!(asked.0, asked.1);
    assert_ne!(asked.0, asked.2);
    let known = signing_key::public_keys(&one, Purpose::Agreement).await;
    assert_eq!(known.unwrap().len(), 1);
}

async fn a_key_does_not_become_one_of_another_purpose(db: TestDb) {
    let store = db.open().await;
    key_id(&store, Purpose::AuditCheckpoint).await;
    db.tamper("UPDATE signing_keys SET purpose = 'agreement'")
        .await
        .unwrap();
    let refused = signing_key::current(&store, Purpose::Agreement, NOW).await;
    assert!(matches!(
        refused.map(drop),
        Err(StoreError::Seal(SealError::Rejected { .. }))
    ));
}

async fn a_new_key_signs_and_the_old_one_still_verifies(db: TestDb) {
    let store = db.open().await;
    let old = key_id(&store, Purpose::Agreement).await;
    signing_key::rotate(&store, Purpose::Agreement, NOW)
        .await
        .unwrap();
    let new = key_id(&store, Purpose::Agreement).await;
    let known = signing_key::public_keys(&store, Purpose::Agreement).await;
    let known: Vec<String> = known.unwrap().into_iter().map(|key| key.key_id).collect();
    assert_eq!(known, [old, new]);
}

async fn the_master_key_is_replaced_below_signing_keys(db: TestDb) {
    let line = |version: u32, byte: u8| format!("{version} {}\n", STANDARD.encode([byte; 32]));
    let key = |lines: String| MasterKey::parse(&lines).unwrap();
    let store = db.open_with(key(line(1, 1))).await.unwrap();
    let id = key_id(&store, Purpose::Agreement).await;
    let both = db.open_with(key(line(1, 1) + &line(2, 2))).await.unwrap();
    assert_eq!(signing_key::rewrap(&both).await.unwrap(), 1);
    assert_eq!(signing_key::rewrap(&both).await.unwrap(), 0);
    let next = db.open_with(key(line(2, 2))).await.unwrap();
    assert_eq!(key_id(&next, Purpose::Agreement).await, id);
    let old = db.open_with(key(line(1, 1))).await.unwrap();
    let refused = signing_key::current(&old, Purpose::Agreement, NOW).await;
    assert!(matches!(refused.map(drop), Err(StoreError::Seal(_))));
    let other = db.open_with(key(line(2, 3))).await.unwrap();
    for refused in [
        other.check_master_key().await.map(drop),
        signing_key::rewrap(&other).await.map(drop),
    ] {
        assert!(matches!(refused, Err(StoreError::Seal(_))));
    }
}
