//! Business Associate Agreements (contract 13): where the organization stands, what it has accepted, and the documents.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, HeaderName};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_core::time::Timestamp;
use svc_pipeline::moment;
use svc_pipeline::response::Body;
use svc_store::baa::{
    self, Acceptance, Accepted, Document, DocumentFacts, Recorded, Status, Template,
};
use svc_store::page::Position;
use svc_store::{Store, StoreError, organization};
use unicode_normalization::UnicodeNormalization as _;

use crate::agreement::{self, Agreement, RenderError, Typesetter};
use crate::call::{
    Answering, Call, Deciding, Effect, Reply, change, missing, outdated, refused, shown,
    store_fault,
};
use crate::cursor::Binding;
use crate::input::{self, MAX_NAME_CHARS};
use crate::query::PAGE;

/// RFC 9530.
const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
/// RFC 5321, 4.5.3.1.
const MAX_EMAIL_CHARS: usize = 254;
const MAX_VERSION_CHARS: usize = 40;

pub(crate) fn status(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let (store, organization) = (&call.gateway.store, &call.caller.organization_id);
        let status = baa::status(store, organization, call.now).await;
        let status = status.map_err(|error| store_fault(&error))?;
        Ok(Reply::of(standing(&status)))
    })
}

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let store = &call.gateway.store;
        let found = baa::list(store, &call.caller.organization_id, &page, call.now).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|row| Position::new(row.acceptance.accepted_at, &row.acceptance.id));
        let rows = found.rows.iter();
        let rows = rows.map(|recorded| record(recorded, call.now));
        Ok(Reply::page(
            rows.collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = call.id("id", IdKind::BaaAcceptance)?;
        let store = &call.gateway.store;
        let found = baa::find(store, &call.caller.organization_id, &id, call.now).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let found = found.ok_or_else(missing)?;
        Ok(Reply::of(record(&found, call.now)))
    })
}

pub(crate) fn download(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = call.id("id", IdKind::BaaAcceptance)?;
        let (store, organization) = (&call.gateway.store, &call.caller.organization_id);
        let found = baa::read_document(store, organization, &id).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let (bytes, facts) = found.ok_or_else(missing)?;
        let headers = file_headers(&id, &facts)?;
        Ok(Reply::plain(headers, Body::Full(bytes.into()))
            .about("baa_acceptance", &id)
            .detail("sha256", facts.sha256))
    })
}

fn file_headers(id: &str, facts: &DocumentFacts) -> Result<HeaderMap, Fault> {
    let digest = hex::decode(&facts.sha256).map_err(Fault::internal)?;
    let own = [
        (CONTENT_TYPE, "application/pdf".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"baa-{id}.pdf\""),
        ),
        (ETAG, format!("\"{}\"", facts.sha256)),
        (
            REPR_DIGEST,
            format!("sha-256=:{}:", STANDARD.encode(digest)),
        ),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in own {
        let value = HeaderValue::from_str(&value);
        headers.insert(name, value.map_err(Fault::internal)?);
    }
    Ok(headers)
}

