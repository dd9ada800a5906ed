//! Routes of the API, asked from inside by somebody who is signed in: a page does what an endpoint does.
//!
//! What is asked runs through the filters of its route, but for authentication, and ends in its handler: validation,
//! gates, limits, transaction and audit row are the API's own. The row names the user.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use svc_core::chat::ChatRequest;
use svc_core::fault::{CATALOGUE, Code, Fault};
use svc_core::id::IdKind;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_core::version::ApiVersion;
use svc_store::organization::Organization;
use svc_store::user::{Role, User};
use svc_store::{StoreError, baa, organization, tenant, user};

use crate::caller::Caller;
use crate::exchange::{Exchange, Facts, SVC_VERSION};
use crate::fact::Fact;
use crate::gateway::Gateway;
use crate::idempotency::IDEMPOTENCY_KEY;
use crate::moment;
use crate::policy::PolicySet;
use crate::policy::pipelines::{Matched, Route};
use crate::policy::plans::Plans;
use crate::request::{BodyError, RequestHead, body};
use crate::response::{Body, Response};
use crate::role;
use crate::trail::Trail;

/// Somebody who is signed in, with what the gates ask of their organization.
#[derive(Clone, Copy)]
pub struct Person<'a> {
    pub user: &'a User,
    pub organization: &'a Organization,
    pub baa: baa::Standing,
    /// Live or test: what the pages show.
    pub mode: Mode,
}

/// What is asked of the API.
pub struct Ask {
    method: Method,
    /// With percent escapes, as a client would send it.
    path: String,
    query: String,
    body: Option<Value>,
    headers: HeaderMap,
    witness: Option<Witness>,
}

/// Sees the one request that a provider receives, without what PHI Guard has taken out. Kept in memory, for the one
/// who typed it, and nowhere else; has no `Debug`, so that it reaches no log by accident.
#[derive(Clone, Default)]
pub struct Witness(Arc<Mutex<Option<Arc<ChatRequest>>>>);

impl Witness {
    /// What the provider received; nothing where the request was refused before.
    pub fn seen(&self) -> Option<Arc<ChatRequest>> {
        self.0.lock().clone()
    }

    pub(crate) fn sees(&self, chat: &Arc<ChatRequest>) {
        *self.0.lock() = Some(Arc::clone(chat));
    }
}

/// What it answered.
pub struct Answer {
    /// `data` of the envelope.
    pub data: Value,
    /// `meta.pagination` of a list; else null.
    pub pagination: Value,
}

impl Ask {
    /// A request without query and body; `path` has percent escapes, as a client would send it.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: String::new(),
            body: None,
            headers: HeaderMap::new(),
            witness: None,
        }
    }

    /// As [`Self::new`], with GET.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// One more parameter of the query.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let mut query = form_urlencoded::Serializer::new(std::mem::take(&mut self.query));
        query.append_pair(name, value);
        self.query = query.finish();
        self
    }

    /// With this JSON body, in place of any before.
    #[must_use]
    pub fn body(mut self, body: Map<String, Value>) -> Self {
        self.body = Some(Value::Object(body));
        self
    }

    /// Sent twice, it is done once (contract 4).
    #[must_use]
    pub fn once(mut self, key: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(key) {
            self.headers.insert(IDEMPOTENCY_KEY, value);
        }
        self
    }

    /// With a witness, who then sees what the provider receives.
    #[must_use]
    pub fn seen_by(mut self, witness: &Witness) -> Self {
        self.witness = Some(witness.clone());
        self
    }

    /// With `Accept`, which this media type must be fit for.
    #[must_use]
    pub fn accepting(mut self, media_type: &'static str) -> Self {
        self.headers
            .insert(ACCEPT, HeaderValue::from_static(media_type));
        self
    }
}

/// Whether a role may ask for this at all: what menus and buttons depend on.
pub fn may(policy: &PolicySet, role: Role, method: &Method, path: &str) -> bool {
    match policy.routes.find(method, path) {
        Matched::Route { route, .. } => role::may(role, &route),
        Matched::OtherMethods { .. } | Matched::Nothing => false,
    }
}

