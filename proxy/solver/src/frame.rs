//! Frames between the gateway and a worker: a kind, a length, a payload. Bounded on both sides.

use std::io::{self, Read, Write};

use bytes::{Buf, BytesMut};

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To the worker: the bytes of a spec. One at a time.
    Solve,
    /// To the worker: as [`Kind::Solve`], with word of how it goes.
    SolveAndTell,
    /// To the worker: end the search that runs.
    Stop,
    /// To the worker, which is idle: say that you are ready.
    Greet,
    /// From the worker: the library is loaded, and nothing runs.
    Ready,
    /// From the worker: the library cannot be loaded; why.
    Unusable,
    /// From the worker: the answer, as JSON.
    Answer,
    /// From the worker: how a search goes, as JSON.
    Progress,
}

const KINDS: [Kind; 8] = [
    Kind::Solve,
    Kind::SolveAndTell,
    Kind::Stop,
    Kind::Greet,
    Kind::Ready,
    Kind::Unusable,
    Kind::Answer,
    Kind::Progress,
];

/// Kind and length.
const HEADER_BYTES: usize = 5;

/// A spec has 8 MiB at most (contract 1.2); answers and conflicts repeat its ids.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 16 * 1024 * 1024;

pub(crate) fn header(kind: Kind, payload: &[u8]) -> io::Result<[u8; HEADER_BYTES]> {
    let place = KINDS.iter().position(|other| *other == kind).unwrap_or(0);
    let length = u32::try_from(payload.len())
        .ok()
        .filter(|_| payload.len() <= MAX_PAYLOAD_BYTES)
        .ok_or_else(|| io::Error::other("a frame is too long"))?;
    let [a, b, c, d] = length.to_le_bytes();
    Ok([u8::try_from(place).unwrap_or(0), a, b, c, d])
}

fn parse_header(header: [u8; HEADER_BYTES]) -> io::Result<(Kind, usize)> {
    let [kind, a, b, c, d] = header;
    let kind = KINDS.get(usize::from(kind));
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    match kind {
        Some(kind) if length <= MAX_PAYLOAD_BYTES => Ok((*kind, length)),
        _ => Err(io::Error::other("not a frame")),
    }
}

/// Writes a frame.
pub(crate) fn write(stream: &mut impl Write, kind: Kind, payload: &[u8]) -> io::Result<()> {
    stream.write_all(&header(kind, payload)?)?;
    stream.write_all(payload)?;
    stream.flush()
}

/// Reads a frame; an error of the kind `UnexpectedEof` when the other side is gone.
pub(crate) fn read(stream: &mut impl Read) -> io::Result<(Kind, Vec<u8>)> {
    let mut header = [0; HEADER_BYTES];
    stream.read_exact(&mut header)?;
    let (kind, length) = parse_header(header)?;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload)?;
    Ok((kind, payload))
}

/// Takes the first frame out of what was read, if it is whole.
pub(crate) fn take(read: &mut BytesMut) -> io::Result<Option<(Kind, BytesMut)>> {
    let Some(header) = read.first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let (kind, length) = parse_header(*header)?;
    if read.len() < HEADER_BYTES + length {
        return Ok(None);
    }
    read.advance(HEADER_BYTES);
    Ok(Some((kind, read.split_to(length))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn frames_come_back_as_they_went() {
        let mut bytes = Vec::new();
        write(&mut bytes, Kind::Solve, b"{}").unwrap();
        write(&mut bytes, Kind::Stop, b"").unwrap();
        let mut stream = bytes.as_slice();
        assert_eq!(read(&mut stream).unwrap(), (Kind::Solve, b"{}".to_vec()));
        assert_eq!(read(&mut stream).unwrap(), (Kind::Stop, Vec::new()));
        assert_eq!(
            read(&mut stream).unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
    }

    #[test]
    fn a_frame_is_taken_when_it_is_whole() {
        let mut bytes = Vec::new();
        write(&mut bytes, Kind::Answer, b"one").unwrap();
        write(&mut bytes, Kind::Ready, b"").unwrap();
        let (mut read, mut taken) = (BytesMut::new(), Vec::new());
        for byte in bytes {
            read.extend_from_slice(&[byte]);
            taken.extend(take(&mut read).unwrap());
        }
        let payloads = [(Kind::Answer, &b"one"[..]), (Kind::Ready, b"")];
        assert!(
            taken
                .iter()
                .map(|(kind, payload)| (*kind, &payload[..]))
                .eq(payloads)
        );
        assert!(read.is_empty());
        assert!(take(&mut BytesMut::from(&[9, 0, 0, 0, 0][..])).is_err());
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for bytes in [[9, 0, 0, 0, 0], [0, 0xff, 0xff, 0xff, 0xff]] {
            assert!(parse_header(bytes).is_err());
        }
        assert!(header(Kind::Answer, &vec![0; MAX_PAYLOAD_BYTES + 1]).is_err());
    }
}
