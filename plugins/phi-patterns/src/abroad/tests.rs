//! What is found behind labels of each language, and what is left alone.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn languages_with_latin_letters() {
    finds::<Patterns>(&[
        ("Telefon: 0221 5558123", &["PHONE:0221 5558123"]),
        ("Fallnummer: 20240087431", &["OTHER_ID:20240087431"]),
        ("Patientennummer: 884213", &["MRN:884213"]),
        (
            "Versichertennummer: A123456780",
            &["HEALTH_PLAN_ID:A123456780"],
        ),
        (
            "Rentenversicherungsnummer: 65 170839 J 003",
            &["OTHER_ID:65 170839 J 003"],
        ),
        ("Geburtsdatum: 3. März 1958", &["DATE:3. März 1958"]),
        ("Geb.: 03.11.58", &["DATE:03.11.58"]),
        (
            "Kontonummer: 8840 1277 31",
            &["ACCOUNT_NUMBER:8840 1277 31"],
        ),
        ("Seriennummer: PX4420913", &["DEVICE_ID:PX4420913"]),
        ("Kennzeichen: K-AB 1234", &["VEHICLE_ID:K-AB 1234"]),
        (
            "Date de naissance : 12 octobre 1961",
            &["DATE:12 octobre 1961"],
        ),
        ("N° de dossier : 884213", &["MRN:884213"]),
        ("Nº dossier\u{a0}:\u{a0}2024-00187", &["MRN:2024-00187"]),
        (
            "Téléphone\u{202f}: 06.12.34.56.78",
            &["PHONE:06.12.34.56.78"],
        ),
        (
            "N° de sécurité sociale : 1 58 11 75 123 456 78",
            &["OTHER_ID:1 58 11 75 123 456 78"],
        ),
        (
            "Codice fiscale: RSSMRA58S43F205X",
            &["OTHER_ID:RSSMRA58S43F205X"],
        ),
        ("Data di nascita: 1º maggio 1958", &["DATE:1º maggio 1958"]),
        ("Targa: AB123CD", &["VEHICLE_ID:AB123CD"]),
        (
            "Data de nascimento: 3 de novembro de 1958",
            &["DATE:3 de novembro de 1958"],
        ),
        ("CPF: 123.456.789-09", &["OTHER_ID:123.456.789-09"]),
        ("Telemóvel: 912 345 678", &["PHONE:912 345 678"]),
        ("Teléfono: 91 234 56 78", &["PHONE:91 234 56 78"]),
        ("NHC: 448812", &["MRN:448812"]),
        ("BSN: 123456782", &["OTHER_ID:123456782"]),
        ("Polisnummer: 8840127", &["HEALTH_PLAN_ID:8840127"]),
        ("Numer PESEL: 58110312345", &["OTHER_ID:58110312345"]),
        ("Data ur.: 3 listopada 1958 r.", &["DATE:3 listopada 1958"]),
        ("Doğum tarihi: 3 Kasım 1958", &["DATE:3 Kasım 1958"]),
        ("T.C. Kimlik No: 12345678950", &["OTHER_ID:12345678950"]),
        ("Personnummer: 19581103-1234", &["OTHER_ID:19581103-1234"]),
        ("Journalnummer: 448127", &["MRN:448127"]),
        ("CPR-nr.: 031158-1234", &["OTHER_ID:031158-1234"]),
        ("Tlf.: 22 33 44 55", &["PHONE:22 33 44 55"]),
        ("Fødselsnummer: 031158 12345", &["OTHER_ID:031158 12345"]),
        ("Henkilötunnus: 031158-123A", &["OTHER_ID:031158-123A"]),
        (
            "Syntymäaika: 3. marraskuuta 1958",
            &["DATE:3. marraskuuta 1958"],
        ),
        ("Rodné číslo: 581103/1234", &["OTHER_ID:581103/1234"]),
        ("Datum narození: 3. 11. 1958", &["DATE:3. 11. 1958"]),
        ("CNP: 1581103123456", &["OTHER_ID:1581103123456"]),
        ("TAJ szám: 123 456 789", &["HEALTH_PLAN_ID:123 456 789"]),
        (
            "Születési dátum: 1958. november 3.",
            &["DATE:1958. november 3"],
        ),
        (
            "Ngày sinh: ngày 3 tháng 11 năm 1958",
            &["DATE:3 tháng 11 năm 1958"],
        ),
        ("Số điện thoại: 0912 345 678", &["PHONE:0912 345 678"]),
        ("No. Rekam Medis: 00-12-34-56", &["MRN:00-12-34-56"]),
        ("Tanggal lahir: 3 November 1958", &["DATE:3 November 1958"]),
        (
            "Petsa ng kapanganakan: ika-3 ng Nobyembre 1958",
            &["DATE:3 ng Nobyembre 1958"],
        ),
        (
            "Numero ng telepono: 0917 555 1234",
            &["PHONE:0917 555 1234"],
        ),
    ]);
}

