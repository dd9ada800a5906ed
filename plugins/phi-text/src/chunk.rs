//! Eight bytes at a time: in a sandbox each turn of a loop costs as much as what is done in it. Decides nothing.

const BYTES: usize = 8;
const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = EACH * 0x80;

/// Capitals and small letters of ASCII in `text`.
pub fn letters(text: &[u8]) -> (usize, usize) {
    let (mut upper, mut all) = (0, 0);
    let (chunks, rest) = text.as_chunks::<BYTES>();
    let mut count = |chunk: u64| {
        let letters = marked(chunk);
        all += letters.count_ones() as usize;
        upper += (letters & !(chunk << 2)).count_ones() as usize;
    };
    for chunk in chunks {
        count(u64::from_le_bytes(*chunk));
    }
    let mut last = [0; BYTES];
    for (slot, byte) in last.iter_mut().zip(rest) {
        *slot = *byte;
    }
    count(u64::from_le_bytes(last));
    (upper, all - upper)
}

/// Where the run of ASCII letters ends that begins at `at`.
pub fn letters_end(text: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk::<BYTES>) {
        let others = marked(u64::from_le_bytes(*chunk)) ^ HIGH;
        if others != 0 {
            return at + (others.trailing_zeros() / u8::BITS) as usize;
        }
        at += BYTES;
    }
    while text.get(at).is_some_and(u8::is_ascii_alphabetic) {
        at += 1;
    }
    at
}

/// Where one of `signs` stands next, from `from` on.
pub fn next_of<const SIGNS: usize>(text: &[u8], from: usize, signs: [u8; SIGNS]) -> Option<usize> {
    let mut at = from;
    while let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk::<BYTES>) {
        let chunk = u64::from_le_bytes(*chunk);
        let here = signs
            .iter()
            .fold(0, |here, sign| here | equal(chunk, *sign));
        if here != 0 {
            return Some(at + (here.trailing_zeros() / u8::BITS) as usize);
        }
        at += BYTES;
    }
    let rest = text.get(at..)?;
    let found = rest.iter().position(|byte| signs.contains(byte));
    found.map(|found| at + found)
}

/// Where `sign` stands next twice in a row, from `from` on.
pub fn next_double(text: &[u8], from: usize, sign: u8) -> Option<usize> {
    let mut at = from;
    while let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk::<BYTES>) {
        let here = equal(u64::from_le_bytes(*chunk), sign);
        let pairs = here & (here >> u8::BITS);
        if pairs != 0 {
            return Some(at + (pairs.trailing_zeros() / u8::BITS) as usize);
        }
        // The last byte may begin a pair.
        at += BYTES - 1;
    }
    let rest = text.get(at..)?;
    let found = rest.windows(2).position(|pair| pair == [sign; 2]);
    found.map(|found| at + found)
}

/// How often `sign` stands in `text`.
pub fn count(text: &[u8], sign: u8) -> usize {
    let (chunks, rest) = text.as_chunks::<BYTES>();
    let in_chunks = chunks.iter().map(|chunk| {
        let here = equal(u64::from_le_bytes(*chunk), sign);
        here.count_ones() as usize
    });
    in_chunks.sum::<usize>() + rest.iter().filter(|byte| **byte == sign).count()
}

/// The highest bit of each byte that is `sign`.
const fn equal(chunk: u64, sign: u8) -> u64 {
    let other = chunk ^ (EACH * sign as u64);
    let low = (other & (EACH * 0x7f)) + EACH * 0x7f;
    (low | other) & HIGH ^ HIGH
}

/// The highest bit of each byte that is an ASCII letter. A letter's bit 0x20 says that it is small.
const fn marked(chunk: u64) -> u64 {
    let small = (chunk | (EACH * 0x20)) & (EACH * 0x7f);
    let from_a = small + EACH * (0x80 - b'a' as u64);
    let above_z = small + EACH * (0x7f - b'z' as u64);
    from_a & !above_z & !chunk & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_signs_in_a_row_are_found_wherever_they_stand() {
        for before in 0..20 {
            for behind in 0..10 {
                let text = [&b"a ".repeat(before)[..], b"  ", &b"b ".repeat(behind)].concat();
                let found = text.windows(2).position(|pair| pair == b"  ");
                assert_eq!(next_double(&text, 0, b' '), found);
                assert_eq!(next_double(&text, text.len(), b' '), None);
            }
        }
    }

    #[test]
    fn every_byte_counts_as_it_does_alone() {
        let bytes: Vec<u8> = (0..=255).collect();
        for start in 0..bytes.len() {
            let text = bytes.get(start..).unwrap_or_default();
            let upper = text.iter().filter(|byte| byte.is_ascii_uppercase()).count();
            let lower = text.iter().filter(|byte| byte.is_ascii_lowercase()).count();
            assert_eq!(letters(text), (upper, lower), "{start}");
            let run = text
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic())
                .count();
            assert_eq!(letters_end(&bytes, start), start + run, "{start}");
            for sign in [0, 1, b'=', 0x7f, 0x80, 0xff] {
                let found = text
                    .iter()
                    .position(|byte| matches!(*byte, 7 | 0xfe) || *byte == sign);
                let found = found.map(|found| start + found);
                assert_eq!(next_of(&bytes, start, [sign, 7, 0xfe]), found, "{start}");
                let pair = text.windows(2).position(|pair| pair == [sign; 2]);
                let pair = pair.map(|pair| start + pair);
                assert_eq!(next_double(&bytes, start, sign), pair, "{start}");
                let count_alone = text.iter().filter(|byte| **byte == sign).count();
                assert_eq!(count(text, sign), count_alone, "{start}");
            }
        }
    }
}
