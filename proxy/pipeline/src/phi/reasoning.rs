//! Signed reasoning and PHI: a provider takes its own reasoning back only as it wrote it (wire.md 2, point 29), and a
//! caller must not see it so.
//!
//! Where the guard changes signed reasoning on its way to the caller, the caller's signature holds the original,
//! sealed under the organization's key; on the way back it stands in place of what the caller shows. It is what the
//! provider itself wrote, so it is not read again. What its placeholders stood for is sealed with it, and they stand for
//! the same in the request that it comes back with. Reasoning with a provider's own signature is read as any text; where
//! that changes it, the signature holds no more and goes.
//!
//! What callers bring is taken for the first route's, unless it is sealed: that says whose it is. So what another route
//! has given goes out sealed, changed or not.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use svc_core::chat::{ChatEvent, ChatRequest, Message, Part};
use svc_core::fault::{Code, Fault};
use svc_core::phi::{Kept, PlaceholderMap};
use svc_core::secret::Mode;
use svc_core::surface::Places;
use svc_store::reasoning::Signed;
use svc_store::{Store, StoreError};

/// Client libraries take old thinking out of the history where they read these words.
pub(crate) const FOREIGN_THINKING: &str = "invalid signature in thinking block";

/// Begins a signature of ours.
const OURS: &str = "svc_reasoning_";

/// Reasoning of a request while the guard reads the rest.
pub(crate) struct Thoughts {
    /// Originals, which the guard does not read.
    originals: Vec<(Place, Part)>,
    /// Reasoning with a signature of a provider, as it came.
    signed: Vec<(Place, Part)>,
}

/// Message and part.
#[derive(Clone, Copy)]
struct Place(usize, usize);

impl Place {
    fn of(self, messages: &mut [Message]) -> Option<&mut Part> {
        messages.get_mut(self.0)?.content.get_mut(self.1)
    }
}

impl Thoughts {
    /// Takes originals out of a request, with what their placeholders stand for, and notes what else is signed.
    ///
    /// # Errors
    /// `UNSUPPORTED_PARAMETER` for a signature of ours that does not open, and for reasoning whose placeholders stand for
    /// something else by now; 503 without the organization's key.
    pub(crate) async fn take(
        sealing: Sealing<'_>,
        chat: &mut ChatRequest,
        placeholders: &mut PlaceholderMap,
        places: Option<&Places>,
    ) -> Result<Self, Fault> {
        let mut thoughts = Self {
            originals: Vec::new(),
            signed: Vec::new(),
        };
        for (message, turn) in chat.messages.iter_mut().enumerate() {
            for (at, part) in turn.content.iter_mut().enumerate() {
                let place = Place(message, at);
                let (mark, driver) = match &*part {
                    Part::Reasoning {
                        signature: Some(mark),
                        driver,
                        ..
                    } => (mark, driver),
                    Part::RedactedReasoning { data, driver } => (data, driver),
                    _ => continue,
                };
                let is_text = matches!(part, Part::Reasoning { .. });
                let Some(sealed) = mark.strip_prefix(OURS) else {
                    if is_text {
                        thoughts.signed.push((place, part.clone()));
                    }
                    continue;
                };
                let original = opened(sealing, sealed).await?;
                let original = original.filter(|original| comes_back(original, part, placeholders));
                let Some(original) = original else {
                    let field = if is_text { "signature" } else { "data" };
                    let place = format!("messages[{message}].content[{at}].{field}");
                    let path = places.map(|places| places.name(&place)).unwrap_or(place);
                    return Err(foreign(&path));
                };
                let driver = original.driver.map(Arc::from).or_else(|| driver.clone());
                let original = if is_text {
                    Part::Reasoning {
                        text: original.text,
                        signature: Some(original.signature),
                        driver,
                    }
                } else {
                    Part::RedactedReasoning {
                        data: original.signature,
                        driver,
                    }
                };
                thoughts.originals.push((place, original));
                // Nothing to read.
                *part = Part::RedactedReasoning {
                    data: String::new(),
                    driver: None,
                };
            }
        }
        Ok(thoughts)
    }

    /// Puts the originals back, and takes signatures away that hold no more.
    pub(crate) fn give_back(self, chat: &mut ChatRequest) {
        for (place, original) in self.originals {
            if let Some(part) = place.of(&mut chat.messages) {
                *part = original;
            }
        }
        for (place, before) in self.signed {
            if let Some(part) = place.of(&mut chat.messages)
                && *part != before
                && let Part::Reasoning { signature, .. } = part
            {
                *signature = None;
            }
        }
    }
}

/// For whom reasoning is sealed.
#[derive(Clone, Copy)]
pub(crate) struct Sealing<'a> {
    pub(crate) store: &'a Store,
    pub(crate) org_id: &'a str,
    pub(crate) mode: Mode,
}

fn foreign(path: &str) -> Fault {
    let message = format!(
        "The thinking was not given to this organization, was changed, or does not fit the rest: {FOREIGN_THINKING}."
    );
    Fault::new(Code::UnsupportedParameter, message).at(path)
}

/// Whether the placeholders of an original can stand for what they stood for; then they do.
fn comes_back(original: &Signed, shown: &Part, placeholders: &mut PlaceholderMap) -> bool {
    let kept = original.placeholders.iter();
    let kept = kept.map(|(kind, number, value, reads)| Kept {
        kind: kind.clone(),
        number: *number,
        original: value.clone(),
        reads: reads.clone(),
    });
    let kept: Vec<_> = kept.collect();
    let shown = match shown {
        Part::Reasoning { text, .. } => text.as_str(),
        _ => "",
    };
    placeholders.take_back(&original.text, &kept, shown).is_ok()
}

