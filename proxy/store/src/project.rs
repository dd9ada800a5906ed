//! Projects of an organization (contract 8).

use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::{Store, StoreError};

/// One project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    pub id: String,
    pub org_id: String,
    pub name: String,
    pub created_at: Timestamp,
}

/// Creates a project.
///
/// # Errors
/// [`StoreError::Exists`] when the id is taken.
pub async fn create(store: &Store, project: &Project) -> Result<(), StoreError> {
    let project = project.clone();
    store
        .db
        .write(|cx| Box::pin(async move { insert(cx, &project).await }))
        .await
}

pub(crate) async fn insert(cx: &mut Connection, project: &Project) -> Result<(), StoreError> {
    let Project {
        id,
        org_id,
        name,
        created_at,
    } = project;
    cx.execute(
        "INSERT INTO projects (id, org_id, name, created_at) VALUES ($1, $2, $3, $4)",
        args![id, org_id, name, *created_at],
    )
    .await
    .map(drop)
}

/// The project of this organization with this id.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    project_id: &str,
) -> Result<Option<Project>, StoreError> {
    let arguments = args![project_id, org_id];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let row = cx
                    .row(
                        "SELECT id, org_id, name, created_at FROM projects WHERE id = $1 AND org_id = $2",
                        arguments,
                    )
                    .await?;
                row.map(|row| {
                    Ok(Project {
                        id: row.get("id")?,
                        org_id: row.get("org_id")?,
                        name: row.get("name")?,
                        created_at: row.get("created_at")?,
                    })
                })
                .transpose()
            })
        })
        .await
}
