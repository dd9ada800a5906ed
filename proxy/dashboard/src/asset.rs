//! Files that pages use: bytes of the program, named by their digest so that browsers may keep them for good.

use std::sync::LazyLock;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};
use svc_core::fault::Code;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::response::Body;

use crate::form::Fields;
use crate::frame::Answering;

/// One file of the program.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

static ASSETS: &[Asset] = &[
    Asset {
        name: "site.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("../assets/site.css"),
    },
    // htmx 2.0.11 as its makers publish it (0BSD): dist/htmx.min.js of the package htmx.org.
    Asset {
        name: "htmx.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../assets/htmx.min.js"),
    },
    Asset {
        name: "icon.svg",
        content_type: "image/svg+xml",
        bytes: include_bytes!("../assets/icon.svg"),
    },
];

/// Characters of the digest in addresses: enough to tell versions apart.
const VERSION_CHARS: usize = 16;

static VERSIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    ASSETS
        .iter()
        .map(|asset| {
            let digest = Sha256::digest(asset.bytes);
            hex::encode(digest).chars().take(VERSION_CHARS).collect()
        })
        .collect()
});

/// The address of a file in a page.
pub(crate) fn url(name: &str) -> String {
    let known = ASSETS.iter().zip(VERSIONS.iter());
    let mut known = known.filter(|(asset, _)| asset.name == name);
    match known.next() {
        Some((_, version)) => format!("/ui/assets/{name}?v={version}"),
        None => format!("/ui/assets/{name}"),
    }
}

pub(crate) fn show(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async move {
        let wanted = exchange.parameter("name");
        let known = ASSETS.iter().zip(VERSIONS.iter());
        let found = known.clone().find(|(asset, _)| asset.name == wanted);
        let (asset, version) = found.ok_or_else(|| Code::NotFound.fault())?;
        let is_pinned = Fields::of_query(exchange).text("v") == version;
        let tag = format!("\"{version}\"");
        let mut headers = HeaderMap::new();
        let kept = if is_pinned {
            // A year: the address changes with the file.
            "public, max-age=31536000, immutable"
        } else {
            "public, no-cache"
        };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(ETAG, tag);
        }
        let known = exchange.head.headers.get(IF_NONE_MATCH);
        let is_known = known
            .and_then(|value| value.to_str().ok())
            .is_some_and(|sent| {
                sent.split(',')
                    .any(|one| one.trim().trim_start_matches("W/") == tag)
            });
        if is_known {
            headers.remove(CONTENT_TYPE);
            let nothing = Body::Full(Default::default());
            return Ok(exchange.respond(StatusCode::NOT_MODIFIED, headers, nothing));
        }
        let body = Body::Full(asset.bytes.into());
        Ok(exchange.respond(StatusCode::OK, headers, body))
    })
}