/// `None` for what was not sealed here for this organization.
async fn opened(sealing: Sealing<'_>, sealed: &str) -> Result<Option<Signed>, Fault> {
    let Ok(sealed) = URL_SAFE_NO_PAD.decode(sealed) else {
        return Ok(None);
    };
    let Sealing {
        store,
        org_id,
        mode,
    } = sealing;
    match Signed::open(store, org_id, mode, &sealed).await {
        Ok(signed) => Ok(Some(signed)),
        Err(StoreError::Seal(_)) => Ok(None),
        Err(error) => Err(no_key(&error)),
    }
}

fn no_key(error: &StoreError) -> Fault {
    Fault::unavailable(format_args!("sealing reasoning: {error}"))
}

/// The reasoning of one reply: what the provider wrote, and what has become of it.
#[derive(Default)]
pub(super) struct Thinking {
    /// Of the block that is coming in.
    written: String,
    /// Pieces of its signature.
    signature: String,
    /// Blocks that are signed and not out yet.
    complete: VecDeque<String>,
    /// Of the block that is going out: with placeholders, and as the caller sees it.
    kept: String,
    shown: String,
    /// Id of the driver that gives it.
    driver: Option<String>,
    /// Whether a caller who brings it back has to say so.
    is_marked: bool,
}

impl Thinking {
    /// Notes which driver answers, and whether callers' reasoning is taken for its own anyway.
    pub(super) fn given_by(&mut self, driver: &str, is_first: bool) {
        self.driver = Some(driver.to_owned());
        self.is_marked = !is_first;
    }

    /// Notes what comes in. The pieces of a signature are held back until they are whole; they are given before the
    /// event that comes behind them.
    pub(super) fn takes(&mut self, event: ChatEvent) -> (Option<ChatEvent>, Option<ChatEvent>) {
        match event {
            ChatEvent::ReasoningSignature(piece) => {
                self.signature.push_str(&piece);
                (None, None)
            }
            ChatEvent::KeepAlive | ChatEvent::Usage(_) => (None, Some(event)),
            event => {
                let signature = self.signature();
                match &event {
                    ChatEvent::Reasoning(text) => self.written.push_str(text),
                    _ => self.written.clear(),
                }
                (signature, Some(event))
            }
        }
    }

    /// The signature that was held back.
    pub(super) fn signature(&mut self) -> Option<ChatEvent> {
        if self.signature.is_empty() {
            return None;
        }
        self.complete.push_back(std::mem::take(&mut self.written));
        let signature = std::mem::take(&mut self.signature);
        Some(ChatEvent::ReasoningSignature(signature))
    }

    /// The signature that was last given goes to nobody.
    pub(super) fn unsigned(&mut self) {
        self.complete.pop_back();
    }

    /// Notes an event on its way out, with placeholders in place.
    pub(super) fn keeps(&mut self, event: &ChatEvent) {
        note(&mut self.kept, event);
    }

    /// Notes an event as the caller sees it.
    pub(super) fn shows(&mut self, event: &ChatEvent) {
        note(&mut self.shown, event);
    }

    /// A block's signature goes out: the ones that are kept and shown, in that order.
    ///
    /// # Errors
    /// 503 without the organization's key.
    pub(super) async fn sign(
        &mut self,
        signature: String,
        sealing: Sealing<'_>,
        placeholders: &PlaceholderMap,
    ) -> Result<(String, String), Fault> {
        let written = self.complete.pop_front().unwrap_or_default();
        let (kept, shown) = (
            std::mem::take(&mut self.kept),
            std::mem::take(&mut self.shown),
        );
        let is_changed = |text: &str| text != written;
        let (seals_kept, seals_shown) = (is_changed(&kept), is_changed(&shown) || self.is_marked);
        if !seals_kept && !seals_shown {
            return Ok((signature.clone(), signature));
        }
        let kept = placeholders.kept(&written).into_iter();
        let original = Signed {
            placeholders: kept
                .map(|kept| (kept.kind, kept.number, kept.original, kept.reads))
                .collect(),
            text: written,
            signature,
            driver: self.driver.clone(),
        };
        let ours = seal(&original, sealing).await?;
        let pick = |is_sealed| {
            if is_sealed {
                ours.clone()
            } else {
                original.signature.clone()
            }
        };
        Ok((pick(seals_kept), pick(seals_shown)))
    }

    /// What the provider has sealed, as the caller gets it.
    ///
    /// # Errors
    /// As [`Self::sign`].
    pub(super) async fn mark(&self, data: String, sealing: Sealing<'_>) -> Result<String, Fault> {
        if !self.is_marked {
            return Ok(data);
        }
        let original = Signed {
            text: String::new(),
            signature: data,
            driver: self.driver.clone(),
            placeholders: Vec::new(),
        };
        seal(&original, sealing).await
    }
}

async fn seal(original: &Signed, sealing: Sealing<'_>) -> Result<String, Fault> {
    let Sealing {
        store,
        org_id,
        mode,
    } = sealing;
    let sealed = original.seal(store, org_id, mode).await;
    let sealed = sealed.map_err(|error| no_key(&error))?;
    Ok(format!("{OURS}{}", URL_SAFE_NO_PAD.encode(sealed)))
}

fn note(text: &mut String, event: &ChatEvent) {
    match event {
        ChatEvent::Reasoning(piece) => text.push_str(piece),
        ChatEvent::KeepAlive | ChatEvent::Usage(_) | ChatEvent::ReasoningSignature(_) => {}
        _ => text.clear(),
    }
}
