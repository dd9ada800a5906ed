//! Providers behind TLS, over HTTP/1.1 and HTTP/2: the same answers, the same failures, and the certificate decides.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::json;
use svc_tests::fake::{FakeProvider, mark};
use svc_tests::gateway::{Gateway, Setup};
use svc_tests::organization::{Organization, bootstrap};
use svc_tests::patience::eventually;
use svc_tests::surfaces::{End, FORMS, Form, MODELS, SURFACES, Surface};
use svc_tests::tls::{FRONT_NAME, Files, Front, Identity};
use svc_tests::wire::Answer;

/// A gateway that reaches its providers through a front.
struct House {
    fake: FakeProvider,
    front: Front,
    gateway: Gateway,
    organization: Organization,
    _files: Files,
}

impl House {
    /// The gateway trusts `trusted`, the front shows `shown`.
    async fn start(trusted: &Identity, shown: &Identity, protocols: &[&str]) -> Self {
        let fake = FakeProvider::start();
        let front = Front::before(fake.address, shown, protocols).await;
        let files = Files::with(trusted);
        let mut provider = toml::Table::new();
        let path = files.certificate().display().to_string();
        provider.insert("ca_file".into(), path.into());
        let gateway = Setup::new(&format!("https://{FRONT_NAME}:{}", front.port))
            .key("providers", "alpha", provider.clone())
            .key("providers", "beta", provider)
            .start()
            .await;
        let organization = bootstrap(&gateway, &[]);
        Self {
            fake,
            front,
            gateway,
            organization,
            _files: files,
        }
    }

    async fn ask(&self, surface: Surface, model: &str, text: &str, form: Form) -> Answer {
        let body = surface.question(model, text, form);
        let request = surface.request(&self.organization.key, &body);
        self.gateway.answer(&request).await
    }

    /// Every model on every surface in both forms.
    async fn all_is_well(&self) {
        for (_, model) in MODELS {
            for surface in SURFACES {
                for form in FORMS {
                    let mark = mark();
                    let answer = self.ask(surface, model, &mark, form).await;
                    let heard = match form {
                        Form::Streamed => surface.heard(&answer),
                        Form::Whole => surface.read(&answer),
                    };
                    assert_eq!(heard.text, format!("You said: {mark}"));
                    assert_eq!(heard.end, Some(End::Well));
                }
            }
        }
    }
}

#[tokio::test]
async fn a_provider_over_http1_and_tls() {
    let identity = Identity::named(FRONT_NAME);
    let house = House::start(&identity, &identity, &["http/1.1"]).await;
    house.all_is_well().await;
    let agreed = house.front.agreed();
    assert!(!agreed.is_empty() && agreed.iter().all(|name| name == "http/1.1"));
}

/// A connection is worth its handshake: a run that ended well leaves it to the next one, streamed or not.
#[tokio::test]
async fn a_run_that_ended_well_leaves_its_connection_to_the_next() {
    let identity = Identity::named(FRONT_NAME);
    let house = House::start(&identity, &identity, &["http/1.1"]).await;
    for (_, model) in MODELS {
        for surface in SURFACES {
            for form in FORMS {
                let answer = house.ask(surface, model, &mark(), form).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                // The end of the body may come after the last event.
                eventually("the connection at rest", async || {
                    let busy = house
                        .gateway
                        .metric_sum("svc_upstream_requests_in_flight", &[]);
                    (busy.await == 0.0).then_some(())
                })
                .await;
            }
        }
    }
    assert_eq!(house.front.agreed().len(), MODELS.len());
}