pub(crate) fn accept(mut call: Call) -> Deciding {
    Box::pin(async move {
        let store = call.gateway.store.clone();
        let template = current(&store, call.now).await?;
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let fields = Fields::top(std::mem::take(&mut call.body));
        let version = template.as_ref().map(|current| current.version.clone());
        // Beside the threads that serve: the fonts are laid out.
        let reading = tokio::task::spawn_blocking(move || signer(fields, version, problems));
        let signer = reading.await.map_err(Fault::internal)??;
        let (Some(template), Some(user)) = (template, call.caller.delegating_user.as_ref()) else {
            return Err(Fault::internal(
                "an agreement was signed without a text or a user",
            ));
        };
        let organization = organization::find(&store, &call.caller.organization_id).await;
        let organization = organization.map_err(|error| store_fault(&error))?;
        let organization = organization.ok_or_else(missing)?;
        let acceptance = Acceptance {
            id: moment::id(IdKind::BaaAcceptance),
            org_id: organization.id,
            template_version: template.version.clone(),
            template_sha256: template.sha256.clone(),
            accepted_by_user_id: user.id.clone(),
            signer_name: signer.name,
            signer_title: signer.title,
            signer_email: signer.email,
            accepted_at: call.now,
            ip: Some(call.client.address.clone()),
            user_agent: call.client.user_agent.clone(),
            effective_at: call.now,
            expires_at: None,
        };
        let signing = Signing {
            template: template.clone(),
            acceptance,
            organization_name: organization.settings.name,
            request_id: Some(call.client.request_id.clone()),
        };
        let (acceptance, document) =
            signing
                .document(&store)
                .await
                .map_err(|error| match error {
                    SigningError::Store(error) => store_fault(&error),
                    error => Fault::internal(error),
                })?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                match baa::accept_signed(&mut tx, &acceptance, &document).await? {
                    Accepted::Recorded => {}
                    Accepted::NotCurrent => return Err(refused(not_current())),
                    // Its document has its time in it: another one is made.
                    Accepted::Overtaken => return Err(outdated()),
                }
                let id = acceptance.id.clone();
                let recorded = Recorded {
                    acceptance,
                    superseded_at: None,
                    terminated_at: None,
                    outdated: None,
                    document: Some(document.facts),
                };
                let data = record(&recorded, call.now);
                let sha256 = recorded.document.map(|document| document.sha256);
                let mut effect = Effect::created("baa_acceptance", &id, data)
                    .detail("template_version", template.version)
                    .detail("template_sha256", template.sha256)
                    .detail("document_sha256", sha256);
                effect.happened = "accepted";
                effect.outdated.organization = true;
                Ok(effect)
            })
        }))
    })
}

fn not_current() -> Fault {
    invalid("template_version", "is not the version to be accepted now")
}

/// Who signs.
struct Signer {
    name: String,
    title: String,
    email: String,
}

fn signer(
    mut fields: Fields,
    current: Option<String>,
    mut problems: Problems,
) -> Result<Signer, Fault> {
    let mut typesetter = Typesetter::new().map_err(Fault::internal)?;
    for name in [
        "template_version",
        "signer_name",
        "signer_title",
        "signer_email",
        "agree",
    ] {
        fields.require(name, &mut problems);
    }
    let versions = 1..=MAX_VERSION_CHARS;
    if let Some(version) = input::text(&mut fields, "template_version", versions, &mut problems)
        && current.is_none_or(|current| current != version)
    {
        problems.add("template_version", "is not the version to be accepted now");
    }
    let mut shown = |key, most, problems: &mut Problems| {
        shown_text(&mut fields, key, most, &mut typesetter, problems)
    };
    let name = shown("signer_name", MAX_NAME_CHARS, &mut problems);
    let title = shown("signer_title", MAX_NAME_CHARS, &mut problems);
    let email = shown("signer_email", MAX_EMAIL_CHARS, &mut problems);
    let email = email.filter(|email| {
        let is_address = email.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.is_empty() && !domain.contains('@')
        }) && !email.chars().any(char::is_whitespace);
        if !is_address {
            problems.add("signer_email", "must be an e-mail address");
        }
        is_address
    });
    if fields.boolean("agree", &mut problems) == Some(false) {
        problems.add("agree", "must be true");
    }
    fields.end_strictly(&mut problems);
    problems.into_result()?;
    match (name, title, email) {
        (Some(name), Some(title), Some(email)) => Ok(Signer { name, title, email }),
        _ => Err(Fault::internal(
            "a signer passed validation without its fields",
        )),
    }
}

/// A text that the document will show: one line of characters that its fonts have, in composed form (some systems send
/// `ë` or a Hangul syllable in parts).
fn shown_text(
    fields: &mut Fields,
    key: &str,
    most: usize,
    typesetter: &mut Typesetter,
    problems: &mut Problems,
) -> Option<String> {
    let text: String = input::text(fields, key, 1..=most, problems)?
        .nfc()
        .collect();
    if let Some(problem) = input::misleading(&text) {
        problems.add(key, problem);
    } else if !text.chars().any(char::is_alphanumeric) {
        problems.add(key, "must have a letter or a digit");
    } else if !typesetter.can_show(&text) {
        problems.add(key, "has a character that the document's fonts cannot show");
    } else {
        return Some(text);
    }
    None
}

/// An acceptance on its way to being a document.
pub struct Signing {
    pub template: Template,
    pub acceptance: Acceptance,
    pub organization_name: String,
    /// The request by which it was accepted; `None` from the command line.
    pub request_id: Option<String>,
}

