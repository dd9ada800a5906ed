//! What programs and their tools have, which looks like identifiers and is nobody's.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn settings_and_branches_are_no_accounts() {
    finds::<Patterns>(&[
        ("DB_USER=jdoe92", &["OTHER_ID:jdoe92"]),
        ("user: jdoe", &["OTHER_ID:jdoe"]),
        ("username \"jdoe\"", &["OTHER_ID:jdoe"]),
    ]);
    leaves_alone::<Patterns>(&[
        "POSTGRES_USER: app",
        "DB_USER=ehr",
        "Merge branch 'feature/JIRA-1234-fix-login' into main",
        "`erase-end-user` destroys the key",
        "{ role: \"user\", content: 1 }",
        "kind: \"user\".to_owned()",
        "EndUser(end_user::Erase)",
        "user = postgres",
    ]);
}

#[test]
fn the_machine_itself_is_nobodys_address() {
    finds::<Patterns>(&[("http://192.0.2.7:8080/x", &["URL:http://192.0.2.7:8080/x"])]);
    leaves_alone::<Patterns>(&[
        "proxy_pass http://127.0.0.1:8080;",
        "http://0.0.0.0:3000",
        "http://localhost:3000/x",
    ]);
}

#[test]
fn releases_seeds_and_periods_are_no_days_of_anybody() {
    finds::<Patterns>(&[
        ("seen 2026.3.25", &["DATE:2026.3.25"]),
        ("seen 20240101", &["DATE:20240101"]),
        ("dob >= '1981-04-09'", &["DATE:1981-04-09"]),
        ("dob = '1981-04-01'", &["DATE:1981-04-01"]),
        ("<td>2025-01-01</td>", &["DATE:2025-01-01"]),
        ("since '2025-01-01'", &["DATE:2025-01-01"]),
    ]);
    leaves_alone::<Patterns>(&[
        "image: registry/ehr/web:2026.3.1",
        "certifi==2024.7.4",
        "np.random.seed(20240101)",
        "random_state=20240101",
        "WHERE admit_date >= '2025-01-01'",
        "WHERE x BETWEEN DATE '2025-01-01' AND '2025-06-30'",
        "550e8400-e29b-41d4-a716-446655440000",
    ]);
}
