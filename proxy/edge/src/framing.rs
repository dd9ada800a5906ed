//! Where the messages of an HTTP/1.1 connection begin and end, read a second time beside pingora, which takes a chunk
//! without a size for the last one. Whoever stands before us and does not would see other messages in the same bytes
//! (RFC 9112, 7.1 and 11.2). Follows the bytes only; what pingora refuses itself need not be refused here.

/// A body whose framing breaks RFC 9112.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misframed;

/// Why the chunks behind a head are not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untrusted {
    Misframed,
    /// The head that was read is not the one that came: pingora encodes what a request line must not have, and what
    /// stands before us may have read another one.
    Rewritten,
}

impl From<Misframed> for Untrusted {
    fn from(_: Misframed) -> Self {
        Self::Misframed
    }
}

/// How a body says where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Bytes(u64),
    Chunked,
}

/// The bytes of one connection, in the order in which pingora gets them.
#[derive(Default)]
pub(crate) struct Framing {
    place: Place,
    /// What came since the last body ended: a head, and what lies behind it.
    ahead: Vec<u8>,
    /// Where the head at the beginning of `ahead` is.
    line: Line,
}

#[derive(Default)]
enum Place {
    /// In a head. Only pingora knows what of it is the head that it takes.
    #[default]
    Head,
    /// Bytes of a body to come.
    Length(u64),
    Chunks(Chunks),
    /// Not known any more.
    Lost,
}

/// The lines of a head, which an empty one ends. As pingora has it, a line may end without a carriage return, and empty
/// ones before the first are none of it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Before,
    Within,
    Fresh,
    /// The head is over.
    Over,
}

impl Line {
    fn feed(self, bytes: &[u8]) -> Self {
        let mut line = self;
        for byte in bytes {
            line = match (line, byte) {
                (Self::Over, _) | (Self::Fresh, b'\n') => return Self::Over,
                (Self::Before, b'\r' | b'\n') => Self::Before,
                (Self::Within, b'\n') | (Self::Fresh, b'\r') => Self::Fresh,
                _ => Self::Within,
            };
        }
        line
    }
}

/// 2 MiB: twice the longest head that pingora reads.
const MOST_AHEAD: usize = 2 * 1024 * 1024;

impl Framing {
    /// A head has been read: `head` are its bytes, and its body follows. Takes what came along with it.
    ///
    /// # Errors
    /// Chunks that are broken already, or whose beginning is not known.
    pub(crate) fn begin(&mut self, head: &[u8], body: BodyLength) -> Result<(), Untrusted> {
        let seen = std::mem::take(&mut self.ahead);
        self.line = Line::default();
        let was_followed = matches!(self.place, Place::Head) && !seen.is_empty();
        let Some(rest) = seen.strip_prefix(head).filter(|_| was_followed) else {
            self.place = Place::Lost;
            return match body {
                BodyLength::Bytes(_) => Ok(()),
                BodyLength::Chunked if was_followed => Err(Untrusted::Rewritten),
                BodyLength::Chunked => Err(Untrusted::Misframed),
            };
        };
        self.place = match body {
            BodyLength::Bytes(0) => Place::Head,
            BodyLength::Bytes(bytes) => Place::Length(bytes),
            BodyLength::Chunked => Place::Chunks(Chunks::default()),
        };
        Ok(self.feed(rest)?)
    }

