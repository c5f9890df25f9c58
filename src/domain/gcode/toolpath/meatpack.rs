//! Decoder for `MeatPack`, which packs two characters of G-code into one byte; binary G-code uses it inside its blocks.

/// Byte that announces a command to the decoder when sent twice.
const SIGNAL_BYTE: u8 = 0xff;
const ENABLE_PACKING: u8 = 251;
const DISABLE_PACKING: u8 = 250;
const RESET_ALL: u8 = 249;
const ENABLE_NO_SPACES: u8 = 247;
const DISABLE_NO_SPACES: u8 = 246;
/// Half-byte that stands for a character that follows unpacked.
const FULL_HALF: u8 = 0xf;

/// Decoder for one block.
#[derive(Debug, Default)]
struct MeatPack {
    packing: bool,
    no_spaces: bool,
    /// Number of unpacked characters to expect next.
    full: u8,
    /// Packed character to output after the next unpacked one.
    held: Option<u8>,
    out: Vec<u8>,
}

/// Unpacks the text of a block. Each byte unpacks to at most two characters.
pub(super) fn unpack(data: &[u8]) -> Vec<u8> {
    let (mut decoder, mut signals) = (MeatPack::default(), 0);
    for &byte in data {
        match (byte, signals) {
            (SIGNAL_BYTE, 0 | 1) => signals += 1,
            (command, 2) => {
                decoder.command(command);
                signals = 0;
            }
            (_, 0) => decoder.take(byte),
            _ => {
                decoder.take(SIGNAL_BYTE);
                decoder.take(byte);
                signals = 0;
            }
        }
    }
    decoder.out
}

impl MeatPack {
    fn command(&mut self, command: u8) {
        match command {
            ENABLE_PACKING => self.packing = true,
            DISABLE_PACKING | RESET_ALL => self.packing = false,
            ENABLE_NO_SPACES => self.no_spaces = true,
            DISABLE_NO_SPACES => self.no_spaces = false,
            _ => {}
        }
    }

    fn take(&mut self, byte: u8) {
        if !self.packing {
            return self.out.push(byte);
        }
        if self.full > 0 {
            self.out.push(byte);
            self.out.extend(self.held.take());
            self.full -= 1;
            return;
        }
        let (first, second) = (byte & FULL_HALF, byte >> 4);
        match (first == FULL_HALF, second == FULL_HALF) {
            (true, true) => self.full = 2,
            (true, false) => (self.full, self.held) = (1, Some(self.character(second))),
            (false, is_full) => {
                let character = self.character(first);
                self.out.push(character);
                // The rest of a byte that ends a line is filling.
                if character != b'\n' {
                    if is_full {
                        self.full = 1;
                    } else {
                        let character = self.character(second);
                        self.out.push(character);
                    }
                }
            }
        }
    }

    fn character(&self, half: u8) -> u8 {
        match half {
            0..=9 => b'0' + half,
            10 => b'.',
            11 if self.no_spaces => b'E',
            11 => b' ',
            12 => b'\n',
            13 => b'G',
            _ => b'X',
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_unpacked() {
        // `G1 X2Y3` and the end of the line: Y is no packed character and follows in full.
        let packed = [255, 255, ENABLE_PACKING, 0x1d, 0xeb, 0xf2, b'Y', 0xc3];
        assert_eq!(unpack(&packed), b"G1 X2Y3\n");
        let dense = [255, 255, ENABLE_PACKING, 255, 255, ENABLE_NO_SPACES, 0x1d, 0x5b, 0xcc];
        assert_eq!(unpack(&dense), b"G1E5\n", "a line's end fills the byte");
        let both = [255, 255, ENABLE_PACKING, 0xff, b'M', b'Y', 0x3f, b'T'];
        assert_eq!(unpack(&both), b"MYT3");
        assert_eq!(unpack(b"G1 X1\n"), b"G1 X1\n", "packing is off at first");
        let decimal = [255, 255, ENABLE_PACKING, 0xa1, 0xc5];
        assert_eq!(unpack(&decimal), b"1.5\n");
        for off in [DISABLE_PACKING, RESET_ALL] {
            assert_eq!(unpack(&[255, 255, ENABLE_PACKING, 0x1d, 255, 255, off, b'X']), b"G1X");
        }
        let spaced = [255, 255, ENABLE_PACKING, 255, 255, ENABLE_NO_SPACES, 255, 255, DISABLE_NO_SPACES, 0xbd];
        assert_eq!(unpack(&spaced), b"G ");
    }

    proptest! {
        #[test]
        fn any_bytes_unpack_to_at_most_twice_as_many(data in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(unpack(&data).len() <= data.len() * 2);
        }
    }
}
