//! Organizations, users, projects, API keys and agreements.

use std::convert::Infallible;

use svc_core::id::IdKind;
use svc_core::money::Micro;
use svc_core::secret;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_store::api_key::{self, ApiKey, Status};
use svc_store::audit::Phase;
use svc_store::baa::{self, Acceptance, Standing};
use svc_store::bootstrap::{bootstrap, template};
use svc_store::organization::{self, PhiMode, Settings};
use svc_store::project::{self, Project};
use svc_store::seal::Content;
use svc_store::user::{self, Role, User};
use svc_store::{Store, StoreError, TransactionError, audit, tenant};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    a_bootstrapped_key_is_found_with_all_that_belongs_to_it,
    settings_and_plan_are_replaced,
    slugs_addresses_and_digests_are_unique,
    users_projects_and_keys_are_invisible_to_others,
    a_key_is_revoked_once_and_expires,
    the_last_use_is_noted_once_a_minute,
    an_agreement_goes_through_its_standings,
    a_statement_that_forgets_its_organization_finds_the_wall,
}

/// Contract 19.3: on PostgreSQL the database itself keeps organizations apart; SQLite has no such thing.
async fn a_statement_that_forgets_its_organization_finds_the_wall(db: TestDb) {
    let store = db.open().await;
    let mine = fixture::organization(&store).await.organization_id;
    let theirs = fixture::organization(&store).await;
    let everybody = organization::ids(&store, "", 10).await.unwrap();
    assert_eq!(everybody.len(), 2);
    let seen = tenant::within(&mine, organization::ids(&store, "", 10)).await;
    let intruder = user::find(&store, &theirs.organization_id, &theirs.user_id);
    let intruder = User {
        id: fixture::id(IdKind::User),
        email: "intruder@example.org".to_owned(),
        ..intruder.await.unwrap().unwrap()
    };
    let written = tenant::within(&mine, user::create(&store, &intruder)).await;
    let other = user::find(&store, &theirs.organization_id, &theirs.user_id);
    let other = tenant::within(&mine, other).await.unwrap();
    if db.is_sqlite() {
        assert_eq!(seen.unwrap(), everybody);
        assert!(written.is_ok() && other.is_some());
        return;
    }
    assert_eq!(seen.unwrap(), [mine]);
    assert!(matches!(written, Err(StoreError::Refused { .. })));
    assert!(other.is_none());
    let bare = "SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
                WHERE c.relkind = 'r' AND a.attname = 'org_id' AND NOT a.attisdropped \
                  AND NOT (c.relrowsecurity AND c.relforcerowsecurity)";
    assert_eq!(db.texts(bare).await, [""; 0]);
}

async fn a_bootstrapped_key_is_found_with_all_that_belongs_to_it(db: TestDb) {
    let store = db.open().await;
    let made = fixture::organization(&store).await;
    let verdict = api_key::find_by_digest(&store, &secret::digest(&made.api_key), NOW)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(verdict.key.id, made.api_key_id);
    assert_eq!(verdict.key.mode, Mode::Live);
    assert_eq!(verdict.key.scopes, ["ai:chat"]);
    assert_eq!(verdict.key.per_minute, Some(600));
    assert_eq!(verdict.key.status(NOW), Status::Active);
    let user = verdict.delegating_user.unwrap();
    assert_eq!(
        (user.id, user.role, user.suspended),
        (made.user_id, Role::Owner, false)
    );
    let organization = verdict.organization;
    assert_eq!(organization.id, made.organization_id);
    assert_eq!(organization.default_project_id, made.project_id);
    assert_eq!(organization.cycle_anchor_day, 1);
    assert_eq!(
        organization.plan.monthly_credits,
        Some(Micro(50_000_000_000))
    );
    assert_eq!(organization.settings.phi_mode, PhiMode::Redact);
    assert_eq!(organization.settings.premium_models, ["alpha-opus-4-7"]);
    assert_eq!(
        organization.settings.features.get("integrations"),
        Some(&true)
    );
    assert_eq!(verdict.baa, Standing::Active);
    let other = secret::digest("svc_api_live_00000000000000000000000000000000");
    assert!(
        api_key::find_by_digest(&store, &other, NOW)
            .await
            .unwrap()
            .is_none()
    );
}