#[tokio::test]
async fn a_provider_over_http2() {
    let identity = Identity::named(FRONT_NAME);
    let house = House::start(&identity, &identity, &["h2", "http/1.1"]).await;
    house.all_is_well().await;
    // Many streams share what is open.
    let mark = mark();
    let slow =
        json!({"contains": mark, "times": 12, "event_count": 20, "delay_between_events_ms": 20});
    house.fake.expect(slow).await;
    let [(_, model), _] = MODELS;
    let asked = (0..12).map(|_| house.ask(Surface::Messages, model, &mark, Form::Streamed));
    for answer in join_all(asked).await {
        let heard = Surface::Messages.heard(&answer);
        assert_eq!(heard.end, Some(End::Well));
        assert!(heard.text.ends_with("19 20 "), "{}", heard.text);
    }
    let agreed = house.front.agreed();
    assert!(agreed.iter().all(|name| name == "h2"), "{agreed:?}");
    let seen = house.fake.seen(&mark).await;
    assert_eq!(seen.len(), 12);
    let connections: BTreeSet<u64> = seen
        .iter()
        .filter_map(|request| request["connection"].as_u64())
        .collect();
    assert!(!connections.is_empty());
    // The gateway runs on two threads; each may have opened one before it saw the other's, twice over.
    assert!(connections.len() <= 4, "{} connections", connections.len());
}

/// A connection that dies takes its streams along; the next call gets another one.
#[tokio::test]
async fn a_broken_http2_connection_is_an_error_of_its_streams_alone() {
    let identity = Identity::named(FRONT_NAME);
    let house = House::start(&identity, &identity, &["h2"]).await;
    for (_, model) in MODELS {
        for surface in SURFACES {
            for close in ["cut", "reset", "end"] {
                let mark = mark();
                let order = json!({"contains": mark, "event_count": 12, "close_after_events": 6, "close": close});
                house.fake.expect(order).await;
                let answer = house.ask(surface, model, &mark, Form::Streamed).await;
                let heard = surface.heard(&answer);
                let Some(End::Badly(error)) = heard.end else {
                    panic!("{close} {model} {surface:?}: {}", answer.text());
                };
                assert_eq!(surface.code(&error), "INFERENCE_UPSTREAM_FAILURE");
                let good = house.ask(surface, model, "again", Form::Whole).await;
                assert_eq!(surface.read(&good).text, "You said: again");
            }
        }
    }
}

/// A caller that leaves ends its own stream, and not the connection that others use.
#[tokio::test]
async fn a_caller_that_leaves_ends_one_http2_stream() {
    let identity = Identity::named(FRONT_NAME);
    let house = House::start(&identity, &identity, &["h2"]).await;
    let [(_, model), _] = MODELS;
    let mark = mark();
    let order = json!({"contains": mark, "event_count": 12, "stall_after_events": 6});
    house.fake.expect(order).await;
    let body = Surface::Messages.question(model, &mark, Form::Streamed);
    let request = Surface::Messages.request(&house.organization.key, &body);
    let mut reply = house.gateway.ask(&request).await;
    assert!(reply.piece().await.is_some());
    let before = house.front.agreed().len();
    drop(reply);
    let ended = house.fake.ended(&mark).await;
    assert!(!ended["closed_by_peer_at_us"].is_null(), "{ended:#}");
    let good = house
        .ask(Surface::Messages, model, "again", Form::Whole)
        .await;
    assert_eq!(Surface::Messages.read(&good).text, "You said: again");
    assert_eq!(house.front.agreed().len(), before, "a connection was lost");
}

/// Nothing is sent to a provider whose certificate is not the one that is trusted, or is for another name.
#[tokio::test]
async fn a_foreign_certificate_gets_no_request() {
    let trusted = Identity::named(FRONT_NAME);
    for shown in [Identity::named(FRONT_NAME), Identity::named("other.test")] {
        let house = House::start(&trusted, &shown, &["h2", "http/1.1"]).await;
        let mark = mark();
        for ((_, model), surface) in MODELS.into_iter().zip(SURFACES) {
            let answer = house.ask(surface, model, &mark, Form::Streamed).await;
            assert_eq!(surface.code(&answer.json()), "INFERENCE_UPSTREAM_FAILURE");
        }
        assert!(house.fake.seen(&mark).await.is_empty());
        let told = eventually("a line about it", async || {
            let log = house.gateway.log();
            log.contains("a route to a model failed").then_some(())
        });
        told.await;
    }
}
