//! People that agents speak with: what is sealed below a person's key ends with it.

use svc_core::secret::Mode;
use svc_store::audit::{Phase, Row};
use svc_store::conversation::{self, Owner, Thread, WHOLE_HISTORY};
use svc_store::end_user::{self, Erased};
use svc_store::inference::{Settled, TurnRefusal};
use svc_store::seal::Content;
use svc_store::{Store, message};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    an_erased_person_is_unreadable_and_nobody_else_is,
    who_is_erased_while_a_turn_is_stored_is_not_named_again,
    who_is_erased_after_a_conversation_began_is_not_known_again,
    a_person_is_named_by_a_key_of_the_organization,
    a_rotation_takes_keys_of_people_along,
}

/// A conversation that begins, with this person or with nobody.
async fn begun(store: &Store, org: &str, mode: Mode, runtime_user: Option<&str>) -> Thread {
    let person = match runtime_user {
        Some(user) => Some(end_user::key_of(store, org, mode, user, NOW).await.unwrap()),
        None => None,
    };
    match fixture::new_thread() {
        Thread::New { id, owner, .. } => Thread::New {
            id,
            owner: Owner {
                runtime_user: runtime_user.map(str::to_owned),
                ..owner
            },
            person,
        },
        existing => existing,
    }
}

/// Stores a turn; the ids of its conversation and of its reply.
async fn said(store: &Store, org: &str, mode: Mode, user: Option<&str>) -> (String, String) {
    let thread = begun(store, org, mode, user).await;
    let id = fixture::thread_id(&thread);
    let turn = fixture::turn(thread, ["question", "answer"]);
    fixture::append(store, org, mode, &turn, NOW).await;
    (id, turn.messages[1].id.clone())
}

async fn reads(store: &Store, org: &str, mode: Mode, (id, reply): &(String, String)) -> bool {
    let whole = conversation::load(store, org, mode, id, WHOLE_HISTORY)
        .await
        .unwrap();
    let reply = message::find(store, org, mode, reply).await.unwrap();
    assert_eq!(whole.is_some(), reply.is_some());
    whole.is_some_and(|whole| whole.history.len() == 2)
}

fn erasure(erased: Erased) -> Row {
    let mut row = fixture::row("", "req_erase", Phase::Single, "end_user.erased");
    row.org_id = None;
    row.details.insert("keys".into(), erased.keys.into());
    row
}

async fn an_erased_person_is_unreadable_and_nobody_else_is(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let ada = Some("patient-ada");
    let one = said(&store, &org, Mode::Live, ada).await;
    let two = said(&store, &org, Mode::Live, ada).await;
    let test = said(&store, &org, Mode::Test, ada).await;
    let other = said(&store, &org, Mode::Live, Some("patient-ben")).await;
    let nobody = said(&store, &org, Mode::Live, None).await;
    assert!(reads(&store, &org, Mode::Live, &one).await);
    let erase = || end_user::erase(&store, &org, "patient-ada", NOW, erasure);
    let expected = Erased {
        keys: 2,
        conversations: 3,
    };
    assert_eq!(erase().await.unwrap(), expected);
    assert_eq!(erase().await.unwrap(), Erased::default());
    let replica = db.open().await;
    for store in [&store, &replica] {
        for gone in [&one, &two] {
            assert!(!reads(store, &org, Mode::Live, gone).await);
        }
        assert!(!reads(store, &org, Mode::Test, &test).await);
        for kept in [&other, &nobody] {
            assert!(reads(store, &org, Mode::Live, kept).await);
        }
    }
    let again = said(&store, &org, Mode::Live, ada).await;
    assert!(reads(&replica, &org, Mode::Live, &again).await);
}

/// Destroys every key once a run's last row is written: after its key was read, and before its turn is stored.
const ERASE_MEANWHILE: [&str; 2] = [
    "CREATE TRIGGER erases AFTER INSERT ON audit WHEN NEW.event = 'inference.completed' \
     BEGIN UPDATE end_user_keys SET wrapped = NULL, runtime_user = NULL, erased_at = 1; END",
    "CREATE FUNCTION erases() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     UPDATE end_user_keys SET wrapped = NULL, runtime_user = NULL, erased_at = 1; RETURN NULL; END $$; \
     CREATE TRIGGER erases AFTER INSERT ON audit FOR EACH ROW WHEN (NEW.event = 'inference.completed') \
     EXECUTE FUNCTION erases()",
];

