//! One round of keeping a link in step, as a machine without I/O: what is done next, and what each outcome means. The
//! task that carries the messages and the test that loses them on purpose go by the same steps.

use super::{Booking, BookingVerdict, StockLink};

/// Most bookings of one link in one round.
const MAX_ROUND_BOOKINGS: u32 = 50;

/// What is to be done next.
#[derive(Clone, PartialEq, Debug)]
pub enum SyncMove {
    /// Find out whether this booking, which was sent earlier, was booked; then [`LinkRound::sought`].
    Seek(Booking),
    /// Read the entry and tell the material of it ([`super::LinkCommand::Looked`]).
    Look,
    /// Send this booking, once; then [`LinkRound::sent`].
    Send(Booking),
    /// Nothing more in this round. `true`: a booking is still to be found out, when it certainly arrived or never will.
    Rest(bool),
}

/// How sending a booking came out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SendOutcome {
    /// It was answered.
    Answered(BookingVerdict),
    /// It was refused, in these words.
    Refused(String),
    /// It certainly never left, or was turned away at the door: no connection, a wrong token.
    NeverLeft,
    /// It may have arrived.
    Unknown,
}

/// Where the round of one link stands.
#[derive(Debug, Default)]
pub struct LinkRound {
    /// Whether the entry was read, and nothing was sent since.
    looked: bool,
    /// How many of the bookings that were given up were looked for.
    sought: usize,
    sent: u32,
    /// Set when the round is over: whether a booking is still to be found out.
    over: Option<bool>,
}

impl LinkRound {
    /// What is to be done next, with the link as it is now.
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

    /// A booking was looked for. What is to be told to the material, if anything. `long_enough`: it was looked for as
    /// long as one may be on its way.
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
            known if pending => Some(known),
            arrived @ (BookingVerdict::Booked | BookingVerdict::Partly(_)) => {
                // It is no longer in the list.
                self.sought = self.sought.saturating_sub(1);
                Some(arrived)
            }
            _ => None,
        }
    }

    /// A booking was sent. What is to be told to the material; `None` when nobody knows yet, and the next round finds
    /// out.
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