async fn settings_and_plan_are_replaced(db: TestDb) {
    let store = db.open().await;
    let id = fixture::organization(&store).await.organization_id;
    let mut found = organization::find(&store, &id).await.unwrap().unwrap();
    found.settings.ai_paused = true;
    found.settings.phi_mode = PhiMode::Block;
    found.settings.default_system_prompt = Some(Content::new("Be kind to SECRET-PROMPT."));
    found.plan.evaluation_ends_at = Some(NOW);
    found.plan.monthly_credits = None;
    let later = NOW.plus_ms(5);
    put_settings(&store, &id, &found.settings, later)
        .await
        .unwrap();
    let row = fixture::row(&id, "req_1", Phase::Single, "organization.plan_set");
    organization::save_plan(&store, &id, &found.plan, &row, later)
        .await
        .unwrap();
    let rows = audit::by_request(&store, &id, Mode::Live, "req_1").await;
    assert_eq!(rows.unwrap().len(), 1);
    let again = organization::find(&store, &id).await.unwrap().unwrap();
    assert!(again.settings == found.settings);
    assert_eq!(again.plan, found.plan);
    assert_eq!(again.updated_at, later);
    assert!(!db.holds("SECRET-PROMPT"));
    let mut bare = found.settings;
    bare.default_system_prompt = None;
    let unknown = put_settings(&store, "org_none", &bare, later).await;
    assert!(matches!(unknown, Err(StoreError::Missing(_))));
    let row = fixture::row(&id, "req_2", Phase::Single, "organization.plan_set");
    let unknown = organization::save_plan(&store, "org_none", &found.plan, &row, later).await;
    assert!(matches!(unknown, Err(StoreError::Missing(_))));
}

/// Replaces the settings as the control plane does.
async fn put_settings(
    store: &Store,
    org_id: &str,
    settings: &Settings,
    now: Timestamp,
) -> Result<(), StoreError> {
    let prompt = settings.default_system_prompt.as_ref();
    let prompt = organization::seal_prompt(store, org_id, prompt).await?;
    let (org_id, settings) = (org_id.to_owned(), settings.clone());
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            organization::put_settings(&mut tx, &org_id, settings, prompt, now).await?;
            Ok::<_, TransactionError<Infallible>>(())
        })
    });
    done.await.map_err(|error| match error {
        TransactionError::Store(error) => error,
        TransactionError::Refused(never) => match never {},
    })
}

async fn slugs_addresses_and_digests_are_unique(db: TestDb) {
    let store = db.open().await;
    let made = fixture::organization(&store).await;
    let exists = |result: Result<(), StoreError>| matches!(result, Err(StoreError::Exists { .. }));
    let id = &made.organization_id;
    let mut organization = organization::find(&store, id).await.unwrap().unwrap();
    organization.id = fixture::id(IdKind::Organization);
    assert!(exists(organization::create(&store, &organization).await));
    organization.slug = "another".to_owned();
    organization.settings.default_system_prompt = Some(Content::new("from the start"));
    organization::create(&store, &organization).await.unwrap();
    let again = organization::find(&store, &organization.id)
        .await
        .unwrap()
        .unwrap();
    assert!(again.settings == organization.settings);
    let mut owner = user::find(&store, id, &made.user_id)
        .await
        .unwrap()
        .unwrap();
    owner.id = fixture::id(IdKind::User);
    assert!(exists(user::create(&store, &owner).await));
    let mut key = api_key::find(&store, id, &made.api_key_id)
        .await
        .unwrap()
        .unwrap();
    key.id = fixture::id(IdKind::ApiKey);
    let taken = secret::digest(&made.api_key);
    assert!(exists(api_key::create(&store, &key, &taken).await));
    api_key::create(&store, &key, &[9; 32]).await.unwrap();
}

