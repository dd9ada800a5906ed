//! How what is over is removed, some rows at a time.

/// Rows that one statement of a sweep removes, so that it never holds the writer for long.
pub(crate) const SWEEP_ROWS: u32 = 1_000;

/// The statement that removes the rows of a table that are `$over`, as many as `$some` of them (its `LIMIT`, and its
/// order where an index has to be walked). The condition stands there twice: a row that another transaction has made
/// new while this one waited for its lock is judged again by what stands outside of the subselect, and by nothing else.
macro_rules! sweep {
    ($table:literal, $key:literal, $over:literal, $some:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE ",
            $over,
            " AND (",
            $key,
            ") IN (SELECT ",
            $key,
            " FROM ",
            $table,
            " WHERE ",
            $over,
            " ",
            $some,
            ")"
        )
    };
}
pub(crate) use sweep;
