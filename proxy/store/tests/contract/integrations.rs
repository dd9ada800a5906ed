//! Credentials of other services: sealed, rotated, destroyed; found through bindings.

use futures_util::future::join;
use svc_core::id::IdKind;
use svc_core::secret::Mode;
use svc_store::api_key::Creator;
use svc_store::binding::{self, Binding};
use svc_store::integration::{self, Auth, Integration};
use svc_store::seal::Content;
use svc_store::{Store, StoreError, TransactionError, organization};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    a_bound_secret_is_found_until_it_is_revoked,
    a_rotated_secret_takes_the_place_of_the_old_one,
    secrets_outlive_a_rotation_of_the_organization_key,
    a_project_uses_an_alias_once,
}

async fn place(
    store: &Store,
    org: &str,
    integration: &Integration,
    secret: &str,
    alias: &str,
) -> Binding {
    let project_id = organization::find(store, org)
        .await
        .unwrap()
        .unwrap()
        .default_project_id;
    let sealed = integration::seal_secret(store, org, &integration.id, &Content::new(secret))
        .await
        .unwrap();
    let binding = Binding {
        id: IdKind::Binding.make(NOW, rand::random()),
        org_id: org.to_owned(),
        mode: Mode::Live,
        integration_id: integration.id.clone(),
        project_id,
        alias: alias.to_owned(),
        allowed_paths: Some(vec!["/fhir/*".to_owned()]),
        created_at: NOW,
    };
    let (stored, bound) = (integration.clone(), binding.clone());
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            integration::insert(&mut tx, &stored, sealed).await?;
            binding::insert(&mut tx, &bound).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done.await.unwrap();
    binding
}

fn bridge(org: &str) -> Integration {
    Integration {
        id: IdKind::Integration.make(NOW, rand::random()),
        org_id: org.to_owned(),
        mode: Mode::Live,
        name: "EHR bridge".to_owned(),
        base_url: "https://ehr.example.org/api".to_owned(),
        auth: Auth::Header {
            name: "X-Api-Key".to_owned(),
        },
        secret_hint: "…9f2c".to_owned(),
        secret_version: 1,
        bindings_count: 1,
        created_by: Creator {
            kind: "user".to_owned(),
            id: "user_1".to_owned(),
        },
        created_at: NOW,
        rotated_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}

async fn secrets(store: &Store, org: &str, mode: Mode) -> Vec<Option<String>> {
    let usable = binding::usable(store, org, mode).await.unwrap();
    usable
        .into_iter()
        .map(|usable| usable.secret.map(Content::into_string))
        .collect()
}

async fn a_bound_secret_is_found_until_it_is_revoked(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let bridge = bridge(&org);
    let bound = place(&store, &org, &bridge, "s3cret-9f2c", "ehr").await;
    let usable = binding::usable(&store, &org, Mode::Live).await.unwrap();
    assert_eq!((usable.len(), &usable[0].binding), (1, &bound));
    assert_eq!(
        usable[0].secret.as_ref().map(Content::as_str),
        Some("s3cret-9f2c")
    );
    assert!(secrets(&store, &org, Mode::Test).await.is_empty());
    let found = integration::find(&store, &org, Mode::Live, &bridge.id)
        .await
        .unwrap();
    assert_eq!(found.as_ref(), Some(&bridge));
    let id = bridge.id.clone();
    let later = NOW.plus_ms(5);
    for at in [later, NOW.plus_ms(9)] {
        let id = id.clone();
        let revoking = store.transaction(move |mut tx| {
            Box::pin(async move {
                Ok::<_, TransactionError<()>>(integration::revoke(&mut tx, &id, at).await?)
            })
        });
        revoking.await.unwrap();
    }
    assert_eq!(secrets(&store, &org, Mode::Live).await, [None]);
    let found = integration::find(&store, &org, Mode::Live, &bridge.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.revoked_at, found.bindings_count), (Some(later), 1));
}

async fn a_rotated_secret_takes_the_place_of_the_old_one(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let mut bridge = bridge(&org);
    place(&store, &org, &bridge, "first-secret", "ehr").await;
    let sealed = integration::seal_secret(&store, &org, &bridge.id, &Content::new("second-secret"))
        .await
        .unwrap();
    bridge.secret_version = 2;
    let rotating = store.transaction(move |mut tx| {
        Box::pin(async move {
            Ok::<_, TransactionError<()>>(integration::rotate(&mut tx, &bridge, sealed).await?)
        })
    });
    rotating.await.unwrap();
    assert_eq!(
        secrets(&store, &org, Mode::Live).await,
        [Some("second-secret".to_owned())]
    );
}

async fn secrets_outlive_a_rotation_of_the_organization_key(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    place(&store, &org, &bridge(&org), "s3cret", "ehr").await;
    fixture::rotate(&store, &org).await.unwrap();
    assert_eq!(integration::rewrap(&store, &org).await.unwrap(), 1);
    assert_eq!(integration::rewrap(&store, &org).await.unwrap(), 0);
    assert_eq!(
        secrets(&store, &org, Mode::Live).await,
        [Some("s3cret".to_owned())]
    );
}

async fn a_project_uses_an_alias_once(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let bound = place(&store, &org, &bridge(&org), "s3cret", "ehr").await;
    let again = Binding {
        id: IdKind::Binding.make(NOW, rand::random()),
        ..bound
    };
    let inserting = store.transaction(move |mut tx| {
        Box::pin(async move {
            assert!(binding::is_taken(&mut tx, &again).await?);
            Ok::<_, TransactionError<()>>(binding::insert(&mut tx, &again).await?)
        })
    });
    let refused = inserting.await;
    assert!(matches!(
        refused,
        Err(TransactionError::Store(StoreError::Exists { .. }))
    ));
}

/// SQLite has one writer: there nobody binds meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alias_that_is_being_bound_on_postgres_is_waited_for() {
    let db = TestDb::postgres().await;
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let bound = place(&store, &org, &bridge(&org), "s3cret", "ehr").await;
    let second = Binding {
        id: IdKind::Binding.make(NOW, rand::random()),
        alias: "lab".to_owned(),
        ..bound
    };
    let Binding {
        id,
        integration_id,
        project_id,
        ..
    } = &second;
    // As another replica does it.
    let hold = format!("UPDATE organizations SET updated_at = updated_at WHERE id = '{org}'");
    let insert = format!(
        "INSERT INTO integration_bindings (id, org_id, mode, integration_id, project_id, alias, created_at) \
         VALUES ('{id}', '{org}', 'live', '{integration_id}', '{project_id}', 'lab', 0)"
    );
    let under_way = db.begin().await.run(&hold).await.run(&insert).await;
    let binding = async {
        db.until_somebody_waits().await;
        under_way.commit().await;
    };
    let asking = store.transaction(move |mut tx| {
        Box::pin(async move {
            Ok::<_, TransactionError<()>>(binding::is_taken(&mut tx, &second).await?)
        })
    });
    let (taken, ()) = join(asking, binding).await;
    assert!(taken.unwrap());
}
