//! What programs and their tools have, which looks like identifiers and is nobody's.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn settings_and_branches_are_no_accounts() {
    finds::<Patterns>(&[
        ("DB_USER=jdoe92", &["OTHER_ID:jdoe92"]),
        ("user: jdoe", &["OTHER_ID:jdoe"]),
        ("user `jokafor` has no access", &["OTHER_ID:jokafor"]),
        ("login: jokafor's portal", &["OTHER_ID:jokafor"]),
        ("user=\"jokafor;\"", &["OTHER_ID:jokafor"]),
        (
            "[INFO] login: Rosewater from 73.44.120.9",
            &["OTHER_ID:Rosewater", "IP_ADDRESS:73.44.120.9"],
        ),
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

#[test]
fn what_is_said_of_users_in_general_is_no_account() {
    finds::<Patterns>(&[
        (
            r#"{"user":"tbrandt","action":"delete"}"#,
            &["OTHER_ID:tbrandt"],
        ),
        (
            r#"{"role":"user","username":"tbrandt"}"#,
            &["OTHER_ID:tbrandt"],
        ),
        (r#"session["user"] = "tbrandt""#, &["OTHER_ID:tbrandt"]),
        ("| User | tbrandt4 |", &["OTHER_ID:tbrandt4"]),
        ("User: tbrandt logged in", &["OTHER_ID:tbrandt"]),
        ("Snapchat: kiki.moreau", &["OTHER_ID:kiki.moreau"]),
    ]);
    leaves_alone::<Patterns>(&[
        r#"{"role":"user","content":"Write a limerick."}"#,
        r#"{\"role\":\"user\",\"content\":\"hi\"}"#,
        "{'role': 'user', 'parts': ['hi']}",
        r#"if role == "user": reply = "x""#,
        r#"{"type":"user","severity":"info"}"#,
        r#"["user","email","telephone"]"#,
        r#"df[["user","points"]]"#,
        r#"{"required":["username","secret"]}"#,
        r#"SELECT "user", "state""#,
        r#"<option value="user">User</option><option value="clerk">Clerk</option>"#,
        "| user | purpose | state |",
        "User > Preferences",
        "Login: ask your manager. User: any. Username: choose one yourself.",
        "let Some((user, _)) = found.context(\"x\")? else {",
        "user = current_user()",
        "a better experience for the user.\n- `timeout` is in milliseconds",
        "shown back to the user. \"watching CI run\" beats \"waiting\"",
        "User: \"Update the button styles\"",
        "User: Wow, that was perfect!",
        "Content watched by user: 'watcher = \"x\"'",
        "User: Try to make me laugh",
        "user: don't mock the store",
        "Add the following to your user `settings.json` file:",
        "Time to first login: __ days (target: 3)",
        "Presented to the user. `volume`: this value should be a number.",
        "mkdir \"/Users/name/My Documents\"",
        "`members@odata.bind` is a list",
        "\n5.6.31.1. Remarks\n5.6.31.2. Definition of the field",
        "add adapters for `FutureExt` ([#7475])",
        "add spans to `fmt::Subscriber` ([#2962])",
        "RSI = -0.0098 * AR\n      +0.0128283 * JUN",
        "user = request.user",
        "Instagram: Snapchat",
    ]);
}

#[test]
fn programs_and_interfaces_are_no_address_of_anybody() {
    finds::<Patterns>(&[
        ("see github.com/tbrandt", &["URL:github.com/tbrandt"]),
        (
            "https://api.example.com/v1/patients/44182",
            &["URL:https://api.example.com/v1/patients/44182"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        r#"import "github.com/jackc/pgx/v5""#,
        "golang.org/x/crypto@v0.24.0",
        "git+https://gitlab.com/psf/requests",
        "curl https://api.example.com/v1/users",
    ]);
}

#[test]
fn what_may_be_so_old_is_nobodys_age() {
    finds::<Patterns>(&[
        ("patient_age = 93", &["AGE_OVER_89:93"]),
        ("She is in her 90s", &["AGE_OVER_89:90"]),
        ("Age: 93", &["AGE_OVER_89:93"]),
        ("a 95 yo man", &["AGE_OVER_89:95"]),
    ]);
    leaves_alone::<Patterns>(&[
        "MAX_AGE = 120",
        "Cache-Control: max-age=120",
        "retention_age: 95",
        "minimum age: 90",
        "Patients aged 90 years or older were excluded",
        "Ages 95 and above: do not use",
        "a 95 yo building",
        "SBP in the 90s",
        "sats in the mid 90s",
    ]);
}

#[test]
fn forms_and_lines_of_help_have_numbers_of_nobody() {
    finds::<Patterns>(&[
        ("(555) 482-9931", &["PHONE:(555) 482-9931"]),
        ("1-800-482-1222", &["PHONE:1-800-482-1222"]),
    ]);
    leaves_alone::<Patterns>(&[
        "999-99-9999 for the SSN",
        "SSN: 999-99-9999",
        "(999) 999-9999",
        "(555) 555-5555",
        "Poison control 1-800-222-1222",
        "call 800.799.7233",
    ]);
}

#[test]
fn what_is_usual_for_a_value_is_no_reference() {
    finds::<Patterns>(&[
        ("Reference: 448219", &["OTHER_ID:448219"]),
        ("Ref: 884-219", &["OTHER_ID:884-219"]),
        ("Reference: AB-44821", &["OTHER_ID:AB-44821"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Na 138 (Reference: 136-145)",
        r#"{"test":"Plt","reference":"150-400"}"#,
        "Test,Result,Reference\nPlt,188,150-400\nNa,140,135-145",
        "WBC reference: 4000-11000",
    ]);
}