    /// Whether it is not known any more where messages begin. No later one can be judged then.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.place, Place::Lost)
    }

    /// Bytes of a head that has begun and is not over.
    pub(crate) fn unfinished(&self) -> usize {
        match self.place {
            Place::Head if self.line != Line::Over => self.ahead.len(),
            _ => 0,
        }
    }

    /// Stops following. Gives the path that the head asks for, as far as it came.
    pub(crate) fn give_up(&mut self) -> String {
        let head = std::mem::take(&mut self.ahead);
        self.place = Place::Lost;
        let line = head.trim_ascii_start().split(|byte| *byte == b'\n').next();
        let asked = line.and_then(|line| line.split(|byte| *byte == b' ').nth(1));
        let path = asked.and_then(|asked| asked.split(|byte| *byte == b'?').next());
        String::from_utf8_lossy(path.unwrap_or_default()).into_owned()
    }

    /// Follows bytes on their way to pingora.
    ///
    /// # Errors
    /// Chunks that are broken; nothing more is followed then.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Misframed> {
        while !bytes.is_empty() {
            match &mut self.place {
                Place::Lost => return Ok(()),
                Place::Head => {
                    if self.ahead.len() + bytes.len() > MOST_AHEAD {
                        self.ahead = Vec::new();
                        self.place = Place::Lost;
                    } else {
                        self.ahead.extend_from_slice(bytes);
                        self.line = self.line.feed(bytes);
                    }
                    return Ok(());
                }
                Place::Length(missing) => {
                    let here = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                    if here < *missing {
                        *missing -= here;
                        return Ok(());
                    }
                    let end = usize::try_from(*missing).unwrap_or(bytes.len());
                    bytes = bytes.get(end..).unwrap_or_default();
                    self.place = Place::Head;
                }
                Place::Chunks(chunks) => match chunks.feed(bytes) {
                    Ok(None) => return Ok(()),
                    Ok(Some(rest)) => {
                        bytes = rest;
                        self.place = Place::Head;
                    }
                    Err(misframed) => {
                        self.place = Place::Lost;
                        return Err(misframed);
                    }
                },
            }
        }
        Ok(())
    }
}

/// A chunked body: `chunk-size [chunk-ext] CRLF chunk-data CRLF`, the last one of size 0, then trailers and an empty
/// line.
#[derive(Default)]
struct Chunks(At);

#[derive(Clone, Copy)]
enum At {
    /// In the line of a size, whose digits end where anything else begins.
    Size { size: u64, digits: u32, ended: bool },
    /// Behind the carriage return of such a line.
    SizeEnd { size: u64 },
    /// Bytes of data to come.
    Data(u64),
    /// Behind the data, with or without its carriage return.
    DataEnd { returned: bool },
    /// In a trailer field, or where one would begin.
    Trailer { bytes: u32, colon: bool },
    /// Behind the carriage return of such a line.
    TrailerEnd { empty: bool },
}

impl Default for At {
    fn default() -> Self {
        Self::Size {
            size: 0,
            digits: 0,
            ended: false,
        }
    }
}

/// What fits into 64 bits, four of them a digit.
const MOST_DIGITS: u32 = 16;

impl Chunks {
    /// What lies behind the body where it ends within `bytes`, `None` where it goes on.
    fn feed<'a>(&mut self, mut bytes: &'a [u8]) -> Result<Option<&'a [u8]>, Misframed> {
        loop {
            // Data is the bulk of it and goes by at once.
            if let At::Data(missing) = &mut self.0 {
                let here = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                if here < *missing {
                    *missing -= here;
                    return Ok(None);
                }
                let end = usize::try_from(*missing).unwrap_or(bytes.len());
                bytes = bytes.get(end..).unwrap_or_default();
                self.0 = At::DataEnd { returned: false };
            }
            let Some((byte, rest)) = bytes.split_first() else {
                return Ok(None);
            };
            bytes = rest;
            match next(self.0, *byte)? {
                Some(at) => self.0 = at,
                None => return Ok(Some(bytes)),
            }
        }
    }
}

