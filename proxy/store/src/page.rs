//! One page of a list: newest first, by time and id, continued behind the last row that was seen. Stable while
//! others insert (contract 1.4).

use svc_core::time::Timestamp;

use crate::StoreError;
use crate::engine::{Arg, Connection, Row};

/// Which part of a list is wanted.
#[derive(Clone, Debug)]
pub struct Page {
    pub limit: u32,
    /// The last row of the page before.
    pub after: Option<Position>,
    /// Half open: rows of `created_after` are in, those of `created_before` are not.
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
}

/// Where a row stands in its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub at: Timestamp,
    pub id: String,
}

/// Rows of a page, and whether there are more.
#[derive(Clone, Debug)]
pub struct Paged<T> {
    pub rows: Vec<T>,
    pub has_more: bool,
}

/// A query that grows with the filters that were given. Its table has the columns `created_at` and `id`.
pub(crate) struct Listing {
    sql: String,
    args: Vec<Arg>,
}

impl Listing {
    /// `select` ends in a `WHERE` clause that uses `args` as `$1` and so on.
    pub(crate) fn new(select: &str, args: Vec<Arg>) -> Self {
        Self {
            sql: select.to_owned(),
            args,
        }
    }

    /// Adds a condition in which `?` stands for the next argument.
    pub(crate) fn only(&mut self, condition: &str, arg: impl Into<Arg>) {
        self.args.push(arg.into());
        let placeholder = format!("${}", self.args.len());
        self.sql.push_str(" AND ");
        self.sql.push_str(&condition.replace('?', &placeholder));
    }

    /// Adds a condition that needs no argument.
    pub(crate) fn only_where(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }

    /// Keeps rows whose column begins with `prefix`.
    pub(crate) fn starts_with(&mut self, column: &str, prefix: String) {
        let characters = u32::try_from(prefix.chars().count()).unwrap_or(u32::MAX);
        self.args.push(characters.into());
        let length = self.args.len();
        self.only(
            &format!("SUBSTR({column}, 1, CAST(${length} AS INTEGER)) = ?"),
            prefix,
        );
    }

    /// Reads one page.
    pub(crate) async fn read<T>(
        mut self,
        cx: &mut Connection,
        page: &Page,
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Paged<T>, StoreError> {
        let Page {
            limit,
            after,
            created_after,
            created_before,
        } = page;
        if let Some(from) = created_after {
            self.only("created_at >= ?", *from);
        }
        if let Some(until) = created_before {
            self.only("created_at < ?", *until);
        }
        if let Some(Position { at, id }) = after {
            let (at_place, id_place) = (self.args.len() + 1, self.args.len() + 2);
            self.args.push((*at).into());
            self.args.push(id.into());
            self.sql.push_str(&format!(
                " AND (created_at < ${at_place} OR (created_at = ${at_place} AND id < ${id_place}))"
            ));
        }
        // One more than asked for tells whether there are more.
        self.args.push(limit.saturating_add(1).into());
        self.sql.push_str(&format!(
            " ORDER BY created_at DESC, id DESC LIMIT ${}",
            self.args.len()
        ));
        let found = cx.rows_of(self.sql, self.args).await?;
        let mut rows = found.iter().map(read).collect::<Result<Vec<T>, _>>()?;
        let has_more = rows.len() > *limit as usize;
        rows.truncate(*limit as usize);
        Ok(Paged { rows, has_more })
    }
}
