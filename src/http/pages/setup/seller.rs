//! The part of the fifth step that asks who issues the shop's invoices. A numbered invoice cannot be corrected, so none
//! is issued before this is answered.

use maud::{Markup, html};

use super::fields::{SELLER, given_of, inputs_of, typed_or_in_force};
use super::steps::SetupStep;
use super::{Visit, WizardHandles, change_draft, wrong};
use crate::config::Config;
use crate::config::sections::Invoices;
use crate::domain::seller::{SellerGap, gaps_in_words};
use crate::domain::setup::draft::SetupDraft;
use crate::http::error::ApiError;
use crate::http::pages::form::PageForm;
use crate::http::pages::refused::sentence;

/// The word by which the form and the draft name this part.
pub(super) const SELLER_WORD: &str = "seller";
/// What is kept of it once it is complete.
const COMPLETE: &str = "complete";

/// Returns what invoices would lack with what was gathered, and with what `sent` says instead.
fn gaps(config: &Config, draft: &SetupDraft, sent: Option<&PageForm>) -> Vec<SellerGap> {
    let text = |key: &str| typed_or_in_force(key, config, draft, sent);
    let invoices = Invoices {
        seller_name: text("invoices.seller_name"),
        seller_line1: text("invoices.seller_line1"),
        seller_city: text("invoices.seller_city"),
        seller_postal_code: text("invoices.seller_postal_code"),
        seller_country: text("invoices.seller_country"),
        seller_vat_id: text("invoices.seller_vat_id"),
        seller_tax_number: text("invoices.seller_tax_number"),
        ..config.invoices.clone()
    };
    let taxed = config.tax.rates.iter().any(|rate| rate.bps > 0);
    invoices.rules().seller_gaps(taxed)
}

/// Returns how far this part is, in a word or two.
pub(super) fn state(config: &Config, draft: &SetupDraft) -> &'static str {
    match (gaps(config, draft, None).is_empty(), draft.passed(SELLER_WORD).is_some()) {
        (false, _) => "Missing",
        (true, true) => "Complete, not written yet",
        (true, false) => "Complete",
    }
}

/// Keeps what a form says of the seller if invoices lack nothing with it; else returns what is wrong.
pub(super) async fn keep(app: &WizardHandles, visit: &Visit, sent: &PageForm) -> Result<Vec<String>, ApiError> {
    let config = &*app.setup.config;
    let gaps = gaps(config, &visit.draft, Some(sent));
    if !gaps.is_empty() {
        return Ok(vec![sentence(gaps_in_words(&gaps).split(';').next().unwrap_or_default())]);
    }
    let values = given_of(&SELLER, sent, config, &visit.draft)?;
    change_draft(app, move |draft| {
        let keys: Vec<&str> = SELLER.iter().map(|field| field.key).collect();
        draft.keep(SELLER_WORD, &keys, values, COMPLETE);
    })
    .await?;
    Ok(Vec::new())
}

/// Draws the form. `tried`: what was wrong with it just now, and what was sent.
pub(super) fn section(app: &WizardHandles, visit: &Visit, tried: Option<(&[String], &PageForm)>) -> Markup {
    let config = &*app.setup.config;
    let again = tried.filter(|(faults, _)| !faults.is_empty()).map(|(_, sent)| sent);
    html! {
        form class="card" method="post" action=(SetupStep::Commerce.path()) aria-labelledby=(SELLER_WORD) {
            h2 id=(SELLER_WORD) { "Your shop on invoices " span class="state" { (state(config, &visit.draft)) } }
            p {
                "An invoice names who issues it, by law, and cannot be changed once it has its number. Until this is "
                "filled in, orders are made and their invoices wait."
            }
            @match tried {
                Some((faults, _)) if faults.is_empty() => p role="status" { strong { "Saved. " } "Your invoices will carry these details." },
                Some((faults, _)) => (wrong(faults)),
                None => {},
            }
            (visit.hidden())
            input type="hidden" name="service" value=(SELLER_WORD);
            (inputs_of(&SELLER, config, &visit.draft, again))
            button class="second" type="submit" { "Save" }
        }
    }
}
