//! What is found behind labels of each language, and what is left alone.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn names_with_capitals() {
    finds::<Names>(&[
        ("Name des Patienten: Maria Muster", &["NAME:Maria Muster"]),
        ("Nachname: Vogelsang", &["NAME:Vogelsang"]),
        (
            "Patientin: Frau Dr. Erika Musterfrau",
            &["NAME:Erika Musterfrau"],
        ),
        ("Nom : Dupont", &["NAME:Dupont"]),
        (
            "Nom et prénom\u{a0}: Dupont Claire",
            &["NAME:Dupont Claire"],
        ),
        (
            "Nome e cognome: Giulia De Santis",
            &["NAME:Giulia De Santis"],
        ),
        ("Nome do paciente: João da Silva", &["NAME:João da Silva"]),
        ("Naam patiënt: Jan van der Berg", &["NAME:Jan van der Berg"]),
        ("Imię i nazwisko: Anna Kowalska", &["NAME:Anna Kowalska"]),
        ("Hasta adı: Ayşe Yılmaz", &["NAME:Ayşe Yılmaz"]),
        ("Efternamn: Lindqvist", &["NAME:Lindqvist"]),
        ("Họ và tên: Nguyễn Văn An", &["NAME:Nguyễn Văn An"]),
        ("Nama pasien: Budi Santoso", &["NAME:Budi Santoso"]),
        ("ФИО: Иванов И. И.", &["NAME:Иванов И. И."]),
        (
            "Ονοματεπώνυμο: Μαρία Παπαδοπούλου",
            &["NAME:Μαρία Παπαδοπούλου"],
        ),
    ]);
}

#[test]
fn names_beside_others() {
    finds::<Names>(&[
        (
            "Nachname: Brzezinski Vorname: Hans",
            &["NAME:Brzezinski", "NAME:Hans"],
        ),
        (
            "Nom : Dupont Prénom : Claire",
            &["NAME:Dupont", "NAME:Claire"],
        ),
        ("Achternaam: de Vries", &["NAME:de Vries"]),
        ("Nachname: von Stein", &["NAME:von Stein"]),
        (
            "Nachname: Vogelsang geb. Weber",
            &["NAME:Vogelsang geb. Weber"],
        ),
        ("Nom : Dupont née Martin", &["NAME:Dupont née Martin"]),
    ]);
}

#[test]
fn names_without_capitals() {
    finds::<Names>(&[
        ("氏名：山田太郎", &["NAME:山田太郎"]),
        ("氏名：山田\u{3000}太郎様", &["NAME:山田\u{3000}太郎"]),
        ("姓名：王小明，男", &["NAME:王小明"]),
        ("이름: 김민수", &["NAME:김민수"]),
        ("اسم المريض: محمد علي", &["NAME:محمد علي"]),
        ("שם המטופל: דנה לוי", &["NAME:דנה לוי"]),
        ("रोगी का नाम: राम शर्मा", &["NAME:राम शर्मा"]),
    ]);
}

#[test]
fn places() {
    finds::<Names>(&[
        (
            "Adresse: Hauptstr. 5, 50667 Köln",
            &["ADDRESS:Hauptstr. 5, 50667 Köln"],
        ),
        (
            "Anschrift: Am Ring 5, 50667 Köln, Tel.: 0221 5558123",
            &["ADDRESS:Am Ring 5, 50667 Köln"],
        ),
        (
            "Indirizzo: via Roma 12, Torino",
            &["ADDRESS:via Roma 12, Torino"],
        ),
        (
            "住址：北京市朝阳区建国路88号",
            &["ADDRESS:北京市朝阳区建国路88号"],
        ),
        ("PLZ/Ort: 50667 Köln", &["LOCATION:50667 Köln"]),
    ]);
}

#[test]
fn what_is_no_value_is_left_alone() {
    leaves_alone::<Names>(&[
        "Name: string, Nom : fichier, nome: produto",
        "nome: String,\n  nom: Option<String>,",
        "Name des Patienten: siehe oben, Nachname: unbekannt",
        "Nachname: Unbekannt",
        "Nom : Prénom :",
        "Adresse: siehe oben, IP-Adresse: 10.0.0.1, E-Mail-Adresse: a@b.c",
        "Ort: siehe unten, Stadt: 3",
        "姓名：未知",
        "姓名：string",
        "氏名：不明",
        "CAP: 10 items, cap: 20000",
        "Adresse: 0x7ffe1234, Adresse: 192.168.1.10 Port 8080",
        "父亲：白血病，母亲：黄疸",
        "Nachname: Pflichtfeld, Nom : champ obligatoire, 姓名：必填",
    ]);
}
