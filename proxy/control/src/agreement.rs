//! The document of an accepted agreement: the text, who signed it, and a certificate page, as PDF/A-2u.
//!
//! Pure: bytes out of records. It is rendered once, when the agreement is accepted; what is stored is never rendered
//! again. Takes tens of milliseconds of computing, so callers keep it off the threads that serve.

mod markdown;
mod page;

use svc_store::baa::{Acceptance, Template};

pub use markdown::{Paragraph, paragraphs};
use page::Block;
pub(crate) use page::Typesetter;

/// What the document is made of.
pub struct Agreement<'a> {
    pub template: &'a Template,
    pub acceptance: &'a Acceptance,
    /// Its id stands in its place where the bundled fonts cannot show it.
    pub organization_name: &'a str,
    /// The request by which it was accepted; `None` from the command line.
    pub request_id: Option<&'a str>,
    /// The key whose detached signature covers the document.
    pub signing_key_id: &'a str,
}

/// Why there is no document. Says nothing of what stands in it.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("a bundled font cannot be used")]
    Font,
    #[error("the document is no PDF/A-2u: {0}")]
    Invalid(&'static str),
    #[error("the document has more than {} pages", page::MAX_PAGES)]
    TooLong,
}

/// Renders the document.
///
/// # Errors
/// [`RenderError`]; text that the bundled fonts cannot show is [`RenderError::Invalid`].
pub fn render(agreement: &Agreement<'_>) -> Result<Vec<u8>, RenderError> {
    let mut typesetter = Typesetter::new()?;
    // A name with an emblem in it must not keep its organization from signing: the id names it as well.
    let organization_name = if typesetter.can_show(agreement.organization_name) {
        agreement.organization_name
    } else {
        &agreement.acceptance.org_id
    };
    let text = markdown::paragraphs(&agreement.template.body);
    let mut blocks: Vec<Block> = text.into_iter().map(Block::of).collect();
    blocks.extend(signature(agreement.acceptance, organization_name));
    blocks.extend(certificate(agreement, organization_name));
    let footer = format!("Acceptance {}", agreement.acceptance.id);
    let facts = page::Facts {
        title: &agreement.template.title,
        id: &agreement.acceptance.id,
        at: agreement.acceptance.accepted_at,
    };
    typesetter.document(&blocks, &footer, &facts)
}

/// Renders a template as if somebody had accepted it, so that a text that cannot be set is found before anybody does.
///
/// # Errors
/// As [`render`].
pub fn try_out(template: &Template) -> Result<(), RenderError> {
    let acceptance = Acceptance {
        id: String::new(),
        org_id: String::new(),
        template_version: template.version.clone(),
        template_sha256: template.sha256.clone(),
        accepted_by_user_id: String::new(),
        signer_name: String::new(),
        signer_title: String::new(),
        signer_email: String::new(),
        accepted_at: template.published_at,
        ip: None,
        user_agent: None,
        effective_at: template.published_at,
        expires_at: None,
    };
    render(&Agreement {
        template,
        acceptance: &acceptance,
        organization_name: "",
        request_id: None,
        signing_key_id: "",
    })
    .map(drop)
}

/// Who signed, below the text.
fn signature(acceptance: &Acceptance, organization_name: &str) -> Vec<Block> {
    let Acceptance {
        signer_name,
        signer_title,
        signer_email,
        accepted_at,
        ..
    } = acceptance;
    let mut blocks = vec![
        Block::heading("Signature", 2),
        Block::paragraph(format!(
            "Accepted electronically on behalf of {organization_name}."
        )),
    ];
    blocks.extend(rows(&[
        ("Name", signer_name),
        ("Title", signer_title),
        ("E-mail", signer_email),
        ("Date", &accepted_at.to_string()),
    ]));
    blocks
}