/// Asks, and gives what stands in the envelope.
///
/// # Errors
/// What the API refused it with.
pub async fn ask(exchange: &mut Exchange, person: Person<'_>, ask: Ask) -> Result<Answer, Fault> {
    let Value::Object(mut envelope) = ask_whole(exchange, person, ask).await? else {
        return Err(Fault::internal("an answer without an envelope"));
    };
    let mut taken = |name: &str| envelope.remove(name).unwrap_or_default();
    let mut meta = taken("meta");
    Ok(Answer {
        data: taken("data"),
        pagination: meta
            .get_mut("pagination")
            .map(Value::take)
            .unwrap_or_default(),
    })
}

/// Somebody at a page as they are by now, with what holds for their organization.
///
/// # Errors
/// 403 for who may do nothing here any more, 503 while the store is down.
pub(crate) async fn recognize(
    gateway: &Gateway,
    before: &Caller,
    method: &Method,
    now: Timestamp,
) -> Result<Arc<Caller>, Fault> {
    let down = |error: StoreError| Fault::unavailable(format_args!("a person: {error}"));
    let (store, org_id) = (&gateway.store, &before.organization_id);
    let user = user::find(store, org_id, &before.key_id).await;
    let organization = organization::find(store, org_id).await;
    let (user, organization) = (user.map_err(down)?, organization.map_err(down)?);
    let user = user.filter(|user| !user.suspended);
    let (Some(user), Some(organization)) = (user, organization) else {
        return Err(role::not_allowed());
    };
    let person = Person {
        user: &user,
        organization: &organization,
        baa: baa::standing(store, org_id, now).await.map_err(down)?,
        mode: before.mode,
    };
    let scopes = role::scopes(user.role, method);
    Ok(Arc::new(Caller::of_person(person, scopes)))
}

/// Whether a feature's gate (`crate::feature`) lets somebody's organization in.
pub fn offers(
    policy: &PolicySet,
    person: Person<'_>,
    gate: fn(&Caller, &Plans) -> Result<(), Fault>,
) -> bool {
    gate(&Caller::of_person(person, &[]), &policy.plans).is_ok()
}

/// As [`ask`], and gives the whole envelope.
///
/// # Errors
/// As [`ask`].
pub async fn ask_whole(
    exchange: &mut Exchange,
    person: Person<'_>,
    ask: Ask,
) -> Result<Value, Fault> {
    let response = run(exchange, person, ask).await?;
    let status = response.status;
    let Body::Full(bytes) = response.body else {
        return Err(Fault::internal("a stream in the place of an envelope"));
    };
    let envelope: Value = serde_json::from_slice(&bytes).map_err(Fault::internal)?;
    if status.is_success() {
        Ok(envelope)
    } else {
        Err(fault(status, &envelope))
    }
}

/// Asks for a file or a stream, and gives it as it is.
///
/// # Errors
/// What the API refused it with.
pub async fn file(
    exchange: &mut Exchange,
    person: Person<'_>,
    ask: Ask,
) -> Result<Response, Fault> {
    let response = run(exchange, person, ask).await?;
    if response.status.is_success() {
        return Ok(response);
    }
    let Body::Full(bytes) = response.body else {
        return Err(Fault::internal("a stream in the place of an error"));
    };
    let envelope: Value = serde_json::from_slice(&bytes).map_err(Fault::internal)?;
    Err(fault(response.status, &envelope))
}

/// The fault that an error envelope shows.
fn fault(status: StatusCode, envelope: &Value) -> Fault {
    let error = envelope.get("error").unwrap_or(&Value::Null);
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let row = CATALOGUE.iter().find(|row| Some(row.word) == text("code"));
    let code = row.map_or(Code::InternalError, |row| row.code);
    let message = text("message").unwrap_or(code.row().meaning).to_owned();
    let mut fault = Fault::new(code, message).because(format_args!("asked from inside: {status}"));
    fault.param = text("param").map(str::to_owned);
    if let Some(details) = error.get("details").and_then(Value::as_object) {
        *fault.details = details.clone();
    }
    fault
}

