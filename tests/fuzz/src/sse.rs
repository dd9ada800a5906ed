//! Server-sent events: a stream gives the same events wherever it is cut, and what callers get is read as it is meant.

use serde_json::Value;
use svc_core::chat::ChatEvent;
use svc_core::sse::{Frame, FrameError, Framer};
use svc_core::surface::{ReplyEncoder, native};

/// Events of a stream that arrives in pieces of this many bytes.
///
/// # Errors
/// The framer's.
pub(crate) fn frames(stream: &[u8], piece_bytes: usize) -> Result<Vec<Frame>, FrameError> {
    let (mut framer, mut frames) = (Framer::default(), Vec::new());
    for piece in stream.chunks(piece_bytes.max(1)) {
        framer.push(piece, &mut frames)?;
    }
    framer.finish(&mut frames)?;
    Ok(frames)
}

/// The first byte says how long the pieces are.
pub(crate) fn framer(data: &[u8]) {
    let Some((first, stream)) = data.split_first() else {
        return;
    };
    let whole = frames(stream, usize::MAX);
    for piece_bytes in [usize::from(*first), 1] {
        assert!(frames(stream, piece_bytes) == whole, "a cut changes events");
    }
    let said = String::from_utf8_lossy(stream).into_owned();
    let ran = ChatEvent::ProviderToolCompleted {
        tool_type: said.clone(),
        item_id: String::new(),
    };
    let mut encoder = native::Encoder::default();
    let mut written = Vec::new();
    for event in [ChatEvent::Text(said.clone()), ran] {
        assert!(encoder.event(&event, &mut written).is_ok());
    }
    let read = frames(&written, usize::from(*first)).unwrap_or_default();
    let read: Vec<(&str, Value)> = read
        .iter()
        .map(|frame| {
            let data: Value = serde_json::from_str(&frame.data).unwrap_or_default();
            (frame.name.as_str(), data)
        })
        .collect();
    let is_as_said = match &read[..] {
        [("message.delta", text), ("provider_tool.completed", tool)] => {
            text["text"] == said && tool["tool_type"] == said
        }
        _ => false,
    };
    assert!(is_as_said, "written events are read differently");
}
