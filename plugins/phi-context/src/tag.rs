//! What a token can be: nothing, or the beginning or the inside of a value of one sort.

/// Tags there are, with one that is never used.
pub const TAGS: usize = 16;
/// Of what is no PHI.
pub const NOTHING: usize = 0;

/// The sorts that the model tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Name,
    Location,
    Address,
    Organization,
    Date,
    Age,
    /// Numbers and codes of persons, things and accounts.
    Code,
}

/// In the order of their tags.
pub const SORTS: [Sort; 7] = [
    Sort::Name,
    Sort::Location,
    Sort::Address,
    Sort::Organization,
    Sort::Date,
    Sort::Age,
    Sort::Code,
];

/// The tag of the first token of the sort at `sort` of [`SORTS`].
pub const fn first(sort: usize) -> usize {
    1 + 2 * sort
}

/// The tag of its further tokens.
pub const fn inside(sort: usize) -> usize {
    2 + 2 * sort
}

/// Whether the second tag may follow the first.
pub const fn may_follow(before: usize, tag: usize) -> bool {
    if tag >= TAGS - 1 || before >= TAGS - 1 {
        return false;
    }
    let is_inside = tag != NOTHING && tag.is_multiple_of(2);
    !is_inside || before == tag || before + 1 == tag
}
