//! Nothing leaks: PHI is planted in every place of every surface, in places where it does not belong, and in what
//! providers answer; then everything that a gateway leaves behind is searched for it, in every encoding.
//!
//! The same search finds a word that is no PHI in what the providers got, wherever the table says that the text goes
//! on: a place that is not reached, or a search that sees nothing, fails here too.

mod answers;
mod coverage;
mod places;
mod plant;
mod search;
mod sinks;
mod strangers;

use serde_json::json;
use svc_tests::books;
use svc_tests::organization::set_system_prompt;
use svc_tests::surfaces::MODELS;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use answers::{ANSWERS, AnswerPlace, STREAMED_ANSWERS};
use places::{Fate, POSITIONS, ROUTES, Route};
use plant::{Plant, TRACER};
use search::{Hit, Search};
use sinks::{Collector, Sink, answer_bytes};
use strangers::{BODY_LIMIT_BYTES, Known, STRANGERS};

/// One planted request and what is expected of it.
struct Trial {
    name: String,
    plant: Plant,
    /// Whether the tracer must be in what the providers got, or must not; none where it makes no difference.
    is_sent: Option<bool>,
    known: Known,
}

/// Trials so far, and the answers that must hold nothing of them.
#[derive(Default)]
struct Trials {
    done: Vec<Trial>,
    /// Index of the trial and what it was answered.
    answers: Vec<(usize, Vec<u8>)>,
    /// Answers that are not what the tables say.
    surprises: Vec<String>,
    /// The id of a request that was refused: logs, spans and rows must have it.
    refused: Option<String>,
}

impl Trials {
    /// Values that no trial before had.
    fn plant(&self) -> Plant {
        Plant::new(self.done.len())
    }

    fn add(&mut self, name: String, plant: Plant, is_sent: Option<bool>) -> usize {
        let known = Known::Nowhere;
        self.done.push(Trial {
            name,
            plant,
            is_sent,
            known,
        });
        self.done.len() - 1
    }

    fn leak(&self, hit: &Hit, sink: &str) -> String {
        let name = &self.done[hit.plant].name;
        let Hit {
            plant: _,
            kind,
            form,
            around,
        } = hit;
        format!("{kind} of \"{name}\" in the {sink}, {form}: {around:?}")
    }
}

#[tokio::test]
async fn planted_values_are_nowhere() {
    let collector = Collector::start().await;
    let endpoint = collector.endpoint.clone();
    let world = World::with(|setup| {
        setup.key("telemetry", "otlp_endpoint", endpoint).key(
            "limits",
            "inference_body_bytes",
            BODY_LIMIT_BYTES,
        )
    })
    .await;
    let mut trials = Trials::default();
    plant_in_requests(&world, &mut trials).await;
    plant_in_conversations(&world, &mut trials).await;
    plant_in_answers(&world, &mut trials).await;
    plant_in_strange_places(&world, &mut trials).await;
    let mut found = sinks::while_running(&world).await;
    world.gateway.signal("TERM");
    world.gateway.ended().await;
    found.extend(sinks::left_behind(&world, &collector));
    judge(&trials, &sinks::provider(&world), &found);
}

/// Every place of the table, with a provider of each kind.
async fn plant_in_requests(world: &World, trials: &mut Trials) {
    // A key may ask so often in a minute, and no more.
    let organizations = ROUTES.map(|route| (route, world.organization()));
    for (at, position) in POSITIONS.iter().enumerate() {
        for (number, (kind, model)) in MODELS.into_iter().enumerate() {
            for route in position.routes {
                let plant = trials.plant();
                let name = format!(
                    "{} {:?} (line {at}) on {route:?} with {kind}",
                    position.place, position.form
                );
                let fields = (position.fields)(&plant);
                let is_streamed = (at + number) % 2 == 0;
                let body = route.body(model, is_streamed, fields);
                let key = &organizations
                    .iter()
                    .find(|(own, _)| own == route)
                    .unwrap()
                    .1
                    .key;
                let request = Request::new("POST", route.path()).bearer(key).json(&body);
                let answer = world.gateway.answer(&request).await;
                let fate = position.fate[number].on(*route, kind);
                trials
                    .surprises
                    .extend(surprise(fate, *route, &answer, &name));
                let is_sent = fate == Fate::Sent;
                let trial = trials.add(name, plant, Some(is_sent));
                if answer.status != 200 {
                    trials.refused = Some(answer.request_id().to_owned());
                    trials.answers.push((trial, answer_bytes(&answer)));
                }
            }
        }
    }
}

