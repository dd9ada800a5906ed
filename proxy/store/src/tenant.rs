//! The second wall between organizations (contract 19.3): what a request does in the database is done in the name of
//! its organization, and PostgreSQL's row-level security shows it no row of another one, whatever the SQL asks for.
//!
//! The name travels with the task ([`within`]), not through arguments: a query that forgets its organization would
//! forget the argument too. Work without a name (upkeep, the sealer, finding out who a caller is) sees every row.
//! SQLite knows nothing of this; there the first wall, the `org_id` of every statement, stands alone.

use std::sync::Arc;

use futures_util::future::Either;

use crate::StoreError;
use crate::engine::{Connection, args};

tokio::task_local! {
    static TENANT: Arc<str>;
}

/// Runs `work` in the name of an organization.
///
/// No `async fn`: one would have room for `work` twice, and every request moves it.
pub fn within<F: Future>(org_id: &str, work: F) -> impl Future<Output = F::Output> + use<F> {
    TENANT.scope(Arc::from(org_id), work)
}

/// `work` in the name that the present task has, wherever it will run.
pub fn inherited<F: Future + Send + 'static>(
    work: F,
) -> impl Future<Output = F::Output> + Send + 'static {
    in_name_of(current(), work)
}

/// `work` in the name of an organization, or in nobody's.
pub fn in_name_of<F: Future>(
    tenant: Option<Arc<str>>,
    work: F,
) -> impl Future<Output = F::Output> + use<F> {
    match tenant {
        Some(tenant) => Either::Left(TENANT.scope(tenant, work)),
        None => Either::Right(work),
    }
}

/// The organization that the present task works for.
pub(crate) fn current() -> Option<Arc<str>> {
    TENANT.try_with(Arc::clone).ok()
}

/// Shows the rest of a transaction the rows of every organization: for what an application of one does to the
/// credentials of others.
pub(crate) async fn lift(cx: &mut Connection) -> Result<(), StoreError> {
    match cx {
        Connection::Postgres(_) => cx.batch("SET LOCAL svc.tenant = ''").await,
        Connection::Sqlite(_) | Connection::Writer(_) => Ok(()),
    }
}

/// What opens a transaction of PostgreSQL in the name of `tenant`.
pub(crate) fn begin(tenant: Option<&str>) -> String {
    match tenant {
        None => "BEGIN".to_owned(),
        // Identifiers are letters, digits and `_` (contract 1.1); nothing else may stand between the quotes, and
        // a name that is none shows no row.
        Some(tenant) => {
            let is_identifier = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let name = if tenant.bytes().all(is_identifier) {
                tenant
            } else {
                NOBODY
            };
            format!("BEGIN; SET LOCAL svc.tenant = '{name}'")
        }
    }
}

/// No organization's identifier.
const NOBODY: &str = "-";

/// Puts a policy on every table that has rows of organizations and none yet, or that of an earlier version. Where rows
/// are read the name is looked up once for all of them; where a row is written, which is one mostly, right there.
/// `FORCE`, because the gateway is the owner of its tables, whom policies do not bind otherwise; superusers and roles
/// with `BYPASSRLS` see everything still.
pub(crate) const POLICIES: &str = r"
DO $$
DECLARE found record;
BEGIN
    FOR found IN
        SELECT c.relname AS name, CASE WHEN c.relname = 'organizations' THEN 'id' ELSE 'org_id' END AS owner
        FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
          AND EXISTS (
              SELECT 1 FROM pg_attribute a
              WHERE a.attrelid = c.oid AND NOT a.attisdropped
                AND a.attname = CASE WHEN c.relname = 'organizations' THEN 'id' ELSE 'org_id' END)
          AND NOT EXISTS (
              SELECT 1 FROM pg_policy p
              WHERE p.polrelid = c.oid AND p.polname = 'tenancy' AND p.polwithcheck IS NOT NULL)
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', found.name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', found.name);
        EXECUTE format('DROP POLICY IF EXISTS tenancy ON %I', found.name);
        EXECUTE format(
            'CREATE POLICY tenancy ON %I USING '
            '(coalesce((SELECT current_setting(''svc.tenant'', true)), '''') IN ('''', %I)) WITH CHECK '
            '(coalesce(current_setting(''svc.tenant'', true), '''') IN ('''', %I))',
            found.name, found.owner, found.owner);
    END LOOP;
END
$$";

/// Whether the policies bind the role of this connection at all.
pub(crate) async fn is_bypassed(cx: &mut Connection) -> Result<bool, StoreError> {
    let sql =
        "SELECT rolsuper OR rolbypassrls AS is_bypassed FROM pg_roles WHERE rolname = current_user";
    let row = cx.row(sql, args![]).await?;
    row.map_or(Ok(false), |row| row.get("is_bypassed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_name_goes_where_the_work_goes() {
        assert_eq!(current(), None);
        let seen = within("org_1", async {
            let elsewhere = inherited(async { current() });
            #[expect(
                clippy::disallowed_methods,
                reason = "the task that the name follows to"
            )]
            let elsewhere = tokio::spawn(elsewhere).await;
            (current(), elsewhere.unwrap_or_default())
        });
        let (here, elsewhere) = seen.await;
        assert_eq!(here.as_deref(), Some("org_1"));
        assert_eq!(elsewhere.as_deref(), Some("org_1"));
        assert_eq!(current(), None);
    }

    #[test]
    fn only_an_identifier_stands_between_the_quotes() {
        assert_eq!(begin(None), "BEGIN");
        assert_eq!(
            begin(Some("org_1")),
            "BEGIN; SET LOCAL svc.tenant = 'org_1'"
        );
        assert_eq!(begin(Some("x'; DROP")), "BEGIN; SET LOCAL svc.tenant = '-'");
    }
}
