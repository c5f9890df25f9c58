//! Orders: the list with its filters, the form for a new one, and the packing slips of shipments.

mod filters;
mod list;
mod new_order;
mod packing;

use std::sync::Arc;

use axum::http::Method;

use super::board::BoardHandles;
use super::delay_reasons::DelayHandles;
use super::log::LogHandles;
use super::shell::Tone;
use config::Config;
use domain::attention_flag::AttentionFlag;
use domain::order::{OrderStatus, PICKUP, SentShipment};
use http::access::RequiredAccess;
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use http_api::production::jobs::JobHandles;
use http_api::production::orders::OrderHandles;
use words::Language;
use words::staff::orders as texts;

pub(super) use self::list::show as list;
pub(super) use self::new_order::PATH as NEW_ORDER_PATH;

handles! {
    /// Dependencies of the order pages.
    pub(crate) struct StaffOrderHandles {
        board: BoardHandles,
        orders: OrderHandles,
        jobs: JobHandles,
        delays: DelayHandles,
        log: LogHandles,
        config: Arc<Config>,
    }
}

/// Adds the routes of the order pages that have their own modules.
pub(super) fn routes(routes: Routes) -> Routes {
    let (get, form) = (Method::GET, PageBounds::Form);
    routes
        .page(get.clone(), RequiredAccess::Session, new_order::PATH, new_order::begin, form)
        .page(Method::POST, RequiredAccess::Session, new_order::PATH, new_order::place, form)
        .page(get, RequiredAccess::Session, "/shop/orders/{id}/shipments/{number}", packing::show, form)
}

/// Returns the tone and label for an order's status.
pub(super) fn order_state(language: Language, status: OrderStatus) -> (Tone, String) {
    match status {
        OrderStatus::Draft => (Tone::Idle, texts::status_draft(language)),
        OrderStatus::Created => (Tone::Attention, texts::status_created(language)),
        OrderStatus::PaymentFailed => (Tone::Error, texts::status_payment_failed(language)),
        OrderStatus::Paid => (Tone::Working, texts::status_paid(language)),
        OrderStatus::Printing => (Tone::Running, texts::status_printing(language)),
        OrderStatus::Ready => (Tone::Attention, texts::status_ready(language)),
        OrderStatus::Shipped => (Tone::Idle, texts::status_shipped(language)),
        OrderStatus::Cancelled => (Tone::Idle, texts::status_cancelled(language)),
        OrderStatus::Refunded => (Tone::Idle, texts::status_refunded(language)),
    }
}

/// Returns the carrier of a shipment, or that it was picked up.
pub(super) fn carrier_name(language: Language, sent: &SentShipment) -> String {
    let carrier = &sent.shipment.carrier;
    if carrier == PICKUP { texts::pickup(language) } else { carrier.clone() }
}

/// Returns the reason an order or invoice needs attention, as text.
pub(super) fn flag_words(language: Language, flag: &str) -> String {
    let Some(flag) = AttentionFlag::parse(flag) else { return texts::flag_unknown(language) };
    let text = match flag {
        AttentionFlag::RefundDue => texts::flag_refund_due,
        AttentionFlag::AmountMismatch => texts::flag_amount_mismatch,
        AttentionFlag::JobFailed => texts::flag_job_failed,
        AttentionFlag::AllJobsCancelled => texts::flag_all_jobs_cancelled,
        AttentionFlag::Short => texts::flag_short,
        AttentionFlag::NeedsAttention => texts::flag_needs_attention,
        AttentionFlag::SellerIncomplete => texts::flag_seller_incomplete,
        AttentionFlag::RejectedAfterShipping => texts::flag_rejected_after_shipping,
        AttentionFlag::Surplus => texts::flag_surplus,
        AttentionFlag::RefundFailed => texts::flag_refund_failed,
        AttentionFlag::Disputed => texts::flag_disputed,
        AttentionFlag::DisputeLost => texts::flag_dispute_lost,
    };
    text(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_has_words_of_its_own_in_each_language() {
        for language in Language::ALL {
            let unknown = flag_words(language, "unheard_of");
            let mut all = AttentionFlag::ALL.map(|flag| flag_words(language, flag.word())).to_vec();
            assert!(all.iter().all(|words| *words != unknown && !words.contains('_')), "{all:?}");
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), AttentionFlag::ALL.len(), "{all:?}");
        }
    }
}
