//! Synchronisation round of a link as a state machine without I/O: the next step, and the meaning of each outcome. The
//! task that performs the I/O and the test that deliberately loses messages execute the same steps.

use super::{Booking, BookingVerdict, StockLink};

/// Maximum number of stock changes per link and round.
const MAX_ROUND_BOOKINGS: u32 = 50;

/// Next step of a round.
#[derive(Clone, PartialEq, Debug)]
pub enum SyncMove {
    /// Look up whether the given stock change, sent earlier, took effect; then call [`LinkRound::sought`].
    Seek(Booking),
    /// Read the entry and pass it to the material ([`super::LinkCommand::Looked`]).
    Look,
    /// Send the given stock change, once; then call [`LinkRound::sent`].
    Send(Booking),
    /// End the round. If `true`, the outcome of a stock change must still be looked up, once the change has had enough
    /// time to take effect.
    Rest(bool),
}

/// Outcome of sending a stock change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SendOutcome {
    /// The outside system responded.
    Answered(BookingVerdict),
    /// The outside system rejected the change, with the given message.
    Refused(String),
    /// The change definitely did not take effect: the connection failed or the credentials were rejected.
    NeverLeft,
    /// The change may have taken effect.
    Unknown,
}

/// Progress of one link's round.
#[derive(Debug, Default)]
pub struct LinkRound {
    /// `true` if the entry was read and nothing has been sent since.
    looked: bool,
    /// Number of abandoned stock changes looked up in this round.
    sought: usize,
    sent: u32,
    /// `Some` once the round is over: `true` if the outcome of a stock change must still be looked up.
    over: Option<bool>,
}

impl LinkRound {
    /// Returns the next step for the link in its current state.
    pub fn next(&mut self, link: &StockLink) -> SyncMove {
        if let Some(left) = self.over {
            return SyncMove::Rest(left);
        }
        let looked = std::mem::take(&mut self.looked);
        match link.pending.as_ref().filter(|_| !link.is_unclear()) {
            Some(pending) if looked => {
                self.sent += 1;
                return SyncMove::Send(pending.clone());
            }
            // Sent, or about to be, when the last round ended.
            Some(pending) => return SyncMove::Seek(pending.clone()),
            None if looked => return SyncMove::Rest(false),
            None => {}
        }
        if let Some(lost) = link.given_up.get(self.sought) {
            self.sought += 1;
            return SyncMove::Seek(lost.clone());
        }
        if self.sent >= MAX_ROUND_BOOKINGS {
            return SyncMove::Rest(false);
        }
        self.looked = true;
        SyncMove::Look
    }

    /// Records the result of looking up a stock change and returns the verdict to report to the material, if any.
    /// `long_enough` is `true` if the lookup has lasted for as long as a change may be in flight.
    pub fn sought(
        &mut self,
        link: &StockLink,
        booking: &Booking,
        verdict: BookingVerdict,
        long_enough: bool,
    ) -> Option<BookingVerdict> {
        let pending = link.pending.as_ref().is_some_and(|pending| pending.id == booking.id);
        match verdict {
            BookingVerdict::NotBooked if pending && !long_enough => {
                self.over = Some(true);
                None
            }
            BookingVerdict::NotBooked if pending => Some(BookingVerdict::GivenUp),
            other if pending => Some(other),
            arrived @ (BookingVerdict::Booked | BookingVerdict::Partly(_)) => {
                // It is no longer in the list.
                self.sought = self.sought.saturating_sub(1);
                Some(arrived)
            }
            _ => None,
        }
    }

    /// Records the outcome of sending a stock change and returns the verdict to report to the material; `None` if the
    /// outcome is unknown, so that the next round must look it up.
    pub fn sent(&mut self, outcome: SendOutcome) -> Option<BookingVerdict> {
        let (verdict, left) = match outcome {
            SendOutcome::Answered(verdict) => return Some(verdict),
            SendOutcome::Refused(words) => (Some(BookingVerdict::Refused(words)), false),
            SendOutcome::NeverLeft => (Some(BookingVerdict::NotBooked), false),
            SendOutcome::Unknown => (None, true),
        };
        self.over = Some(left);
        verdict
    }
}
