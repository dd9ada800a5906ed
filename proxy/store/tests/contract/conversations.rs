//! Stored conversations: order, tenancy, and nothing legible on disk.

use futures_util::future::join_all;
use svc_core::chat::Role;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_store::conversation::{self, TURN_MESSAGES, Thread, WHOLE_HISTORY};
use svc_store::inference::{Settled, TurnRefusal};
use svc_store::seal::Content;
use svc_store::{StoreError, message};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    history_comes_back_in_order_and_newest_first_when_cut,
    history_goes_as_far_as_the_map_that_it_is_loaded_with,
    nothing_of_a_conversation_is_legible_on_disk,
    other_organizations_and_modes_see_nothing,
    turns_that_end_together_stand_one_after_the_other,
    a_map_changes_only_from_the_state_that_was_loaded,
    a_sealed_value_does_not_open_elsewhere,
    a_turn_has_a_bound,
}

async fn history_comes_back_in_order_and_newest_first_when_cut(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let thread = fixture::new_thread();
    let id = fixture::thread_id(&thread);
    let first = fixture::turn(thread, ["one", "two"]);
    fixture::append(&store, &org, Mode::Live, &first, NOW).await;
    let loaded = conversation::load(&store, &org, Mode::Live, &id, WHOLE_HISTORY)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (loaded.owner.kind.as_str(), loaded.owner.id.as_str()),
        ("api_key", "key_1")
    );
    assert!(loaded.phi_map.is_none());
    let later = NOW.plus_ms(5);
    let second = fixture::turn(Thread::Existing(loaded.handle), ["three", "four"]);
    fixture::append(&store, &org, Mode::Live, &second, later).await;
    for (limit, expected) in [
        (WHOLE_HISTORY, vec!["one", "two", "three", "four"]),
        (3, vec!["two", "three", "four"]),
        (0, vec![]),
    ] {
        let loaded = conversation::load(&store, &org, Mode::Live, &id, limit)
            .await
            .unwrap()
            .unwrap();
        let texts: Vec<&str> = loaded
            .history
            .iter()
            .map(|past| past.content.as_str())
            .collect();
        assert_eq!(texts, expected);
        assert_eq!((loaded.created_at, loaded.updated_at), (NOW, later));
    }
    let stored = message::find(&store, &org, Mode::Live, &second.messages[1].id).await;
    let stored = stored.unwrap().unwrap();
    assert_eq!((stored.conversation_id, stored.org_id), (id, org));
    assert_eq!(
        (stored.role, stored.usage),
        (Role::Assistant, fixture::usage())
    );
    assert_eq!((stored.credits, stored.created_at), (Micro(52_000), later));
    assert_eq!(stored.stop_reason.as_deref(), Some("stop"));
    assert_eq!(stored.phi.unwrap()["redacted"], 1);
    assert_eq!(stored.audit_id.as_deref(), Some("aud_1"));
}

/// A turn that ends between the two reads of a load is in none of them.
async fn history_goes_as_far_as_the_map_that_it_is_loaded_with(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let thread = fixture::new_thread();
    let id = fixture::thread_id(&thread);
    let turn = fixture::turn(thread, ["one", "two"]);
    fixture::append(&store, &org, Mode::Live, &turn, NOW).await;
    // The head as it was before the second message.
    let sql = format!("UPDATE conversations SET next_seq = 1 WHERE id = '{id}'");
    assert_eq!(db.tamper(&sql).await, Ok(1));
    let loaded = conversation::load(&store, &org, Mode::Live, &id, WHOLE_HISTORY).await;
    let history = loaded.unwrap().unwrap().history;
    let texts: Vec<&str> = history.iter().map(|past| past.content.as_str()).collect();
    assert_eq!(texts, ["one"]);
}

async fn nothing_of_a_conversation_is_legible_on_disk(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let marks = [
        "Zephyrine-Quill-8841",
        "Oswald-Tern-3307",
        "Vesper-Loam-5512",
    ];
    let mut turn = fixture::turn(fixture::new_thread(), [marks[0], marks[1]]);
    turn.phi_map = Some(Content::new(marks[2]));
    turn.messages[0].model = "model-in-clear-7f3a".to_owned();
    fixture::append(&store, &org, Mode::Live, &turn, NOW).await;
    db.flush().await;
    // What is stored in clear is found, so that the search itself is known to work.
    assert!(db.holds("model-in-clear-7f3a"));
    for mark in marks {
        assert!(!db.holds(mark), "{mark}");
    }
}

