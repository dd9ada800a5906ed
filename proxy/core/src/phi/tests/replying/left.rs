//! What stands right behind a placeholder whose value is known.

use super::*;

/// Detectors read a placeholder as a word, and what follows it as the rest of the value.
#[test]
fn what_follows_a_known_value_is_new_only_by_itself() {
    const SEEN: Values<'static> = &[
        ("DATE", "[DATE_1] 9"),
        ("DATE", "[DATE_1] 0830"),
        ("DATE", "2/2"),
        ("DATE", "3/4/25"),
        ("DATE", "June 3"),
        ("NAME", "May"),
        ("NAME", "Rowan"),
        ("NAME", "Ann Poe"),
        ("MRN", "120/80"),
        ("MRN", "118/76"),
        ("MRN", "5551234"),
        ("AGE_OVER_89", "94"),
    ];
    let asked = "seen [DATE_1]: [NAME_1], [MRN_1], [AGE_OVER_89_1]";
    let known = [
        ("DATE", "3/14/25"),
        ("NAME", "Oona Trevanion"),
        ("MRN", "4471982"),
        ("AGE_OVER_89", "93"),
    ];
    for (reply, sent) in [
        ("at [DATE_1] 9:15a", "at [DATE_1] 9:15a"),
        ("at [DATE_1] 0830 in clinic", "at [DATE_1] 0830 in clinic"),
        ("on [DATE_1] 2/2 sepsis", "on [DATE_1] 2/2 sepsis"),
        ("[MRN_1] 120/80, 118/76", "[MRN_1] 120/80, 118/76"),
        ("[NAME_1] May repeat it", "[NAME_1] May repeat it"),
        // By themselves, or of another kind.
        ("on [DATE_1], 2/2", "on [DATE_1], [DATE_2]"),
        ("on [DATE_1] 3/4/25", "on [DATE_1] [DATE_2]"),
        ("[DATE_1] June 3", "[DATE_1] [DATE_2]"),
        ("[NAME_1] Rowan", "[NAME_1] [NAME_2]"),
        ("[NAME_1] May", "[NAME_1] [NAME_2]"),
        ("[MRN_1] 5551234", "[MRN_1] [MRN_2]"),
        ("[DATE_1] 120/80", "[DATE_1] [MRN_2]"),
        ("[AGE_OVER_89_1] 94", "[AGE_OVER_89_1] [AGE_OVER_89_2]"),
        // Behind what stands for nothing.
        ("[DATE_7] 2/2", "[DATE_7] [DATE_2]"),
    ] {
        let mut map = PlaceholderMap::default();
        for (kind, value) in known {
            map.issue(&Kind::named(kind), value, value, Speaker::Caller);
        }
        let mut drive = Drive::after(asked, &mut map).seeing(SEEN);
        assert_eq!(drive.text(reply) + &joined(drive.finish()), sent, "{reply}");
    }
}
