//! `pipelines.toml`: which filters a route runs, and the checks that keep the order of checks (contract 2).

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, Method};
use serde::Deserialize;
use svc_core::fault::Fault;
use svc_core::query;
use svc_core::scope::Scope;
use svc_core::surface::Surface;

use super::Findings;
use crate::fact::Fact;
use crate::filter::{self, Filter};
use crate::handler::{self, Handler};
use crate::trail::Operation;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pipelines: BTreeMap<String, Vec<String>>,
    route: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    method: String,
    path: String,
    surface: String,
    /// The surface of callers that send `anthropic-version`, where it is another one.
    with_anthropic_version: Option<String>,
    scope: String,
    pipeline: String,
    handler: String,
}

/// A route that is part of the program: which scope the control plane asks for is no policy.
#[derive(Clone)]
pub struct Endpoint {
    pub method: Method,
    /// With its parameters in braces.
    pub path: &'static str,
    pub access: Access,
    /// The family of its audit rows; `None` for reads that leave none (contract 14.2).
    pub audited_as: Option<&'static str>,
    pub handler: &'static dyn Handler,
}

/// How callers of an endpoint show who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// By a credential that has the scope, from a user whom the gate lets pass: the pipeline `control`.
    Credential { scope: Scope, gate: Gate },
    /// In a way of the endpoint's own (a token in the path, a cookie, a client's secret), or not at all: the
    /// pipeline `open`.
    Own,
}

impl Access {
    const fn pipeline(self) -> &'static str {
        match self {
            Self::Credential { .. } => "control",
            Self::Own => "open",
        }
    }
}

/// What the user behind a credential must be (contract 2, step 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Anybody: the scope is enough.
    Scope,
    /// Known and active.
    User,
    OrgAdmin,
}

/// One method of one path, ready to run.
pub struct Route {
    pub method: Method,
    /// As written, with its parameters: the label of metrics, and what audit rows show with ids in the places of
    /// parameters.
    pub path: String,
    surface: Surface,
    with_anthropic_version: Surface,
    pub access: Access,
    pub filters: Vec<&'static dyn Filter>,
    pub handler: &'static dyn Handler,
    audited_as: Option<&'static str>,
}

impl Route {
    /// The scope that a credential needs here, and what its user must be.
    ///
    /// # Errors
    /// 500 on a route that takes no credentials: a filter that asks has no place there.
    pub fn asks(&self) -> Result<(Scope, Gate), Fault> {
        match self.access {
            Access::Credential { scope, gate } => Ok((scope, gate)),
            Access::Own => Err(Fault::internal("a scope is asked for where none is meant")),
        }
    }

    /// The surface that this caller speaks.
    pub fn surface(&self, headers: &HeaderMap) -> Surface {
        if headers.contains_key(ANTHROPIC_VERSION) {
            self.with_anthropic_version
        } else {
            self.surface
        }
    }

    /// Whether a request takes the same way through either: filters, handler and surface. What is asked of its caller
    /// may differ.
    pub fn is_same_way(&self, other: &Self, headers: &HeaderMap) -> bool {
        let way = |route: &Self| {
            let filters = route.filters.iter().map(|filter| filter.name());
            (
                filters.collect::<Vec<_>>(),
                route.handler.name(),
                route.surface(headers),
            )
        };
        self.path == other.path && way(self) == way(other)
    }

    /// What the route asks of a model, as its handler's needs tell.
    pub fn operation(&self) -> Operation {
        if let Some(family) = self.audited_as {
            return Operation::Control(family);
        }
        if let Some(operation) = self.handler.operation() {
            return operation;
        }
        let needs = self.handler.needs();
        match (
            needs.contains(&Fact::Intent),
            needs.contains(&Fact::Metered),
        ) {
            (false, _) => Operation::Read,
            (true, false) => Operation::TokenCount,
            (true, true) => Operation::Inference,
        }
    }
}

/// Methods that a route may have; HEAD goes with GET.
static METHODS: [Method; 5] = [
    Method::GET,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
];

/// Every SDK of the messages format sends it (wire.md 1).
const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// What the router says of a request line.
pub enum Matched {
    Route {
        route: Arc<Route>,
        /// What stands in the places of the path, by name, each as [`query::part`] makes it; the rest of a path, which
        /// is passed on, as it was sent.
        parameters: Vec<(String, String)>,
    },
    /// The path exists; these methods do. The access is that of a route that takes credentials, if one of them does.
    OtherMethods {
        allow: Vec<Method>,
        access: Access,
    },
    Nothing,
}

