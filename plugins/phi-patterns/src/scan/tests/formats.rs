//! Numbers and days in the formats of programs, databases, pharmacies and practices.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn numbers_in_messages_and_records() {
    finds::<Patterns>(&[
        (
            "AM01\x1cC419510314\x1cCQ6305550188\x1e\x1cAM04\x1cC2XK77120\x1e\x1cAM07\x1cD2000441902",
            &[
                "DATE:19510314",
                "PHONE:6305550188",
                "HEALTH_PLAN_ID:XK77120",
                "OTHER_ID:000441902",
            ],
        ),
        (
            "01380006301\n014300060417\n017310314031951\n0193105Q771205518",
            &["MRN:60417", "DATE:14031951", "HEALTH_PLAN_ID:Q771205518"],
        ),
        (
            "P|1|60417|||Doe^Ann||19620314\nO|1|S77120",
            &["MRN:60417", "DATE:19620314", "OTHER_ID:S77120"],
        ),
        (
            r#"{"resourceType":"Patient","meta":{"versionId":"3"},"id":"pt-55192"}"#,
            &["MRN:pt-55192"],
        ),
        (
            r#"{"id":"pt-55192","meta":{"versionId":"3"},"resourceType":"Patient"}"#,
            &["MRN:pt-55192"],
        ),
        (
            "-[ RECORD 1 ]---\nmrn | 60417\nage | 94",
            &["MRN:60417", "AGE_OVER_89:94"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "press ^\\ to quit, ^C to stop; [0-9]^\\D2000441902",
        r#"{"resourceType":"Bundle","id":"b-55192","entry":[{"resource":{"resourceType":"Patient"}}]}"#,
        "mrn | varchar(20)\nage | int",
    ]);
}

#[test]
fn numbers_in_programs() {
    finds::<Patterns>(&[
        ("Age (years): 94", &["AGE_OVER_89:94"]),
        (
            "| Age (yrs) | MRN (hospital) |\n|---|---|\n| 94 | 60417 |",
            &["AGE_OVER_89:94", "MRN:60417"],
        ),
        ("tmp['PID']['PID.3']['PID.3.1'] = '60417';", &["MRN:60417"]),
        ("DECLARE @mrn varchar(20) = '60417';", &["MRN:60417"]),
        (
            "WHERE mrn <> '60417' OR mrn BETWEEN '60418' AND '60420'",
            &["MRN:60417", "MRN:60418", "MRN:60420"],
        ),
        ("SELECT '60417' AS mrn", &["MRN:60417"]),
        (
            "COPY p (mrn, sex) FROM stdin;\n60417\tF\n60418\tM\n\\.",
            &["MRN:60417", "MRN:60418"],
        ),
        ("let mrn: &str = \"60417\";", &["MRN:60417"]),
        ("array(1) {\n  [\"mrn\"]=>\n  int(60417)\n}", &["MRN:60417"]),
        ("1) \"mrn\"\n2) \"B60417\"", &["MRN:B60417"]),
        (r#"{"mrn":{"$numberLong":"60417"}}"#, &["MRN:60417"]),
        (
            "form-data; name=\"mrn\"\r\n\r\n60417\r\n--X",
            &["MRN:60417"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "Age (months): 94",
        "MRN (required): 8 digits",
        "tmp['PID']['PID.3'] = msg['PID']['PID.3'];",
        "DECLARE @mrn varchar(20) = @id",
        "if (age >= 94 || mrn == other) {}",
        "msg['MSH']['MSH.10'] = count; a[60417] = 3",
    ]);
}
