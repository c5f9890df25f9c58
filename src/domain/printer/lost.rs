//! Verdict on a print that was observed, has vanished and does not appear in any history.
//!
//! The print has failed if the printer indicates that it has, or if it was observed so closely that it cannot have
//! finished in between. Otherwise, it may have finished unobserved: a user who has printed something else since then
//! has removed the part from the bed, and a user who cleared the history may have the part in hand. In that case, only
//! an operator at the printer can decide.

use super::CurrentAttempt;
use super::observation::{AGAIN_REASON, CLEARED_REASON, UNKNOWN_REASON};
use super::verdict::MIN_PRINT_SECONDS;
use crate::printer_status::ServerRun;

/// Failure reason for a print that was lost when the printer's server was restarted.
const RESTARTED_REASON: &str = "the printer's server restarted during the print and no longer has the print";

/// Facts about a vanished print; see [`super::Evidence::Forgets`] for the fields.
pub(super) struct LostPrint {
    pub(super) server: ServerRun,
    pub(super) stopped: bool,
    pub(super) unseen_ms: Option<i64>,
}

impl LostPrint {
    /// Returns the human-readable reason why the print failed or, as the error, the reason why it cannot be determined
    /// how it ended. `looked_like` is the reason why it was assumed to be over.
    pub(super) fn judge(&self, in_hand: &CurrentAttempt, looked_like: String) -> Result<String, String> {
        let tells_nothing = [CLEARED_REASON, UNKNOWN_REASON].contains(&looked_like.as_str());
        let why = match self.server {
            ServerRun::Restarted if tells_nothing => RESTARTED_REASON.to_owned(),
            _ => looked_like,
        };
        // Where its server should remember the print, somebody emptied the history; where another file is shown, or its
        // own is printed again, somebody was at the printer.
        let touched = self.server != ServerRun::Unknown || [UNKNOWN_REASON, AGAIN_REASON].contains(&why.as_str());
        let unseen = in_hand.out_of_sight || self.unseen_ms.is_none();
        let is_open = self.may_have_finished(in_hand) || (unseen && touched);
        // Of a print that is to be cancelled nobody waits for the part.
        if self.stopped || in_hand.cancel || !is_open {
            return Ok(why);
        }
        let percent = (in_hand.progress * 100.0).round();
        Err(format!("{why}; its progress was last seen at {percent}%, and its end was not observed"))
    }

