//! Limits hold across two replicas: of 2N requests in parallel, N to N+1 pass (issue 5, contract 6).

use std::time::Instant;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::gateway::{Setup, chat, whole};
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::redis::Redis;
use svc_tests::replicas::Replicas;
use svc_tests::wire::{Answer, Request};

const LIMIT: usize = 20;
/// 60 s shared by `LIMIT` requests.
const SECONDS_PER_REQUEST: u64 = 3;

#[tokio::test]
async fn limits_in_the_database_hold_for_both() {
    let replicas = Replicas::start(|setup| setup).await;
    hold(&replicas).await;
    places_end_with_their_lease(&replicas).await;
}

#[tokio::test]
async fn limits_in_redis_hold_for_both() {
    let server = Redis::start();
    let url = server.url();
    let replicas = Replicas::start(|setup: Setup| setup.key("limits", "store", url.as_str())).await;
    hold(&replicas).await;
}

async fn hold(replicas: &Replicas) {
    per_minute(replicas).await;
    per_day(replicas).await;
    places(replicas).await;
}

fn cheap(key: &str) -> Request {
    Request::new("GET", "/v1/usage").bearer(key)
}

/// The answers to twice the limit, half of them from each replica, all at once; and how long it took in seconds.
async fn twice_the_limit(replicas: &Replicas, key: &str) -> (Vec<Answer>, u64) {
    let start = Instant::now();
    let request = cheap(key);
    let asked = (0..2 * LIMIT).map(|at| replicas.both[at % 2].answer(&request));
    let answers = join_all(asked).await;
    (answers, start.elapsed().as_secs())
}

fn passed(answers: &[Answer]) -> usize {
    for answer in answers {
        assert!([200, 429].contains(&answer.status), "{}", answer.text());
    }
    answers.iter().filter(|answer| answer.status == 200).count()
}

async fn per_minute(replicas: &Replicas) {
    let limit = LIMIT.to_string();
    let organization = replicas.organization_with(&["--per-minute", &limit]);
    let (answers, seconds) = twice_the_limit(replicas, &organization.key).await;
    let count = passed(&answers);
    // N to N+1; a machine that takes longer over it sees what the bucket gained meanwhile.
    let gained = usize::try_from(seconds / SECONDS_PER_REQUEST).unwrap();
    assert!((LIMIT..=LIMIT + 1 + gained).contains(&count), "{count}");
    // Each of the first N was told another remainder, whichever replica it asked.
    let mut told: Vec<u32> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .map(|answer| {
            answer
                .header("x-ratelimit-remaining")
                .unwrap()
                .parse()
                .unwrap()
        })
        .collect();
    told.sort_unstable();
    told.dedup();
    assert!(told.len() >= LIMIT, "{told:?}");
    let refused = answers.iter().find(|answer| answer.status == 429).unwrap();
    assert!(
        refused
            .header("retry-after")
            .unwrap()
            .parse::<u32>()
            .unwrap()
            >= 1
    );
}

async fn per_day(replicas: &Replicas) {
    let organization = replicas.organization_with(&["--per-minute", "1000000"]);
    let limit = LIMIT.to_string();
    let sql = format!("UPDATE organizations SET per_day = {limit} WHERE id = $1");
    let database = &replicas.both[0].database;
    database.change(&sql, &[&organization.id]).await;
    let (answers, _) = twice_the_limit(replicas, &organization.key).await;
    assert_eq!(passed(&answers), LIMIT);
    let refused = answers.iter().find(|answer| answer.status == 429).unwrap();
    assert_eq!(refused.json()["error"]["details"]["scope"], "org_daily");
}

/// A credential of an agent that may have two requests in flight.
async fn agent(replicas: &Replicas, organization: &Organization) -> String {
    let post = async |path: &str, body: Value| {
        let request = Request::new("POST", path).bearer(&organization.key);
        let answer = replicas.both[0].answer(&request.json(&body)).await;
        assert!(answer.status < 300, "{}", answer.text());
        answer.json()["data"].clone()
    };
    let body = json!({"name": "Intake", "scope_grants": [{"scope": "ai:chat"}]});
    let made = post("/v1/agents", body).await;
    let id = made["agent"][0]["id"].as_str().unwrap().to_owned();
    let body = json!({"rate_limits": {"per_minute": 1000, "concurrency": 2}});
    let made = post(&format!("/v1/agents/{id}/credentials"), body).await;
    made["credential"].as_str().unwrap().to_owned()
}

async fn slow(replicas: &Replicas) -> String {
    let slow = mark();
    let behaviour =
        json!({"contains": slow, "times": 99, "event_count": 4_000, "delay_between_events_ms": 20});
    replicas.fake.expect(behaviour).await;
    slow
}

async fn is_full(replicas: &Replicas, at: usize, secret: &str) {
    let answer = replicas.both[at]
        .chat(secret, json!({"message": "x"}))
        .await;
    let error = answer.json()["error"].clone();
    assert_eq!(
        (answer.status, error["code"].as_str()),
        (429, Some("AGENT_CONCURRENCY_CAP_EXCEEDED")),
        "{}",
        answer.text()
    );
    let details = &error["details"];
    assert_eq!(
        (&details["limit"], &details["in_flight"]),
        (&json!(2), &json!(2))
    );
}

async fn has_room(replicas: &Replicas, at: usize, secret: &str) {
    eventually("a place", async || {
        let body = whole(json!({"message": mark()}));
        let answer = replicas.both[at].answer(&chat(secret, body)).await;
        (answer.status == 200).then_some(())
    })
    .await;
}

async fn places(replicas: &Replicas) {
    let organization = replicas.organization_with(&[]);
    let secret = agent(replicas, &organization).await;
    let slow = slow(replicas).await;
    let mut running = Vec::new();
    for gateway in &replicas.both {
        let mut events = gateway.stream(&secret, json!({"message": slow})).await;
        events.next().await;
        running.push(events);
    }
    for at in 0..2 {
        is_full(replicas, at, &secret).await;
    }
    // A caller that leaves makes room, on the other replica too.
    drop(running.pop());
    has_room(replicas, 0, &secret).await;
    // One after the other, whoever has had its answer has made room: as often as one likes.
    for at in 0..6 {
        let body = json!({"message": mark()});
        let answer = replicas.both[at % 2].chat(&secret, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

/// A replica that is lost gives nothing back; what it held ends with the lease.
async fn places_end_with_their_lease(replicas: &Replicas) {
    let organization = replicas.organization_with(&[]);
    let secret = agent(replicas, &organization).await;
    let slow = slow(replicas).await;
    let mut running = Vec::new();
    for _ in 0..2 {
        let mut events = replicas.both[1]
            .stream(&secret, json!({"message": slow}))
            .await;
        events.next().await;
        running.push(events);
    }
    replicas.both[1].kill();
    is_full(replicas, 0, &secret).await;
    let database = &replicas.both[0].database;
    // Nobody can wait five minutes for the end of the lease: it is brought forward.
    database
        .change("UPDATE limit_slots SET lease_until = 1", &[])
        .await;
    has_room(replicas, 0, &secret).await;
}
