//! Merkle trees over a growing log (RFC 6962 section 2.1, RFC 9162 section 2.1): hashes, the right edge that a
//! writer keeps, proofs from the hashes that a store keeps, and their verification. Knows no rows and no store.
//!
//! A store keeps the leaf hashes and, of the complete subtrees, those whose height is a multiple of [`STRIDE`].
//! Everything between is computed again from at most [`TILE`] hashes.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

/// A SHA-256 digest.
pub type Hash = [u8; HASH_BYTES];

/// Length of a SHA-256 digest.
pub const HASH_BYTES: usize = 32;
/// Heights between the subtrees that are kept: one kept hash for 15 leaves, at most 16 hashes read per height.
pub const STRIDE: u8 = 4;
/// Kept hashes below one kept hash.
pub const TILE: u64 = 1 << STRIDE;

/// A complete subtree: its height, and its place among those of that height.
pub type Place = (u8, u64);

/// The hash of a leaf (RFC 6962: 0x00 before the entry).
pub fn leaf(entry: &[u8]) -> Hash {
    Sha256::new()
        .chain_update([0])
        .chain_update(entry)
        .finalize()
        .into()
}

/// The hash of two subtrees (RFC 6962: 0x01 before them).
pub fn node(left: &Hash, right: &Hash) -> Hash {
    Sha256::new()
        .chain_update([1])
        .chain_update(left)
        .chain_update(right)
        .finalize()
        .into()
}

/// The root of a tree without leaves.
pub fn empty_root() -> Hash {
    Sha256::digest([]).into()
}

/// The right edge of a tree: the roots of its complete subtrees, the largest first. All that a writer needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    size: u64,
    peaks: Vec<Hash>,
}

impl Edge {
    /// Reads what [`Self::bytes`] wrote for a tree of this size.
    pub fn restore(size: u64, bytes: &[u8]) -> Option<Self> {
        let (peaks, rest) = bytes.as_chunks::<HASH_BYTES>();
        let fits = rest.is_empty() && peaks.len() == size.count_ones() as usize;
        fits.then(|| Self {
            size,
            peaks: peaks.to_vec(),
        })
    }

    /// The roots, largest first and without anything between: [`HASH_BYTES`] for each bit that is set in the size.
    pub fn bytes(&self) -> Vec<u8> {
        self.peaks.concat()
    }

    /// Leaves so far.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf; gives the subtrees that it completes and that are kept.
    pub fn push(&mut self, leaf: Hash) -> Vec<(Place, Hash)> {
        let mut kept = Vec::new();
        let (mut hash, mut height, mut position) = (leaf, 0, self.size);
        while position & 1 == 1
            && let Some(left) = self.peaks.pop()
        {
            hash = node(&left, &hash);
            height += 1;
            position >>= 1;
            if height % STRIDE == 0 {
                kept.push(((height, position), hash));
            }
        }
        self.peaks.push(hash);
        self.size += 1;
        kept
    }

    /// The root of the whole tree as it is now; [`empty_root`] for one without leaves.
    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev();
        let Some(last) = peaks.next() else {
            return empty_root();
        };
        peaks.fold(*last, |below, peak| node(peak, &below))
    }
}

/// Kept hashes of one height, `first` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// A multiple of [`STRIDE`].
    pub height: u8,
    pub first: u64,
    pub end: u64,
}

/// The kept hashes that proofs about this leaf in a tree of `size` need: the tiles above it, and those of the right
/// edge. For a proof that a tree of `old` leaves is a beginning of it, the leaf is `old` − 1.
pub fn spans(leaf: u64, size: u64) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut height = 0;
    while height < u64::BITS as u8 && size >> height > 0 {
        let complete = size >> height;
        let (first, edge) = (leaf >> height & !(TILE - 1), complete & !(TILE - 1));
        let end = (first + TILE).min(complete);
        if first < end {
            spans.push(Span { height, first, end });
        }
        if edge < complete && edge != first {
            spans.push(Span {
                height,
                first: edge,
                end: complete,
            });
        }
        height += STRIDE;
    }
    spans
}

/// Kept hashes that were read for some proofs.
#[derive(Default)]
pub struct Kept(HashMap<Place, Hash>);

impl Kept {
    /// Adds a hash that was read for one of the [`spans`].
    pub fn insert(&mut self, place: Place, hash: Hash) {
        self.0.insert(place, hash);
    }

