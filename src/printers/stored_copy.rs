//! Comparison of a file that a printer stored with the data sent.

use reqwest::Url;

use crate::adapter::{PrinterError, Source};
use crate::upload::{EDGE_BYTES, edges};
use crate::wire::PrinterHttpClient;

/// Reads back both ends of a stored file and compares them with the data sent. If the server does not support range
/// requests, only the beginning is compared.
pub(super) async fn compare(wire: &PrinterHttpClient, url: &Url, source: &Source) -> Result<(), PrinterError> {
    let [first, last] = edges(source).await?;
    let sent = source.sent_bytes();
    let differs = |what: &str| Err(PrinterError::Altered(format!("{what} of the stored file differ")));
    let begins = wire.part(url, &format!("bytes=0-{}", EDGE_BYTES - 1)).await?;
    if begins.total.is_some_and(|total| total != sent) {
        return Err(PrinterError::Altered(format!("{} of {sent} bytes", begins.total.unwrap_or_default())));
    }
    if begins.bytes != first {
        return differs("the first bytes");
    }
    if begins.partial {
        let from = sent.saturating_sub(EDGE_BYTES as u64);
        let ends = wire.part(url, &format!("bytes={from}-{}", sent.saturating_sub(1))).await?;
        if ends.partial && ends.bytes != last {
            return differs("the last bytes");
        }
    }
    Ok(())
}

/// Returns whether a stored text file that differs from the data sent is nevertheless the same file, rewritten line by
/// line: its size differs, but the first line sent is among its first lines, and the last line sent among its last
/// lines.
pub(super) async fn rewritten(wire: &PrinterHttpClient, url: &Url, source: &Source) -> Result<bool, PrinterError> {
    let [first, last] = edges(source).await?;
    let begins = wire.part(url, &format!("bytes=0-{}", EDGE_BYTES - 1)).await?;
    let ends = wire.part(url, &format!("bytes=-{EDGE_BYTES}")).await?;
    let resized = begins.total.is_some_and(|total| total != source.sent_bytes());
    // The response to a request for more than the whole file may be the whole file.
    let ended = ends.partial || ends.total.is_some_and(|total| total <= EDGE_BYTES as u64);
    Ok(resized && ended && keeps_ends(&first, &last, &begins.bytes, &ends.bytes))
}

/// Returns whether `begins` contains the first line of `first`, and `ends` contains the last line of `last`. Blank
/// lines are ignored.
fn keeps_ends(first: &[u8], last: &[u8], begins: &[u8], ends: &[u8]) -> bool {
    fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
        text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
    }
    lines(first).next().is_some_and(|line| lines(begins).any(|stored| stored == line))
        && lines(last).next_back().is_some_and(|line| lines(ends).any(|stored| stored == line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_rewritten_is_known_by_its_ends() {
        let sent = b"; printfloor print 7\nG28\nG1 X1\nM84\n";
        let keeps = |stored: &[u8]| keeps_ends(sent, sent, stored, stored);
        assert!(keeps(b"; by a plug-in\r\n; printfloor print 7\r\nG28\r\nM117 layer 1\r\nG1 X1\r\nM84\r\n; end"));
        assert!(!keeps(b"; printfloor print 8\nG28\nG1 X1\nM84\n"), "of another print");
        assert!(!keeps(b"; printfloor print 7\nG28\nG1 X1\n"), "cut off");
        assert!(!keeps_ends(b"\n\n", b"\n", b"\n", b"\n"), "nothing is known of nothing");
    }
}
