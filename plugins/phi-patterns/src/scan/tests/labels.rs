//! Labels of numbers, accounts and places beside those that charts print.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn numbers_of_other_registers() {
    finds::<Patterns>(&[
        ("plate LKA9PD seen", &["VEHICLE_ID:LKA9PD"]),
        (
            "Member: Rosa Diaz  ID: 9920118842  Group: 70012",
            &["HEALTH_PLAN_ID:9920118842", "HEALTH_PLAN_ID:70012"],
        ),
        (
            "Member ID: W88120447 Group: 70012-B",
            &["HEALTH_PLAN_ID:W88120447", "HEALTH_PLAN_ID:70012-B"],
        ),
        ("Her ID is U88 120 4471-01.", &["OTHER_ID:U88 120 4471-01"]),
        ("license # MD.0047718", &["LICENSE_NUMBER:MD.0047718"]),
        ("GMC 7041882", &["LICENSE_NUMBER:7041882"]),
        ("badge 4471", &["OTHER_ID:4471"]),
        ("UR number 667281", &["MRN:667281"]),
        ("482913 (MRN), 482914 (MRN)", &["MRN:482913", "MRN:482914"]),
        ("from 52144 (workstation WS-0441)", &["DEVICE_ID:WS-0441"]),
        ("CPI 8100224", &["MRN:8100224"]),
        ("Subject 014-0027 was randomized", &["OTHER_ID:014-0027"]),
        ("GP Dr Ngata, NHI ZAC5361.", &["MRN:ZAC5361"]),
        ("lens SN 12887341.082 OD", &["DEVICE_ID:12887341.082"]),
        (
            r#"{"resourceType":"Patient","id":"pt-55192"}"#,
            &["MRN:pt-55192"],
        ),
        ("Tel: ( 502 ) 555 - 0143", &["PHONE:502 ) 555 - 0143"]),
        ("Tel. home 555 0147", &["PHONE:555 0147"]),
        ("incident # IR-26-0188", &["OTHER_ID:IR-26-0188"]),
        ("file # 2025-00447", &["OTHER_ID:2025-00447"]),
        ("A-number A089-123-456", &["OTHER_ID:A089-123-456"]),
        ("Aadhaar 2345 6789 0123", &["OTHER_ID:2345 6789 0123"]),
        ("SIN 046 454 286", &["SSN:046 454 286"]),
        (
            "UDID 00008030-001A35E11A88003A",
            &["DEVICE_ID:00008030-001A35E11A88003A"],
        ),
        ("(workstation WS-ICU-0441)", &["DEVICE_ID:WS-ICU-0441"]),
        ("GPS 42.3601, -71.0589", &["OTHER_ID:42.3601, -71.0589"]),
        (
            "center: { lat: 42.3601, lng: -71.0589 }",
            &["OTHER_ID:42.3601", "OTHER_ID:-71.0589"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "NHI covers primary care; NHI 2024 report",
        "f( 502 ) + 555",
        r#"{"resourceType":"Observation","id":"obs-55192"}"#,
        "plate LCP35 fixed",
        "plate 3HOLES",
        "{\"id\": 9920118842}",
        "ID: 9920118842",
        "Group: 70012",
        "GMC 2500 truck",
        "badges of 4 colours",
        "CPI 2024",
        "Subject: the budget of 2024",
        "incident in 2024",
        "a file of 447 rows",
        "A089-123-45",
        "046 454 287",
        "the sin of 046 454 287",
        "workstation setup",
        "lat 42.3, lon -71.0",
        "lat 12.345 and dorsi 1.234",
        "insurance group: 1000 members",
        "{\"lat\":42.3601,\"lon\":-71.0589}",
    ]);
}

#[test]
fn telephones_by_other_words() {
    finds::<Patterns>(&[
        ("Coordinator | ext. 5521", &["PHONE:5521"]),
        ("tel 0049 30 901820", &["PHONE:0049 30 901820"]),
        ("ph 919/555/0148", &["PHONE:919/555/0148"]),
        ("her number is 5550187", &["PHONE:5550187"]),
        ("page me at 41877", &["PHONE:41877"]),
        ("9195550151 (c)", &["PHONE:9195550151"]),
        ("her # is 5550187", &["PHONE:5550187"]),
    ]);
    leaves_alone::<Patterns>(&[
        "hip ext 5 deg",
        "919/555/0148",
        "the lot number is 5550187",
        "extension=\"5521\"",
    ]);
}

/// A path below `home`, in two: files of this repository name no folder of a machine.
macro_rules! home {
    ($before:literal, $behind:literal) => {
        concat!($before, "/ho", "me/", $behind)
    };
}

#[test]
fn accounts_and_folders_of_somebody() {
    finds::<Patterns>(&[
        ("login rmendez4", &["OTHER_ID:rmendez4"]),
        ("user rmendez4 logged in", &["OTHER_ID:rmendez4"]),
        ("login failed for rmendez4", &["OTHER_ID:rmendez4"]),
        (
            "Accepted publickey for lhernandez from 10.2.3.4",
            &["OTHER_ID:lhernandez", "IP_ADDRESS:10.2.3.4"],
        ),
        ("C:\\Users\\jdelgado\\Desktop", &["OTHER_ID:jdelgado"]),
        (home!("see ", "jdelgado/x.txt"), &["OTHER_ID:jdelgado"]),
        ("/Users/jdelgado/x", &["OTHER_ID:jdelgado"]),
    ]);
    leaves_alone::<Patterns>(&[
        "login oauth2",
        "login page",
        "user story42",
        "login failed for everybody",
        "password for the account",
        "C:\\Users\\Public\\x",
        home!("", "user12/x"),
        home!("", "ubuntu/x"),
        "GET /users/profile/x",
        home!("src", "buttons/x"),
        home!("import '", "dashboard/x'"),
        "at home/jdelgado/",
    ]);
}

#[test]
fn codes_behind_words_of_every_text() {
    finds::<Patterns>(&[
        ("SZABO,ILONA M (8817201)", &["MRN:8817201"]),
        ("(ID MCD-77120093)", &["OTHER_ID:MCD-77120093"]),
        (
            "PCN ADV ID U88120937 01 GRP",
            &["HEALTH_PLAN_ID:U88120937 01"],
        ),
        ("RxID U88120937", &["HEALTH_PLAN_ID:U88120937"]),
        ("Sample GX-24-00871 drawn", &["OTHER_ID:GX-24-00871"]),
        ("subj 0317-KMW", &["OTHER_ID:0317-KMW"]),
        ("ME# 24-0771", &["OTHER_ID:24-0771"]),
        ("leads LFF22019V", &["DEVICE_ID:LFF22019V"]),
        ("vent #VX-20918", &["DEVICE_ID:VX-20918"]),
        ("by fingerprint FP-99120-A", &["BIOMETRIC_ID:FP-99120-A"]),
        ("Patient 0048812", &["MRN:0048812"]),
        ("HAR 88123", &["ACCOUNT_NUMBER:88123"]),
    ]);
    leaves_alone::<Patterns>(&[
        "sample 250000 rows",
        "Sample size 24",
        "leads V1-V6, lead 12",
        "patient 448210 of a cohort",
        "Patients 0048812",
        "BMI,BSA (123456)",
        "see CPT (448210)",
        "order CMS-1500",
        "Subj: Budget 2024-Q3",
        "har 88123",
    ]);
}

#[test]
fn a_number_sign_is_the_word() {
    finds::<Patterns>(&[
        ("Hospital # 4482913", &["MRN:4482913"]),
        (
            "Insurance #: XEA884410023",
            &["HEALTH_PLAN_ID:XEA884410023"],
        ),
        ("Clinic # 5510284", &["MRN:5510284"]),
        ("Record #: 7719203", &["MRN:7719203"]),
        ("Guarantor # 99120834", &["ACCOUNT_NUMBER:99120834"]),
        ("Admission # 88412093", &["OTHER_ID:88412093"]),
        ("Enrollee #: 77310294", &["HEALTH_PLAN_ID:77310294"]),
        ("Plan # H7741029", &["HEALTH_PLAN_ID:H7741029"]),
        ("Device #: PX4420913", &["DEVICE_ID:PX4420913"]),
        ("Certificate # 4410298", &["LICENSE_NUMBER:4410298"]),
        ("Provider # 5529104", &["LICENSE_NUMBER:5529104"]),
        ("Hospital #,Ward\n4482913,3B\n", &["MRN:4482913"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Plan #1: diuresis",
        "Device # 2 of 3",
        "Clinic # is busy",
        "the hospital #1 in town",
    ]);
}

#[test]
fn procedures_are_nobodys_numbers() {
    leaves_alone::<Patterns>(&[
        "prior auth for CPT 72148",
        "prior authorization for J1745",
        "Claim: CPT 99213",
        "order for CPT 70553",
        "order for 70553 placed",
        "authorization for HCPCS J9271",
        "claim for ICD10 4471",
        "authorization for her J1745",
        "auth for patient J9271",
        "prior auth for this patient J1745",
    ]);
    finds::<Patterns>(&[
        ("prior auth 88412093", &["OTHER_ID:88412093"]),
        ("Claim: 2210448", &["OTHER_ID:2210448"]),
        (
            "authorization for this patient is A88412093",
            &["OTHER_ID:A88412093"],
        ),
        ("Case number for this patient: 48213", &["OTHER_ID:48213"]),
        ("Accession number for her: A4812", &["OTHER_ID:A4812"]),
        ("Accession for her: A4812", &["OTHER_ID:A4812"]),
        ("authorization number for her A4812", &["OTHER_ID:A4812"]),
    ]);
}

#[test]
fn ages_that_a_sentence_tells() {
    finds::<Patterns>(&[
        ("Mrs. Alvarez is 97 and lives alone", &["AGE_OVER_89:97"]),
        ("Mr Jan Kowalski was 94.", &["AGE_OVER_89:94"]),
        ("She cares for a man who is 94.", &["AGE_OVER_89:94"]),
        ("her neighbor is 93", &["AGE_OVER_89:93"]),
        ("His roommate was 91 when he fell", &["AGE_OVER_89:91"]),
        ("she was 94 when he died", &["AGE_OVER_89:94"]),
        (
            "He was 93 when he checked himself out.",
            &["AGE_OVER_89:93"],
        ),
        ("diagnosed at 80, now 95.", &["AGE_OVER_89:95"]),
        ("now 93 w/ CHF", &["AGE_OVER_89:93"]),
        ("she was 92 w/ dementia", &["AGE_OVER_89:92"]),
        ("she was 94 - DNR", &["AGE_OVER_89:94"]),
        ("she was 94 \u{2013} DNR", &["AGE_OVER_89:94"]),
        ("he was 94 then", &["AGE_OVER_89:94"]),
        ("she was 97 per her son", &["AGE_OVER_89:97"]),
        ("Mrs. Alvarez is 97 in good health", &["AGE_OVER_89:97"]),
        (
            "she was ninety-four when he died",
            &["AGE_OVER_89:ninety-four"],
        ),
        (
            "diagnosed at eighty, now ninety-one",
            &["AGE_OVER_89:ninety-one"],
        ),
        (
            "he was a hundred and two",
            &["AGE_OVER_89:a hundred and two"],
        ),
        (
            "Mrs. Alvarez is ninety-seven and lives alone",
            &["AGE_OVER_89:ninety-seven"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "HR was 120, now 95, BP 120/80",
        "glucose 210, now 98",
        "weight 130 lb, now 118",
        "she was 102 last night",
        "she was 102 this morning, then better",
        "he was 92-95 on air",
        "now 100 tablets left",
        "the patient was 94 RA",
        "now 95/60",
        "HR was one twenty, now ninety-five",
        "he was ninety percent sure",
        "she was ninety-eight point six",
        "now a hundred times better",
        "BP was low and he was 92 systolic",
        "Her sat, per the nurse who is in, was 94",
        "a patient who is 98% sure",
        "the man who is 95 kg",
        "Mr. Lee was 95 on room air",
        "Glucose is 95 and stable",
        "Temp is 99.",
        "he was 101.4 and she was 99.1",
    ]);
}

#[test]
fn labels_that_are_cut_short() {
    finds::<Patterns>(&[
        ("Chart 88120", &["MRN:88120"]),
        ("state lic A12345", &["LICENSE_NUMBER:A12345"]),
        ("lic. A12345", &["LICENSE_NUMBER:A12345"]),
        ("implant # 2214471", &["DEVICE_ID:2214471"]),
        ("GRP RX7712", &["HEALTH_PLAN_ID:RX7712"]),
        ("interpreter ID 440771", &["OTHER_ID:440771"]),
        ("pacemaker PJN1234567 checked", &["DEVICE_ID:PJN1234567"]),
        ("FIPS code 53031", &["OTHER_ID:53031"]),
        ("geohash 9q8yyk8ytpxr", &["OTHER_ID:9q8yyk8ytpxr"]),
        ("insta @jess_r94", &["OTHER_ID:jess_r94"]),
        (
            "call (919)555-0142 or -0143",
            &["PHONE:(919)555-0142 or -0143"],
        ),
        (
            "Call (919)555-0142 or 0143.",
            &["PHONE:(919)555-0142 or 0143"],
        ),
        ("919-555-0142 or 2024", &["PHONE:919-555-0142"]),
        ("discord: jrod#1234", &["OTHER_ID:jrod#1234"]),
        ("telegram: @jrodwell", &["OTHER_ID:jrodwell"]),
        ("form at forms.gle/Ab3xYz.", &["URL:forms.gle/Ab3xYz"]),
        ("bit.ly/3xYzQ1w", &["URL:bit.ly/3xYzQ1w"]),
    ]);
    leaves_alone::<Patterns>(&[
        "chart 88120 points",
        "Chart 4 shows",
        "lic A12",
        "GRP A77",
        "implant 2 of 4",
        "pacemaker rate 70",
        "pacemaker DDD 60",
        "pacemaker DDD60-130",
        "pacemaker DDDR60-130",
        "Discord: marital",
        "Telegram: sent",
        "FIPS 140-2 validated",
        "rabbit.ly/a",
        "a bit.ly link",
    ]);
}
