//! Server-sent events: a stream gives the same events wherever it is cut.

use svc_core::sse::{Frame, FrameError, Framer, encode};

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
    let mut plain = Vec::new();
    let whole = whole.unwrap_or_default();
    // Names and data with line ends of their own cannot be written in the plain form.
    let writable = |frame: &&Frame| {
        !frame.name.is_empty() && !frame.data.contains('\n') && !frame.data.is_empty()
    };
    let expected: Vec<&Frame> = whole.iter().filter(writable).collect();
    for frame in &expected {
        encode(&frame.name, frame.data.as_bytes(), &mut plain);
    }
    let again = frames(&plain, usize::MAX).unwrap_or_default();
    assert!(
        again.iter().eq(expected),
        "written events are read differently"
    );
}
