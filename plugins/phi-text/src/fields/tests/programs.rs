//! What programs and databases say and print.

use super::{fields, sees};

#[test]
fn records_one_field_a_line() {
    for text in [
        "-[ RECORD 1 ]-----\nmrn       | 12\nlast_name | De Boer\n",
        "mrn       | 12\nlast_name | De Boer\n",
        "| mrn | 12 |\n| last_name | De Boer |\n",
        "─[ RECORD 1 ]─┬──\nmrn       │ 12\nlast_name │ De Boer\n",
        "-RECORD 0----\n mrn       | 12      \n last_name | De Boer \n",
        "@ Row 1\n-----------+-----\n mrn       | 12\n last_name | De Boer\n",
        "patient_mrn\tx\nmrn_no\t12\nlast_name\tDe Boer",
    ] {
        let found = fields(text);
        assert!(
            found.iter().any(|seen| seen.ends_with("=12")),
            "{text}: {found:?}"
        );
        sees(text, &["last_name=De Boer"]);
    }
    // Schemas, headers of tables, and bars that do not stand below each other.
    for text in [
        "mrn       | varchar(20)\nlast_name | text\n",
        " last_name | text | not null\n mrn       | text | not null\n",
        "| last_name | The name of the family |\n| mrn       | varies |",
        "last_name | room\nMRN | Four",
        "last_name\tfirst_name\nmrn\tsex",
    ] {
        let found = fields(text);
        assert!(
            !found
                .iter()
                .any(|seen| seen.to_lowercase().starts_with("last_name=t")
                    || seen.starts_with("mrn=v")),
            "{text}: {found:?}"
        );
    }
    let table = fields(" last_name | room\n-----------+------\n Poe       | Four\n");
    assert!(!table.contains(&"Poe=Four".to_owned()), "{table:?}");
}

#[test]
fn records_are_no_tables() {
    for text in [
        "-[ RECORD 1 ]---\nlast_name | Poe\ninsurer | Blue\nlanguage | Greek\n-[ RECORD 2 ]-\nlast_name | Lee\n\
         insurer | Red\n",
        "@ Row 1\n-----+----\n last_name | Poe\n insurer | Blue\n language | Greek\n",
        "last_name | Poe\ninsurer   | Blue\nlanguage  | Greek\n",
    ] {
        sees(text, &["last_name=Poe", "insurer=Blue"]);
        let found = fields(text);
        for no in [
            "last_name=insurer",
            "last_name=language",
            "Poe=Blue",
            "Poe=Greek",
        ] {
            assert!(!found.contains(&no.to_owned()), "{text}: {found:?}");
        }
    }
    for text in [
        "last_name | room\nPoe       | Four\nLee       | Five\n",
        "last_name | Room\nPoe       | Four\nLee       | Five\n",
        " last_name | Room\n-----------+------\n poe       | Four\n Lee       | Five\n",
        "-[ RECORD 1 ]---\nmrn | 12\n\nlast_name | room | x\nPoe | 4 | y\nLee | 5 | z\n",
        "RECORD 7 of it\n\nlast_name | room\nPoe | 4\nLee | 5\n",
    ] {
        sees(text, &["last_name=Lee"]);
    }
}

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
    sees("DOB(mm/dd/yyyy): 03/14/1951", &["DOB=03/14/1951"]);
    for text in [
        "firstName(locale: Locale): LocalizedString",
        "  firstName(id: number): Promise<string> {",
        "lastName(x): String",
        "getName(): Name",
        "Name (): Poe",
        "Name (a=b): Poe",
    ] {
        let found = fields(text);
        assert!(
            !found
                .iter()
                .any(|seen| seen.contains("ame=") || seen.contains("ame(")),
            "{text}: {found:?}"
        );
    }
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