async fn users_projects_and_keys_are_invisible_to_others(db: TestDb) {
    let store = db.open().await;
    let mine = fixture::organization(&store).await;
    let theirs = fixture::organization(&store).await;
    let project = Project {
        id: fixture::id(IdKind::Project),
        org_id: mine.organization_id.clone(),
        name: "ward 3".to_owned(),
        created_at: NOW,
    };
    project::create(&store, &project).await.unwrap();
    let (me, them) = (&mine.organization_id, &theirs.organization_id);
    assert_eq!(
        project::find(&store, me, &project.id).await.unwrap(),
        Some(project.clone())
    );
    assert_eq!(
        project::find(&store, them, &project.id).await.unwrap(),
        None
    );
    assert!(
        user::find(&store, me, &mine.user_id)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        user::find(&store, them, &mine.user_id)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        api_key::find(&store, me, &mine.api_key_id)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        api_key::find(&store, them, &mine.api_key_id)
            .await
            .unwrap()
            .is_none()
    );
    assert!(revoke(&store, them, &mine.api_key_id, NOW).await.is_none());
    let untouched = api_key::find(&store, me, &mine.api_key_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(untouched.status(NOW), Status::Active);
}

async fn revoke(store: &Store, org_id: &str, key_id: &str, now: Timestamp) -> Option<ApiKey> {
    let (org_id, key_id) = (org_id.to_owned(), key_id.to_owned());
    let revoked = store.transaction(move |mut tx| {
        Box::pin(async move {
            let revoked = api_key::revoke(&mut tx, &org_id, &key_id, now).await?;
            Ok::<_, TransactionError<()>>(revoked.map(|revoked| revoked.listed.key))
        })
    });
    revoked.await.unwrap()
}

async fn a_key_is_revoked_once_and_expires(db: TestDb) {
    let store = db.open().await;
    let made = fixture::organization(&store).await;
    let org = &made.organization_id;
    let mut key = api_key::find(&store, org, &made.api_key_id)
        .await
        .unwrap()
        .unwrap();
    let first = revoke(&store, org, &key.id, NOW).await.unwrap();
    let second = revoke(&store, org, &key.id, NOW.plus_ms(9)).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(second.revoked_at, Some(NOW));
    assert_eq!(second.status(NOW), Status::Revoked);
    key.id = fixture::id(IdKind::ApiKey);
    key.expires_at = Some(NOW.plus_ms(10));
    key.default_version = Some("2026-04-01".to_owned());
    api_key::create(&store, &key, &[1; 32]).await.unwrap();
    let found = api_key::find(&store, org, &key.id).await.unwrap().unwrap();
    assert_eq!(found, key);
    assert_eq!(found.status(NOW.plus_ms(9)), Status::Active);
    assert_eq!(found.status(NOW.plus_ms(10)), Status::Expired);
}

async fn the_last_use_is_noted_once_a_minute(db: TestDb) {
    let store = db.open().await;
    let made = fixture::organization(&store).await;
    for (after_ms, noted_ms) in [(0, 0), (59_999, 0), (60_000, 60_000), (61_000, 60_000)] {
        api_key::touch(&store, &made.api_key_id, NOW.plus_ms(after_ms))
            .await
            .unwrap();
        let key = api_key::find(&store, &made.organization_id, &made.api_key_id).await;
        assert_eq!(
            key.unwrap().unwrap().last_used_at,
            Some(NOW.plus_ms(noted_ms))
        );
    }
}

async fn an_agreement_goes_through_its_standings(db: TestDb) {
    let store = db.open().await;
    let mut plan = fixture::plan();
    plan.baa = None;
    let made = bootstrap(&store, &plan).await.unwrap();
    let org = made.organization_id.clone();
    let digest = secret::digest(&made.api_key);
    let standing = async |after_ms: i64| {
        let now = NOW.plus_ms(after_ms);
        let standing = baa::standing(&store, &org, now).await.unwrap();
        // Callers are found with the same.
        let verdict = api_key::find_by_digest(&store, &digest, now).await;
        assert_eq!(verdict.unwrap().unwrap().baa, standing);
        standing
    };
    let ended = |_: &str| {
        let mut row = fixture::row("", "req_end", Phase::Single, "baa.terminated");
        row.org_id = None;
        row
    };
    assert_eq!(standing(0).await, Standing::None);
    assert!(matches!(
        baa::terminate(&store, &org, NOW, ended).await,
        Err(StoreError::Missing(_))
    ));
    let old = template("2026-04", "Agreement", "old", Timestamp(1));
    baa::publish(&store, &old).await.unwrap();
    baa::publish(&store, &old).await.unwrap();
    let mut acceptance = Acceptance {
        id: fixture::id(IdKind::BaaAcceptance),
        org_id: org.clone(),
        template_version: old.version.clone(),
        template_sha256: old.sha256.clone(),
        accepted_by_user_id: made.user_id.clone(),
        signer_name: "A. Signer".to_owned(),
        signer_title: "Officer".to_owned(),
        signer_email: "signer@example.org".to_owned(),
        accepted_at: NOW,
        ip: None,
        user_agent: None,
        effective_at: NOW,
        expires_at: None,
    };
    baa::accept(&store, &acceptance).await.unwrap();
    assert_eq!(standing(-1).await, Standing::None);
    assert_eq!(standing(0).await, Standing::Active);
    let mut newer = template("2026-11", "Agreement", "new", NOW.plus_ms(10));
    newer.reaccept_by = Some(NOW.plus_ms(20));
    baa::publish(&store, &newer).await.unwrap();
    assert_eq!(standing(9).await, Standing::Active);
    assert_eq!(standing(10).await, Standing::ReacceptanceDue);
    assert!(standing(19).await.allows_inference());
    assert_eq!(standing(20).await, Standing::Expired);
    // A further text without a time of grace, or with a later one, puts nothing in force again.
    let mut further = template("2026-12", "Agreement", "further", NOW.plus_ms(25));
    for reaccept_by in [None, Some(NOW.plus_ms(50))] {
        further.reaccept_by = reaccept_by;
        baa::publish(&store, &further).await.unwrap();
        assert_eq!(standing(30).await, Standing::Expired);
    }
    further.published_at = NOW.plus_ms(1_000);
    baa::publish(&store, &further).await.unwrap();
    acceptance.id = fixture::id(IdKind::BaaAcceptance);
    acceptance.template_version = newer.version.clone();
    acceptance.expires_at = Some(NOW.plus_ms(40));
    acceptance.accepted_at = NOW.plus_ms(20);
    baa::accept(&store, &acceptance).await.unwrap();
    assert_eq!(standing(30).await, Standing::Active);
    // Whoever has accepted a text that is put off has accepted a newer one than is in force.
    newer.published_at = NOW.plus_ms(100);
    newer.reaccept_by = None;
    let mut before = old.clone();
    before.reaccept_by = Some(NOW.plus_ms(25));
    for template in [&newer, &before] {
        baa::publish(&store, template).await.unwrap();
    }
    assert_eq!(standing(30).await, Standing::Active);
    assert_eq!(standing(40).await, Standing::Expired);
    baa::terminate(&store, &org, NOW.plus_ms(35), ended)
        .await
        .unwrap();
    assert_eq!(standing(35).await, Standing::Terminated);
    assert!(!standing(35).await.allows_inference());
    let other = fixture::organization(&store).await;
    assert!(
        baa::standing(&store, &other.organization_id, NOW)
            .await
            .unwrap()
            .allows_inference()
    );
}
