//! Allow and deny lists: known by digest, changed with an audit row, told by revision.

use svc_core::phi::{Kind, ListKey, ListedValue, Listing};
use svc_store::audit::Phase;
use svc_store::{StoreError, phi_list};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    values_are_kept_as_digests_of_the_organizations_own_key,
    a_change_has_a_revision_and_an_audit_row,
    lists_outlive_a_rotation_of_the_organization_key,
    an_organization_that_does_not_exist_lists_nothing,
    replicas_that_begin_together_share_one_key,
    no_more_than_the_limit_is_listed,
}

fn values(written: &[&str]) -> Vec<ListedValue> {
    written
        .iter()
        .map(|value| ListedValue::of(value).unwrap())
        .collect()
}

fn deny(kind: &str) -> Listing {
    Listing::Deny(Kind::named(kind))
}

async fn values_are_kept_as_digests_of_the_organizations_own_key(db: TestDb) {
    let store = db.open().await;
    let (mine, theirs) = (
        fixture::organization(&store).await.organization_id,
        fixture::organization(&store).await.organization_id,
    );
    for (org, request) in [(&mine, "req_a"), (&theirs, "req_d")] {
        let row = fixture::row(org, request, Phase::Single, "organization.updated");
        let listed = values(&["Blue Falcon"]);
        phi_list::put(&store, org, &deny("OTHER_ID"), &listed, NOW, &row)
            .await
            .unwrap();
    }
    let entry = phi_list::entries(&store, &mine).await.unwrap().remove(0);
    assert_eq!(
        (entry.listing.clone(), entry.value_bytes, entry.created_at),
        (deny("OTHER_ID"), 10, NOW)
    );
    let other = phi_list::entries(&store, &theirs).await.unwrap().remove(0);
    assert_ne!(entry.digest, other.digest);
    let plain = values(&["bluefalcon"])[0].digest(&ListKey::new(&[0; 32]));
    assert_ne!(entry.digest, plain);
    // The same value in another spelling is the same entry, and moves to the other list.
    let row = fixture::row(&mine, "req_b", Phase::Single, "organization.updated");
    let again = values(&["BLUE-FALCON"]);
    let held = phi_list::put(&store, &mine, &Listing::Allow, &again, NOW, &row).await;
    assert_eq!(held.unwrap(), 1);
    let entries = phi_list::entries(&store, &mine).await.unwrap();
    assert_eq!(
        (entries.len(), &entries[0].digest, &entries[0].listing),
        (1, &entry.digest, &Listing::Allow)
    );
    let digests = phi_list::digests(&store, &mine, &again).await.unwrap();
    assert_eq!(digests, [entry.digest]);
    assert_eq!(phi_list::entries(&store, &theirs).await.unwrap(), [other]);
}

async fn a_change_has_a_revision_and_an_audit_row(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    assert_eq!(phi_list::revision(&store, &org).await.unwrap(), 0);
    let row = |request: &str| fixture::row(&org, request, Phase::Single, "organization.updated");
    let listed = values(&["Blue Falcon", "Red Kite"]);
    let held = phi_list::put(&store, &org, &deny("OTHER_ID"), &listed, NOW, &row("req_c")).await;
    assert_eq!(held.unwrap(), 2);
    let (revision, lists) = phi_list::load(&store, &org).await.unwrap();
    assert_eq!((revision, lists.is_empty()), (1, false));
    let digests = phi_list::digests(&store, &org, &listed[..1]).await.unwrap();
    for (request, removed, after) in [("req_d", 1, 2), ("req_e", 0, 2)] {
        let gone = phi_list::remove(&store, &org, &digests, NOW, &row(request)).await;
        assert_eq!(gone.unwrap(), removed);
        assert_eq!(phi_list::revision(&store, &org).await.unwrap(), after);
        let rows =
            svc_store::audit::by_request(&store, &org, svc_core::secret::Mode::Live, request);
        assert_eq!(rows.await.unwrap().len() as u64, removed);
    }
    assert_eq!(phi_list::entries(&store, &org).await.unwrap().len(), 1);
}

async fn lists_outlive_a_rotation_of_the_organization_key(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let row = |request: &str| fixture::row(&org, request, Phase::Single, "organization.updated");
    let listed = values(&["Blue Falcon"]);
    phi_list::put(&store, &org, &Listing::Allow, &listed, NOW, &row("req_f"))
        .await
        .unwrap();
    let before = phi_list::digests(&store, &org, &listed).await.unwrap();
    fixture::rotate(&store, &org).await.unwrap();
    phi_list::rewrap(&store, &org).await.unwrap();
    let fresh = db.open().await;
    assert_eq!(
        phi_list::digests(&fresh, &org, &listed).await.unwrap(),
        before
    );
    assert!(!phi_list::load(&fresh, &org).await.unwrap().1.is_empty());
}

