//! Detection of files left over on a printer from finished attempts.

use super::Printer;
use crate::id::Id;

impl Printer {
    /// Returns whether a file on the printer was uploaded for an attempt that has ended on this printer. Files uploaded
    /// manually, by other servers or for the attempt in hand were not.
    pub fn is_leftover(&self, path: &str) -> bool {
        let in_hand = self.in_hand.as_ref().is_some_and(|in_hand| in_hand.is_ours(path));
        !in_hand && attempt_of(path).is_some_and(|attempt| self.past.contains(&attempt))
    }

    /// Returns whether a file on the printer is in use: printing, paused, or in hand for a job.
    pub fn is_using(&self, path: &str) -> bool {
        let bare = |path: &str| path.trim_start_matches('/').to_owned();
        self.in_hand.as_ref().is_some_and(|in_hand| in_hand.is_ours(path))
            || self.shows.as_deref().is_some_and(|current| bare(current) == bare(path))
    }
}

/// Returns whether a file's name has the form that the server uses only for attempts at jobs.
pub fn is_of_job(path: &str) -> bool {
    attempt_of(path).is_some()
}

/// Extracts the attempt ID from a file name of the form `JOB-000123_{attempt}.gcode`, in any directory.
fn attempt_of(path: &str) -> Option<Id> {
    let name = path.rsplit('/').next()?;
    let (number, rest) = name.split_once('_')?;
    let digits = number.strip_prefix("JOB-")?;
    let (attempt, ending) = rest.split_once('.')?;
    let named = digits.bytes().all(|byte| byte.is_ascii_digit()) && ["gcode", "bgcode", "gcode.3mf"].contains(&ending);
    attempt.parse().ok().filter(|_| named)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::super::tests::{OURS, PrinterFixture};
    use super::*;
    use crate::printer::AttemptCommand;
    use crate::testing::id;

    #[test]
    fn a_file_is_in_use_while_it_is_in_hand_or_shown_and_left_over_once_its_attempt_is_over() {
        let file = |number: u32| format!("queue/JOB-000001_{}.gcode", id(number));
        let mut shop = PrinterFixture::with_attempt();
        shop.ask(AttemptCommand::Cancel(id(90))).unwrap();
        let mut printer = shop.p().clone();
        assert!(printer.is_leftover(&file(90)) && !printer.is_leftover(&file(91)));
        assert!(!printer.is_leftover("vase.gcode") && !printer.is_leftover(OURS));
        assert!(printer.is_using(OURS) && !printer.is_using(&file(90)) && !printer.is_using("vase.gcode"));
        printer.shows = Some("/vase.gcode".to_owned());
        assert!(printer.is_using("vase.gcode") && !printer.is_using("lamp.gcode"));
        printer.in_hand.as_mut().unwrap().remote_name = Some(file(90));
        assert!(printer.is_using(&file(90)) && !printer.is_leftover(&file(90)), "it is in hand");
        assert!(is_of_job(&file(91)) && !is_of_job("vase.gcode"));
    }

    #[test]
    fn only_names_that_the_server_gives_are_its_own() {
        let attempt = id(7);
        for name in [format!("JOB-000001_{attempt}.gcode"), format!("/queue/JOB-1234567_{attempt}.gcode.3mf")] {
            assert_eq!(attempt_of(&name), Some(attempt), "{name}");
        }
        for name in [
            format!("vase_{attempt}.gcode"),
            format!("JOB-000001_{attempt} copy.gcode"),
            format!("JOB-000001_{attempt}.txt"),
            format!("JOB-mine_{attempt}.gcode"),
            "JOB-000001_vase.gcode".to_owned(),
            "JOB-000001.gcode".to_owned(),
        ] {
            assert_eq!(attempt_of(&name), None, "{name}");
        }
    }
}
