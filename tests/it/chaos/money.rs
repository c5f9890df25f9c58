//! Random payments and refunds in any order of arrival, and the order state that must result.

use std::collections::BTreeMap;

use fastrand::Rng;

/// Event from the processor about one of several payments; amounts are in minor units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// Paid amount.
    Paid(i64),
    /// Total refunded so far, and the amount of the payment.
    Back { of: i64, all: i64 },
}

/// Index of a payment, and the event about it.
pub type Step = (usize, News);

/// Generates up to three payments, each of which may be refunded in part or in full; their events come in any order,
/// one of them twice.
pub fn script(rng: &mut Rng, total: i64) -> Vec<Step> {
    let mut steps = Vec::new();
    for payment in 0..rng.usize(1..=3) {
        let cents = [total, total, total / 2, total - total / 2, total + 100][rng.usize(..5)];
        steps.push((payment, News::Paid(cents)));
        let part = rng.i64(1..cents);
        match rng.u8(..4) {
            0 => {}
            1 => steps.push((payment, News::Back { of: cents, all: part })),
            2 => steps.push((payment, News::Back { of: cents, all: cents })),
            _ => {
                steps.push((payment, News::Back { of: cents, all: part }));
                steps.push((payment, News::Back { of: cents, all: cents }));
            }
        }
    }
    let again = steps[rng.usize(..steps.len())];
    steps.push(again);
    rng.shuffle(&mut steps);
    steps
}

/// Expected final state of an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// Status of the order; `ready` if its parts are printed.
    pub status: &'static str,
    pub kept_cents: i64,
    /// `true` if a refund is due.
    pub due_back: bool,
    /// `true` if the kept amount differs from the amount due.
    pub mismatch: bool,
    /// `true` if the order was once paid, even if it has been refunded since.
    pub paid: bool,
}

impl End {
    pub fn of(status: &'static str, kept_cents: i64, due_back: bool) -> Self {
        Self { status, kept_cents, due_back, mismatch: false, paid: true }
    }

    /// Returns whether the order's parts are printed.
    pub fn is_made(&self) -> bool {
        self.status == "ready"
    }
}

/// Independent account of payments, as a person with the processor's statements would keep it.
struct Till {
    total: i64,
    status: &'static str,
    /// Paid amount by payment, in minor units.
    paid: BTreeMap<usize, i64>,
    /// Refunded amount by payment, in minor units, and whether it is the full amount.
    back: BTreeMap<usize, (i64, bool)>,
    /// `true` if the order's jobs were created.
    is_made: bool,
}

impl Till {
    fn kept_of(&self, payment: usize, cents: i64) -> i64 {
        match self.back.get(&payment) {
            Some((_, true)) => 0,
            Some((back, false)) => (cents - back).max(0),
            None => cents,
        }
    }

    fn sum_kept(&self) -> i64 {
        self.paid.iter().map(|(payment, cents)| self.kept_of(*payment, *cents)).sum()
    }

    fn hears(&mut self, (payment, news): Step) {
        match news {
            News::Paid(cents) => {
                if self.paid.contains_key(&payment) {
                    return;
                }
                self.paid.insert(payment, cents);
                // Whatever went back of it, and whenever that was heard.
                let received: i64 = self.paid.values().sum();
                if self.status == "created" && received >= self.total {
                    (self.status, self.is_made) = ("paid", true);
                }
            }
            News::Back { of, all } => {
                let before = self.back.get(&payment).map_or(0, |back| back.0);
                if all <= before {
                    return;
                }
                self.back.insert(payment, (all, all >= of));
            }
        }
        if self.status == "paid" && self.sum_kept() == 0 {
            self.status = "refunded";
        }
    }
}

/// Returns the expected final state of an order with this total after these events in this order.
pub fn end(total: i64, steps: &[Step]) -> End {
    let mut till = Till { total, status: "created", paid: BTreeMap::new(), back: BTreeMap::new(), is_made: false };
    steps.iter().for_each(|step| till.hears(*step));
    let kept_cents = till.sum_kept();
    let standing = || till.paid.iter().filter(|(payment, cents)| till.kept_of(**payment, **cents) > 0);
    let standing_cents: i64 = standing().map(|(_, cents)| *cents).sum();
    End {
        status: if till.status == "paid" { "ready" } else { till.status },
        kept_cents,
        due_back: (till.status == "paid" && kept_cents > total) || (till.status == "refunded" && kept_cents > 0),
        mismatch: kept_cents != total && standing_cents != total && standing().any(|(_, cents)| *cents != total),
        paid: till.is_made,
    }
}