async fn other_organizations_and_modes_see_nothing(db: TestDb) {
    let store = db.open().await;
    let mine = fixture::organization(&store).await.organization_id;
    let theirs = fixture::organization(&store).await.organization_id;
    let thread = fixture::new_thread();
    let id = fixture::thread_id(&thread);
    let turn = fixture::turn(thread, ["one", "two"]);
    let reply = &turn.messages[1].id;
    fixture::append(&store, &mine, Mode::Live, &turn, NOW).await;
    for (org, mode) in [(&theirs, Mode::Live), (&mine, Mode::Test)] {
        let loaded = conversation::load(&store, org, mode, &id, 10)
            .await
            .unwrap();
        assert!(loaded.is_none());
        assert!(
            message::find(&store, org, mode, reply)
                .await
                .unwrap()
                .is_none()
        );
        let own = conversation::load(&store, &mine, Mode::Live, &id, 10)
            .await
            .unwrap()
            .unwrap();
        let stray = fixture::turn(Thread::Existing(own.handle), ["x", "y"]);
        let appended = fixture::try_append(&store, org, mode, &stray, NOW).await;
        assert_eq!(appended.unwrap(), Settled::TurnRefused(TurnRefusal::Gone));
    }
    assert!(
        message::find(&store, &mine, Mode::Live, reply)
            .await
            .unwrap()
            .is_some()
    );
}

async fn turns_that_end_together_stand_one_after_the_other(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let thread = fixture::new_thread();
    let id = fixture::thread_id(&thread);
    let first = fixture::turn(thread, ["q", "a"]);
    fixture::append(&store, &org, Mode::Live, &first, NOW).await;
    let loaded = conversation::load(&store, &org, Mode::Live, &id, 10)
        .await
        .unwrap()
        .unwrap();
    let works = (0..12).map(|number| {
        let (store, org) = (store.clone(), org.clone());
        let (question, answer) = (format!("q{number}"), format!("a{number}"));
        let turn = fixture::turn(
            Thread::Existing(loaded.handle.clone()),
            [&question, &answer],
        );
        async move { fixture::append(&store, &org, Mode::Live, &turn, NOW).await }
    });
    join_all(works).await;
    let loaded = conversation::load(&store, &org, Mode::Live, &id, 100)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(loaded.history.len(), 26);
    for pair in loaded.history.chunks(2) {
        assert_eq!((pair[0].role, pair[1].role), (Role::User, Role::Assistant));
        assert_eq!(pair[0].content.as_str()[1..], pair[1].content.as_str()[1..]);
    }
}

async fn a_map_changes_only_from_the_state_that_was_loaded(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let thread = fixture::new_thread();
    let id = fixture::thread_id(&thread);
    let mut turn = fixture::turn(thread, ["q", "a"]);
    turn.phi_map = Some(Content::new("map 1"));
    fixture::append(&store, &org, Mode::Live, &turn, NOW).await;
    let stale = conversation::load(&store, &org, Mode::Live, &id, 10)
        .await
        .unwrap()
        .unwrap();
    let mut turn = fixture::turn(Thread::Existing(stale.handle.clone()), ["q", "a"]);
    turn.phi_map = Some(Content::new("map 2"));
    fixture::append(&store, &org, Mode::Live, &turn, NOW).await;
    let mut late = fixture::turn(Thread::Existing(stale.handle), ["q", "a"]);
    late.phi_map = Some(Content::new("map 3"));
    let moved = fixture::try_append(&store, &org, Mode::Live, &late, NOW).await;
    assert_eq!(moved.unwrap(), Settled::TurnRefused(TurnRefusal::Moved));
    // A turn that adds no placeholders is no danger to the map.
    late.phi_map = None;
    fixture::append(&store, &org, Mode::Live, &late, NOW).await;
    let loaded = conversation::load(&store, &org, Mode::Live, &id, 10)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(loaded.phi_map.unwrap().as_str(), "map 2");
    assert_eq!(loaded.history.len(), 6);
    let stored = message::find(&store, &org, Mode::Live, &late.messages[0].id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.phi_map.unwrap().as_str(), "map 2");
}

async fn a_sealed_value_does_not_open_elsewhere(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let turn = fixture::turn(fixture::new_thread(), ["question", "answer"]);
    fixture::append(&store, &org, Mode::Live, &turn, NOW).await;
    let (question, answer) = (&turn.messages[0].id, &turn.messages[1].id);
    let swap = format!(
        "UPDATE messages SET content = (SELECT content FROM messages WHERE id = '{question}') \
         WHERE id = '{answer}'"
    );
    assert_eq!(db.tamper(&swap).await.unwrap(), 1);
    let found = message::find(&store, &org, Mode::Live, answer).await;
    assert!(matches!(found, Err(StoreError::Seal(_))));
    assert!(
        message::find(&store, &org, Mode::Live, question)
            .await
            .unwrap()
            .is_some()
    );
}

async fn a_turn_has_a_bound(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let mut turn = fixture::turn(fixture::new_thread(), ["q", "a"]);
    turn.messages = (0..=TURN_MESSAGES)
        .map(|_| fixture::message(Role::User, "q"))
        .collect();
    let refused = fixture::try_append(&store, &org, Mode::Live, &turn, NOW).await;
    assert!(matches!(refused, Err(StoreError::Overloaded)));
    turn.messages.pop();
    fixture::append(&store, &org, Mode::Live, &turn, NOW).await;
}
