//! Payments and refunds of orders and invoices through the payment processor's checkout: customers pay on its page
//! whatever happens, and the staff refunds through the server. Both repeat their requests until they succeed.

use std::cell::{Cell, RefCell};

use serde_json::{Value, json};

use crate::acknowledgements::{Errand, ShopReply};
use crate::chance::branch;
use crate::customers::PlacedOrder;
use crate::error::SimError;
use crate::plan::{CustomerStep, OrderPlan, Share};
use crate::processor::{PageAct, PageState};
use crate::shop::Shop;
use crate::world::World;

/// Time after which a customer who has paid requests the page again, because the order is still unpaid, in
/// milliseconds.
const PATIENCE_MS: i64 = 180_000;
/// Delay of a slow payment's confirmation, in milliseconds.
const SLOW_MS: i64 = 120_000;
/// Minimum interval between two requests for the page of a pay link, in milliseconds. The server allows thirty per
/// hour.
const LINK_PAUSE_MS: i64 = 5 * 60_000;
/// Method by which the server lists what a customer's bank took.
pub const LOST_CLAIM: &str = "dispute";
/// Time after which people accept the server's statement that no refund is due, whatever the processor's books say, in
/// milliseconds.
const BELIEF_MS: i64 = 20 * 60_000;

/// Step that involves an order's payment through the checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TillStep {
    /// The customer opens the payment page without acting on it.
    Open,
    /// The customer pays on the open page, if it can still be paid.
    TryPage,
    /// The customer pays, opening as many pages as this takes.
    Pay(PayWay),
    /// The staff refunds through the server until only this remainder is left.
    Leave(Remainder),
}

/// Course of a customer's payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayWay {
    /// Succeeds at the first attempt.
    AtOnce,
    /// Succeeds after a declined card.
    AfterDecline,
    /// Is confirmed later.
    Slowly,
    /// Succeeds after a slow payment that failed.
    AfterSlowFailure,
    /// Succeeds after a page that expired.
    AfterExpiry,
}

/// Part of its total that an order keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remainder {
    /// Nothing.
    Nothing,
    /// Everything except a third.
    TwoThirds,
    /// The total of the order.
    Total,
}

impl Remainder {
    /// Returns the amount in minor units.
    pub fn cents(self, total: i64) -> i64 {
        match self {
            Self::Nothing => 0,
            Self::TwoThirds => total - (total / 3).max(1),
            Self::Total => total,
        }
    }
}

impl PayWay {
    /// Returns the customer's action on the next page, after this many actions.
    const fn act(self, acts: u32) -> PageAct {
        match (self, acts) {
            (Self::AfterDecline, 0) => PageAct::BeDeclined,
            (Self::AfterExpiry, 0) => PageAct::Leave,
            (Self::AfterSlowFailure, 0) | (Self::Slowly, _) => PageAct::PaySlowly,
            (Self::AtOnce | Self::AfterDecline | Self::AfterExpiry | Self::AfterSlowFailure, _) => PageAct::Pay,
        }
    }
}

impl OrderPlan {
    /// Returns what the order keeps at the end, if it is paid through the checkout; `None` otherwise.
    pub fn remainder(&self) -> Option<Remainder> {
        let mut remainder = None;
        for (_, step) in &self.steps {
            match step {
                CustomerStep::Till(TillStep::Leave(rest)) => remainder = Some(*rest),
                CustomerStep::Till(_) => remainder = remainder.or(Some(Remainder::Total)),
                CustomerStep::Decide(claim) => remainder = remainder.map(|_| claim.remainder()),
                _ => {}
            }
        }
        remainder
    }

    /// Returns whether the order is cancelled before it is fully paid.
    pub fn may_stay_unpaid(&self) -> bool {
        let pays = |step: &CustomerStep| {
            matches!(
                step,
                CustomerStep::Pay(_, Share::Whole) | CustomerStep::Cash | CustomerStep::Till(TillStep::Pay(_))
            )
        };
        let mut steps = self.steps.iter().map(|(_, step)| step);
        steps.clone().any(|step| *step == CustomerStep::Cancel) && !steps.any(pays)
    }
}

