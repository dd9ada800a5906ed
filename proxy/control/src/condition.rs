//! Conditions that a request sets on what it asks for (RFC 9110, 13), by the entity tag of the answer: whoever has the
//! bytes already is not sent them again. What has no tag has no conditions.

use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, StatusCode};
use svc_core::fault::{Fault, invalid};
use svc_pipeline::response::Body;

use crate::call::Content;

/// The answer to a request for `content` whose headers are `asked`: the content, or the word that the caller has it.
///
/// # Errors
/// 422: it is not what the caller wants. The specification's table has no code of status 412.
pub(crate) fn judge(asked: &HeaderMap, content: Content) -> Result<(StatusCode, Content), Fault> {
    let tag = match &content {
        Content::Plain { headers, .. } => headers.get(ETAG).cloned(),
        Content::Data { .. } => None,
    };
    let Some(tag) = tag else {
        return Ok((StatusCode::OK, content));
    };
    if !is_known(asked, tag.to_str().unwrap_or_default())? {
        return Ok((StatusCode::OK, content));
    }
    let unchanged = Content::Plain {
        headers: HeaderMap::from_iter([(ETAG, tag)]),
        body: Body::Full(Default::default()),
    };
    Ok((StatusCode::NOT_MODIFIED, unchanged))
}

/// Whether the caller has what this tag stands for; in the order of RFC 9110, 13.2.2.
fn is_known(asked: &HeaderMap, tag: &str) -> Result<bool, Fault> {
    if names(asked, IF_MATCH, |one| one == tag) == Some(false) {
        return Err(invalid(
            "$header.If-Match",
            "is not the tag of what is there",
        ));
    }
    let weakly = |one: &str| one.strip_prefix("W/").unwrap_or(one) == tag;
    Ok(names(asked, IF_NONE_MATCH, weakly) == Some(true))
}

/// Whether a header names a tag, or any; `None` where it was not sent.
fn names(asked: &HeaderMap, header: HeaderName, is_meant: impl Fn(&str) -> bool) -> Option<bool> {
    let mut sent = asked.get_all(header).iter().peekable();
    sent.peek()?;
    let texts = sent.filter_map(|value| value.to_str().ok());
    let mut tags = texts.flat_map(|text| text.split(',')).map(str::trim);
    Some(tags.any(|one| one == "*" || is_meant(one)))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// What becomes of a request for what has the tag `"abc"`; `None` is a refusal.
    fn known(header: HeaderName, values: &[&'static str]) -> Option<bool> {
        let mut asked = HeaderMap::new();
        for value in values {
            asked.append(&header, HeaderValue::from_static(value));
        }
        is_known(&asked, "\"abc\"").ok()
    }

    #[test]
    fn what_the_caller_has_is_not_sent_again() {
        for (values, expected) in [
            (&["\"abc\""][..], true),
            (&["W/\"abc\""], true),
            (&["*"], true),
            (&["\"x\" , \"abc\""], true),
            (&["\"x\"", "\"abc\""], true),
            (&["\"x\""], false),
            (&["abc"], false),
            (&[""], false),
            (&[], false),
        ] {
            assert_eq!(known(IF_NONE_MATCH, values), Some(expected), "{values:?}");
        }
    }

    #[test]
    fn what_the_caller_does_not_want_is_not_sent() {
        for (values, is_sent) in [
            (&["\"abc\""][..], true),
            (&["*"], true),
            (&["\"x\", \"abc\""], true),
            (&[], true),
            (&["W/\"abc\""], false),
            (&["\"x\""], false),
            (&[""], false),
        ] {
            assert_eq!(known(IF_MATCH, values).is_some(), is_sent, "{values:?}");
        }
    }
}