async fn who_is_erased_while_a_turn_is_stored_is_not_named_again(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let ada = Some("patient-ada");
    let (id, _) = said(&store, &org, Mode::Live, ada).await;
    let loaded = conversation::load(&store, &org, Mode::Live, &id, WHOLE_HISTORY)
        .await
        .unwrap()
        .unwrap();
    end_user::erase(&store, &org, "patient-ada", NOW, erasure)
        .await
        .unwrap();
    let gone = Settled::TurnRefused(TurnRefusal::Gone);
    let mut later = fixture::turn(Thread::Existing(loaded.handle), ["more", "yes"]);
    for map in [None, Some(Content::new("{}"))] {
        later.phi_map = map;
        let stored = fixture::try_append(&store, &org, Mode::Live, &later, NOW).await;
        assert_eq!(stored.unwrap(), gone);
    }
    let erasing = ERASE_MEANWHILE[usize::from(!db.is_sqlite())];
    db.tamper(erasing).await.unwrap();
    let begun = begun(&store, &org, Mode::Live, ada).await;
    let turn = fixture::turn(begun, ["question", "answer"]);
    let stored = fixture::try_append(&store, &org, Mode::Live, &turn, NOW).await;
    assert_eq!(stored.unwrap(), gone);
    let named = "SELECT runtime_user FROM conversations WHERE runtime_user IS NOT NULL";
    assert!(db.texts(named).await.is_empty());
    assert_eq!(db.texts("SELECT id FROM conversations").await, [id]);
    let maps = "SELECT id FROM conversations WHERE phi_map IS NOT NULL";
    assert!(db.texts(maps).await.is_empty());
}

async fn who_is_erased_after_a_conversation_began_is_not_known_again(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let ada = Some("patient-ada");
    // Nobody has heard of this person before.
    let begun = begun(&store, &org, Mode::Live, ada).await;
    let erased = end_user::erase(&store, &org, "patient-ada", NOW, erasure).await;
    assert_eq!(erased.unwrap().keys, 1);
    let turn = fixture::turn(begun, ["question", "answer"]);
    let stored = fixture::try_append(&store, &org, Mode::Live, &turn, NOW).await;
    assert_eq!(stored.unwrap(), Settled::TurnRefused(TurnRefusal::Gone));
    assert!(db.texts("SELECT id FROM conversations").await.is_empty());
    let known = "SELECT id FROM end_user_keys WHERE runtime_user IS NOT NULL";
    assert!(db.texts(known).await.is_empty());
}

async fn a_person_is_named_by_a_key_of_the_organization(db: TestDb) {
    let store = db.open().await;
    let [org, other] = [
        fixture::organization(&store).await.organization_id,
        fixture::organization(&store).await.organization_id,
    ];
    let name = async |org: &str, user: &str| {
        let named = end_user::pseudonym(&store, org, user, NOW).await;
        named.unwrap()
    };
    let ada = name(&org, "patient-ada").await;
    assert_eq!(ada.len(), 64);
    assert_eq!(name(&org, "patient-ada").await, ada);
    assert_ne!(name(&org, "patient-ben").await, ada);
    assert_ne!(name(&other, "patient-ada").await, ada);
    let digest = svc_core::secret::digest("patient-ada");
    let plain: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_ne!(ada, plain);
    fixture::rotate(&store, &org).await.unwrap();
    assert_eq!(name(&org, "patient-ada").await, ada);
}

async fn a_rotation_takes_keys_of_people_along(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let ada = said(&store, &org, Mode::Live, Some("patient-ada")).await;
    fixture::rotate(&store, &org).await.unwrap();
    assert_eq!(end_user::rewrap(&store, &org).await.unwrap(), 1);
    assert_eq!(end_user::rewrap(&store, &org).await.unwrap(), 0);
    assert_eq!(conversation::rewrap(&store, &org, 100).await.unwrap(), 0);
    db.tamper("DELETE FROM org_keys WHERE version = 1")
        .await
        .unwrap();
    let fresh = db.open().await;
    assert!(reads(&fresh, &org, Mode::Live, &ada).await);
}
