//! Delegated access: a request is one session's and is decided once, a code is redeemed once, and what is over goes.

use std::collections::BTreeMap;

use serde_json::json;
use svc_core::id::IdKind;
use svc_core::oauth::ClientKind;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_store::agent::{self, Agent, Writable as OfAgent};
use svc_store::agent_credential::{self, AgentCredential, Issuer, Source, Status};
use svc_store::api_key::Creator;
use svc_store::audit::{self, Filter, Phase};
use svc_store::oauth_application::{self, Application, Writable};
use svc_store::oauth_authorization::{self, Code, MAX_ATTEMPTS, Parked};
use svc_store::page::Page;
use svc_store::user::Role;
use svc_store::{Store, StoreError, Transaction, TransactionError, erasure, tenant};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    a_request_is_one_sessions_and_decided_once,
    a_code_is_redeemed_once,
    a_credential_is_found_with_all_that_its_agent_acts_for,
    a_list_says_who_of_an_agents_line_is_archived,
    what_is_over_goes_and_what_is_not_stays,
    an_application_that_ends_takes_along_what_it_issued_anywhere,
}

const FIRST: Page = Page {
    limit: 10,
    after: None,
    created_after: None,
    created_before: None,
};

/// An application and an agent of one organization.
struct Scene {
    org_id: String,
    user_id: String,
    application: Application,
    agent: Agent,
}

fn creator() -> Creator {
    Creator {
        kind: "user".to_owned(),
        id: "user".to_owned(),
    }
}

async fn scene(store: &Store) -> Scene {
    let made = fixture::organization(store).await;
    let application = Application {
        id: fixture::id(IdKind::OauthApplication),
        org_id: made.organization_id.clone(),
        mode: Mode::Live,
        client_id: fixture::id(IdKind::Bare),
        kind: ClientKind::Public,
        writable: Writable {
            name: "CareNav".to_owned(),
            publisher: None,
            redirect_uris: vec!["https://carenav.example/cb".to_owned()],
            homepage_url: None,
            details_types: vec!["svc_agent_access".to_owned()],
        },
        secret_hint: None,
        previous_secret_expires_at: None,
        created_by: creator(),
        created_at: NOW,
        updated_at: NOW,
        revoked_at: None,
    };
    let agent = Agent {
        id: fixture::id(IdKind::Agent),
        org_id: made.organization_id.clone(),
        mode: Mode::Live,
        writable: OfAgent {
            name: "Intake".to_owned(),
            description: None,
            default_model: None,
            allowed_models: None,
            scope_grants: json!([]),
            max_active_credentials: 10,
            default_expiry_hours: 24,
            metadata: BTreeMap::new(),
        },
        parent_agent_id: None,
        delegation_depth: 0,
        created_by: creator(),
        created_at: NOW,
        updated_at: NOW,
        archived_at: None,
    };
    let (one, other) = (application.clone(), agent.clone());
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            oauth_application::insert(&mut tx, &one, None).await?;
            agent::insert(&mut tx, &other).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done.await.unwrap();
    Scene {
        org_id: made.organization_id,
        user_id: made.user_id,
        application,
        agent,
    }
}

impl Scene {
    fn parked(&self, expires_at: Timestamp) -> Parked {
        Parked {
            org_id: self.org_id.clone(),
            mode: Mode::Live,
            application_id: self.application.id.clone(),
            redirect_uri: "https://carenav.example/cb".to_owned(),
            state: Some("s%20t".to_owned()),
            code_challenge: "c".to_owned(),
            agent_id: self.agent.id.clone(),
            details: "[]".to_owned(),
            created_at: NOW,
            expires_at,
        }
    }

    fn code(&self, expires_at: Timestamp) -> Code {
        Code {
            org_id: self.org_id.clone(),
            mode: Mode::Live,
            application_id: self.application.id.clone(),
            redirect_uri: "https://carenav.example/cb".to_owned(),
            code_challenge: "c".to_owned(),
            agent_id: self.agent.id.clone(),
            user_id: self.user_id.clone(),
            scope_grants: json!([]),
            expiry_hours: 24,
            attempts: 0,
            created_at: NOW,
            expires_at,
            used_at: None,
            credential_id: None,
        }
    }