async fn an_organization_that_does_not_exist_lists_nothing(db: TestDb) {
    let store = db.open().await;
    let org = "org_01M7YT30ARKHN4SPHGEK4YVZTP";
    let row = fixture::row(org, "req_g", Phase::Single, "organization.updated");
    let listed = values(&["Blue Falcon"]);
    let put = phi_list::put(&store, org, &Listing::Allow, &listed, NOW, &row).await;
    assert!(matches!(put, Err(StoreError::Missing(_))), "{put:?}");
    assert_eq!(phi_list::revision(&store, org).await.unwrap(), 0);
    assert!(
        phi_list::digests(&store, org, &listed)
            .await
            .unwrap()
            .is_empty()
    );
    let (revision, lists) = phi_list::load(&store, org).await.unwrap();
    assert_eq!((revision, lists.is_empty()), (0, true));
    phi_list::rewrap(&store, org).await.unwrap();
}

async fn replicas_that_begin_together_share_one_key(db: TestDb) {
    let (one, two) = (db.open().await, db.open().await);
    let org = fixture::organization(&one).await.organization_id;
    let row = |request: &str| fixture::row(&org, request, Phase::Single, "organization.updated");
    let (first, second) = (row("req_h"), row("req_i"));
    let (kite, falcon) = (values(&["Red Kite"]), values(&["Blue Falcon"]));
    let (a, b) = tokio::join!(
        phi_list::put(&one, &org, &Listing::Allow, &kite, NOW, &first),
        phi_list::put(&two, &org, &Listing::Allow, &falcon, NOW, &second),
    );
    a.unwrap();
    b.unwrap();
    let entries = phi_list::entries(&one, &org).await.unwrap();
    let mut digests = phi_list::digests(&two, &org, &kite).await.unwrap();
    digests.extend(phi_list::digests(&one, &org, &falcon).await.unwrap());
    digests.sort_unstable();
    let stored: Vec<_> = entries.iter().map(|entry| entry.digest).collect();
    assert_eq!(stored, digests);
    assert_eq!(phi_list::revision(&one, &org).await.unwrap(), 2);
}

async fn no_more_than_the_limit_is_listed(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let row = |request: &str| fixture::row(&org, request, Phase::Single, "organization.updated");
    let first = values(&["Blue Falcon"]);
    phi_list::put(&store, &org, &Listing::Allow, &first, NOW, &row("req_j"))
        .await
        .unwrap();
    // One below the limit, written at once: that many statements take long where many tests run.
    let digest = match db.is_sqlite() {
        true => "CAST(printf('%032d', i) AS BLOB)",
        false => "decode(lpad(to_hex(i), 64, '0'), 'hex')",
    };
    let more = phi_list::MAX_VALUES - 2;
    let fill = format!(
        "WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {more}) \
         INSERT INTO phi_list_entries (org_id, digest, value_bytes, list, kind, created_at) \
         SELECT '{org}', {digest}, 9, 'allow', NULL, 0 FROM numbers"
    );
    assert_eq!(db.tamper(&fill).await.unwrap(), more as u64);
    let two = values(&["Red Kite", "Grey Heron"]);
    let put = phi_list::put(&store, &org, &Listing::Allow, &two, NOW, &row("req_k")).await;
    assert!(matches!(put, Err(StoreError::TooMany(_))), "{put:?}");
    assert_eq!(phi_list::revision(&store, &org).await.unwrap(), 1);
    let entries = phi_list::entries(&store, &org).await.unwrap();
    assert_eq!(entries.len(), more + 1);
    let put = phi_list::put(&store, &org, &Listing::Allow, &two[..1], NOW, &row("req_l")).await;
    assert_eq!(put.unwrap(), phi_list::MAX_VALUES as u64);
    let many: Vec<String> = (0..=phi_list::MAX_VALUES_PER_CHANGE)
        .map(|at| format!("value {at}"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let many = values(&many);
    let put = phi_list::put(&store, &org, &Listing::Allow, &many, NOW, &row("req_m")).await;
    assert!(matches!(put, Err(StoreError::TooMany(_))), "{put:?}");
    let digests = phi_list::digests(&store, &org, &many).await.unwrap();
    let removed = phi_list::remove(&store, &org, &digests, NOW, &row("req_n")).await;
    assert!(
        matches!(removed, Err(StoreError::TooMany(_))),
        "{removed:?}"
    );
}