    /// Returns whether the rest of the print could have finished since the print was last observed. Only half of the
    /// stated time is assumed, because a machine may print faster than stated in the file.
    fn may_have_finished(&self, in_hand: &CurrentAttempt) -> bool {
        let Some(unseen_ms) = self.unseen_ms else { return true };
        let print_ms = in_hand.estimated_seconds.unwrap_or(MIN_PRINT_SECONDS).saturating_mul(1000);
        let left_ms = print_ms as f64 * (1.0 - in_hand.progress).max(0.0);
        unseen_ms as f64 * 2.0 >= left_ms
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;
    use crate::printer::tests::PrinterFixture;

    /// Builds a print of 600 s that was last observed at the given progress.
    fn print(progress: f64, out_of_sight: bool) -> CurrentAttempt {
        let in_hand = PrinterFixture::printing().p().in_hand.clone().unwrap();
        CurrentAttempt { progress, out_of_sight, ..in_hand }
    }

    fn judge(in_hand: &CurrentAttempt, lost: &LostPrint, looked_like: &str) -> Result<String, String> {
        lost.judge(in_hand, looked_like.to_owned())
    }

    #[test]
    fn a_print_out_of_sight_that_another_one_followed_is_for_a_person_to_tell() {
        let lost = LostPrint { server: ServerRun::Unknown, stopped: false, unseen_ms: Some(20_000) };
        let doubt = judge(&print(0.16, true), &lost, UNKNOWN_REASON).unwrap_err();
        assert!(doubt.starts_with(UNKNOWN_REASON) && doubt.contains("last seen at 16%"), "{doubt}");
        let shows = LostPrint { stopped: true, ..lost };
        assert_eq!(judge(&print(0.16, true), &shows, UNKNOWN_REASON), Ok(UNKNOWN_REASON.to_owned()), "it shows so");
        let cancelled = CurrentAttempt { cancel: true, ..print(0.16, true) };
        let lost = LostPrint { stopped: false, ..shows };
        assert_eq!(judge(&cancelled, &lost, UNKNOWN_REASON), Ok(UNKNOWN_REASON.to_owned()), "nobody waits for it");
    }

    #[test]
    fn a_print_whose_file_is_printed_again_has_failed_only_if_it_was_watched_and_far_from_its_end() {
        let lost = |unseen_ms| LostPrint { server: ServerRun::Unknown, stopped: false, unseen_ms: Some(unseen_ms) };
        let cancelled = judge(&print(0.16, false), &lost(2_000), AGAIN_REASON);
        assert_eq!(cancelled, Ok(AGAIN_REASON.to_owned()), "it cannot have come to its end in two seconds");
        assert!(judge(&print(0.999, false), &lost(2_000), AGAIN_REASON).is_err(), "the part may lie in the shop");
        assert!(judge(&print(0.16, true), &lost(20_000), AGAIN_REASON).is_err(), "out of sight of the server");
    }

    #[test]
    fn a_history_that_somebody_emptied_proves_no_failure() {
        for server in [ServerRun::Unbroken, ServerRun::Restarted] {
            let lost = LostPrint { server, stopped: false, unseen_ms: Some(20_000) };
            assert!(judge(&print(0.2, true), &lost, CLEARED_REASON).is_err(), "{server:?}");
        }
    }

    #[test]
    fn a_print_that_was_watched_until_it_vanished_has_failed_unless_it_was_about_to_end() {
        let lost = |unseen_ms| LostPrint { server: ServerRun::Unknown, stopped: false, unseen_ms };
        for (progress, unseen_ms, failed) in [
            (0.5, Some(2_000), true),
            (0.5, Some(149_999), true),
            (0.5, Some(150_000), false),
            (0.99, Some(2_999), true),
            (0.99, Some(3_001), false),
            (0.5, None, false),
        ] {
            for looked_like in [UNKNOWN_REASON, CLEARED_REASON] {
                let verdict = judge(&print(progress, false), &lost(unseen_ms), looked_like);
                assert_eq!(verdict.is_ok(), failed, "{progress} {unseen_ms:?} {looked_like}: {verdict:?}");
            }
        }
        // A reboot of a printer that shows nothing any more: time decides.
        assert!(judge(&print(0.1, true), &lost(Some(60_000)), CLEARED_REASON).is_ok());
        assert!(judge(&print(0.9, true), &lost(Some(60_000)), CLEARED_REASON).is_err());
    }

    proptest! {
        // A machine may print up to twice as fast as its file says.
        #[test]
        fn a_print_that_may_have_come_to_its_end_unseen_is_never_called_failed(
            progress in 0.0f64..1.0,
            unseen_ms in prop::option::of(0i64..2_000_000),
            server in prop::sample::select(vec![ServerRun::Unbroken, ServerRun::Unknown, ServerRun::Restarted]),
            out_of_sight in any::<bool>(),
            looked_like in prop::sample::select(vec![UNKNOWN_REASON, CLEARED_REASON, "in error"]),
        ) {
            let lost = LostPrint { server, stopped: false, unseen_ms };
            let left_ms = 600_000.0 * (1.0 - progress);
            if unseen_ms.is_none_or(|unseen| unseen as f64 * 2.0 >= left_ms) {
                prop_assert!(judge(&print(progress, out_of_sight), &lost, looked_like).is_err());
            }
            let stopped = LostPrint { stopped: true, ..lost };
            prop_assert!(judge(&print(progress, out_of_sight), &stopped, looked_like).is_ok());
        }
    }
}