    fn credential(&self, expires_at: Timestamp) -> AgentCredential {
        AgentCredential {
            id: fixture::id(IdKind::AgentCredential),
            org_id: self.org_id.clone(),
            mode: Mode::Live,
            agent_id: self.agent.id.clone(),
            source: Source::Oauth,
            application_id: Some(self.application.id.clone()),
            label: None,
            hint: "svc_agt_…".to_owned(),
            scope_grants: json!([]),
            runtime_user: None,
            delegated_by: self.user_id.clone(),
            per_minute: None,
            concurrency: None,
            created_at: NOW,
            expires_at,
            last_used_at: None,
            revoked_at: None,
        }
    }

    async fn insert(&self, store: &Store, digest: [u8; 32], expires_at: Timestamp) {
        let code = self.code(expires_at);
        let done = store.transaction(move |mut tx| {
            Box::pin(async move {
                oauth_authorization::insert(&mut tx, &digest, &code).await?;
                Ok::<_, TransactionError<()>>(())
            })
        });
        done.await.unwrap();
    }

    /// Redeems a code for a credential that lives until then.
    async fn redeem(
        &self,
        store: &Store,
        digest: [u8; 32],
        until: Timestamp,
    ) -> Result<(), TransactionError<()>> {
        let credential = self.credential(until);
        let secret = rand::random();
        let done = store.transaction(move |mut tx| {
            Box::pin(async move {
                agent_credential::insert(&mut tx, &credential, &secret).await?;
                let id = &credential.id;
                oauth_authorization::redeem(&mut tx, &digest, id, until, NOW).await?;
                Ok(())
            })
        });
        done.await
    }
}

async fn take(store: &Store, digest: [u8; 32], session: &'static str) -> Option<Parked> {
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            let found = oauth_authorization::take(&mut tx, &digest, session, NOW).await?;
            Ok::<_, TransactionError<()>>(found)
        })
    });
    done.await.unwrap()
}

async fn a_request_is_one_sessions_and_decided_once(db: TestDb) {
    let store = db.open().await;
    let scene = scene(&store).await;
    let later = NOW.plus_ms(1);
    let parked = scene.parked(later);
    let claim = async |digest: [u8; 32], session, at| {
        oauth_authorization::claim(&store, &digest, session, at)
            .await
            .unwrap()
    };
    oauth_authorization::park(&store, &[1; 32], &parked, None)
        .await
        .unwrap();
    assert_eq!(claim([1; 32], "one", NOW).await, Some(parked.clone()));
    assert_eq!(claim([1; 32], "other", NOW).await, None);
    assert_eq!(claim([1; 32], "one", later).await, None);
    assert_eq!(take(&store, [1; 32], "other").await, None);
    assert_eq!(take(&store, [1; 32], "one").await, Some(parked.clone()));
    assert_eq!(take(&store, [1; 32], "one").await, None);
    // Of somebody who was signed in when it came, it is theirs from the start.
    oauth_authorization::park(&store, &[2; 32], &parked, Some("one"))
        .await
        .unwrap();
    assert_eq!(claim([2; 32], "other", NOW).await, None);
    // One that nobody has looked at is nobody's to decide.
    oauth_authorization::park(&store, &[3; 32], &parked, None)
        .await
        .unwrap();
    assert_eq!(take(&store, [3; 32], "one").await, None);
}

async fn a_code_is_redeemed_once(db: TestDb) {
    let store = db.open().await;
    let scene = scene(&store).await;
    let later = NOW.plus_ms(1_000);
    scene.insert(&store, [1; 32], later).await;
    assert!(scene.redeem(&store, [1; 32], later).await.is_ok());
    let again = scene.redeem(&store, [1; 32], later).await;
    assert!(matches!(
        again,
        Err(TransactionError::Store(StoreError::Missing("code")))
    ));
    // The credential of the second attempt is gone with it.
    let listed = agent_credential::list(&store, &scene.agent, &[], &FIRST, NOW).await;
    assert_eq!(listed.unwrap().rows.len(), 1);
    scene.insert(&store, [2; 32], later).await;
    let mut burned = Vec::new();
    for _ in 0..=MAX_ATTEMPTS {
        burned.push(attempt(&store, [2; 32]).await);
    }
    assert_eq!(burned, [false, false, true, false]);
    assert!(scene.redeem(&store, [2; 32], later).await.is_err());
}

