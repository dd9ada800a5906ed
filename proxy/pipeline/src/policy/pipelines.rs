//! `pipelines.toml`: which filters a route runs, and the checks that keep the order of checks (contract 2).

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, Method};
use serde::Deserialize;
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

/// One method of one path, ready to run.
pub struct Route {
    pub method: Method,
    /// As written, with its parameters: the label of metrics and audit rows.
    pub path: String,
    surface: Surface,
    with_anthropic_version: Surface,
    pub scope: Scope,
    pub filters: Vec<&'static dyn Filter>,
    pub handler: &'static dyn Handler,
}

impl Route {
    /// The surface that this caller speaks.
    pub fn surface(&self, headers: &HeaderMap) -> Surface {
        if headers.contains_key(ANTHROPIC_VERSION) {
            self.with_anthropic_version
        } else {
            self.surface
        }
    }

    /// What the route asks of a model, as its handler's needs tell.
    pub fn operation(&self) -> Operation {
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

/// Every SDK of the messages format sends it (wire.md 1).
const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// What the router says of a request line.
pub enum Matched {
    Route {
        route: Arc<Route>,
        parameters: Vec<(String, String)>,
    },
    /// The path exists; these methods do. The surface shapes the error.
    OtherMethods {
        allow: Vec<Method>,
        surface: Surface,
    },
    Nothing,
}

#[derive(Default)]
pub struct Routes {
    router: matchit::Router<Vec<Arc<Route>>>,
}

impl Routes {
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
                let parameters = matched
                    .params
                    .iter()
                    .map(|(key, value)| (key.to_owned(), value.to_owned()));
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
                let surface = matched
                    .value
                    .first()
                    .map_or(Surface::Native, |route| route.surface);
                Matched::OtherMethods { allow, surface }
            }
        }
    }

    pub(crate) fn build(file: File, name: &str, findings: &mut Findings) -> Self {
        let mut by_path: BTreeMap<String, Vec<Arc<Route>>> = BTreeMap::new();
        for entry in &file.route {
            let Some(route) = route(entry, &file.pipelines, name, findings) else {
                continue;
            };
            let others = by_path.entry(entry.path.clone()).or_default();
            if others.iter().any(|other| other.method == route.method) {
                findings.add(
                    name,
                    format!("route {} {} stands twice", entry.method, entry.path),
                );
            }
            others.push(Arc::new(route));
        }
        let mut router = matchit::Router::new();
        for (path, routes) in by_path {
            if let Err(error) = router.insert(path.clone(), routes) {
                findings.add(name, format!("path {path}: {error}"));
            }
        }
        Self { router }
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
    let method = Method::from_bytes(entry.method.as_bytes());
    let Ok(method) = method.map_err(|_| findings.add(name, format!("{label}: unknown method")))
    else {
        return None;
    };
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
    let Some(names) = pipelines.get(&entry.pipeline) else {
        findings.add(
            name,
            format!("{label}: unknown pipeline {}", entry.pipeline),
        );
        return None;
    };
    let mut filters = Vec::with_capacity(names.len());
    for filter in names {
        match filter::find(filter) {
            Some(found) => filters.push(found),
            None => findings.add(name, format!("{label}: unknown filter {filter}")),
        }
    }
    if findings.0.len() > before {
        return None;
    }
    let (surface, scope, handler) = (surface?, scope?, handler?);
    let with_anthropic_version = with_anthropic_version?;
    check_facts(&label, &filters, handler, name, findings);
    Some(Route {
        method,
        path: entry.path.clone(),
        surface,
        with_anthropic_version,
        scope,
        filters,
        handler,
    })
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
