//! One page of a list, by time and id, continued behind the last row that was seen. Stable while others insert
//! (contract 1.4).

use std::borrow::Cow;
use std::iter;

use svc_core::time::Timestamp;

use crate::engine::{Arg, Connection, Row};
use crate::{Store, StoreError};

/// Which part of a list is wanted.
#[derive(Clone, Debug)]
pub struct Page {
    /// Rows at most.
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

impl Position {
    /// The place of a row: its time in the list, and its id among those of one instant.
    pub fn new(at: Timestamp, id: &str) -> Self {
        Self {
            at,
            id: id.to_owned(),
        }
    }
}

/// Rows that one statement looks at. On either engine that is a matter of milliseconds where they are in memory, and of
/// less than a second where they are not.
pub(crate) const SLICE_ROWS: u32 = 20_000;
/// Rows that one page looks at: one that is asked for what is rare ends before it is full, and the next one goes on.
const PAGE_ROWS: u32 = 200_000;
/// How much more each statement of a page looks at than the one before.
const GROWTH: u32 = 8;

/// How many rows each statement of a page looks at. The first ones look at few: to know where a slice ends costs a walk
/// to it, and most pages are full before.
pub(crate) fn slices(limit: u32) -> impl Iterator<Item = u32> {
    let mut left = PAGE_ROWS;
    let mut next = limit.saturating_add(1).saturating_mul(2);
    iter::from_fn(move || {
        let rows = next.min(SLICE_ROWS).min(left);
        left -= rows;
        next = rows.saturating_mul(GROWTH);
        (rows > 0).then_some(rows)
    })
}

/// Rows of a page, and whether there are more.
#[derive(Clone, Debug)]
pub struct Paged<T> {
    pub rows: Vec<T>,
    pub has_more: bool,
}

impl<T> Paged<T> {
    /// Where the next page goes on, behind the last row of this one; `None` where nothing follows.
    pub fn last(&self, position: impl FnOnce(&T) -> Position) -> Option<Position> {
        let last = self.rows.last().filter(|_| self.has_more);
        last.map(position)
    }
}

/// Which end of a list comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    NewestFirst,
    OldestFirst,
}

/// A query that grows with the filters that were given. Its table has the columns `created_at` and `id`, unless
/// [`Self::by`] names another one.
pub(crate) struct Listing {
    sql: String,
    args: Vec<Arg>,
    column: &'static str,
    order: Order,
    /// The last row that is looked at.
    until: Option<Position>,
}

impl Listing {
    /// `select` ends in a `WHERE` clause that uses `args` as `$1` and so on.
    pub(crate) fn new(select: &str, args: Vec<Arg>) -> Self {
        Self {
            sql: select.to_owned(),
            args,
            column: "created_at",
            order: Order::default(),
            until: None,
        }
    }

    /// Sorts by another column of times.
    pub(crate) fn by(mut self, column: &'static str, order: Order) -> Self {
        self.column = column;
        self.order = order;
        self
    }