#[test]
fn names_in_brackets() {
    sees(
        "tmp['PID']['PID.5']['PID.5.1'] = 'DOE';\nif (msg[\"PID\"][\"PID.3\"].toString() == \"12\") {}",
        &["PID-5=DOE", "PID-3=12"],
    );
    sees(
        "row['mrn'] = 12; params[:ssn] == '34', [last_name] <> N'Poe'",
        &["mrn=12", "ssn=34", "last_name=Poe"],
    );
    sees(
        "Array\n(\n    [last_name] => De Boer\n    [dob:protected] => 1951-03-14\n    [mrn] => \n)",
        &["last_name=De Boer", "dob=1951-03-14"],
    );
    sees(
        "array(2) {\n  [\"last_name\"]=>\n  string(3) \"Poe\"\n  [\"mrn\"]=>\n  int(12)\n}",
        &["last_name=Poe", "mrn=12"],
    );
    for text in [
        "tmp['PID']['PID.5'] = msg['PID']['PID.5'];",
        "[last_name] => Self::new(x)",
        "[last_name] => Kind::Name",
        "[last_name] => Find(x)",
        "[last_name] => \n[mrn] => \n",
        "a[0] = b[1]",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn statements_of_databases() {
    sees(
        "DECLARE @mrn varchar(20) = '12', @last_name nvarchar(max) = N'Poe'",
        &["mrn=12", "last_name=Poe"],
    );
    sees("v_mrn CONSTANT VARCHAR2(10) := '12';", &["v_mrn=12"]);
    sees(
        "EXEC get_patient @MRN = '12', @DOB='1951-03-14'",
        &["MRN=12"],
    );
    sees(
        "WHERE p.last_name LIKE 'Poe%' AND p.mrn <> '12' AND x NOT ILIKE 'y'",
        &["last_name=Poe", "mrn=12", "x=y"],
    );
    sees(
        "WHERE UPPER(last_name) = UPPER('Poe') AND mrn = CAST('12' AS int)",
        &["last_name=Poe", "mrn=12"],
    );
    sees("mrn BETWEEN '12' AND '14'", &["mrn=12", "mrn=14"]);
    sees("mrn IN (N'12', N'13') AND 'z' < 'y'", &["mrn=12", "mrn=13"]);
    sees(
        "SELECT '12' AS mrn, 'Poe' AS \"last_name\"",
        &["mrn=12", "last_name=Poe"],
    );
    sees("\\set last_name 'Poe'", &["last_name=Poe"]);
    sees(
        "FROM (VALUES ('12', 'Poe'), ('13', 'De Boer')) AS v(mrn, last_name)",
        &["mrn=12", "last_name=Poe", "mrn=13", "last_name=De Boer"],
    );
    sees(
        "COPY public.p (mrn, \"last_name\") FROM stdin;\n12\tPoe\n13\tDe Boer\n\\.\n14\tBea",
        &["mrn=12", "last_name=Poe", "mrn=13", "last_name=De Boer"],
    );
    for text in [
        "it's 'this' and 'that', isn't it",
        "VALUES (?, 'x') -- 'y', as it is",
        "f('a') = 'b'",
    ] {
        let found = fields(text);
        assert!(found.is_empty() || found == ["f=b"], "{text}: {found:?}");
    }
}

#[test]
fn one_column_is_enough_for_statements() {
    for text in [
        "INSERT INTO p (mrn) VALUES ('12');",
        "INSERT INTO p (mrn) VALUES (12)",
        "SELECT * FROM (VALUES ('12')) AS t (mrn)",
        "COPY public.p (mrn) FROM stdin;\n11\n12\n\\.\n",
        "copy p (mrn) from STDIN WITH (x)\n12\n",
    ] {
        sees(text, &["mrn=12"]);
    }
    for text in [
        "the values (mrn) of 'x'",
        "INSERT INTO p (mrn) SELECT '12'",
        "COPY p (mrn) TO stdout;\n12\n",
        "Copy it (mrn) from the chart\n12\n",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn rows_of_dumps_have_as_many_values_as_columns() {
    let copied = |rows: &str| fields(&["COPY p (mrn, sex, zip) FROM stdin;\n", rows].concat());
    assert_eq!(copied("12\t\\N\t9\n"), ["mrn=12", "zip=9"]);
    assert!(copied("He said so.\n12\tF\t9\n").is_empty());
    assert!(copied("12\tF\n").is_empty());
    let long = "c".repeat(100);
    sees(
        &format!("COPY p ({long}, mrn) FROM stdin;\n1\t12\n"),
        &["mrn=12"],
    );
}

#[test]
fn few_signs_are_enough() {
    sees(
        "[[mrn, last_name], [12, Poe]]",
        &["mrn=12", "last_name=Poe"],
    );
    sees(
        "(0020,000d) Study Instance UID UI: 1.2.840",
        &["study instance uid=1.2.840"],
    );
    sees(" mrn lastN s\n 604 Okafo F\n", &["mrn=604", "lastN=Okafo"]);
    for text in [
        "[mrn, last_name], [12, Poe]",
        "(0020,000d) of UI 1.2.840",
        " mrn lastN s\n 60417 Okafo F\n",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn assignments_and_comparisons() {
    sees(
        "let mrn: &str = \"12\"; const lastName: string = 'Poe'; Dim ssn As String = \"34\"",
        &["mrn=12", "lastName=Poe", "ssn=34"],
    );
    sees(
        "mrn := \"12\"; if (p.last_name == 'Poe' && zip !== \"89301\")",
        &["mrn=12", "p.last_name=Poe", "zip=89301"],
    );
    sees(
        "last_name = De Boer\nPatient { LastName = Van Dyk, Mrn = 12 }",
        &["last_name=De Boer", "LastName=Van Dyk", "Mrn=12"],
    );
    for text in [
        "mrn == other && age >= 94",
        "last_name == lastName",
        "x <= '1'",
        "fullname != 'pip'",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn calls() {
    sees(
        "p.setLastName(\"Poe\"); Patient.builder().mrn(\"12\").build(); p.put('ssn', '34')",
        &["LastName=Poe", "mrn=12", "ssn=34"],
    );
    sees(
        "expect(p.lastName).toBe('Poe'); assertThat(p.getMrn()).isEqualTo(\"12\")",
        &["lastName=Poe", "Mrn=12"],
    );
    sees(
        "[('mrn', '12'), ('last_name', 'Poe')]",
        &["mrn=12", "last_name=Poe"],
    );
    sees(
        "where('last_name', 'not like', '%Poe%')->where('ssn', '=', '34'); put('mrn', 'in')",
        &["last_name=Poe", "ssn=34", "mrn=in"],
    );
    for text in [
        "where('last_name','like',$q)",
        "where(\"mrn\", \"IN\", [x])",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
    for text in ["print(\"Poe\")", "t('last_name', 'Last')", "settle(\"x\")"] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn options_of_commands() {
    sees(
        "./load --last-name Poe --patient-id \"12\" --x_y 3 --first-name ANN",
        &["last-name=Poe", "patient-id=12", "x_y=3", "first-name=ANN"],
    );
    for text in [
        "--last-name and --first-name",
        "--last-name LAST --patient-id PATIENT_ID",
        "a--last-name Poe",
        "-- last-name Poe",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn keywords_and_numbered_answers() {
    sees(
        "{:patient/mrn \"12\" :dob #inst \"1951-03-14\"} (last-name \"Poe\")",
        &["mrn=12", "dob=1951-03-14", "last-name=Poe"],
    );
    sees(
        "1) \"mrn\"\n2) \"12\"\n3) \"last_name\"\n4) \"Poe\"",
        &["mrn=12", "last_name=Poe"],
    );
    let found = fields("1) \"a\"\n2) \"mrn\"\n3) \"12\"\n and \"b\" \"c\"");
    assert!(!found.contains(&"mrn=12".to_owned()), "{found:?}");
}

#[test]
fn objects_without_quotes() {
    for text in [
        "{LastName:De Boer MRN:12 Sex:F}",
        "{LastName: De Boer, MRN: 12}",
        "map[LastName:De Boer MRN:12]",
    ] {
        sees(text, &["LastName=De Boer", "MRN=12"]);
    }
    sees(
        "{ mrn: Some(\"12\"), last_name: Some(\"Poe\") }",
        &["mrn=12", "last_name=Poe"],
    );
    sees("{LastName:McDonald MRN:12}", &["LastName=McDonald"]);
    for text in [
        "{lastName: String, mrn: number}",
        "{lastName: PersonName, mrn: PatientId}",
        "{lastName: getName(), mrn: x.y}",
        "{lastName: Joi.String}",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn frames_as_they_are_printed() {
    for text in [
        "  last_name   mrn\n0       Poe    12\n1    Miller    13\n",
        "    mrn last_name sex\n1    12       Poe   F\n",
        "  <x>\n    mrn last_name\n  <dbl> <chr>    \n1    12 Poe      \n",
    ] {
        sees(text, &["mrn=12", "last_name=Poe"]);
    }
    let found = fields("we went  to see\n1 of them  for it\n");
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn tables_in_strings() {
    for text in [
        "{\"csv\":\"mrn,name,sex\n12,Ann,F\n13,Bea,F\"}",
        "{\"file\":\"a.csv\",\"content\":\"mrn,name,sex\n12,Ann,F\n13,Bea,F\",\"x\":\"y\"}",
        "{\"csv\": \"\"mrn\",\"name\",\"sex\"\n\"12\",\"Ann\",\"F\"\n\"13\",\"Bea\",\"F\"\n\"}",
        "rows = \"mrn,name,sex\n12,Ann,F\n13,Bea,F\n\"",
        "const rows = `mrn,name,sex\n12,Ann,F\n13,Bea,F\n`;",
        "load('''mrn,name,sex\n12,Ann,F\n13,Bea,F\n''')",
    ] {
        sees(text, &["mrn=12", "name=Ann", "mrn=13", "name=Bea"]);
    }
    sees(
        "| Field | Value |\n|---|---|\n| MRN | 12 |\n| Last name | Poe |",
        &["MRN=12", "Last name=Poe"],
    );
}

#[test]
fn each_cell_of_a_drawn_table_is_a_field() {
    let frame = "┌──────┬─────┐\n│ name ┆ mrn │\n│ ---  ┆ --- │\n│ str  ┆ i64 │\n╞══════╪═════╡\n\
                 │ Ann  ┆ 12  │\n│ Bea  ┆ 13  │\n└──────┴─────┘";
    let found = fields(frame);
    assert_eq!(
        found,
        [
            "name=str", "mrn=i64", "name=Ann", "mrn=12", "name=Bea", "mrn=13"
        ]
    );
}

#[test]
fn parts_of_forms_and_named_elements() {
    sees(
        "Content-Disposition: form-data; name=\"mrn\"\r\n\r\n12\r\n--X",
        &["mrn=12"],
    );
    sees(
        "<property name=\"mrn\" value=\"12\"/><param name=\"ssn\">34</param>",
        &["mrn=12", "ssn=34"],
    );
    for text in [
        "<th name=\"last_name\">Last</th>",
        "<label class=\"x\" name=\"last_name\">Last</label>",
    ] {
        assert!(!fields(text).contains(&"last_name=Last".to_owned()));
    }
    sees(
        "<dict><key>mrn</key><string>12</string></dict>",
        &["mrn=12"],
    );
    sees(
        r#"{"mrn":{"S":"12"},"ssn":{"$numberLong":"34"},"zip":{"integerValue":"56"}}"#,
        &["mrn=12", "ssn=34", "zip=56"],
    );
    sees("LastName  : De Boer\nmrn : 12", &["LastName=De Boer"]);
}
