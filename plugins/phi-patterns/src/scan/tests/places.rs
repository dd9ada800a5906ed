//! Values that a table, a form or a message labels by their place.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn columns_of_tables_of_any_kind() {
    finds::<Patterns>(&[
        (
            "| # | Patient | MRN |\n|---|---|---|\n| 1 | Ann | 440182 |",
            &["MRN:440182"],
        ),
        (
            " patient | mrn\n---------+--------\n Ann     | 440182",
            &["MRN:440182"],
        ),
        (
            "Patient   MRN      Age\nAnn       440182   92\nBea       440183   71",
            &["MRN:440182", "AGE_OVER_89:92", "MRN:440183"],
        ),
        (
            "<tr><th>Name</th><th>MRN</th></tr><tr><td>Ann</td><td>440182</td></tr>",
            &["MRN:440182"],
        ),
        (
            "{\"columns\":[\"name\",\"mrn\"],\"data\":[[\"Ann\",440182]]}",
            &["MRN:440182"],
        ),
        ("mrn LIKE '%440182%'", &["MRN:440182"]),
        ("mrn IN ('440182', '440183')", &["MRN:440182", "MRN:440183"]),
    ]);
    leaves_alone::<Patterns>(&[
        "| # | Drug | Dose |\n|---|---|---|\n| 1 | aspirin | 440182 |",
        "Test   Value   Unit\nHgb    440182  92",
        "code LIKE '%440182%'",
    ]);
}

#[test]
fn ages_in_columns_and_lists() {
    finds::<Patterns>(&[
        (
            "mrn,age,dx\n440182,92,CLL",
            &["MRN:440182", "AGE_OVER_89:92"],
        ),
        (
            "| Age/Sex | Dx |\n|---|---|\n| 91 F | CLL |",
            &["AGE_OVER_89:91"],
        ),
        (
            "age (y),patientAge\n95 yrs,96",
            &["AGE_OVER_89:95", "AGE_OVER_89:96"],
        ),
        ("{\"patient_age\": \"94\"}", &["AGE_OVER_89:94"]),
        ("Bosch 96F, fall risk", &["AGE_OVER_89:96"]),
        ("new: Lee (hip fx, 91F, OR later)", &["AGE_OVER_89:91"]),
        ("a 93-y-o woman", &["AGE_OVER_89:93"]),
        ("lived to 102", &["AGE_OVER_89:102"]),
        ("turned 90 in May", &["AGE_OVER_89:90", "DATE:May"]),
        ("a nonagenarian", &["AGE_OVER_89:nonagenarian"]),
        ("she will be 100 in the fall", &["AGE_OVER_89:100"]),
    ]);
    leaves_alone::<Patterns>(&[
        "no,age,dx\n440182,71,CLL",
        "age,wage\n90-100,95",
        "stage,page\n92,93",
        "{\"age\": {\"minimum\": 90}}",
        "temp 96F, HR 88",
        "fever 101F, chills",
        "vitals 98F, BP 120/80",
        "raised $94M, then 95M, again",
        "a model of 92M, or so",
        "capacity will be 100 this year",
        "the dose will be 100 mg",
        "lived to 95 % of it",
        "turned 90 degrees",
        "a club of centenarians",
    ]);
}

#[test]
fn the_last_four_digits_under_any_name() {
    finds::<Patterns>(&[
        ("{\"ssn_last4\":\"8821\"}", &["SSN:8821"]),
        ("{\"ssnLast4\":8821}", &["SSN:8821"]),
        ("{\"last4ssn\":\"8821\"}", &["SSN:8821"]),
        ("{\"last_four\":\"8821\"}", &["SSN:8821"]),
        ("{\"ssn\":{\"last4\":\"8714\"}}", &["SSN:8714"]),
        ("ssn_last_4=8821", &["SSN:8821"]),
        ("ssn last4: 8821", &["SSN:8821"]),
        ("name,ssn_last_four\nAnn,8821", &["SSN:8821"]),
    ]);
    leaves_alone::<Patterns>(&[
        "{\"last4\":\"88210\"}",
        "{\"last_four\":\"months\"}",
        "{\"ssn_last4\":\"xxxx\"}",
        "the last four: 8821",
    ]);
}

#[test]
fn fields_of_standard_messages() {
    finds::<Patterns>(&[
        (
            "PV1|1|I|5E||||1447219880^KULKARNI^RAVINDRA^^^^MD",
            &["LICENSE_NUMBER:1447219880"],
        ),
        (
            "OBR|1||||||||||||004777^ROE^JANE",
            &["LICENSE_NUMBER:004777"],
        ),
        (
            "<patientRole><id extension=\"5590231\" root=\"1.2.840.114350\"/>",
            &["MRN:5590231"],
        ),
        (
            "<patientRole><id root=\"2.16.840.1.113883.4.1\" extension=\"111-00-2330\"/>",
            &["SSN:111-00-2330"],
        ),
        (
            "<identifier><type><code value=\"MR\"/></type><value value=\"5590231\"/></identifier>",
            &["MRN:5590231"],
        ),
        (
            "{\"identifier\":[{\"system\":\"urn:x:a.smart.org\",\"value\":\"1032702\"}]}",
            &["OTHER_ID:1032702"],
        ),
        (
            "{\"telecom\":[{\"use\":\"home\",\"value\":\"7145550188\"}]}",
            &["PHONE:7145550188"],
        ),
        (
            "(0010,0020) LO [440182]  #   6, 1 PatientID",
            &["MRN:440182"],
        ),
        (
            "Smith, John | 02/03/1944 | M | 3384712",
            &["DATE:02/03/1944", "MRN:3384712"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "<templateId extension=\"440182\" root=\"1.2.840\"/>",
        "(0028,0010) US 440182  # 2, 1 Rows",
        "OBX|1|NM|15545^GLUCOSE^LOCAL||98|mg/dL",
        "Glucose | 98 | M | 3384712",
    ]);
}
