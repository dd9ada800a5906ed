//! How what is over is removed, some rows at a time.

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