/// Why there is no signed document.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    #[error("the document could not be rendered: {0}")]
    Render(#[from] RenderError),
    #[error("the document could not be signed and sealed: {0}")]
    Store(#[from] StoreError),
    #[error("rendering the document ended early")]
    Lost,
}

impl Signing {
    /// Renders the document beside the threads that serve, signs and seals it.
    ///
    /// # Errors
    /// [`SigningError`].
    pub async fn document(self, store: &Store) -> Result<(Acceptance, Document), SigningError> {
        let key = baa::signer(store, self.acceptance.accepted_at).await?;
        let signing_key_id = key.public.key_id.clone();
        let rendering = tokio::task::spawn_blocking(move || {
            let bytes = agreement::render(&Agreement {
                template: &self.template,
                acceptance: &self.acceptance,
                organization_name: &self.organization_name,
                request_id: self.request_id.as_deref(),
                signing_key_id: &signing_key_id,
            });
            (self.acceptance, bytes)
        });
        let (acceptance, bytes) = rendering.await.map_err(|_| SigningError::Lost)?;
        let (id, organization) = (&acceptance.id, &acceptance.org_id);
        let document = baa::seal_document(store, organization, id, &key, &bytes?).await?;
        Ok((acceptance, document))
    }
}

async fn current(store: &Store, now: Timestamp) -> Result<Option<Template>, Fault> {
    let current = baa::current_template(store, now).await;
    current.map_err(|error| store_fault(&error))
}

/// Where the organization stands, as contract 13 shows it.
fn standing(status: &Status) -> Value {
    let Status {
        standing,
        template,
        latest,
    } = status;
    let accepted = latest.as_ref().map(|latest| &latest.acceptance);
    let expires_at = latest.as_ref().and_then(Recorded::expires_at);
    json!({
        "object": "baa_status",
        "status": standing.word(),
        "required": true,
        "current_template_version": template.as_ref().map(|template| &template.version),
        "accepted_template_version": accepted.map(|accepted| &accepted.template_version),
        "acceptance_id": accepted.map(|accepted| &accepted.id),
        "effective_at": shown(accepted.map(|accepted| accepted.effective_at)),
        "expires_at": shown(expires_at),
        "template": template.as_ref().map(text),
    })
}

fn text(template: &Template) -> Value {
    let Template {
        version,
        title,
        body,
        sha256,
        published_at,
        reaccept_by,
    } = template;
    json!({
        "version": version,
        "title": title,
        "content_type": "text/markdown",
        "sha256": sha256,
        "body": body,
        "published_at": published_at.to_string(),
        "reaccept_by": shown(*reaccept_by),
    })
}

/// The acceptance as contract 13 shows it.
fn record(recorded: &Recorded, now: Timestamp) -> Value {
    let Recorded {
        acceptance,
        superseded_at,
        terminated_at,
        outdated: _,
        document,
    } = recorded;
    let Acceptance {
        id,
        org_id: _,
        template_version,
        template_sha256,
        accepted_by_user_id,
        signer_name,
        signer_title,
        signer_email,
        accepted_at,
        ip,
        user_agent,
        effective_at,
        expires_at: _,
    } = acceptance;
    let signature = document.as_ref().map(|document| {
        json!({
            "alg": "Ed25519",
            "key_id": document.signing_key_id,
            "over": "document.sha256",
            "value": STANDARD.encode(&document.signature),
        })
    });
    let document = document.as_ref().map(|document| {
        json!({
            "content_type": "application/pdf",
            "size_bytes": document.size_bytes,
            "sha256": document.sha256,
        })
    });
    json!({
        "id": id,
        "object": "baa_acceptance",
        "template_version": template_version,
        "template_sha256": template_sha256,
        "status": recorded.status(now),
        "accepted_by": {
            "user_id": accepted_by_user_id,
            "name": signer_name,
            "title": signer_title,
            "email": signer_email,
        },
        "accepted_at": accepted_at.to_string(),
        "ip": ip,
        "user_agent": user_agent,
        "effective_at": effective_at.to_string(),
        "superseded_at": shown(*superseded_at),
        "terminated_at": shown(*terminated_at),
        "document": document,
        "signature": signature,
    })
}
