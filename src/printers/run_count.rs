//! Counts the prints of a file on printers that keep no history but identify each print.
//!
//! If the same file is printed twice in a row, the two prints look the same except for the identifier. The count
//! includes only prints that the adapter has observed: none that started and ended between two polls, and none from
//! before this server started.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Maximum time between two polls for which a different identifier means a different print. A printer that has lost
/// power is unavailable for longer, and may assign a different identifier to the print that it then resumes.
const MAX_GAP: Duration = Duration::from_secs(10);
/// Maximum number of files whose prints are counted.
const MAX_FILES: usize = 4;

/// Print counter for the files that a printer reported most recently.
#[derive(Debug, Default)]
pub(super) struct RunCounter(Mutex<VecDeque<FileRuns>>);

/// File reported by a printer, with its number of prints.
#[derive(Debug)]
struct FileRuns {
    name: String,
    /// Identifier of the file's latest print.
    print: String,
    /// Number of the file's prints.
    runs: u32,
    /// Time at which the printer last reported the file.
    at: Instant,
}

impl RunCounter {
    /// Records that the printer reports a print of the given file, and returns the number of the file's prints so far.
    /// `print` is the print's identifier, or `None` if the printer does not currently report it. Returns `None` if the
    /// printer has never reported an identifier.
    pub(super) fn count(&self, file: &str, print: Option<&str>, now: Instant) -> Option<u32> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = files.iter_mut().find(|entry| entry.name == file) else {
            let print = print?.to_owned();
            files.truncate(MAX_FILES - 1);
            files.push_front(FileRuns { name: file.to_owned(), print, runs: 1, at: now });
            return Some(1);
        };
        if let Some(print) = print.filter(|print| *print != entry.print) {
            if now.saturating_duration_since(entry.at) <= MAX_GAP {
                entry.runs = entry.runs.saturating_add(1);
            }
            print.clone_into(&mut entry.print);
        }
        entry.at = now;
        Some(entry.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn another_identifier_of_a_file_is_another_print() {
        let (counter, now) = (RunCounter::default(), Instant::now());
        assert_eq!(counter.count("a.gcode", None, now), None);
        for (at, print, runs) in [
            (0, Some("5"), 1),
            (1, Some("5"), 1),
            (2, None, 1),
            (3, Some("6"), 2),
            (4, None, 2),
            (5, Some("6"), 2),
            (6, Some("9"), 3),
        ] {
            assert_eq!(counter.count("a.gcode", print, now + SECOND * at), Some(runs), "{at}");
        }
        assert_eq!(counter.count("b.gcode", Some("10"), now + SECOND * 7), Some(1), "another file");
        assert_eq!(counter.count("a.gcode", Some("11"), now + SECOND * 8), Some(4), "printed again after that");
    }

    #[test]
    fn a_print_that_is_shown_again_after_an_outage_may_have_been_resumed() {
        let (counter, now) = (RunCounter::default(), Instant::now());
        assert_eq!(counter.count("a.gcode", Some("5"), now), Some(1));
        assert_eq!(counter.count("a.gcode", Some("0"), now + SECOND * 11), Some(1));
        assert_eq!(counter.count("a.gcode", Some("1"), now + SECOND * 12), Some(2), "it was shown a second ago");
    }

    #[test]
    fn few_files_are_kept() {
        let (counter, now) = (RunCounter::default(), Instant::now());
        for n in 0..10 {
            counter.count(&format!("{n}.gcode"), Some("1"), now);
        }
        assert_eq!(counter.0.lock().unwrap_or_else(PoisonError::into_inner).len(), MAX_FILES);
        assert_eq!(counter.count("9.gcode", Some("2"), now), Some(2));
        assert_eq!(counter.count("0.gcode", Some("2"), now), Some(1), "counted anew");
    }
}