/// What is wrong with an answer, if anything is.
fn surprise(fate: Fate, route: Route, answer: &Answer, name: &str) -> Option<String> {
    let is_as_expected = match fate {
        Fate::Sent | Fate::Dropped => answer.status == 200,
        Fate::Unfit => is_refused(route, answer, "UNSUPPORTED_PARAMETER"),
        Fate::Refused(code) => is_refused(route, answer, code),
    };
    let said = || format!("{name} is {fate:?}: {} {}", answer.status, answer.text());
    (!is_as_expected).then(said)
}

fn is_refused(route: Route, answer: &Answer, code: &str) -> bool {
    answer.status >= 400 && route.surface().code(&answer.json()) == code
}

/// What is stored and comes back: earlier turns, results of tools, the organization's own prompt.
async fn plant_in_conversations(world: &World, trials: &mut Trials) {
    let organization = world.organization();
    let prompt = trials.plant();
    set_system_prompt(&world.gateway, &organization, &prompt.text()).await;
    trials.add("the organization's prompt".into(), prompt, Some(true));
    for (kind, model) in MODELS {
        let [said, argument, result, id] = ["said", "argument", "result", "id"].map(|what| {
            let plant = trials.plant();
            let name = format!("{what} in a conversation with {kind}");
            // An id that the provider made out of PHI is one of our own before anybody sees it.
            trials.add(name, plant.clone(), Some(what != "id"));
            plant
        });
        let call =
            json!([{"name": "look", "input": {"q": argument.text()}, "id": id.identifier()}]);
        let order = json!({"contains": said.tracer, "tools": call});
        world.fake.expect(order).await;
        let tools = json!([{"name": "look", "input_schema": {"type": "object"}}]);
        let body = json!({"model": model, "message": said.text(), "tools": tools});
        let first = world.gateway.chat(&organization.key, body).await;
        assert_eq!(first.status, 200, "{}", first.text());
        let data = &first.json()["data"];
        let call_id = &data["message"]["tool_calls"][0]["id"];
        let results = json!([{"tool_call_id": call_id, "content": [{"type": "text", "text": result.text()}]}]);
        let body = json!({"model": model, "conversation_id": data["conversation_id"], "tools": tools,
                          "tool_results": results, "message": "and"});
        let second = world.gateway.chat(&organization.key, body).await;
        assert_eq!(second.status, 200, "{}", second.text());
    }
}