async fn a_credential_is_found_with_all_that_its_agent_acts_for(db: TestDb) {
    let store = db.open().await;
    let scene = scene(&store).await;
    let below = |parent: &Agent| Agent {
        id: fixture::id(IdKind::Agent),
        parent_agent_id: Some(parent.id.clone()),
        delegation_depth: parent.delegation_depth + 1,
        ..parent.clone()
    };
    let middle = below(&scene.agent);
    let lowest = below(&middle);
    let mut credential = scene.credential(NOW.plus_ms(1_000));
    credential.agent_id.clone_from(&lowest.id);
    let (digest, unknown) = ([1; 32], [2; 32]);
    let (agents, issued) = ([middle.clone(), lowest.clone()], credential.clone());
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            for agent in &agents {
                agent::insert(&mut tx, agent).await?;
            }
            agent_credential::insert(&mut tx, &issued, &digest).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done.await.unwrap();
    let nobody = agent_credential::find_by_digest(&store, &unknown, NOW).await;
    assert!(nobody.unwrap().is_none());
    let found = agent_credential::find_by_digest(&store, &digest, NOW).await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.credential, credential);
    assert_eq!(found.issuer, Issuer::Stands);
    assert_eq!(found.line.agent, lowest);
    assert_eq!(found.line.ancestors, [middle, scene.agent]);
    let user = found.delegating_user.unwrap();
    assert_eq!(
        (user.id, user.role, user.suspended),
        (scene.user_id, Role::Owner, false)
    );
    assert_eq!(found.organization.id, scene.org_id);
}

async fn a_list_says_who_of_an_agents_line_is_archived(db: TestDb) {
    let store = db.open().await;
    let scene = scene(&store).await;
    let below = |parent: &Agent| Agent {
        id: fixture::id(IdKind::Agent),
        parent_agent_id: Some(parent.id.clone()),
        delegation_depth: parent.delegation_depth + 1,
        ..parent.clone()
    };
    let middle = below(&scene.agent);
    let lowest = below(&middle);
    let agents = [middle.clone(), lowest.clone()];
    let mut credentials = Vec::new();
    for agent in [&scene.agent, &middle, &lowest] {
        let mut credential = scene.credential(NOW.plus_ms(1_000));
        credential.agent_id.clone_from(&agent.id);
        credential.runtime_user = Some("patient-7".to_owned());
        credentials.push(credential);
    }
    let (issued, archived) = (credentials.clone(), middle.clone());
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            for agent in &agents {
                agent::insert(&mut tx, agent).await?;
            }
            for credential in &issued {
                agent_credential::insert(&mut tx, credential, &rand::random()).await?;
            }
            agent::set_archived(&mut tx, &archived, Some(NOW), NOW).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done.await.unwrap();
    let since = [None, Some(NOW), Some(NOW)];
    for (place, agent) in [&scene.agent, &middle, &lowest].into_iter().enumerate() {
        let expected = (credentials[place].clone(), since[place]);
        let status = expected.0.status(since[place], NOW);
        for wanted in [Status::Active, Status::Suspended, Status::Expired] {
            let listed = agent_credential::list(&store, agent, &[wanted], &FIRST, NOW).await;
            let found = if wanted == status {
                vec![expected.clone()]
            } else {
                Vec::new()
            };
            assert_eq!(listed.unwrap().rows, found, "{place} {wanted:?}");
        }
        let every = agent_credential::list(&store, agent, Status::ALL, &FIRST, NOW).await;
        assert_eq!(every.unwrap().rows, [expected]);
    }
    let of_user =
        agent_credential::of_user(&store, &scene.org_id, Mode::Live, "patient-7", &FIRST).await;
    let mut of_user = of_user.unwrap().rows;
    of_user.sort_by_key(|(row, _)| credentials.iter().position(|other| other == row));
    let expected: Vec<_> = credentials.into_iter().zip(since).collect();
    assert_eq!(of_user, expected);
}

