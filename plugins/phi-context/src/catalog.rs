//! What stands in a field for a code of a catalog, `ndc`, `snomedCode`, `<code code="…" displayName="…"/>`, numbers a drug,
//! a disease or a test: it is nobody's, however much it looks like a telephone.

use std::ops::Range;

use detector_kit::Finding;
use phi_text::fields;
use phi_text::label::Labels;

static CATALOGS: Labels<(), 128> = Labels::new(&[
    ("ndc", ()),
    ("ndc code", ()),
    ("rxnorm", ()),
    ("rxnorm code", ()),
    ("rxcui", ()),
    ("snomed", ()),
    ("snomed ct", ()),
    ("snomed code", ()),
    ("loinc", ()),
    ("loinc code", ()),
    ("cpt", ()),
    ("cpt code", ()),
    ("hcpcs", ()),
    ("hcpcs code", ()),
    ("icd", ()),
    ("icd code", ()),
    ("icd 9", ()),
    ("icd 10", ()),
    ("icd 10 code", ()),
    ("cvx", ()),
    ("cvx code", ()),
    ("drug code", ()),
    ("product code", ()),
    ("procedure code", ()),
    ("diagnosis code", ()),
    ("dx code", ()),
    ("condition concept id", ()),
    ("drug concept id", ()),
    ("measurement concept id", ()),
    // X12: the drug of a claim.
    ("LIN-N4", ()),
]);

/// Takes the codes of catalogs in `bounds` out of the findings from `first` on.
pub fn drop(text: &str, bounds: &Range<usize>, first: usize, findings: &mut Vec<Finding>) {
    let is_code = |finding: &Finding| finding.kind >= crate::PHONE;
    let new = findings.get(first..).unwrap_or_default();
    if !new.iter().any(is_code) {
        return;
    }
    let mut codes = Vec::new();
    let part = text.get(bounds.clone()).unwrap_or_default();
    let has_descriptions = part.contains("CODE,DESCRIPTION");
    fields::each(part.as_bytes(), &mut |label, start, end| {
        let is_code = label.eq_ignore_ascii_case(b"code")
            && (has_descriptions || is_described(part, start, end));
        if is_code || CATALOGS.get(label).is_some() {
            codes.push(bounds.start + start..bounds.start + end);
        }
    });
    if codes.is_empty() {
        return;
    }
    codes.sort_unstable_by_key(|code| code.start);
    let is_catalogs = |finding: &Finding| {
        let next = codes.partition_point(|code| code.start <= finding.start);
        next.checked_sub(1)
            .and_then(|at| codes.get(at))
            .is_some_and(|code| (finding.start, finding.end) == (code.start, code.end))
    };
    let mut at = 0;
    findings.retain(|finding| {
        at += 1;
        at <= first || !is_code(finding) || !is_catalogs(finding)
    });
}

/// Whether a system or a description stands beside a code, in its element or its object. A code alone may be anything.
fn is_described(part: &str, start: usize, end: usize) -> bool {
    /// Bytes to either side.
    const NEAR: usize = 160;
    const SIGNS: [&str; 5] = [
        "codeSystem",
        "displayName",
        "\"system\"",
        "\"display\"",
        "<Qualifier>",
    ];
    let from = part.floor_char_boundary(start.saturating_sub(NEAR));
    let to = part.ceil_char_boundary(part.len().min(end + NEAR));
    let near = part.get(from..to).unwrap_or_default();
    SIGNS.iter().any(|sign| near.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_catalogs_are_nobodys() {
        let left = |text: &str, value: &str, kind: usize| {
            let start = text.find(value).unwrap_or_default();
            let mut findings = vec![Finding::new(kind, start, start + value.len(), 600)];
            drop(text, &(0..text.len()), 0, &mut findings);
            findings.len()
        };
        let tag = r#"<code code="00025189131" displayName="x"/>"#;
        assert_eq!(left(tag, "00025189131", crate::PHONE), 0);
        let json = r#"{"snomedCode":"44054006","mrn":"51188"}"#;
        assert_eq!(left(json, "44054006", crate::MRN), 0);
        assert_eq!(left(json, "51188", crate::MRN), 1);
        let rows = "START,CODE,DESCRIPTION\n2024-02-17,2345-7,Test";
        assert_eq!(left(rows, "2345-7", crate::OTHER_ID), 0);
        for somebodys in [
            "code\tname\n4471829\tAnn Poe",
            r#"{"patient":{"code":"4471829"}}"#,
            r#"{"code":"get(4471829)","display":"x"}"#,
        ] {
            assert_eq!(
                left(somebodys, "4471829", crate::OTHER_ID),
                1,
                "{somebodys}"
            );
        }
        assert_eq!(left(rows, "2024-02-17", crate::DATE), 1);
        assert_eq!(left("code 44054006", "44054006", crate::PHONE), 1);
    }
}