/// The page that says what was accepted, by whom, from where and when.
fn certificate(agreement: &Agreement<'_>, organization_name: &str) -> Vec<Block> {
    let Agreement {
        template,
        acceptance,
        organization_name: _,
        request_id,
        signing_key_id,
    } = agreement;
    let Acceptance {
        id,
        org_id,
        template_version,
        template_sha256,
        accepted_by_user_id,
        signer_name,
        signer_title,
        signer_email,
        accepted_at,
        ip,
        user_agent,
        effective_at,
        expires_at,
    } = *acceptance;
    let or_none = |text: Option<&str>| text.unwrap_or("not recorded").to_owned();
    let mut blocks = vec![Block::heading("Certificate of acceptance", 1).on_a_new_page()];
    blocks.extend(rows(&[
        ("Acceptance", id),
        ("Organization", organization_name),
        ("Organization id", org_id),
        ("Agreement", &template.title),
        ("Version", template_version),
        ("SHA-256 of the agreement's text", template_sha256),
        ("Signer", signer_name),
        ("Title", signer_title),
        ("E-mail", signer_email),
        ("Accepted by user", accepted_by_user_id),
        ("Accepted at", &accepted_at.to_string()),
        ("In effect from", &effective_at.to_string()),
        (
            "Ends",
            &expires_at.map_or_else(
                || "when it is terminated or superseded".into(),
                |end| end.to_string(),
            ),
        ),
        ("Network address", &or_none(ip.as_deref())),
        (
            "Client",
            &or_none(user_agent.as_deref().map(in_ascii).as_deref()),
        ),
        ("Request", &or_none(*request_id)),
        ("Signing key", &format!("Ed25519 {signing_key_id}")),
    ]));
    blocks.push(Block::paragraph(
        "The record of this acceptance holds the SHA-256 of this file and a detached Ed25519 signature over its \
         hexadecimal digits. Both can be checked without the service that issued them."
            .to_owned(),
    ));
    blocks
}

/// What a client calls itself, in characters that every font has: whatever it sends, the agreement is signed.
fn in_ascii(text: &str) -> String {
    let shown = |letter: char| match letter {
        ' '..='~' => letter.to_string(),
        other => other.escape_unicode().to_string(),
    };
    text.chars().map(shown).collect()
}

/// Facts, each below its name.
fn rows(facts: &[(&str, &str)]) -> Vec<Block> {
    let facts = facts.iter();
    facts
        .flat_map(|(name, value)| [Block::label(name), Block::value(value)])
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use svc_core::time::Timestamp;
    use svc_store::bootstrap;

    use super::*;

    fn rendered(name: &str, body: &str) -> Result<Vec<u8>, RenderError> {
        let at = Timestamp(1_795_205_340_123);
        let template = bootstrap::template("2026-04", "Business Associate Agreement", body, at);
        let acceptance = Acceptance {
            id: "baa_01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
            org_id: "org_01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
            template_version: template.version.clone(),
            template_sha256: template.sha256.clone(),
            accepted_by_user_id: "user_1".to_owned(),
            signer_name: name.to_owned(),
            signer_title: "Privacy Officer".to_owned(),
            signer_email: "signer@example.org".to_owned(),
            accepted_at: at,
            ip: Some("203.0.113.7".to_owned()),
            user_agent: Some("Klinik-Zoë/1.0\t\u{12000}\u{fffd}".to_owned()),
            effective_at: at,
            expires_at: None,
        };
        render(&Agreement {
            template: &template,
            acceptance: &acceptance,
            organization_name: "Mercy Clinic",
            request_id: None,
            signing_key_id: "0123456789abcdef",
        })
    }

    #[test]
    fn names_of_many_scripts_can_be_shown() {
        let mut typesetter = Typesetter::new().unwrap();
        for name in [
            "Zoë Ångström-Łukasiewicz",
            "Νίκος Παπαδόπουλος",
            "Анна Каренина",
            "יוסי כהן",
            "محمد الفارسي",
            "山田 太郎",
            "王小明",
            "Nguyễn Thị Ánh",
            "გიორგი",
            "김철수",
        ] {
            assert!(typesetter.can_show(name), "{name}");
            assert!(rendered(name, "text").unwrap().starts_with(b"%PDF-1.7"));
        }
        assert!(
            !typesetter.can_show("\u{12000}"),
            "no bundled font has cuneiform"
        );
        assert!(rendered("\u{12000}", "text").is_err());
    }

    #[test]
    fn what_a_client_calls_itself_is_shown_in_ascii() {
        assert_eq!(in_ascii("curl/8.5 \"x\""), "curl/8.5 \"x\"");
        assert_eq!(in_ascii("Zoë\u{12000}\t"), "Zo\\u{eb}\\u{12000}\\u{9}");
    }

    #[test]
    fn the_same_records_give_the_same_bytes() {
        let render =
            || rendered("A. Signer", "# Title\n\n1. **One** and `two`\n\n- three").unwrap();
        assert_eq!(render(), render());
    }

    #[test]
    fn a_text_without_end_is_refused() {
        let body = "word ".repeat(400_000);
        assert!(matches!(rendered("A", &body), Err(RenderError::TooLong)));
    }
}