/// Revoked by its organization, or with its organization: the others' logs say so of their credentials.
async fn an_application_that_ends_takes_along_what_it_issued_anywhere(db: TestDb) {
    let store = db.open().await;
    for is_erased in [false, true] {
        let (owner, other) = (scene(&store).await, scene(&store).await);
        let mut credential = other.credential(NOW.plus_ms(10_000));
        credential.application_id = Some(owner.application.id.clone());
        let (issued, digest) = (credential.clone(), rand::random());
        let done = store.transaction(move |mut tx| {
            Box::pin(async move {
                agent_credential::insert(&mut tx, &issued, &digest).await?;
                Ok::<_, TransactionError<()>>(())
            })
        });
        done.await.unwrap();
        // Also where the rows of its application's organization are out of sight.
        let found = agent_credential::find_by_digest(&store, &digest, NOW);
        let found = tenant::within(&other.org_id, found).await.unwrap();
        assert_eq!(found.unwrap().issuer, Issuer::Stands);
        let at = NOW.plus_ms(1_000);
        if is_erased {
            let org_id = owner.org_id.clone();
            let row = move |_| fixture::row(&org_id, "req_erased", Phase::Single, "erased");
            let erased = erasure::organization(&store, &owner.org_id, at, row).await;
            // The key of the bootstrap, the application, and what it issued.
            assert_eq!(erased.unwrap().credentials, 3);
        } else {
            let id = owner.application.id.clone();
            let done = store.transaction(move |mut tx| {
                Box::pin(async move {
                    let ended = oauth_application::revoke(&mut tx, &id, at).await?;
                    Ok::<_, TransactionError<()>>(ended.credentials.len())
                })
            });
            let done = tenant::within(&owner.org_id, done).await;
            assert_eq!(done.unwrap(), 1);
        }
        let listed = agent_credential::list(&store, &other.agent, &[], &FIRST, at).await;
        let (found, _) = listed.unwrap().rows.remove(0);
        assert_eq!(found.revoked_at, Some(at));
        let filter = Filter {
            target_id: Some(credential.id),
            ..Filter::default()
        };
        let rows = audit::list(&store, &other.org_id, Mode::Live, &filter, &FIRST).await;
        let rows = rows.unwrap().rows;
        assert_eq!(rows.len(), 1);
        let row = &rows[0].document;
        assert_eq!(row["event"], "oauth.token_revoked");
        assert_eq!(row["actor"]["id"], owner.application.id.as_str());
        assert_eq!(row["details"]["reason"], "application_revoked");
    }
}

async fn attempt(store: &Store, digest: [u8; 32]) -> bool {
    let done = store.transaction(move |mut tx: Transaction<'_>| {
        Box::pin(async move {
            let burned = oauth_authorization::count_attempt(&mut tx, &digest, NOW).await?;
            Ok::<_, TransactionError<()>>(burned)
        })
    });
    done.await.unwrap()
}

async fn what_is_over_goes_and_what_is_not_stays(db: TestDb) {
    let store = db.open().await;
    let scene = scene(&store).await;
    let (soon, later) = (NOW.plus_ms(1_000), NOW.plus_ms(10_000));
    oauth_authorization::park(&store, &[1; 32], &scene.parked(soon), None)
        .await
        .unwrap();
    oauth_authorization::park(&store, &[2; 32], &scene.parked(later), None)
        .await
        .unwrap();
    scene.insert(&store, [3; 32], soon).await;
    scene.insert(&store, [4; 32], soon).await;
    // What it produced lives on, and a second use has to end it.
    scene.redeem(&store, [4; 32], later).await.unwrap();
    assert_eq!(oauth_authorization::sweep(&store, NOW).await.unwrap(), 0);
    assert_eq!(oauth_authorization::sweep(&store, soon).await.unwrap(), 2);
    assert_eq!(oauth_authorization::sweep(&store, soon).await.unwrap(), 0);
    assert_eq!(oauth_authorization::sweep(&store, later).await.unwrap(), 2);
}