/// Every route of `pipelines.toml` and of the program.
#[derive(Default)]
pub struct Routes {
    router: matchit::Router<Vec<Arc<Route>>>,
    all: Vec<Arc<Route>>,
}

impl Routes {
    /// Every route, by path.
    pub fn all(&self) -> &[Arc<Route>] {
        &self.all
    }

    /// Finds the route of a request. HEAD is served wherever GET is (contract 1.3).
    pub fn find(&self, method: &Method, path: &str) -> Matched {
        let Ok(matched) = self.router.at(path) else {
            return Matched::Nothing;
        };
        let wanted = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        match matched.value.iter().find(|route| route.method == *wanted) {
            Some(route) => {
                let parameters = matched.params.iter().map(|(key, value)| {
                    let is_rest = route.path.ends_with(&format!("{{*{key}}}"));
                    let value = if is_rest {
                        value.to_owned()
                    } else {
                        query::part(value)
                    };
                    (key.to_owned(), value)
                });
                Matched::Route {
                    route: Arc::clone(route),
                    parameters: parameters.collect(),
                }
            }
            None => {
                let mut allow: Vec<Method> = matched
                    .value
                    .iter()
                    .map(|route| route.method.clone())
                    .collect();
                if allow.contains(&Method::GET) {
                    allow.push(Method::HEAD);
                }
                let mut accesses = matched.value.iter().map(|route| route.access);
                let access = accesses.find(|access| *access != Access::Own);
                Matched::OtherMethods {
                    allow,
                    access: access.unwrap_or(Access::Own),
                }
            }
        }
    }

    /// The surface that this caller speaks on a path, whatever the method; none where the path has no route.
    pub fn surface(&self, path: &str, headers: &HeaderMap) -> Option<Surface> {
        let matched = self.router.at(path).ok()?;
        Some(matched.value.first()?.surface(headers))
    }

    pub(crate) fn build(
        file: File,
        endpoints: &[&[Endpoint]],
        name: &str,
        findings: &mut Findings,
    ) -> Self {
        for (pipeline, filters) in &file.pipelines {
            check_pipeline(pipeline, filters, name, findings);
        }
        let mut by_path: BTreeMap<String, Vec<Arc<Route>>> = BTreeMap::new();
        let of_file = file
            .route
            .iter()
            .filter_map(|entry| route(entry, &file.pipelines, name, findings));
        let mut routes: Vec<Route> = of_file.collect();
        let of_program = endpoints.iter().flat_map(|table| table.iter());
        routes.extend(
            of_program.filter_map(|endpoint| built_in(endpoint, &file.pipelines, name, findings)),
        );
        for route in routes {
            let others = by_path.entry(route.path.clone()).or_default();
            if others.iter().any(|other| other.method == route.method) {
                findings.add(
                    name,
                    format!("route {} {} stands twice", route.method, route.path),
                );
            }
            others.push(Arc::new(route));
        }
        let mut router = matchit::Router::new();
        let mut all = Vec::new();
        for (path, routes) in by_path {
            all.extend(routes.iter().map(Arc::clone));
            if let Err(error) = router.insert(path.clone(), routes) {
                findings.add(name, format!("path {path}: {error}"));
            }
        }
        Self { router, all }
    }
}

fn route(
    entry: &Entry,
    pipelines: &BTreeMap<String, Vec<String>>,
    name: &str,
    findings: &mut Findings,
) -> Option<Route> {
    let label = format!("route {} {}", entry.method, entry.path);
    let before = findings.0.len();
    let method = METHODS
        .iter()
        .find(|method| method.as_str() == entry.method);
    if method.is_none() {
        findings.add(name, format!("{label}: unknown method"));
    }
    if !entry.path.starts_with('/') {
        findings.add(name, format!("{label}: the path does not begin with /"));
    }
    let surface = Surface::parse(&entry.surface);
    if surface.is_none() {
        findings.add(name, format!("{label}: unknown surface {}", entry.surface));
    }
    let with_anthropic_version = match &entry.with_anthropic_version {
        None => surface,
        Some(word) => {
            let other = Surface::parse(word);
            if other.is_none() {
                findings.add(name, format!("{label}: unknown surface {word}"));
            }
            other
        }
    };
    let scope = Scope::parse(&entry.scope);
    if scope.is_none() {
        findings.add(name, format!("{label}: unknown scope {}", entry.scope));
    }
    let handler = handler::find(&entry.handler);
    if handler.is_none() {
        findings.add(name, format!("{label}: unknown handler {}", entry.handler));
    }
    let filters = filters(&label, &entry.pipeline, pipelines, name, findings)?;
    if findings.0.len() > before {
        return None;
    }
    let (method, surface, scope, handler) = (method?.clone(), surface?, scope?, handler?);
    let with_anthropic_version = with_anthropic_version?;
    for surface in [surface, with_anthropic_version] {
        check_surface(&label, &filters, surface, name, findings);
    }
    check_facts(&label, &filters, handler, name, findings);
    for parameter in handler.parameters() {
        let place = format!("{{{parameter}}}");
        if !entry.path.split('/').any(|part| part == place) {
            let message = format!(
                "{label}: handler {} needs {place} in the path",
                handler.name()
            );
            findings.add(name, message);
        }
    }
    Some(Route {
        method,
        path: entry.path.clone(),
        surface,
        with_anthropic_version,
        access: Access::Credential {
            scope,
            gate: Gate::Scope,
        },
        filters,
        handler,
        audited_as: None,
    })
}

