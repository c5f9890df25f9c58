//! Random payments and refunds in any order of arrival, and what must become of an order by them.

use std::collections::BTreeMap;

use fastrand::Rng;

/// One event of the processor, about one of several payments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// This much was paid.
    Paid(i64),
    /// So much of so much went back so far.
    Back { of: i64, all: i64 },
}

/// Of which payment, and what.
pub type Step = (usize, News);

/// Draws up to three payments, each of which may go back in parts or whole; their events come in any order, some twice.
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

/// Expected end of an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// `ready` stands for an order whose parts are made.
    pub status: &'static str,
    pub kept_cents: i64,
    /// Money has to go back.
    pub due_back: bool,
    /// Another amount than was due is kept.
    pub mismatch: bool,
    /// `true` if it was paid once, also if it is not any more.
    pub paid: bool,
}

impl End {
    pub fn of(status: &'static str, kept_cents: i64, due_back: bool) -> Self {
        Self { status, kept_cents, due_back, mismatch: false, paid: true }
    }

    /// Returns whether its parts are made.
    pub fn is_made(&self) -> bool {
        self.status == "ready"
    }
}

/// Counts money by payment, as somebody with the processor's statements would.
struct Till {
    total: i64,
    status: &'static str,
    /// For each payment what was paid.
    paid: BTreeMap<usize, i64>,
    /// For each payment what went back, and whether that is all of it.
    back: BTreeMap<usize, (i64, bool)>,
    /// Its jobs were made.
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

/// Returns the expected end of an order over this total, whose events came in this order.
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
