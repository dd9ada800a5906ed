//! Names and places in the formats of programs, databases, pharmacies and practices.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn names_in_messages_and_records() {
    finds::<Names>(&[
        (
            "<FS>CAZEFFIE<FS>CBQUILLBANE<FS>CP60563",
            &["NAME:ZEFFIE", "NAME:QUILLBANE", "LOCATION:60563"],
        ),
        (
            "01380006301\n0183101Quillbane\n0153102Zeffie",
            &["NAME:Quillbane", "NAME:Zeffie"],
        ),
        (
            "first_name | Zeffie\nlast_name  | De Quill\nmrn        | 60417",
            &["NAME:Zeffie", "NAME:De Quill"],
        ),
        (
            "Patient name (last, first) - Quillbane, Zeffie",
            &["NAME:Quillbane, Zeffie"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "first_name | text\nlast_name  | text\nmrn        | text",
        "Last name (required): Please enter yours",
    ]);
}

#[test]
fn names_in_programs() {
    finds::<Names>(&[
        (
            "tmp['PID']['PID.5']['PID.5.1'] = 'QUILLBANE';",
            &["NAME:QUILLBANE"],
        ),
        (
            "v_last_name VARCHAR2(30) := 'Quillbane';",
            &["NAME:Quillbane"],
        ),
        ("p.setLastName(\"Quillbane\")", &["NAME:Quillbane"]),
        ("{LastName:De Quill MRN:60417}", &["NAME:De Quill"]),
        ("(:last-name \"Quillbane\")", &["NAME:Quillbane"]),
        ("load --last-name Quillbane", &["NAME:Quillbane"]),
        (
            "where('last_name', 'like', '%Quillbane%')",
            &["NAME:Quillbane"],
        ),
        ("last_name IN ('active', 'Quillbane')", &["NAME:Quillbane"]),
        (
            "\"csv\":\"last_name,sex\nQuillbane,F\n\"",
            &["NAME:Quillbane"],
        ),
    ]);
    leaves_alone::<Names>(&[
        r#"{"last_name": "Last Name", "first_name": "Given name"}"#,
        "errors['last_name'] = 'Required'; if fullname != \"pip\": pass",
        "{lastName: String, name: Widget}",
        "--font-family-name Georgia",
        "expect(errors.lastName).toBe('Last name is required')",
        "errors['last_name'] = 'This field is required'",
        "assertThat(p.getLastName()).isEqualTo(\"updated\")",
        "SELECT 'deleted' AS full_name WHERE last_name IN ('active','pending')",
        "where('last_name','like',$q)",
        "{lastName: NVARCHAR, firstName: PersonName}",
        "{\"last_name\": \"Surname\", \"first_name\": \"Vorname\"}",
        "first name (see below) - Mandatory",
        "firstName(id: number): Promise<string> {",
    ]);
}
