//! Many rows in one statement. Their number is one of a few, so that both engines keep the statements prepared.

use crate::engine::Arg;

/// Rows of one statement, largest first: any number of rows is a few statements, out of four texts.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// Cuts a slice into pieces of [`SIZES`].
pub(crate) fn pieces<T>(mut rest: &[T]) -> Vec<&[T]> {
    let mut pieces = Vec::new();
    for size in SIZES {
        while let Some((piece, others)) = rest.split_at_checked(size) {
            pieces.push(piece);
            rest = others;
        }
    }
    pieces
}

/// `($3, $4), ($5, $6)`: rows of placeholders behind `args`, to which the rows' arguments are added.
pub(super) fn values(args: &mut Vec<Arg>, rows: impl Iterator<Item = Vec<Arg>>) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(if text.is_empty() { "(" } else { ", (" });
        for (at, arg) in row.into_iter().enumerate() {
            args.push(arg);
            let comma = if at == 0 { "" } else { ", " };
            text.push_str(&format!("{comma}${}", args.len()));
        }
        text.push(')');
    }
    text
}

/// `$3, $4, $5`: placeholders behind `args`.
pub(crate) fn list<'a>(args: &mut Vec<Arg>, items: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for item in items {
        args.push(item.into());
        let comma = if text.is_empty() { "" } else { ", " };
        text.push_str(&format!("{comma}${}", args.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::args;

    #[test]
    fn every_row_is_in_one_piece_of_a_known_size() {
        let rows: Vec<usize> = (0..219).collect();
        let cut = pieces(&rows);
        assert_eq!(cut.concat(), rows);
        assert!(cut.iter().all(|piece| SIZES.contains(&piece.len())));
        assert!(pieces::<u8>(&[]).is_empty());
    }

    #[test]
    fn placeholders_follow_the_arguments_that_are_there() {
        let mut arguments = args!["first"];
        let rows = [args!["a", 1_i64], args!["b", 2_i64]];
        assert_eq!(
            values(&mut arguments, rows.into_iter()),
            "($2, $3), ($4, $5)"
        );
        assert_eq!(list(&mut arguments, ["x", "y"].into_iter()), "$6, $7");
        assert_eq!(arguments.len(), 7);
    }
}
