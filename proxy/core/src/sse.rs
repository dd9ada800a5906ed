//! Server-sent events, both directions: a framer that takes bytes as they come and an encoder.
//!
//! Frames are cut on bytes and decoded per complete event, so a chunk border inside a UTF-8 character does
//! no harm. Accepts LF, CRLF, lone CR, comments, multi-line data, a leading BOM, a missing space after the
//! colon, `id` and `retry` lines, and an unterminated last event.

use memchr::memchr2;

/// One event: its name (empty when the stream named none) and its joined data lines.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    pub name: String,
    /// The data lines with a line feed between them.
    pub data: String,
}

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("an event is longer than {MAX_EVENT_BYTES} bytes")]
    TooLong,
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// Bound on one event: a whole answer of a large model with a tool call in one piece stays below it.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Cuts a byte stream into events. Feed it with [`Framer::push`], end it with [`Framer::finish`].
#[derive(Default)]
pub struct Framer {
    /// Bytes of the current, unfinished line.
    line: Vec<u8>,
    name: String,
    data: Vec<u8>,
    /// Whether the current event has a data line, even an empty one.
    has_data: bool,
    /// The last byte was CR: a LF right behind it belongs to the same line end.
    after_cr: bool,
    started: bool,
}

impl Framer {
    /// Takes the next bytes and appends every event they complete to `frames`.
    ///
    /// # Errors
    /// [`FrameError`] when an event is too long or not UTF-8; the stream is of no more use then.
    pub fn push(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(at) = memchr2(b'\n', b'\r', bytes) {
            let (head, rest) = bytes.split_at(at);
            self.extend_line(head)?;
            let (end, rest) = rest.split_at(1);
            bytes = rest;
            if end == b"\r" {
                match bytes.strip_prefix(b"\n") {
                    Some(behind) => bytes = behind,
                    None => self.after_cr = bytes.is_empty(),
                }
            }
            self.end_line(frames)?;
        }
        self.extend_line(bytes)
    }

    /// Ends the stream: an event without its closing blank line still counts.
    ///
    /// # Errors
    /// As [`Framer::push`].
    pub fn finish(mut self, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        if !self.line.is_empty() {
            self.end_line(frames)?;
        }
        self.dispatch(frames)
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), FrameError> {
        if self.line.len() + self.data.len() + bytes.len() > MAX_EVENT_BYTES {
            return Err(FrameError::TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        let mut line = std::mem::take(&mut self.line);
        if !self.started {
            self.started = true;
            if line.starts_with(BOM) {
                line.drain(..BOM.len());
            }
        }
        if line.is_empty() {
            self.dispatch(frames)?;
        } else {
            self.take_field(&line)?;
        }
        line.clear();
        self.line = line;
        Ok(())
    }

    fn take_field(&mut self, line: &[u8]) -> Result<(), FrameError> {
        let (field, value) = match memchr::memchr(b':', line) {
            Some(0) => return Ok(()),
            Some(at) => {
                let (field, value) = line.split_at(at);
                let value = value.strip_prefix(b":").unwrap_or(value);
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"event" => {
                std::str::from_utf8(value)
                    .map_err(|_| FrameError::NotUtf8)?
                    .clone_into(&mut self.name);
            }
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            let data = String::from_utf8(data).map_err(|_| FrameError::NotUtf8)?;
            frames.push(Frame { name, data });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn frames(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let (mut framer, mut frames) = (Framer::default(), Vec::new());
        for chunk in chunks {
            framer.push(chunk, &mut frames).unwrap();
        }
        framer.finish(&mut frames).unwrap();
        frames
            .into_iter()
            .map(|frame| (frame.name, frame.data))
            .collect()
    }

    const STREAM: &[u8] = "\u{FEFF}event: a\r\ndata: é1\r\ndata:2\r\n\r\n: comment\n\nid: 7\rdata: x\r\rdata\n\nevent: z\ndata: last".as_bytes();

    #[test]
    fn every_line_end_and_field_form_is_read() {
        let expected = [("a", "é1\n2"), ("", "x"), ("", ""), ("z", "last")];
        let expected: Vec<_> = expected
            .map(|(name, data)| (name.to_owned(), data.to_owned()))
            .into();
        assert_eq!(frames(&[STREAM]), expected);
    }

    #[test]
    fn any_cut_gives_the_same_events() {
        let whole = frames(&[STREAM]);
        for at in 0..=STREAM.len() {
            let (head, tail) = STREAM.split_at(at);
            assert_eq!(frames(&[head, tail]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = STREAM.chunks(1).collect();
        assert_eq!(frames(&bytes), whole);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let (mut framer, mut frames) = (Framer::default(), Vec::new());
        let chunk = vec![b'x'; MAX_EVENT_BYTES];
        assert_eq!(framer.push(&chunk, &mut frames), Ok(()));
        assert_eq!(framer.push(b"y", &mut frames), Err(FrameError::TooLong));
    }
}