/// Generates the payments of an order if they involve the checkout, or an invoice that is voided, which is the case for
/// every other order; `None` otherwise.
pub fn draw(seed: u64, number: usize) -> Option<Vec<CustomerStep>> {
    let mut chance = branch(seed, &format!("till {number}"));
    if chance.bool() {
        return None;
    }
    let pay = |way| CustomerStep::Till(TillStep::Pay(way));
    let leave = |remainder| CustomerStep::Till(TillStep::Leave(remainder));
    let [open, try_page] = [TillStep::Open, TillStep::TryPage].map(CustomerStep::Till);
    Some(match chance.u8(..13) {
        0 => vec![pay(PayWay::AtOnce)],
        1 => vec![pay(PayWay::AfterDecline)],
        2 => vec![pay(PayWay::Slowly)],
        3 => vec![pay(PayWay::AfterSlowFailure)],
        4 => vec![pay(PayWay::AfterExpiry)],
        5..=7 => vec![pay(PayWay::AtOnce), leave(Remainder::TwoThirds)],
        8 => vec![pay(PayWay::AtOnce), leave(Remainder::Nothing)],
        9 => vec![pay(PayWay::AtOnce), CustomerStep::Cancel, leave(Remainder::Nothing)],
        // The page may be paid before the server has closed it.
        10 => vec![open, CustomerStep::Cash, try_page, leave(Remainder::Total)],
        11 => vec![open, CustomerStep::Cancel, try_page, leave(Remainder::Nothing)],
        // The order has an invoice by then, which nobody will pay.
        _ => vec![CustomerStep::Pay(0, Share::Half), CustomerStep::Cancel, CustomerStep::Refund(0, Share::Half, true)],
    })
}

/// Order or invoice that is paid at the checkout.
pub struct Payable<'a> {
    /// ID, which the processor also uses.
    pub id: &'a str,
    /// Total in minor units.
    pub total_cents: i64,
    /// Path of the order or invoice.
    path: String,
    /// Path of the checkout.
    checkout: String,
    /// Member of the response that states the remaining amount.
    balance: &'static str,
    /// Prefix of the idempotency keys of the refunds.
    label: String,
}

impl<'a> Payable<'a> {
    /// Returns the order with this number in the plan.
    pub fn order(number: usize, order: &'a PlacedOrder) -> Self {
        let path = format!("/api/orders/{}", order.id);
        let (checkout, label) = (format!("{path}/checkout"), format!("refund-{number}"));
        Self { id: &order.id, total_cents: order.total_cents, path, checkout, balance: "keptCents", label }
    }

    /// Returns an invoice without an order, whose pay link has this token.
    pub fn invoice(number: usize, id: &'a str, total_cents: i64, token: &str) -> Self {
        let (path, checkout) = (format!("/api/invoices/{id}"), format!("/api/v1/pay/{token}/checkout"));
        Self { id, total_cents, path, checkout, balance: "amountPaidCents", label: format!("refund-invoice-{number}") }
    }

    /// Returns whether this is an order rather than an invoice.
    fn is_order(&self) -> bool {
        self.path.starts_with("/api/orders/")
    }
}

/// Payment page in a customer's browser.
#[derive(Clone, Default)]
struct Browser {
    page: Option<String>,
    /// Number of actions on pages, and the time of the last one.
    acts: u32,
    acted_at_ms: i64,
}

/// State of a customer's payment for an order or invoice, and of the refunds by the staff.
#[derive(Default)]
pub struct Till {
    browser: RefCell<Browser>,
    /// Unanswered refund, which is requested again with the same key.
    outstanding: RefCell<Option<Errand>>,
    /// Number of answered refunds.
    answers: Cell<u32>,
    /// Time since which no refund is due according to the server, in milliseconds.
    over_since_ms: Cell<Option<i64>>,
    /// Time before which no page of a pay link is requested again, in milliseconds.
    pause_until_ms: Cell<i64>,
}

impl Till {
    /// Performs a step on an order or invoice. Returns whether it is done.
    pub async fn act(
        &self,
        world: &World,
        shop: &Shop,
        payable: &Payable<'_>,
        step: TillStep,
    ) -> Result<bool, SimError> {
        match step {
            TillStep::Open => {
                let reply = self.open(world, shop, payable).await?;
                Ok(!matches!(reply, ShopReply::Unanswered))
            }
            TillStep::TryPage => {
                if let Some(page) = &self.browser.borrow().page {
                    world.processor.act(page, PageAct::Pay);
                }
                Ok(true)
            }
            TillStep::Pay(way) => self.pay(world, shop, payable, way).await,
            TillStep::Leave(remainder) => {
                let rest_cents = remainder.cents(payable.total_cents);
                self.leave(world, shop, payable, rest_cents).await
            }
        }
    }

