//! Part of the setup wizard's fifth step: the issuer of the shop's invoices. No invoice is issued until these details
//! are complete, because a numbered invoice cannot be corrected.

use maud::{Markup, html};

use super::fields::{SELLER, given_of, inputs_of, typed_or_in_force};
use super::steps::SetupStep;
use super::{FaultLine, WizardHandles, WizardRequest, change_draft, wrong};
use crate::form::{Form, PageForm};
use config::Config;
use config::sections::InvoicesConfig;
use domain::seller::{SellerGap, missing_details};
use domain::setup::draft::SetupDraft;
use http::error::ApiError;
use words::Language;
use words::staff::setup as texts;

/// Name of the seller details in the form and in the stored input.
pub(super) const SELLER_WORD: &str = "seller";
/// Value stored for the seller details once they are complete.
const COMPLETE: &str = "complete";

/// Returns the seller details that are still missing, given the stored input; values in `form` take precedence.
fn gaps(config: &Config, draft: &SetupDraft, form: Option<&Form>) -> Vec<SellerGap> {
    let text = |key: &str| typed_or_in_force(key, config, draft, form);
    let invoices = InvoicesConfig {
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

/// Returns the state of the seller details in one or two words.
pub(super) fn state(language: Language, config: &Config, draft: &SetupDraft) -> String {
    match (gaps(config, draft, None).is_empty(), draft.passed(SELLER_WORD).is_some()) {
        (false, _) => texts::seller_missing(language),
        (true, true) => texts::seller_complete_unwritten(language),
        (true, false) => texts::seller_complete(language),
    }
}

/// Stores the seller details in a form if they are complete; otherwise, returns the errors.
pub(super) async fn keep(
    app: &WizardHandles,
    visit: &WizardRequest,
    sent: &PageForm,
) -> Result<Vec<FaultLine>, ApiError> {
    let config = &*app.setup.config;
    let gaps = gaps(config, &visit.draft, Some(&Form::submitted(sent)));
    if !gaps.is_empty() {
        return Ok(vec![FaultLine::of(missing_details(visit.language, &gaps))]);
    }
    let values = given_of(&SELLER, sent, config, &visit.draft)?;
    change_draft(app, move |draft| {
        let keys: Vec<&str> = SELLER.iter().map(|field| field.key).collect();
        draft.keep(SELLER_WORD, &keys, values, COMPLETE);
    })
    .await?;
    Ok(Vec::new())
}

/// Renders the form for the seller details. `tried` contains a rejected form and its errors.
pub(super) fn section(app: &WizardHandles, visit: &WizardRequest, tried: Option<(&[FaultLine], &Form)>) -> Markup {
    let (language, config) = (visit.language, &*app.setup.config);
    let again = tried.filter(|(faults, _)| !faults.is_empty()).map(|(_, sent)| sent);
    html! {
        form class="card" method="post" action=(SetupStep::Commerce.path()) aria-labelledby=(SELLER_WORD) {
            h2 id=(SELLER_WORD) {
                (texts::seller_heading(language)) " "
                span class="state" { (state(language, config, &visit.draft)) }
            }
            p { (texts::seller_text(language)) }
            @match tried {
                Some((faults, _)) if faults.is_empty() => p role="status" {
                    strong { (texts::seller_saved(language)) " " } (texts::seller_saved_text(language))
                },
                Some((faults, _)) => (wrong(language, faults)),
                None => {},
            }
            (visit.hidden())
            input type="hidden" name="service" value=(SELLER_WORD);
            (inputs_of(language, &SELLER, (config, &visit.draft), again, None))
            button class="second" type="submit" { (texts::save(language)) }
        }
    }
}