/// What providers answer, on every surface that answers.
async fn plant_in_answers(world: &World, trials: &mut Trials) {
    let organization = world.organization();
    for streamed in [false, true] {
        let only_streamed = if streamed { STREAMED_ANSWERS } else { &[] };
        for place in ANSWERS.iter().chain(only_streamed) {
            for route in [Route::Native, Route::Messages, Route::Chat] {
                for (kind, model) in MODELS {
                    let plant = trials.plant();
                    let name = format!(
                        "{} to {route:?} from {kind}, streamed: {streamed}",
                        place.name
                    );
                    let body = route.body(model, streamed, json!({}));
                    let answer =
                        answered(world, &organization.key, route, body, place, &plant).await;
                    let is_seen = answer.text().contains(&plant.tracer);
                    if is_seen != place.seen.by_caller(route, kind) {
                        let said = format!("{name}, seen: {is_seen}: {}", answer.text());
                        trials.surprises.push(said);
                    }
                    let trial = trials.add(name, plant, None);
                    trials.answers.push((trial, answer_bytes(&answer)));
                }
            }
        }
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn answered(
    world: &World,
    key: &str,
    route: Route,
    mut body: serde_json::Value,
    place: &AnswerPlace,
    plant: &Plant,
) -> Answer {
    // Failures in a row would open the circuit, and nothing would come as far as the provider.
    let well = Request::new("POST", route.path()).bearer(key).json(&body);
    assert_eq!(world.gateway.answer(&well).await.status, 200);
    let mark = svc_tests::fake::mark();
    let text = if route == Route::Native {
        "/message"
    } else {
        "/messages/0/content"
    };
    *body.pointer_mut(text).unwrap() = json!(mark);
    let mut order = (place.order)(plant);
    order["contains"] = json!(mark);
    world.fake.expect(order).await;
    let request = Request::new("POST", route.path()).bearer(key).json(&body);
    world.gateway.answer(&request).await
}

async fn plant_in_strange_places(world: &World, trials: &mut Trials) {
    let organization = world.organization();
    for stranger in STRANGERS {
        let plant = trials.plant();
        let bytes = (stranger.bytes)(&plant, &organization.key);
        let answer = sinks::told(&world.gateway, &bytes).await;
        let trial = trials.add(stranger.name.into(), plant, Some(false));
        trials.done[trial].known = stranger.known;
        if let Some(answer) = answer {
            trials.answers.push((trial, answer_bytes(&answer)));
        }
    }
}

/// Looks for everything everywhere, and says all that was found at once.
fn judge(trials: &Trials, provider: &Sink, found: &[Sink]) {
    let plants: Vec<Plant> = trials
        .done
        .iter()
        .map(|trial| trial.plant.clone())
        .collect();
    let search = Search::new(&plants);
    let mut faults = trials.surprises.clone();
    let mut sent = vec![false; plants.len()];
    for hit in search.hits(&provider.1) {
        if hit.kind == TRACER {
            sent[hit.plant] = true;
        } else {
            faults.push(trials.leak(&hit, &provider.0));
        }
    }
    for (trial, sent) in trials.done.iter().zip(sent) {
        if trial.is_sent.is_some_and(|wanted| wanted != sent) {
            faults.push(format!("\"{}\" is at the provider: {sent}", trial.name));
        }
    }
    for (sink, bytes) in found {
        let hits = search.hits(bytes).into_iter();
        let leaks = hits.filter(|hit| !trials.done[hit.plant].known.is_in(sink));
        faults.extend(leaks.map(|hit| trials.leak(&hit, sink)));
    }
    for (trial, bytes) in &trials.answers {
        let hits = search.hits(bytes).into_iter();
        // The tracer is what a caller sees of an answer.
        let leaks =
            hits.filter(|hit| hit.kind != TRACER && !trials.done[*trial].known.is_in("answer"));
        faults.extend(leaks.map(|hit| trials.leak(&hit, "answer")));
    }
    faults.extend(blind(trials, found));
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Sinks that hold nothing of what they must hold: whoever finds nothing there has not looked.
fn blind(trials: &Trials, found: &[Sink]) -> Vec<String> {
    let refused = trials.refused.as_deref().expect("a refused request");
    let holds = |sink: &str, what: &str| {
        let mut sinks = found.iter().filter(|(name, _)| name.starts_with(sink));
        sinks.any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(what))
    };
    let wanted = [
        ("log", refused),
        ("spans", refused),
        ("table audit", refused),
        ("file", refused),
        ("metrics", "svc_phi_entities_total"),
    ];
    let missing = wanted.iter().filter(|(sink, what)| !holds(sink, what));
    missing
        .map(|(sink, what)| format!("no {what} in the {sink}"))
        .collect()
}