    /// Whether the hash of this subtree was read.
    pub fn contains(&self, place: Place) -> bool {
        self.0.contains_key(&place)
    }

    /// The proof that `leaf` is in the tree of `size`, the hash beside the leaf first (RFC 9162, 2.1.3.1). `None`
    /// where a hash is missing, or the leaf is not in the tree.
    pub fn inclusion(&self, leaf: u64, size: u64) -> Option<Vec<Hash>> {
        if leaf >= size {
            return None;
        }
        let (mut first, mut end) = (0, size);
        let mut proof = Vec::new();
        while end - first > 1 {
            let middle = first + split(end - first);
            if leaf < middle {
                proof.push(self.range(middle, end)?);
                end = middle;
            } else {
                proof.push(self.range(first, middle)?);
                first = middle;
            }
        }
        proof.reverse();
        Some(proof)
    }

    /// The proof that the tree of `old` leaves is a beginning of that of `new` (RFC 9162, 2.1.4.1). `None` where a
    /// hash is missing, or `old` is the larger one.
    pub fn consistency(&self, old: u64, new: u64) -> Option<Vec<Hash>> {
        if old > new {
            return None;
        }
        if old == 0 || old == new {
            return Some(Vec::new());
        }
        let (mut first, mut end, mut is_whole) = (0, new, true);
        let mut proof = Vec::new();
        while old != end {
            let middle = first + split(end - first);
            if old <= middle {
                proof.push(self.range(middle, end)?);
                end = middle;
            } else {
                proof.push(self.range(first, middle)?);
                first = middle;
                is_whole = false;
            }
        }
        if !is_whole {
            proof.push(self.range(first, end)?);
        }
        proof.reverse();
        Some(proof)
    }

    /// The root of the leaves from `first` to before `end`, where a tree is cut there.
    fn range(&self, first: u64, end: u64) -> Option<Hash> {
        let size = end.checked_sub(first).filter(|size| *size > 0)?;
        if size.is_power_of_two() {
            let height = u8::try_from(size.trailing_zeros()).ok()?;
            return self.subtree((height, first >> height));
        }
        let middle = first + split(size);
        Some(node(&self.range(first, middle)?, &self.range(middle, end)?))
    }

    fn subtree(&self, place: Place) -> Option<Hash> {
        let (height, position) = place;
        if height % STRIDE == 0 {
            return self.0.get(&place).copied();
        }
        let left = self.subtree((height - 1, position * 2))?;
        let right = self.subtree((height - 1, position * 2 + 1))?;
        Some(node(&left, &right))
    }
}

/// The largest power of two below `size`, which is at least 2.
const fn split(size: u64) -> u64 {
    1 << (u64::BITS - 1 - (size - 1).leading_zeros())
}

/// Whether `proof` shows that the leaf of this hash stands at `index` of the tree of `size` with this root (RFC 9162,
/// 2.1.3.2).
pub fn includes(root: &Hash, size: u64, index: u64, leaf: &Hash, proof: &[Hash]) -> bool {
    if index >= size {
        return false;
    }
    let (mut at, mut last, mut hash) = (index, size - 1, *leaf);
    for beside in proof {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            hash = node(beside, &hash);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            hash = node(&hash, beside);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && hash == *root
}

/// A tree as a checkpoint names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Leaves.
    pub size: u64,
    pub root: Hash,
}

