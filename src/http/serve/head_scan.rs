//! Scans the bytes of a connection for request heads with lines that end with a bare line feed.
//!
//! The HTTP library accepts such lines, but other programs do not: a proxy in front of the server may then see one
//! request where the server sees two. Bodies are skipped by their length. A body without a length (`Transfer-Encoding`)
//! suspends the scan until the next request begins, and such a connection accepts no further requests.

/// Maximum length of a recognised header name, in bytes, including its colon.
const MAX_NAME_BYTES: usize = 20;
const LENGTH: &[u8] = b"content-length:";
const ENCODING: &[u8] = b"transfer-encoding:";

/// Part of the stream that the next byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ScanPosition {
    /// In a head; contains the number of bytes in the current line, and whether the last one was a carriage return.
    Head { column: usize, returned: bool },
    /// In a body; contains the number of bytes still to come.
    Body(u64),
    /// In a body without a length.
    Unknown,
}

/// State of the scan.
#[derive(Debug)]
pub struct HeadScan {
    place: ScanPosition,
    /// Beginning of the current line, in lowercase.
    line: [u8; MAX_NAME_BYTES],
    /// Value of `Content-Length` in the current head.
    length: u64,
    encoded: bool,
    bare: bool,
}

impl Default for HeadScan {
    fn default() -> Self {
        let place = ScanPosition::Head { column: 0, returned: false };
        Self { place, line: [0; MAX_NAME_BYTES], length: 0, encoded: false, bare: false }
    }
}

impl HeadScan {
    /// Returns whether a line in a head ended with a bare line feed.
    pub const fn is_malformed(&self) -> bool {
        self.bare
    }

    /// Scans the next bytes.
    pub fn look(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.place {
                ScanPosition::Unknown => return,
                ScanPosition::Body(left) => {
                    let passed = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    bytes = &bytes[passed..];
                    self.place = match left - passed as u64 {
                        0 => ScanPosition::Head { column: 0, returned: false },
                        left => ScanPosition::Body(left),
                    };
                }
                ScanPosition::Head { column, returned } => {
                    let ended = bytes.iter().position(|byte| *byte == b'\n');
                    let piece = &bytes[..ended.unwrap_or(bytes.len())];
                    bytes = &bytes[ended.map_or(bytes.len(), |at| at + 1)..];
                    self.part_of_line(piece, column);
                    let returned = piece.last().map_or(returned, |byte| *byte == b'\r');
                    let column = column.saturating_add(piece.len());
                    self.place = ScanPosition::Head { column, returned };
                    if ended.is_some() {
                        self.end_line(column, returned);
                    }
                }
            }
        }
    }

    /// Processes bytes of the current line, starting in the given column.
    fn part_of_line(&mut self, piece: &[u8], column: usize) {
        // Most lines of a head show by their first letter that they are of no interest.
        if column == 0
            && let Some(first) = piece.first()
            && !matches!(first.to_ascii_lowercase(), b'c' | b't')
        {
            self.line[0] = 0;
            return;
        }
        for (slot, byte) in self.line.iter_mut().skip(column).zip(piece) {
            *slot = byte.to_ascii_lowercase();
        }
        let end = column.saturating_add(piece.len());
        if end > LENGTH.len() && self.line.starts_with(LENGTH) {
            let value = piece.get(LENGTH.len().saturating_sub(column)..).unwrap_or_default();
            for digit in value.iter().filter(|byte| byte.is_ascii_digit()) {
                self.length = self.length.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            }
        }
        self.encoded |= end >= ENCODING.len() && self.line.starts_with(ENCODING);
    }

    /// Processes the end of the current line, whose length is `column` bytes.
    fn end_line(&mut self, column: usize, returned: bool) {
        self.bare |= !returned;
        // The carriage return counts: an empty line has none but it.
        self.place = if column <= usize::from(returned) {
            self.after_head()
        } else {
            ScanPosition::Head { column: 0, returned: false }
        };
    }

    fn after_head(&mut self) -> ScanPosition {
        let (length, encoded) = (std::mem::take(&mut self.length), std::mem::take(&mut self.encoded));
        match (encoded, length) {
            (true, _) => ScanPosition::Unknown,
            (false, 0) => ScanPosition::Head { column: 0, returned: false },
            (false, length) => ScanPosition::Body(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finds_bare(pieces: &[&[u8]]) -> bool {
        let mut scan = HeadScan::default();
        pieces.iter().for_each(|piece| scan.look(piece));
        scan.is_malformed()
    }

    const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    const POST: &str = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\n\n\n\n";

    #[test]
    fn a_bare_line_feed_in_a_head_is_found_and_one_in_a_body_is_not() {
        for good in [GET.to_owned(), POST.to_owned(), format!("{GET}{POST}{GET}"), format!("{POST}{POST}")] {
            assert!(!finds_bare(&[good.as_bytes()]), "{good:?}");
        }
        for bad in [
            "GET / HTTP/1.1\nHost: x\r\n\r\n".to_owned(),
            "GET / HTTP/1.1\r\nHost: x\n\r\n".to_owned(),
            "GET / HTTP/1.1\r\nHost: x\r\n\n".to_owned(),
            format!("{POST}GET / HTTP/1.1\nHost: x\r\n\r\n"),
        ] {
            assert!(finds_bare(&[bad.as_bytes()]), "{bad:?}");
        }
        let chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\n\n\r\n0\r\n\r\n";
        assert!(!finds_bare(&[chunked.as_bytes()]));
    }

    #[test]
    fn lines_that_tell_the_length_are_recognised_among_others_wherever_they_are_cut() {
        let others = "Cookie: c\r\nTe: t\r\nX-Content-Length: 9\r\nAccept: */*\r\n";
        let body = "\r\n\n\n\n\n";
        for line in ["Content-Length: 4\r\n", "cOnTeNt-LeNgTh:4\r\n", "TRANSFER-encoding: chunked\r\n"] {
            for text in
                [format!("POST / HTTP/1.1\r\n{line}{others}{body}"), format!("POST / HTTP/1.1\r\n{others}{line}{body}")]
            {
                for cut in 0..text.len() {
                    let (begin, rest) = text.as_bytes().split_at(cut);
                    assert!(!finds_bare(&[begin, rest]), "{text:?} cut at {cut}");
                }
            }
        }
        assert!(finds_bare(&[format!("POST / HTTP/1.1\r\n{others}{body}").as_bytes()]));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_are_cut(cuts in prop::collection::vec(0_usize..200, 0..6), bad: bool) {
            let last = if bad { "GET / HTTP/1.1\nHost: x\r\n\r\n" } else { GET };
            let text = format!("{GET}{POST}{last}").into_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
            prop_assert_eq!(finds_bare(&pieces), bad);
        }
    }
}
