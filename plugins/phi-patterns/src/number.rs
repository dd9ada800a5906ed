//! Groups of digits that stand together: `555-123-4567`, `3/4/2024`, `(555) 123 4567`.

use crate::text::{byte, byte_before, is_word};

/// Most groups that are looked at together.
pub const MAX_GROUPS: usize = 12;

/// A run of digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub start: usize,
    pub end: usize,
}

impl Group {
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }
}

/// Groups that are apart by one or two separators, in order.
pub struct Numbers<'a> {
    pub text: &'a [u8],
    groups: [Group; MAX_GROUPS],
    count: usize,
}

/// What stands between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    Dash,
    /// A dash or a dot with spaces around, which what is apart has as well.
    Wide,
    Dot,
    Slash,
    Space,
    /// `) `, `)-` and the like.
    Bracket,
    /// Something else, or the end.
    None,
}

impl<'a> Numbers<'a> {
    /// Reads from the digit at `start` on.
    pub fn read(text: &'a [u8], start: usize) -> Self {
        let mut groups = [Group::default(); MAX_GROUPS];
        let mut count = 0;
        let mut at = start;
        for slot in &mut groups {
            let end = digits_end(text, at);
            if end == at {
                break;
            }
            *slot = Group { start: at, end };
            count += 1;
            at = end + separator_len(text, end);
            if at == end {
                break;
            }
        }
        Self {
            text,
            groups,
            count,
        }
    }

    pub const fn count(&self) -> usize {
        self.count
    }

    /// The group at `index`; an empty one beyond the last.
    pub fn group(&self, index: usize) -> Group {
        if index < self.count {
            self.groups.get(index).copied().unwrap_or_default()
        } else {
            Group::default()
        }
    }

    /// What stands behind the group at `index`.
    pub fn gap(&self, index: usize) -> Gap {
        if index + 1 >= self.count {
            return Gap::None;
        }
        match self
            .text
            .get(self.group(index).end..self.group(index + 1).start)
        {
            Some(b"-") => Gap::Dash,
            Some(b" - " | b" . " | b" -" | b"- ") => Gap::Wide,
            Some(b".") => Gap::Dot,
            Some(b"/") => Gap::Slash,
            Some(b" ") => Gap::Space,
            Some(between) if between.contains(&b')') => Gap::Bracket,
            _ => Gap::None,
        }
    }

    /// The value of a group of at most nine digits; longer ones have none.
    pub fn value(&self, index: usize) -> Option<u32> {
        let group = self.group(index);
        if group.is_empty() || group.len() > 9 {
            return None;
        }
        let digits = self.text.get(group.start..group.end)?;
        Some(
            digits
                .iter()
                .fold(0, |value, digit| value * 10 + u32::from(digit - b'0')),
        )
    }

    /// Whether the lengths of the groups from `index` on are `lengths`.
    pub fn has_lengths(&self, index: usize, lengths: &[usize]) -> bool {
        lengths
            .iter()
            .enumerate()
            .all(|(at, length)| self.group(index + at).len() == *length)
    }

    /// Whether no other group is glued to the one at `index` from behind.
    pub fn stands_alone_after(&self, index: usize) -> bool {
        !matches!(self.gap(index), Gap::Dash | Gap::Dot | Gap::Slash)
    }

    /// Whether nothing is glued to the groups `from..=to` on either side: no letter, no digit, no tight separator
    /// with another group behind it.
    pub fn stands_alone(&self, from: usize, to: usize) -> bool {
        let is_tight = |gap: Gap| matches!(gap, Gap::Dash | Gap::Dot | Gap::Slash);
        let head = byte_before(self.text, self.group(from).start);
        let tail = byte(self.text, self.group(to).end);
        let glued_before = from > 0 && is_tight(self.gap(from - 1));
        let glued_after = is_tight(self.gap(to));
        !(glued_before
            || glued_after
            || is_word(head)
            || head == b'_'
            || is_word(tail)
            || tail == b'_')
    }
}

fn digits_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// One separator, or a bracket with a space or dash behind it; 0 when no digit follows.
fn separator_len(text: &[u8], at: usize) -> usize {
    let len = match (byte(text, at), byte(text, at + 1)) {
        (b')', b' ') if matches!(byte(text, at + 2), b'-') => {
            3 + usize::from(byte(text, at + 3) == b' ')
        }
        (b')', b'-') if byte(text, at + 2) == b' ' => 3,
        (b')', b' ' | b'-') => 2,
        // `( 502 ) 555 - 0143`, as it is read from paper.
        (b' ', b')') => 2 + usize::from(byte(text, at + 2) == b' '),
        // `404 - 555 - 0182`, and where one of the spaces is lost.
        (b' ', b'-' | b'.') if byte(text, at + 2) == b' ' => 3,
        (b' ', b'-') | (b'-', b' ') => 2,
        (b'-' | b'.' | b'/' | b' ' | b')', _) => 1,
        _ => return 0,
    };
    // `1 (555) 123-4567` keeps the country code and its number together.
    let len = if byte(text, at + len) == b'(' {
        len + 1
    } else {
        len
    };
    if byte(text, at + len).is_ascii_digit() {
        len
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_gaps_are_told_apart() {
        let numbers = Numbers::read(b"(555) 123-4567 x", 1);
        assert_eq!(numbers.count(), 3);
        assert_eq!(
            (numbers.gap(0), numbers.gap(1), numbers.gap(2)),
            (Gap::Bracket, Gap::Dash, Gap::None)
        );
        assert!(numbers.has_lengths(0, &[3, 3, 4]));
        assert_eq!(numbers.value(2), Some(4567));
        assert!(numbers.stands_alone(0, 2));
        assert!(!numbers.stands_alone(0, 1));
    }
}
