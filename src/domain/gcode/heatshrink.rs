//! Decompressor for heatshrink, the lightweight LZSS compression of binary G-code blocks (window 2^11 or 2^12,
//! look-ahead 2^4).

/// Decompresses `most` bytes. Returns `None` if the data contains fewer.
pub(super) fn unpack(data: &[u8], window_bits: u32, lookahead_bits: u32, most: usize) -> Option<Vec<u8>> {
    let mut bits = BitReader { data, at: 0 };
    let mut out: Vec<u8> = Vec::with_capacity(most.min(64 * 1024));
    while out.len() < most {
        if bits.take(1)? == 1 {
            out.push(u8::try_from(bits.take(8)?).ok()?);
            continue;
        }
        let back = usize::try_from(bits.take(window_bits)?).ok()? + 1;
        let count = usize::try_from(bits.take(lookahead_bits)?).ok()? + 1;
        for _ in 0..count.min(most - out.len()) {
            // Before the beginning the window holds zeros, as the packer's does.
            let byte = out.len().checked_sub(back).map_or(0, |at| out[at]);
            out.push(byte);
        }
    }
    Some(out)
}

/// Bit reader, most significant bit first.
struct BitReader<'a> {
    data: &'a [u8],
    at: usize,
}

impl BitReader<'_> {
    fn take(&mut self, count: u32) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            let byte = *self.data.get(self.at / 8)?;
            value = value << 1 | u32::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(value)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compresses data for tests; simple but slow.
    pub(in super::super) fn pack(data: &[u8], window_bits: u32, lookahead_bits: u32) -> Vec<u8> {
        let (mut out, mut held, mut count) = (Vec::new(), 0u8, 0);
        let mut put = |value: u32, bits: u32| {
            for bit in (0..bits).rev() {
                held = held << 1 | u8::from(value >> bit & 1 == 1);
                count += 1;
                if count == 8 {
                    out.push(held);
                    (held, count) = (0, 0);
                }
            }
        };
        let mut at = 0;
        while at < data.len() {
            let from = at.saturating_sub(1 << window_bits);
            let longest = (1 << lookahead_bits).min(data.len() - at);
            let length_at = |start: usize| (0..longest).take_while(|n| data[start + n] == data[at + n]).count();
            match (from..at).map(|start| (length_at(start), start)).max() {
                Some((length, start)) if length > 2 => {
                    put(0, 1);
                    put((at - start - 1) as u32, window_bits);
                    put(length as u32 - 1, lookahead_bits);
                    at += length;
                }
                _ => {
                    put(1, 1);
                    put(u32::from(data[at]), 8);
                    at += 1;
                }
            }
        }
        put(0, 7);
        out
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked(data in prop::collection::vec(0u8..4, 0..600), window in 8u32..13) {
            let packed = pack(&data, window, 4);
            prop_assert_eq!(unpack(&packed, window, 4, data.len()), Some(data));
        }

        #[test]
        fn nothing_makes_it_fall(data in prop::collection::vec(any::<u8>(), 0..200), most in 0usize..5000) {
            prop_assert!(unpack(&data, 11, 4, most).is_none_or(|out| out.len() == most));
        }
    }
}
