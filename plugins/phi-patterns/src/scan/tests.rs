//! What is found and what is left alone, kind by kind: the marked text against the findings.

use detector_kit::bindings::exports::gateway::plugin::lifecycle;
use detector_kit::cases::{finds, leaves_alone};
use detector_kit::{Detector, Segment, SegmentOrigin};

use super::*;
use crate::{Patterns, Plugin};

mod abroad;
mod ages;
mod brief;
mod charts;
mod codes;
mod dates;
mod days;
mod formats;
mod labels;
mod places;
mod programs;
mod shorthand;
mod slips;
mod times;

#[test]
fn a_number_in_the_name_of_a_tool_is_found() {
    let text = "ssn_536-22-8714";
    let segment = Segment {
        start: 0,
        end: 15,
        origin: SegmentOrigin::ToolName,
    };
    let mut findings = Vec::new();
    Patterns::find(text, &[segment], &mut findings);
    let found: Vec<(usize, usize, usize)> = findings
        .iter()
        .map(|finding| (finding.kind, finding.start, finding.end))
        .collect();
    assert_eq!(found, [(kind::SSN, 4, 15)]);
}

#[test]
fn social_security_numbers() {
    finds::<Patterns>(&[
        ("SSN 219-09-9999.", &["SSN:219-09-9999"]),
        ("(219-09-9999)", &["SSN:219-09-9999"]),
        ("his ssn is 219 09 9999", &["SSN:219 09 9999"]),
        ("SSN: 219 099 999", &["SSN:219 099 999"]),
        ("last 4 SSN 7781", &["SSN:7781"]),
        ("social security: 219099999", &["SSN:219099999"]),
        ("ssn last four 9999", &["SSN:9999"]),
        (
            "the last four of your social security number: 9999",
            &["SSN:9999"],
        ),
        ("ssn xxx-xx-9999", &["SSN:9999"]),
        ("SSN: 987-65-4321", &["SSN:987-65-4321"]),
        ("ITIN 912-78-1234", &["OTHER_ID:912-78-1234"]),
        ("it is 900-12-3456", &["OTHER_ID:900-12-3456"]),
        ("ssn 912781234", &["SSN:912781234"]),
        ("ssn_536-22-8714", &["SSN:536-22-8714"]),
        ("lookup_ssn_536-22-8714_now", &["SSN:536-22-8714"]),
        ("ssn536228714", &["SSN:536228714"]),
        (
            "a 219-09-9999, b 078-05-1120",
            &["SSN:219-09-9999", "SSN:078-05-1120"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "000-12-3456",
        "666-12-3456",
        "219-00-9999",
        "219-09-0000",
        "219099999",
        "12219-09-9999",
        "219-09-99991",
        "A219-09-9999B",
        "last four 9999",
        "x_536-22-8714",
        "ssn_536-22-87145",
    ]);
}

#[test]
fn telephone_and_fax_numbers() {
    finds::<Patterns>(&[
        ("call (212) 555-0142 now", &["PHONE:(212) 555-0142"]),
        ("212-555-0142", &["PHONE:212-555-0142"]),
        ("212.555.0142", &["PHONE:212.555.0142"]),
        ("212 555 0142", &["PHONE:212 555 0142"]),
        ("+1 (212) 555-0142", &["PHONE:+1 (212) 555-0142"]),
        ("1-212-555-0142 ext. 12", &["PHONE:1-212-555-0142 ext. 12"]),
        ("+44 20 7946 0958", &["PHONE:+44 20 7946 0958"]),
        ("cell 2125550142", &["PHONE:2125550142"]),
        ("phone 555-0142", &["PHONE:555-0142"]),
        ("a good phone number: 555 0142", &["PHONE:555 0142"]),
        ("Fax: 212-555-0143", &["FAX:212-555-0143"]),
        (
            "Fax 212-555-0143, phone 212-555-0142",
            &["FAX:212-555-0143", "PHONE:212-555-0142"],
        ),
        (
            "phone 212-555-0142 fax 212-555-0143",
            &["PHONE:212-555-0142", "FAX:212-555-0143"],
        ),
        ("212-555-0143 (fax)", &["FAX:212-555-0143"]),
        ("tel 020 7946 0958", &["PHONE:020 7946 0958"]),
    ]);
    leaves_alone::<Patterns>(&[
        "555-0142",
        "2125550142",
        "range 100-200",
        "platelets 212 thousand",
        "0.212-555",
    ]);
}

#[test]
fn addresses() {
    finds::<Patterns>(&[
        (
            "mail jane.doe+x@mail.example.org.",
            &["EMAIL:jane.doe+x@mail.example.org"],
        ),
        ("<j@x.io>", &["EMAIL:j@x.io"]),
        (
            "\"email\":\"o'neil@example.com\"",
            &["EMAIL:o'neil@example.com"],
        ),
        (
            "josé@correo.es, b@c.de",
            &["EMAIL:josé@correo.es", "EMAIL:b@c.de"],
        ),
        ("it is nkem.o @ gmail.com.", &["EMAIL:nkem.o @ gmail.com"]),
        (
            "email is jane dot doe at gmail dot com",
            &["EMAIL:jane dot doe at gmail dot com"],
        ),
        (
            "nkem.o AT gmail DOT com",
            &["EMAIL:nkem.o AT gmail DOT com"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "日本語@日本語",
        "meet @ noon",
        "user@host",
        "look at amazon dot com",
        "find us at lakeside dot org",
        "2 @ 3.5",
        "@handle.name",
        "a@b..com",
        "5 mg @ 8.30",
    ]);
}

#[test]
fn addresses_in_scripts_without_spaces() {
    finds::<Patterns>(&[
        (
            "患者的女儿希望我们把化验单和出院小结一起发到zhang.wei@example.com",
            &["EMAIL:zhang.wei@example.com"],
        ),
        (
            "请发到zhang.wei@example.com，谢谢，并请在星期五之前把出院小结也寄给家属",
            &["EMAIL:zhang.wei@example.com"],
        ),
        (
            "กรุณาส่งผลตรวจไปที่somchai@example.co.thภายในวันศุกร์",
            &["EMAIL:somchai@example.co.th"],
        ),
        ("kim@example.kr으로 보내 주세요", &["EMAIL:kim@example.kr"]),
        ("см. «ivan@example.ru»", &["EMAIL:ivan@example.ru"]),
        ("see—jane@example.org—or call", &["EMAIL:jane@example.org"]),
        ("пишите на иван@почта.рф", &["EMAIL:иван@почта.рф"]),
        ("用户@例子.公司", &["EMAIL:用户@例子.公司"]),
        ("发到 wei @ gmail.com", &["EMAIL:wei @ gmail.com"]),
        ("发到wei @ gmail.com。", &["EMAIL:wei @ gmail.com"]),
        (
            "电子邮件wei dot zhang at gmail dot com",
            &["EMAIL:wei dot zhang at gmail dot com"],
        ),
        ("发到wei(at)gmail.com吧", &["EMAIL:wei(at)gmail.com"]),
        ("இது பெயர்@உதாரணம்.இந்தியா.", &["EMAIL:பெயர்@உதாரணம்.இந்தியா"]),
        ("อีเมล ผู้ป่วย@ตัวอย่าง.ไทย", &["EMAIL:ผู้ป่วย@ตัวอย่าง.ไทย"]),
        ("लिखें संपर्क@डाटामेल.भारत।", &["EMAIL:संपर्क@डाटामेल.भारत"]),
        ("O\u{2019}Brien@x.com", &["EMAIL:O\u{2019}Brien@x.com"]),
        ("the \u{2018}jane@x.com\u{2019} one", &["EMAIL:jane@x.com"]),
        ("\u{2019}jane@x.com\u{2019}", &["EMAIL:jane@x.com"]),
        ("Jose\u{301}@x.com", &["EMAIL:Jose\u{301}@x.com"]),
        ("mail wei@example.中国，谢谢", &["EMAIL:wei@example.中国"]),
        ("请发到wei@example.cn.谢谢你们", &["EMAIL:wei@example.cn"]),
    ]);
    let path = format!(
        "https://portal.lakeside-clinic.com/患{}",
        "者".repeat(1_000)
    );
    let mut findings = Vec::new();
    scan(path.as_bytes(), &mut findings);
    assert!(
        findings
            .iter()
            .all(|found| path.is_char_boundary(found.end))
    );
    assert_eq!(findings.len(), 1);
}

#[test]
fn record_numbers() {
    finds::<Patterns>(&[
        ("MRN: 00482913", &["MRN:00482913"]),
        ("Member ID XEA 884410023", &["HEALTH_PLAN_ID:XEA 884410023"]),
        (
            "adm 11/01 for sepsis, RTC 11/18",
            &["DATE:11/01", "DATE:11/18"],
        ),
        ("MRN#482913", &["MRN:482913"]),
        ("your record, MRN: 48 29 13", &["MRN:48 29 13"]),
        ("MRN00482913", &["MRN:00482913"]),
        ("medical record number is A-482913", &["MRN:A-482913"]),
        ("{\"medicalRecordNumber\": \"482913\"}", &["MRN:482913"]),
        ("{\"mrn\":482913}", &["MRN:482913"]),
        ("patient_id=88213004", &["MRN:88213004"]),
        ("Chart # 48291", &["MRN:48291"]),
        ("patientMrn: 482913", &["MRN:482913"]),
    ]);
    leaves_alone::<Patterns>(&[
        "MRN pending",
        "chart 12",
        "00482913",
        "the charter 48291",
        "patient identified 4829 cells",
    ]);
}

#[test]
fn dates() {
    finds::<Patterns>(&[
        ("DOB 03/14/1962", &["DATE:03/14/1962"]),
        ("3/14/24", &["DATE:3/14/24"]),
        ("14.03.2024", &["DATE:14.03.2024"]),
        ("2024-03-14T08:30:00Z", &["DATE:2024-03-14"]),
        ("seen 20240314", &["DATE:20240314"]),
        ("PID|19620314|", &["DATE:19620314"]),
        ("in 03/2024", &["DATE:03/2024"]),
        ("seen on 3/14", &["DATE:3/14"]),
        ("March 14, 2024", &["DATE:March 14, 2024"]),
        ("Mar. 14th", &["DATE:Mar. 14th"]),
        ("14 March 2024", &["DATE:14 March 2024"]),
        ("the 14th of march", &["DATE:14th of march"]),
        ("14-MAR-2024", &["DATE:14-MAR-2024"]),
        ("14MAR2024", &["DATE:14MAR2024"]),
        ("born in March 1962", &["DATE:March 1962"]),
        ("sept 3", &["DATE:sept 3"]),
        ("on may 3rd", &["DATE:may 3rd"]),
        ("June 3 and July 4", &["DATE:June 3", "DATE:July 4"]),
    ]);
    leaves_alone::<Patterns>(&[
        "2/6 murmur",
        "strength 5/5",
        "BP 120/80",
        "pain 7/10 on exertion",
        "carbidopa 25/100 mg",
        "in 2024",
        "since 1998",
        "may 5 mg daily help",
        "it may 3 times",
        "version 1.2.24",
        "13/32/2024",
        "augment 5",
        "marching 4",
        "ratio 1/2",
        "decreased 10 points",
        "A1c 7.2",
        "ICD-10 E11.9",
        "NDC 0002-8215-01",
    ]);
}

#[test]
fn ranges_and_spoken_dates() {
    finds::<Patterns>(&[
        ("admitted March 14-17, 2024", &["DATE:March 14-17, 2024"]),
        ("july thirty first", &["DATE:july thirty first"]),
        (
            "July thirty first, O eight",
            &["DATE:July thirty first, O eight"],
        ),
        ("the third of march", &["DATE:third of march"]),
        (
            "march second nineteen sixty two",
            &["DATE:march second nineteen sixty two"],
        ),
        (
            "in june two thousand eight",
            &["DATE:june two thousand eight"],
        ),
        ("on august twenty two", &["DATE:august twenty two"]),
        (
            "december third of two thousand three",
            &["DATE:december third of two thousand three"],
        ),
        ("seen on march second for it", &["DATE:march second"]),
    ]);
    leaves_alone::<Patterns>(&[
        "may one day help",
        "march on",
        "in june",
        "the second of two doses",
        "may second that",
    ]);
}

#[test]
fn ages_above_89() {
    finds::<Patterns>(&[
        ("a 92-year-old man", &["AGE_OVER_89:92"]),
        ("92 y/o F", &["AGE_OVER_89:92"]),
        ("94yo female", &["AGE_OVER_89:94"]),
        ("age: 101", &["AGE_OVER_89:101"]),
        ("How old is your mother? 93", &["AGE_OVER_89:93"]),
        ("she is 93 and frail", &["AGE_OVER_89:93"]),
        ("95F with pneumonia", &["AGE_OVER_89:95"]),
        ("in her 90s", &["AGE_OVER_89:90"]),
        ("a ninety-two year old", &["AGE_OVER_89:ninety-two"]),
        (
            "one hundred and two years old",
            &["AGE_OVER_89:one hundred and two"],
        ),
        ("{\"age\": 97}", &["AGE_OVER_89:97"]),
    ]);
    leaves_alone::<Patterns>(&[
        "a 89-year-old man",
        "76 y/o",
        "BP 92/60",
        "sat 92%",
        "temp 98F",
        "she is 95 kg",
        "92 mg",
        "pulse 92",
        "he was 98 percent",
        "ninety minutes",
        "a hundred times",
    ]);
}

#[test]
fn plans_and_accounts() {
    finds::<Patterns>(&[
        ("MBI 1EG4-TE5-MK73", &["HEALTH_PLAN_ID:1EG4-TE5-MK73"]),
        ("1EG4TE5MK73", &["HEALTH_PLAN_ID:1EG4TE5MK73"]),
        ("Member ID: XJB123A45678", &["HEALTH_PLAN_ID:XJB123A45678"]),
        (
            "policy number is POL-88-1234",
            &["HEALTH_PLAN_ID:POL-88-1234"],
        ),
        ("group # 0045512", &["HEALTH_PLAN_ID:0045512"]),
        (
            "subscriber id W123 456 789",
            &["HEALTH_PLAN_ID:W123 456 789"],
        ),
        ("Account # 88120394", &["ACCOUNT_NUMBER:88120394"]),
        (
            "GB82 WEST 1234 5698 7654 32",
            &["ACCOUNT_NUMBER:GB82 WEST 1234 5698 7654 32"],
        ),
        (
            "DE89370400440532013000",
            &["ACCOUNT_NUMBER:DE89370400440532013000"],
        ),
        ("routing number 021000021", &["ACCOUNT_NUMBER:021000021"]),
        ("card ending in 4242", &["CREDIT_CARD:4242"]),
    ]);
    leaves_alone::<Patterns>(&[
        "1EG4-TE5-MK7",
        "0EG4TE5MK73",
        "GB82 WEST 1234 5698 7654 33",
        "account of 4 visits",
        "her policy 2024",
        "member of 3 teams",
        "the group number was small",
    ]);
}

#[test]
fn licences_vehicles_and_devices() {
    finds::<Patterns>(&[
        ("NPI 1234567893", &["LICENSE_NUMBER:1234567893"]),
        ("DEA AB1234563", &["LICENSE_NUMBER:AB1234563"]),
        ("BS1234563", &["LICENSE_NUMBER:BS1234563"]),
        (
            "driver's license D123-4567-8901",
            &["LICENSE_NUMBER:D123-4567-8901"],
        ),
        ("DL# F25592150094", &["LICENSE_NUMBER:F25592150094"]),
        ("VIN: 1M8GDM9AXKP042788", &["VEHICLE_ID:1M8GDM9AXKP042788"]),
        (
            "drives 1M8GDM9AXKP042788 now",
            &["VEHICLE_ID:1M8GDM9AXKP042788"],
        ),
        ("license plate 7ABC123", &["VEHICLE_ID:7ABC123"]),
        ("plate: KLM 4821", &["VEHICLE_ID:KLM 4821"]),
        ("serial number PX4420913", &["DEVICE_ID:PX4420913"]),
        ("S/N: 88-1123-A", &["DEVICE_ID:88-1123-A"]),
        (
            "(01)00844588003288(17)141120(21)10987654d321",
            &["DEVICE_ID:(01)00844588003288(17)141120(21)10987654d321"],
        ),
        ("IMEI 490154203237518", &["DEVICE_ID:490154203237518"]),
        ("00:1B:44:11:3A:B7", &["DEVICE_ID:00:1B:44:11:3A:B7"]),
    ]);
    leaves_alone::<Patterns>(&[
        "AB1234567",
        "1M8GDM9A1KP042788",
        "(01)00844588003288(17)141120",
        "plate 4 holes",
        "serial exams every 3 months",
        "licensed in 1998",
        "dl 4.2",
        "sn 12",
    ]);
}

#[test]
fn addresses_of_the_web() {
    finds::<Patterns>(&[
        (
            "see https://portal.lakeside.com/u/jane?x=1.",
            &["URL:https://portal.lakeside.com/u/jane?x=1"],
        ),
        ("(www.jane-doe.net)", &["URL:www.jane-doe.net"]),
        (
            "facebook.com/jane.doe.52",
            &["URL:facebook.com/jane.doe.52"],
        ),
        ("from 203.0.113.54:443", &["IP_ADDRESS:203.0.113.54"]),
        (
            "2001:db8:85a3::8a2e:370:7334",
            &["IP_ADDRESS:2001:db8:85a3::8a2e:370:7334"],
        ),
        (
            "fe80::1ff:fe23:4567:890a",
            &["IP_ADDRESS:fe80::1ff:fe23:4567:890a"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "http://hl7.org/fhir/sid/icd-10",
        "https://www.cdc.gov/flu",
        "127.0.0.1",
        "version 10.2.3.40",
        "1.2.840.113619.2.5",
        "1.2.3.4",
        "12:30:45",
        "std::fmt",
        "aa:bb",
        "and/or w/o",
    ]);
}

#[test]
fn other_codes() {
    finds::<Patterns>(&[
        ("accession S24-10233", &["OTHER_ID:S24-10233"]),
        (
            "id 7c9e6679-7425-40de-944b-e07fc1f90ae7",
            &["OTHER_ID:7c9e6679-7425-40de-944b-e07fc1f90ae7"],
        ),
        ("username: jdoe92", &["OTHER_ID:jdoe92"]),
        ("study ID: ONC-0042-117", &["OTHER_ID:ONC-0042-117"]),
        ("passport no. X1234567", &["OTHER_ID:X1234567"]),
        ("claim # 2024CL88123", &["OTHER_ID:2024CL88123"]),
        ("fingerprint ID: FP-448120", &["BIOMETRIC_ID:FP-448120"]),
    ]);
    leaves_alone::<Patterns>(&[
        "ICD-10 E11.9",
        "CPT 99213",
        "LOINC 4548-4",
        "SNOMED 44054006",
        "NCT04280705",
        "NDC 0002-8215-01",
        "the user name field",
        "user story 12",
        "login page",
        "00000000-0000-0000-0000-000000000000",
        "claims that 3 of 4",
        "encounter with 2 bears",
        "specimen 2 of 3",
        "RxNorm 860975",
        "HbA1c 7.2",
        "q12h",
        "COVID19",
        "B12 level",
        "L4-L5",
    ]);
}

#[test]
fn labels_on_both_sides_and_lists() {
    finds::<Patterns>(&[
        ("482913 (MRN)", &["MRN:482913"]),
        ("482913 is her medical record number", &["MRN:482913"]),
        ("219099999 (SSN)", &["SSN:219099999"]),
        ("2125550142 is my cell", &["PHONE:2125550142"]),
        (
            "MRNs 48291, 48292 and 48293",
            &["MRN:48291", "MRN:48292", "MRN:48293"],
        ),
        ("MRN\n482913", &["MRN:482913"]),
    ]);
}

#[test]
fn fields_of_formats() {
    finds::<Patterns>(&[
        (
            "PID|1||482913^^^H^MR||DOE^ANN||19620314|F|||||2125550142|||||ACC9912|219099999",
            &[
                "MRN:482913",
                "DATE:19620314",
                "PHONE:2125550142",
                "ACCOUNT_NUMBER:ACC9912",
                "SSN:219099999",
            ],
        ),
        (
            "NM1*IL*1*DOE*ANN****MI*W88123~REF*SY*219099999~DMG*D8*19620314*F~",
            &["HEALTH_PLAN_ID:W88123", "SSN:219099999", "DATE:19620314"],
        ),
        (
            "{\"system\":\"http://hl7.org/fhir/sid/us-ssn\",\"value\":\"219099999\"}",
            &["SSN:219099999"],
        ),
        (
            "name,mrn,ssn\nx,482913,219099999\ny,482914,219099998",
            &["MRN:482913", "SSN:219099999", "MRN:482914", "SSN:219099998"],
        ),
        (
            "INSERT INTO p (mrn, phone) VALUES ('482913', '2125550142')",
            &["MRN:482913", "PHONE:2125550142"],
        ),
        (
            "level=info user=jdoe92 mrn=482913",
            &["OTHER_ID:jdoe92", "MRN:482913"],
        ),
        ("<mrn>482913</mrn>", &["MRN:482913"]),
    ]);
    leaves_alone::<Patterns>(&[
        "{\"code\":\"4548-4\",\"system\":\"http://loinc.org\",\"value\":7.2}",
        "a,b,c\n1,2,3",
        "role=user x=1",
    ]);
}

#[test]
fn cards() {
    finds::<Patterns>(&[
        ("4111 1111 1111 1111", &["CREDIT_CARD:4111 1111 1111 1111"]),
        (
            "card 4111-1111-1111-1111.",
            &["CREDIT_CARD:4111-1111-1111-1111"],
        ),
        ("378282246310005", &["CREDIT_CARD:378282246310005"]),
        ("3782 822463 10005", &["CREDIT_CARD:3782 822463 10005"]),
        ("4111111111111111110", &["CREDIT_CARD:4111111111111111110"]),
        ("3056 930902 5904", &["CREDIT_CARD:3056 930902 5904"]),
    ]);
    leaves_alone::<Patterns>(&[
        "4111 1111 1111 1112",
        "1111 1111 1111 1117",
        "batch 9111111111111111",
        // Somebody counts.
        "| 376 377 378 379 380 |",
        "411 111 111 111 111 1",
    ]);
}

#[test]
fn the_sample_of_every_kind_is_found() {
    assert_eq!(<Plugin as lifecycle::Guest>::self_test(), Ok(()));
}

#[test]
fn any_text_is_survived() {
    let words = "Mar May 5 9 ssn mrn | | # \n \n \t  \" ' [ ] { } < > = % ( ) , : . - -- / @ \\ at dot com id ID: \
                 Users home in since admitted between and slash two PID OBR <id extension <td> <tr> </tr> 12 440182 \
                 1981 0010,0020 M F é like gps 42.3601 Age 92F";
    let words: Vec<&str> = words.split(' ').collect();
    let signs: Vec<char> = "0123456789-./ ()@+xMéayrn:,'#患่’".chars().collect();
    // Longer than what one finding may have.
    let runs = ["患者", "é", "ผู้ป่วย"].map(|part| part.repeat(100));
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for round in 0..40_000 {
        let mut text = String::new();
        for _ in 0..40 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state.is_multiple_of(64) && round % 8 == 0 {
                text.push_str(&runs[(state >> 32) as usize % runs.len()]);
            } else if round % 2 == 0 {
                text.push(signs[(state % signs.len() as u64) as usize]);
            } else {
                text.push_str(words[(state % words.len() as u64) as usize]);
                text.push_str(&" ".repeat((state >> 32) as usize % 3));
            }
        }
        let mut findings = Vec::new();
        scan(text.as_bytes(), &mut findings);
        for finding in findings {
            assert!(
                text.get(finding.start..finding.end)
                    .is_some_and(|value| !value.is_empty()),
                "{text:?}"
            );
        }
    }
}