#[test]
fn languages_in_other_scripts() {
    finds::<Patterns>(&[
        ("电话：138 0013 8000", &["PHONE:138 0013 8000"]),
        ("电话13800138000", &["PHONE:13800138000"]),
        ("病历号：20240087", &["MRN:20240087"]),
        (
            "身份证号：11010119581103123X",
            &["OTHER_ID:11010119581103123X"],
        ),
        ("出生日期：1958年11月3日", &["DATE:1958年11月3日"]),
        ("患者番号: 1234567", &["MRN:1234567"]),
        ("生年月日：昭和33年11月3日", &["DATE:昭和33年11月3日"]),
        (
            "電話番号：０３-１２３４-5678",
            &["PHONE:０３-１２３４-5678"],
        ),
        ("전화번호: 010-1234-5678", &["PHONE:010-1234-5678"]),
        ("주민등록번호: 581103-1234567", &["OTHER_ID:581103-1234567"]),
        ("생년월일: 1958년 11월 3일", &["DATE:1958년 11월 3일"]),
        ("Номер карты: 884213", &["MRN:884213"]),
        ("История болезни № 884213", &["MRN:884213"]),
        ("СНИЛС: 112-233-445 95", &["OTHER_ID:112-233-445 95"]),
        ("Дата рождения: 3 ноября 1958 г.", &["DATE:3 ноября 1958"]),
        ("РНОКПП: 2149611234", &["OTHER_ID:2149611234"]),
        ("ΑΜΚΑ: 03115801234", &["OTHER_ID:03115801234"]),
        ("Τηλέφωνο: 210 1234567", &["PHONE:210 1234567"]),
        ("رقم الهاتف: ٠١٢٣٤٥٦٧٨٩", &["PHONE:٠١٢٣٤٥٦٧٨٩"]),
        ("تاريخ الميلاد: 3 نوفمبر 1958", &["DATE:3 نوفمبر 1958"]),
        ("کد ملی: ۰۰۱۲۳۴۵۶۷۸", &["OTHER_ID:۰۰۱۲۳۴۵۶۷۸"]),
        ("ת.ז.: 012345678", &["OTHER_ID:012345678"]),
        ("נייד: 052-1234567", &["PHONE:052-1234567"]),
        ("फ़ोन: 98765 43210", &["PHONE:98765 43210"]),
        ("जन्म तिथि: 3 नवंबर 1958", &["DATE:3 नवंबर 1958"]),
    ]);
}

#[test]
fn ways_to_write_a_field() {
    finds::<Patterns>(&[
        ("- **Telefon:** 0221 5558123", &["PHONE:0221 5558123"]),
        (
            "Telefon (privat): +49 (0)221 5558-123",
            &["PHONE:+49 (0)221 5558-123"],
        ),
        ("TELEFON:\n0221/5558123", &["PHONE:0221/5558123"]),
        (r#"{"telefon": "0221 5558123"}"#, &["PHONE:0221 5558123"]),
        ("telefon=02215558123", &["PHONE:02215558123"]),
        (
            "Telefon: 0221 5558123, 0171 5558124",
            &["PHONE:0221 5558123", "PHONE:0171 5558124"],
        ),
        ("Fallnummer: 884213 2 Seiten", &["OTHER_ID:884213"]),
        ("Fallnummer: 884213 Kreislaufkollaps", &["OTHER_ID:884213"]),
        ("Fallnummer: 2024-3456", &["OTHER_ID:2024-3456"]),
        ("Nº dossier: 884213", &["MRN:884213"]),
        ("No dossier: 884213", &["MRN:884213"]),
        (
            "Tél : 06 12 34 56 78 / 07 98 76 54 32",
            &["PHONE:06 12 34 56 78", "PHONE:07 98 76 54 32"],
        ),
        (
            "Tel: 612 34 56 78 - 913 45 67 89",
            &["PHONE:612 34 56 78", "PHONE:913 45 67 89"],
        ),
        (
            "Teléfono: 612345678 y 913456789",
            &["PHONE:612345678", "PHONE:913456789"],
        ),
        (
            "unter Fallnummer 20240087431 führen wir",
            &["OTHER_ID:20240087431"],
        ),
        ("Tel. 0221 5558123 (abends)", &["PHONE:0221 5558123"]),
    ]);
}

#[test]
fn what_is_no_value_is_left_alone() {
    leaves_alone::<Patterns>(&[
        "Telefon: siehe oben",
        "Telefon: 3 Anrufe, Tel.: 08.00-16.00 Uhr",
        "Name: string, Nummer: 3, Datum: heute",
        "Fallnummer: 12 von 40, Fallnummer: 2024",
        "GSM: 850/900/1800/1900 MHz, GSM 900/1800, Kontakt: 2020-2024, contacto: 10.0.0.12",
        "celular: 1.200.000, N° de série: 2024-2025, NSS: 3.101.1, rc: -1073741510",
        "data: 10, 20, 30, Date : 2 comprimés 2000 mg, Aufnahme: 3 Bilder 1920 x 1080",
        "Kontonummer: fehlt, Konto: 1500,00 EUR",
        "Datum: 3 Tage, Datum: 2024",
        "Date : 3 fois",
        "data: 12, data: [1, 2, 3], data: 2024",
        "data:\n  telefon: string\n  nummer: 20240087",
        "let telefon: u64 = 3; data::new(12)",
        "tel://12",
        "Kontonummer: 1.2.3",
        "N° de dossier : voir ci-dessous",
        "电话：无",
        "日期：今天",
        "患者3名",
    ]);
}
