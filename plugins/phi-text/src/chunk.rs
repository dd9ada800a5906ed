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
        }
    }
}