    /// Requests the payment page.
    async fn open(&self, world: &World, shop: &Shop, payable: &Payable<'_>) -> Result<ShopReply, SimError> {
        let now_ms = world.clock.elapsed_ms();
        if !payable.is_order() && now_ms < self.pause_until_ms.get() {
            return Ok(ShopReply::Unanswered);
        }
        self.pause_until_ms.set(now_ms + LINK_PAUSE_MS);
        let reply = shop.ask_without_key(&payable.checkout, &json!({})).await?;
        if let ShopReply::Done(body) = &reply {
            let page = body["sessionId"].as_str().map(str::to_owned);
            let acts = self.browser.borrow().acts;
            *self.browser.borrow_mut() = Browser { page, acts, acted_at_ms: world.clock.elapsed_ms() };
        }
        Ok(reply)
    }

    /// Pays, unless the order is paid or the payment is in progress.
    async fn pay(&self, world: &World, shop: &Shop, payable: &Payable<'_>, way: PayWay) -> Result<bool, SimError> {
        let Some(state) = shop.read(&payable.path).await? else { return Ok(false) };
        if !state["paidAt"].is_null() {
            return Ok(true);
        }
        let browser = self.browser.borrow().clone();
        let waited_ms = world.clock.elapsed_ms() - browser.acted_at_ms;
        match browser.page.as_deref().and_then(|page| Some((page, world.processor.page_state(page)?))) {
            Some((page, PageState::Pending)) => {
                if waited_ms >= SLOW_MS {
                    world.processor.settle(page, way == PayWay::Slowly);
                }
                return Ok(false);
            }
            Some((_, PageState::Paid)) if waited_ms < PATIENCE_MS => return Ok(false),
            _ => {}
        }
        if let ShopReply::Done(_) = self.open(world, shop, payable).await? {
            let mut browser = self.browser.borrow_mut();
            if let Some(page) = &browser.page {
                world.processor.act(page, way.act(browser.acts));
                browser.acts += 1;
            }
        }
        Ok(false)
    }

    /// Refunds everything above the remainder, and repeats refused refunds. Returns whether no refund is due any more.
    async fn leave(
        &self,
        world: &World,
        shop: &Shop,
        payable: &Payable<'_>,
        rest_cents: i64,
    ) -> Result<bool, SimError> {
        let outstanding = self.outstanding.borrow().clone();
        let errand = if let Some(errand) = outstanding {
            errand
        } else {
            let Some(state) = shop.read(&payable.path).await? else { return Ok(false) };
            let pending_cents = pending_cents(&state);
            let excess_cents = cents(&state[payable.balance]) - pending_cents - rest_cents;
            if excess_cents <= 0 {
                return Ok(pending_cents == 0 && self.is_over(world, payable, &state, rest_cents));
            }
            let key = format!("{}-{}", payable.label, self.answers.get());
            Errand { path: format!("{}/refund", payable.path), key, body: json!({"amountCents": excess_cents}) }
        };
        self.over_since_ms.set(None);
        let reply = if payable.is_order() { shop.ask(&errand).await? } else { shop.ask_unversioned(&errand).await? };
        let outcome = match reply {
            ShopReply::Unanswered => {
                *self.outstanding.borrow_mut() = Some(errand);
                return Ok(false);
            }
            ShopReply::Done(_) => "is requested".to_owned(),
            ShopReply::Refused(code) => format!("is refused: {code}"),
        };
        world.story.tell(format!("staff: a refund of {} cents {outcome}", errand.body["amountCents"]));
        self.answers.set(self.answers.get() + 1);
        *self.outstanding.borrow_mut() = None;
        Ok(false)
    }

    /// Returns whether no refund is due according to the processor's books, or has been due according to the server's
    /// for a long time.
    fn is_over(&self, world: &World, payable: &Payable<'_>, state: &Value, rest_cents: i64) -> bool {
        let now_ms = world.clock.elapsed_ms();
        let since_ms = self.over_since_ms.get().unwrap_or(now_ms);
        self.over_since_ms.set(Some(since_ms));
        let balance_cents = world.processor.balance_cents(payable.id) + cents_by_hand(state);
        balance_cents <= rest_cents || now_ms - since_ms >= BELIEF_MS
    }
}

fn cents(amount: &Value) -> i64 {
    amount.as_i64().unwrap_or_default()
}

/// Returns the amount of requested refunds that the processor has not executed yet, in minor units.
fn pending_cents(state: &Value) -> i64 {
    let refunds = state["pendingRefunds"].as_array().into_iter().flatten();
    refunds.filter(|refund| refund["error"].is_null()).map(|refund| cents(&refund["amountCents"])).sum()
}

/// Returns the money of an order or invoice that neither came by the processor nor was lost there, in minor units.
pub fn cents_by_hand(state: &Value) -> i64 {
    let payments = state["payments"].as_array().into_iter().flatten();
    payments
        .filter(|one| one["method"] != "processor" && one["method"] != LOST_CLAIM)
        .map(|one| cents(&one["amountCents"]))
        .sum()
}