    /// Keeps rows that fulfil any of these conditions, each with an argument of its own in place of `?`.
    pub(crate) fn any(&mut self, conditions: Vec<(Cow<'static, str>, Arg)>) {
        if conditions.is_empty() {
            return;
        }
        let mut any = Vec::with_capacity(conditions.len());
        for (condition, arg) in conditions {
            self.args.push(arg);
            any.push(condition.replace('?', &format!("${}", self.args.len())));
        }
        self.only_where(&format!("({})", any.join(" OR ")));
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

    /// Keeps rows up to this place, it among them; it stands in the span of the page.
    pub(crate) fn up_to(&mut self, last: Position) {
        self.until = Some(last);
    }

    /// Keeps rows on this side of a place. It is one value, which both engines find in an index. Of two conditions with
    /// an OR between them PostgreSQL asks every row from the beginning of the list on.
    fn only_placed(&mut self, sign: &str, place: &Position) {
        let (at_place, id_place) = (self.args.len() + 1, self.args.len() + 2);
        self.args.push(place.at.into());
        self.args.push((&place.id).into());
        let column = self.column;
        self.only_where(&format!("({column}, id) {sign} (${at_place}, ${id_place})"));
    }

    /// What rows behind a place fulfil, how they are sorted, and what rows up to a place fulfil.
    const fn signs(&self) -> (&'static str, &'static str, &'static str) {
        match self.order {
            Order::NewestFirst => ("<", "DESC", ">="),
            Order::OldestFirst => (">", "ASC", "<="),
        }
    }

    /// Keeps rows in which this column says something, or those in which it says nothing.
    pub(crate) fn only_set(&mut self, column: &str, is_set: Option<bool>) {
        match is_set {
            Some(true) => self.only_where(&format!("{column} IS NOT NULL")),
            Some(false) => self.only_where(&format!("{column} IS NULL")),
            None => {}
        }
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

    /// Reads one page by itself.
    pub(crate) async fn page<T, F>(
        self,
        store: &Store,
        page: &Page,
        read: F,
    ) -> Result<Paged<T>, StoreError>
    where
        T: Send + 'static,
        F: Fn(&Row) -> Result<T, StoreError> + Send + 'static,
    {
        let page = page.clone();
        store
            .db
            .read(move |cx| Box::pin(async move { self.read(cx, &page, read).await }))
            .await
    }

    /// As [`Self::page`], beside other reads of a connection.
    pub(crate) async fn read<T>(
        self,
        cx: &mut Connection,
        page: &Page,
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Paged<T>, StoreError> {
        let (sql, args) = self.statement(page);
        let found = cx.rows_of(sql, args).await?;
        let mut rows = found.iter().map(read).collect::<Result<Vec<T>, _>>()?;
        let has_more = rows.len() > page.limit as usize;
        rows.truncate(page.limit as usize);
        Ok(Paged { rows, has_more })
    }

    /// The place of the last of the first `rows` of a page; `None` where there are fewer. The limit of the page is not
    /// looked at.
    pub(crate) async fn place(
        self,
        cx: &mut Connection,
        page: &Page,
        rows: u32,
    ) -> Result<Option<Position>, StoreError> {
        let column = self.column;
        let one = Page {
            limit: 0,
            ..page.clone()
        };
        let (mut sql, mut args) = self.statement(&one);
        args.push(rows.saturating_sub(1).into());
        sql.push_str(&format!(" OFFSET ${}", args.len()));
        let found = cx.rows_of(sql, args).await?;
        let place = |row: &Row| {
            Ok(Position {
                at: row.get(column)?,
                id: row.get("id")?,
            })
        };
        found.first().map(place).transpose()
    }

    fn statement(mut self, page: &Page) -> (String, Vec<Arg>) {
        let Page {
            limit,
            after,
            created_after,
            created_before,
        } = page;
        let (column, (behind, direction, until)) = (self.column, self.signs());
        // No id is empty: this place is before all rows of the instant.
        let instant = |at: &Timestamp| Position::new(*at, "");
        let (from, to) = (
            created_after.as_ref().map(instant),
            created_before.as_ref().map(instant),
        );
        let (near, far) = match self.order {
            Order::NewestFirst => (to, from),
            Order::OldestFirst => (from, to),
        };
        // One condition for each end: of two, SQLite looks for the first in the index and asks the other of every row.
        let near = after.clone().or(near);
        let far = self.until.take().or(far);
        for (sign, place) in [(behind, near), (until, far)] {
            if let Some(place) = place {
                self.only_placed(sign, &place);
            }
        }
        // One more than asked for tells whether there are more.
        self.args.push(limit.saturating_add(1).into());
        self.sql.push_str(&format!(
            " ORDER BY {column} {direction}, id {direction} LIMIT ${}",
            self.args.len()
        ));
        (self.sql, self.args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::args;

    #[test]
    fn a_page_looks_at_few_rows_first_and_at_so_many_in_all() {
        let first: Vec<u32> = slices(50).take(5).collect();
        assert_eq!(first, [102, 816, 6_528, SLICE_ROWS, SLICE_ROWS]);
        for limit in [0, 1, 50, 1_000, u32::MAX] {
            assert_eq!(slices(limit).sum::<u32>(), PAGE_ROWS, "{limit}");
            assert!(slices(limit).all(|rows| rows <= SLICE_ROWS));
        }
    }

    /// Two would be one too many: SQLite finds the first of them in its index alone.
    #[test]
    fn a_page_has_one_condition_at_each_end() {
        let page = Page {
            limit: 50,
            after: Some(Position::new(Timestamp(7), "x")),
            created_after: Some(Timestamp(3)),
            created_before: Some(Timestamp(9)),
        };
        let first = Page {
            after: None,
            ..page.clone()
        };
        for (order, page, until, conditions) in [
            (Order::NewestFirst, &first, None, "(9, '') >= (3, '')"),
            (Order::NewestFirst, &page, None, "(7, 'x') >= (3, '')"),
            (Order::NewestFirst, &page, Some(5), "(7, 'x') >= (5, 'y')"),
            (Order::OldestFirst, &first, None, "(3, '') <= (9, '')"),
            (Order::OldestFirst, &page, Some(8), "(7, 'x') <= (8, 'y')"),
        ] {
            let mut listing = Listing::new("SELECT", args![]).by("at", order);
            if let Some(at) = until {
                listing.up_to(Position::new(Timestamp(at), "y"));
            }
            let (sql, arguments) = listing.statement(page);
            let (behind, _, end) = Listing::new("", args![]).by("at", order).signs();
            let expected =
                format!("AND (at, id) {behind} ($1, $2) AND (at, id) {end} ($3, $4) ORDER");
            assert!(sql.contains(&expected), "{sql}");
            let shown: Vec<String> = arguments
                .iter()
                .map(|argument| match argument {
                    Arg::Int(Some(number)) => number.to_string(),
                    Arg::Text(Some(text)) => format!("'{text}'"),
                    _ => "?".to_owned(),
                })
                .collect();
            let shown = format!(
                "({}, {}) {end} ({}, {})",
                shown[0], shown[1], shown[2], shown[3]
            );
            assert_eq!(shown, conditions);
        }
    }

    /// The contract tests hold the indexes against this text.
    #[test]
    fn a_page_goes_on_behind_one_value_of_time_and_id() {
        let page = Page {
            limit: 50,
            after: Some(Position::new(Timestamp(7), "x")),
            created_after: None,
            created_before: None,
        };
        for (order, end) in [
            (
                Order::NewestFirst,
                "(at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT $4",
            ),
            (
                Order::OldestFirst,
                "(at, id) > ($2, $3) ORDER BY at ASC, id ASC LIMIT $4",
            ),
        ] {
            let select = "SELECT * FROM rows WHERE org_id = $1";
            let listing = Listing::new(select, args!["org_1"]).by("at", order);
            let (sql, args) = listing.statement(&page);
            assert_eq!(sql, format!("{select} AND {end}"));
            assert_eq!(args.len(), 4);
        }
    }
}