/// Whether `proof` shows that the old tree is a beginning of the new one (RFC 9162, 2.1.4.2).
pub fn extends(old: &Head, new: &Head, proof: &[Hash]) -> bool {
    if old.size > new.size {
        return false;
    }
    if old.size == new.size {
        return proof.is_empty() && old.root == new.root;
    }
    if old.size == 0 {
        return proof.is_empty() && old.root == empty_root();
    }
    let mut path = proof.iter();
    let first = if old.size.is_power_of_two() {
        Some(&old.root)
    } else {
        path.next()
    };
    let Some(first) = first else {
        return false;
    };
    let (mut at, mut last) = (old.size - 1, new.size - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut before, mut after) = (*first, *first);
    for beside in path {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            before = node(beside, &before);
            after = node(beside, &after);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            after = node(&after, beside);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && before == old.root && after == new.root
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    /// Entries and roots that implementations of RFC 6962 share (certificate-transparency, `merkletree`).
    const ENTRIES: [&str; 8] = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ];
    const ROOTS: [&str; 9] = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    /// A tree of so many leaves, each with its number as its entry, and everything that a store keeps of it.
    struct Grown {
        heads: Vec<Head>,
        leaves: Vec<Hash>,
        kept: HashMap<Place, Hash>,
    }

    fn grown(size: u64) -> Grown {
        let mut edge = Edge::default();
        let mut grown = Grown {
            heads: vec![Head {
                size: 0,
                root: edge.root(),
            }],
            leaves: Vec::new(),
            kept: HashMap::new(),
        };
        for number in 0..size {
            let hash = leaf(&number.to_be_bytes());
            grown.leaves.push(hash);
            grown.kept.insert((0, number), hash);
            grown.kept.extend(edge.push(hash));
            edge = Edge::restore(edge.size(), &edge.bytes()).unwrap();
            grown.heads.push(Head {
                size: number + 1,
                root: edge.root(),
            });
        }
        grown
    }

    /// Only what [`spans`] asks for.
    fn read(grown: &Grown, leaf: u64, size: u64) -> Kept {
        let mut kept = Kept::default();
        for span in spans(leaf, size) {
            for position in span.first..span.end {
                let place = (span.height, position);
                kept.insert(place, grown.kept[&place]);
            }
        }
        kept
    }

    #[test]
    fn roots_are_those_of_the_shared_vectors() {
        let mut edge = Edge::default();
        assert_eq!(hex::encode(edge.root()), ROOTS[0]);
        for (entry, root) in ENTRIES.iter().zip(&ROOTS[1..]) {
            edge.push(leaf(&hex::decode(entry).unwrap()));
            assert_eq!(hex::encode(edge.root()), *root);
        }
    }

    /// Proofs of the same vectors, as RFC 6962's tests list them.
    #[test]
    fn proofs_are_those_of_the_shared_vectors() {
        let mut kept = Kept::default();
        let mut edge = Edge::default();
        for (number, entry) in (0_u64..).zip(ENTRIES) {
            let hash = leaf(&hex::decode(entry).unwrap());
            kept.insert((0, number), hash);
            edge.push(hash);
        }
        let shown = |proof: Vec<Hash>| proof.iter().map(hex::encode).collect::<Vec<_>>();
        assert_eq!(
            shown(kept.inclusion(0, 8).unwrap()),
            [
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ]
        );
        assert_eq!(
            shown(kept.consistency(6, 8).unwrap()),
            [
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ]
        );
    }

    #[test]
    fn every_leaf_of_every_small_tree_is_proven_from_what_is_kept() {
        let grown = grown(70);
        for size in 1..=70 {
            let head = &grown.heads[size as usize];
            for index in 0..size {
                let proof = read(&grown, index, size).inclusion(index, size).unwrap();
                let hash = grown.leaves[index as usize];
                assert!(
                    includes(&head.root, size, index, &hash, &proof),
                    "{index} {size}"
                );
                assert!(!includes(&head.root, size, index ^ 1, &hash, &proof));
                assert!(!includes(&head.root, size, index, &leaf(b"x"), &proof));
                let mut longer = proof.clone();
                longer.push(hash);
                assert!(!includes(&head.root, size, index, &hash, &longer));
            }
            assert!(read(&grown, 0, size).inclusion(size, size).is_none());
        }
    }

    #[test]
    fn every_small_tree_is_a_beginning_of_every_larger_one() {
        let grown = grown(70);
        for new in 0..=70_u64 {
            for old in 0..=new {
                let kept = read(&grown, old.saturating_sub(1), new);
                let proof = kept.consistency(old, new).unwrap();
                let (before, after) = (&grown.heads[old as usize], &grown.heads[new as usize]);
                assert!(extends(before, after, &proof), "{old} {new}");
                let other = Head {
                    root: leaf(b"x"),
                    ..*before
                };
                assert!(!extends(&other, after, &proof), "{old} {new}");
            }
            assert!(read(&grown, 0, new).consistency(new + 1, new).is_none());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn trees_of_several_tiles_prove_their_leaves(size in 1_u64..5_000, picks in prop::array::uniform4(any::<u64>())) {
            let grown = grown(size);
            let head = &grown.heads[size as usize];
            for pick in picks {
                let index = pick % size;
                let proof = read(&grown, index, size).inclusion(index, size).unwrap();
                prop_assert!(includes(&head.root, size, index, &grown.leaves[index as usize], &proof));
                let proof = read(&grown, index, size).consistency(index + 1, size).unwrap();
                prop_assert!(extends(&grown.heads[index as usize + 1], head, &proof));
            }
        }
    }
}
