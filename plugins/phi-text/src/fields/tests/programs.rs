//! What programs and databases say and print.

use super::{fields, sees};

#[test]
fn a_hint_makes_no_other_label() {
    sees("Age (years): 94", &["Age (years)=94", "Age=94"]);
    sees(
        "Patient name (last, first) - De Boer, Ann",
        &["Patient name=De Boer, Ann"],
    );
    sees(
        "- MRN (hospital): 12 | DOB (mm/dd/yyyy): 03/14/1951",
        &["MRN=12", "DOB=03/14/1951"],
    );
    sees(
        "Name (print): Ann, SSN (last 4): 7712",
        &["Name=Ann", "SSN=7712"],
    );
    sees("mrn,Age (yrs)\n12,94", &["Age=94"]);
    for text in [
        "Age (months): 94",
        "Name (print): enter your name",
        "Name (print): Please enter yours",
        "The value of f(x): it is 3",
        "he left (late): They waited for him and then all went home",
    ] {
        let found = fields(text);
        assert!(
            !found
                .iter()
                .any(|seen| seen.starts_with("Age=") || seen.starts_with("Name=")),
            "{text}: {found:?}"
        );
    }
}