/// A route of the program, with the filters of its access.
fn built_in(
    endpoint: &Endpoint,
    pipelines: &BTreeMap<String, Vec<String>>,
    name: &str,
    findings: &mut Findings,
) -> Option<Route> {
    let Endpoint {
        method,
        path,
        access,
        audited_as,
        handler,
    } = endpoint;
    let label = format!("route {method} {path}");
    let filters = filters(&label, access.pipeline(), pipelines, name, findings)?;
    check_facts(&label, &filters, *handler, name, findings);
    Some(Route {
        method: method.clone(),
        path: (*path).to_owned(),
        surface: Surface::Native,
        with_anthropic_version: Surface::Native,
        access: *access,
        filters,
        handler: *handler,
        audited_as: *audited_as,
    })
}

/// The filters of a pipeline.
fn filters(
    label: &str,
    pipeline: &str,
    pipelines: &BTreeMap<String, Vec<String>>,
    name: &str,
    findings: &mut Findings,
) -> Option<Vec<&'static dyn Filter>> {
    let Some(names) = pipelines.get(pipeline) else {
        findings.add(name, format!("{label}: unknown pipeline {pipeline}"));
        return None;
    };
    // One that is not known is told of the pipeline.
    names.iter().map(|filter| filter::find(filter)).collect()
}

/// What is wrong with a pipeline, whether a route uses it or not.
fn check_pipeline(pipeline: &str, filters: &[String], name: &str, findings: &mut Findings) {
    for filter in filters {
        if filter::find(filter).is_none() {
            let message = format!("pipeline {pipeline}: unknown filter {filter}");
            findings.add(name, message);
        }
    }
    let known = filters.iter().filter_map(|filter| filter::find(filter));
    let known: Vec<&dyn Filter> = known.collect();
    for (place, filter) in known.iter().enumerate() {
        let gives = |later: &&&dyn Filter| {
            let mut facts = later.gives().iter();
            facts.any(|fact| filter.behind().contains(fact))
        };
        if let Some(later) = known.iter().skip(place + 1).find(gives) {
            let (filter, later) = (filter.name(), later.name());
            let message = format!("pipeline {pipeline}: filter {filter} stands before {later}");
            findings.add(name, message);
        }
    }
}

/// A body that is read as another surface's would be answered in a form that its caller does not know.
fn check_surface(
    label: &str,
    filters: &[&'static dyn Filter],
    surface: Surface,
    name: &str,
    findings: &mut Findings,
) {
    for filter in filters {
        if filter.reads().is_some_and(|read| read != surface) {
            let message = format!(
                "{label}: filter {} reads another surface than {}",
                filter.name(),
                surface.word()
            );
            findings.add(name, message);
        }
    }
}

/// Every filter and the handler must find the facts they need: this is what makes a compliance filter
/// mandatory and the order of checks fixed.
fn check_facts(
    label: &str,
    filters: &[&'static dyn Filter],
    handler: &dyn Handler,
    name: &str,
    findings: &mut Findings,
) {
    let mut given: Vec<Fact> = Vec::new();
    for filter in filters {
        for fact in filter.needs().iter().filter(|fact| !given.contains(fact)) {
            let message = format!(
                "{label}: filter {} needs {fact}, which no earlier filter gives",
                filter.name()
            );
            findings.add(name, message);
        }
        for fact in filter.gives() {
            if given.contains(fact) {
                findings.add(
                    name,
                    format!(
                        "{label}: {fact} is given twice, again by filter {}",
                        filter.name()
                    ),
                );
            }
            given.push(*fact);
        }
    }
    for fact in handler.needs().iter().filter(|fact| !given.contains(fact)) {
        findings.add(
            name,
            format!(
                "{label}: handler {} needs {fact}, which no filter gives",
                handler.name()
            ),
        );
    }
}
