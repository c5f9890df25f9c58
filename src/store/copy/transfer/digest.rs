//! Number of a table's rows and a hash over them, which are used to compare two databases.

use sha2::{Digest as _, Sha256};

use super::table::TransferCell;

/// Number and hash of a table's rows, regardless of the order in which they are read.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct TableDigest {
    /// Number of rows.
    pub(super) rows: u64,
    /// Sum of the rows' SHA-256 hashes, as four numbers.
    sum: [u64; 4],
}

impl TableDigest {
    /// Adds a row.
    pub(super) fn add(&mut self, cells: &[TransferCell]) {
        let mut hash = Sha256::new();
        for cell in cells {
            match cell {
                TransferCell::Text(Some(text)) => {
                    hash.update([1]);
                    // With its length, so that no text runs over into the next.
                    hash.update((text.len() as u64).to_be_bytes());
                    hash.update(text.as_bytes());
                }
                TransferCell::Number(Some(number)) => {
                    hash.update([2]);
                    hash.update(number.to_be_bytes());
                }
                TransferCell::Flag(Some(flag)) => hash.update([3, u8::from(*flag)]),
                TransferCell::Text(None) | TransferCell::Number(None) | TransferCell::Flag(None) => hash.update([0]),
            }
        }
        let hash: [u8; 32] = hash.finalize().into();
        self.rows += 1;
        for (sum, bytes) in self.sum.iter_mut().zip(hash.chunks_exact(size_of::<u64>())) {
            let part = bytes.iter().fold(0_u64, |part, byte| (part << 8) | u64::from(*byte));
            *sum = sum.wrapping_add(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> TransferCell {
        TransferCell::Text(Some(text.to_owned()))
    }

    fn digest(rows: &[&[TransferCell]]) -> TableDigest {
        let mut digest = TableDigest::default();
        rows.iter().for_each(|cells| digest.add(cells));
        digest
    }

    #[test]
    fn rows_have_the_same_digest_in_any_order() {
        let (one, two) = ([text("a"), TransferCell::Number(Some(7))], [text("b"), TransferCell::Number(None)]);
        let both = digest(&[&one, &two]);
        assert_eq!(both, digest(&[&two, &one]));
        assert_eq!(both.rows, 2);
        assert_ne!(both, digest(&[&one, &one]));
        assert_ne!(both, digest(&[&one]));
    }

    #[test]
    fn each_difference_between_two_rows_has_another_digest() {
        let rows = [
            [text("ab"), text("c")],
            [text("a"), text("bc")],
            [text("abc"), text("")],
            [text("abc"), TransferCell::Text(None)],
            [TransferCell::Number(Some(1)), TransferCell::Flag(Some(true))],
            [TransferCell::Number(Some(1)), TransferCell::Flag(Some(false))],
            [TransferCell::Number(Some(0)), TransferCell::Flag(Some(true))],
            [TransferCell::Number(None), TransferCell::Flag(Some(true))],
            [TransferCell::Number(Some(1)), TransferCell::Flag(None)],
        ];
        for (at, row) in rows.iter().enumerate() {
            for other in &rows[at + 1..] {
                assert_ne!(digest(&[row]), digest(&[other]), "{row:?} and {other:?}");
            }
        }
    }
}