/// Where one byte leads to; `None` is the end of the body.
fn next(at: At, byte: u8) -> Result<Option<At>, Misframed> {
    let next = match (at, byte) {
        (At::Size { digits: 0, .. }, byte) if !byte.is_ascii_hexdigit() => return Err(Misframed),
        (At::Size { size, .. }, b'\r') => At::SizeEnd { size },
        (At::Size { .. }, b'\n') => return Err(Misframed),
        (
            At::Size {
                size,
                digits,
                ended: false,
            },
            byte,
        ) if byte.is_ascii_hexdigit() => {
            if digits == MOST_DIGITS {
                return Err(Misframed);
            }
            let digit = char::from(byte).to_digit(16).unwrap_or_default();
            At::Size {
                size: size * 16 + u64::from(digit),
                digits: digits + 1,
                ended: false,
            }
        }
        // An extension, which pingora judges.
        (At::Size { size, digits, .. }, _) => At::Size {
            size,
            digits,
            ended: true,
        },
        (At::SizeEnd { size: 0 }, b'\n') => At::Trailer {
            bytes: 0,
            colon: false,
        },
        (At::SizeEnd { size }, b'\n') => At::Data(size),
        (At::DataEnd { returned: false }, b'\r') => At::DataEnd { returned: true },
        (At::DataEnd { returned: true }, b'\n') => At::default(),
        (At::Trailer { bytes: 0, .. }, b'\r') => At::TrailerEnd { empty: true },
        // RFC 9112, 5: a field is a name, a colon and a value.
        (At::Trailer { colon: true, .. }, b'\r') => At::TrailerEnd { empty: false },
        (At::Trailer { .. }, b'\r' | b'\n') | (At::Trailer { bytes: 0, .. }, b':') => {
            return Err(Misframed);
        }
        (At::Trailer { bytes, colon }, byte) => At::Trailer {
            bytes: bytes.saturating_add(1),
            colon: colon || byte == b':',
        },
        (At::TrailerEnd { empty: true }, b'\n') => return Ok(None),
        (At::TrailerEnd { empty: false }, b'\n') => At::Trailer {
            bytes: 0,
            colon: false,
        },
        (At::SizeEnd { .. } | At::DataEnd { .. } | At::TrailerEnd { .. } | At::Data(_), _) => {
            return Err(Misframed);
        }
    };
    Ok(Some(next))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HEAD: &[u8] = b"POST / HTTP/1.1\r\n\r\n";

    /// What is taken for the next message, however the bytes are cut.
    fn behind(body: &[u8]) -> Result<Vec<u8>, Misframed> {
        let mut seen = Vec::new();
        for size in 1..=body.len() {
            let mut framing = Framing::default();
            framing.feed(HEAD).unwrap();
            let fed = framing
                .begin(HEAD, BodyLength::Chunked)
                .map_err(|_| Misframed)
                .and_then(|()| body.chunks(size).try_for_each(|part| framing.feed(part)));
            let is_over = matches!(framing.place, Place::Head);
            seen.push(fed.map(|()| (is_over, framing.ahead)));
        }
        let first = seen.first().cloned().unwrap();
        assert!(seen.iter().all(|one| *one == first), "{seen:?}");
        first.map(|(is_over, ahead)| if is_over { ahead } else { b"open".to_vec() })
    }

    #[test]
    fn chunks_end_where_they_say() {
        for (body, rest) in [
            (&b"5\r\nhello\r\n0\r\n\r\nGET"[..], &b"GET"[..]),
            (b"0\r\n\r\n", b""),
            (b"000\r\n\r\n", b""),
            (
                b"a;x=\"y\"\r\n0123456789\r\n0;z\r\nA: b\r\nC:\r\n\r\nX",
                b"X",
            ),
            (b"5 \r\nhello\r\n0\r\n\r\n", b""),
            (b"5\r\nhel", b"open"),
            (b"5\r\nhello\r\n0\r\n", b"open"),
        ] {
            let told = behind(body);
            assert_eq!(told.as_deref(), Ok(rest), "{}", body.escape_ascii());
        }
    }

    #[test]
    fn broken_chunks_are_seen() {
        for body in [
            &b"\r\n\r\nGET / HTTP/1.1\r\n\r\n"[..],
            b"2\r\n{}\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            b";ext\r\n\r\n",
            b" 2\r\n{}\r\n0\r\n\r\n",
            b"zz\r\n",
            b"+22\r\n",
            b"2\n{}\r\n0\r\n\r\n",
            b"2\r\n{}0\r\n\r\n",
            b"2\r\n{}\n0\r\n\r\n",
            b"fffffffffffffffff\r\n",
            b"0\r\nno colon\r\n\r\n",
            b"0\r\n: no name\r\n\r\n",
            b"0\r\nA: b\n\r\n",
        ] {
            assert_eq!(behind(body), Err(Misframed), "{}", body.escape_ascii());
        }
    }

    #[test]
    fn messages_follow_each_other() {
        let mut framing = Framing::default();
        // All of them in one read, as pipelining clients send them.
        let mut sent = [HEAD, b"12345", HEAD, b"1\r\nx\r\n0\r\n\r\n", HEAD].concat();
        sent.extend_from_slice(b"\r\n\r\n");
        framing.feed(&sent).unwrap();
        framing.begin(HEAD, BodyLength::Bytes(5)).unwrap();
        framing.begin(HEAD, BodyLength::Chunked).unwrap();
        let broken = framing.begin(HEAD, BodyLength::Chunked);
        assert_eq!(broken, Err(Untrusted::Misframed));
    }

    #[test]
    fn a_head_counts_until_it_is_over() {
        let head = b"\r\nGET /a?b HTTP/1.1\r\nX: y\r\n";
        for (end, rest) in [("\r\n", ""), ("\n", ""), ("\r\n", "GET / HTTP/1.1\r\nX: a")] {
            let all = [head, end.as_bytes(), rest.as_bytes()].concat();
            for size in 1..=all.len() {
                let mut framing = Framing::default();
                for part in head.chunks(size) {
                    framing.feed(part).unwrap();
                }
                assert_eq!(framing.unfinished(), head.len());
                for part in all[head.len()..].chunks(size) {
                    framing.feed(part).unwrap();
                }
                assert_eq!(framing.unfinished(), 0);
                let whole = &all[..head.len() + end.len()];
                framing.begin(whole, BodyLength::Bytes(0)).unwrap();
                assert_eq!(framing.unfinished(), rest.len());
            }
        }
    }

    #[test]
    fn a_head_that_is_given_up_has_a_path() {
        for (head, path) in [
            (
                &b"\r\nPOST /v1/messages?beta HTTP/1.1\r\nX: y"[..],
                "/v1/messages",
            ),
            (b"POST /v1/mes", "/v1/mes"),
            (b"POST", ""),
        ] {
            let mut framing = Framing::default();
            framing.feed(head).unwrap();
            assert_eq!(framing.give_up(), path);
            framing.feed(b"more").unwrap();
            assert_eq!(framing.unfinished(), 0);
        }
    }

    #[test]
    fn whoever_has_lost_the_thread_trusts_no_chunks() {
        let mut framing = Framing::default();
        framing.feed(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        framing.begin(HEAD, BodyLength::Bytes(0)).unwrap();
        assert!(framing.is_lost());
        let broken = framing.begin(HEAD, BodyLength::Chunked);
        assert_eq!(broken, Err(Untrusted::Misframed));
    }

    #[test]
    fn a_head_that_was_rewritten_is_no_broken_body() {
        for (body, begun) in [
            (BodyLength::Bytes(1), Ok(())),
            (BodyLength::Chunked, Err(Untrusted::Rewritten)),
        ] {
            let mut framing = Framing::default();
            framing.feed(b"POST /a b HTTP/1.1\r\n\r\n").unwrap();
            let rewritten = b"POST /a%20b HTTP/1.1\r\n\r\n";
            assert_eq!(framing.begin(rewritten, body), begun);
            assert!(framing.is_lost());
        }
    }
}
