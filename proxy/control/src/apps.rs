//! Apps (contract 17.2).

use serde_json::{Value, json};
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_pipeline::moment;
use svc_store::app::{self, App};
use svc_store::page::Position;

use crate::call::{
    Answering, Call, Deciding, Effect, Reply, change, missing, refused, store_fault,
};
use crate::cursor::Binding;
use crate::input::{self, MAX_NAME_CHARS};
use crate::query::PAGE;

/// Apps of one organization and mode.
const MAX_APPS: u32 = 200;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = app::list(store, organization, caller.mode, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|app| Position::new(app.created_at, &app.id));
        Ok(Reply::page(
            found.rows.iter().map(record).collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        Ok(Reply::of(record(&find(&call).await?)))
    })
}

/// The app that the path names.
pub(crate) async fn find(call: &Call) -> Result<App, Fault> {
    let id = call.id("app_id", IdKind::Bare)?;
    by_id(call, &id).await?.ok_or_else(missing)
}

/// The app with this id, where it is one of the caller's organization and mode.
pub(crate) async fn by_id(call: &Call, id: &str) -> Result<Option<App>, Fault> {
    let caller = &call.caller;
    let (store, organization) = (&call.gateway.store, &caller.organization_id);
    let found = app::find(store, organization, caller.mode, id).await;
    found.map_err(|error| store_fault(&error))
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        fields.require("name", &mut problems);
        let name = input::text(&mut fields, "name", 1..=MAX_NAME_CHARS, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let app = App {
            id: moment::id(IdKind::Bare),
            org_id: call.caller.organization_id.clone(),
            mode: call.caller.mode,
            name: name.ok_or_else(|| Fault::internal("an app passed without a name"))?,
            created_at: call.now,
        };
        Ok(change(move |mut tx| {
            Box::pin(async move {
                if app::count(&mut tx, &app.org_id, app.mode).await? >= MAX_APPS {
                    let problem = format!("an organization has at most {MAX_APPS} apps");
                    return Err(refused(invalid("$body", problem)));
                }
                app::insert(&mut tx, &app).await?;
                Ok(Effect::created("app", &app.id, record(&app)))
            })
        }))
    })
}

/// The app as contract 17.2 shows it.
fn record(app: &App) -> Value {
    let App {
        id,
        org_id: _,
        mode: _,
        name,
        created_at,
    } = app;
    json!({"id": id, "object": "app", "name": name, "created_at": created_at.to_string()})
}