/// Asks, and gives the answer as it is: files and streams. What the role does not allow is refused as the API refuses
/// what a credential may not, and leaves the same row.
///
/// # Errors
/// 404 for what is no route.
pub async fn run(exchange: &mut Exchange, person: Person<'_>, ask: Ask) -> Result<Response, Fault> {
    let matched = exchange.policy.routes.find(&ask.method, &ask.path);
    let Matched::Route { route, parameters } = matched else {
        return Err(Code::NotFound.fault());
    };
    let is_allowed = role::may(person.user.role, &route);
    let mut inner = inner(exchange, person, ask, &route, parameters);
    // The page is known by what it asked for last.
    exchange.request_id.clone_from(&inner.request_id);
    let answered = tenant::within(&person.organization.id, async move {
        if !is_allowed {
            return inner.refuse(role::not_allowed()).await;
        }
        for filter in &route.filters {
            if filter.gives().contains(&Fact::Caller) {
                continue;
            }
            if let Err(fault) = filter.apply(&mut inner).await {
                return inner.refuse(fault).await;
            }
        }
        route.handler.handle(inner).await
    });
    Ok(answered.await)
}

/// The exchange that a client of the API would have had.
fn inner(
    outer: &Exchange,
    person: Person<'_>,
    ask: Ask,
    route: &Arc<Route>,
    parameters: Vec<(String, String)>,
) -> Exchange {
    let Ask {
        method,
        path,
        query,
        body: sent,
        mut headers,
        witness,
    } = ask;
    headers.insert(
        SVC_VERSION,
        HeaderValue::from_static(ApiVersion::NEWEST.word()),
    );
    if let Some(user_agent) = outer.head.headers.get(USER_AGENT) {
        headers.insert(USER_AGENT, user_agent.clone());
    }
    if sent.is_some() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let caller = Arc::new(Caller::of_person(
        person,
        role::scopes(person.user.role, &method),
    ));
    let request_id = moment::id(IdKind::Request);
    let head = RequestHead {
        request_id: request_id.clone(),
        method,
        path,
        query: Some(query).filter(|query| !query.is_empty()),
        headers,
        client: outer.head.client,
        received: Instant::now(),
        cut_off: outer.head.cut_off.clone(),
    };
    let surface = route.surface(&head.headers);
    let mut trail = Trail::new(
        Arc::clone(&outer.gateway),
        route,
        surface,
        &request_id,
        &head,
        outer.policy.epoch,
    );
    trail.knows(&caller);
    let (reader, demands) = body();
    let bytes = sent.map_or_else(Bytes::new, |sent| sent.to_string().into());
    outer.gateway.background.spawn(deliver(demands, bytes));
    Exchange {
        gateway: Arc::clone(&outer.gateway),
        policy: Arc::clone(&outer.policy),
        route: Arc::clone(route),
        surface,
        parameters,
        request_id,
        now: moment::now(),
        head,
        body: reader,
        is_late: false,
        judged: Instant::now(),
        headers: HeaderMap::new(),
        facts: Facts {
            caller: Some(caller),
            witness,
            ..Facts::default()
        },
        trail,
    }
}

/// The body, for whoever reads it first; ends with its reader.
async fn deliver(mut demands: crate::request::BodyDemands, mut bytes: Bytes) {
    while let Some(demand) = demands.recv().await {
        let limit_bytes = demand.limit_bytes;
        let whole = std::mem::take(&mut bytes);
        let answer = if whole.len() > limit_bytes {
            Err(BodyError::TooLarge { limit_bytes })
        } else {
            Ok(whole)
        };
        // A reader that is gone needs no body.
        let _ = demand.answer.send(answer);
    }
}
