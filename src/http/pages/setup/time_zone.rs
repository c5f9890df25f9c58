//! Part of the setup wizard's first step: the shop's time zone. A script selects the browser's time zone until one has
//! been chosen.

use std::sync::LazyLock;

use maud::{Markup, html};

use super::fields::{ZONE, given_of, zone_shown};
use super::steps::SetupStep;
use super::{FaultLine, WizardHandles, WizardRequest, change_draft};
use crate::design::assets::{SITE_SCRIPT, SITE_STYLE};
use crate::form::{Form, PageForm};
use crate::frame::PageCode;
use config::Config;
use domain::setup::draft::SetupDraft;
use domain::shop_clock::{ShopClock, TimeZoneError};
use http::error::ApiError;
use words::Language;
use words::staff::setup as texts;

/// Name of the time zone in the form and in the stored input.
pub(super) const ZONE_WORD: &str = "time_zone";
/// Value stored for the time zone once it has been chosen.
const CHOSEN: &str = "chosen";

/// Style sheet, script and policy of the page with the list of time zones.
pub(super) static ZONE_PAGE: LazyLock<PageCode> =
    LazyLock::new(|| PageCode::new(&SITE_STYLE, Some(&*SITE_SCRIPT), true));

/// Returns the error messages for the time zone in a form; empty if it is valid or missing.
pub(super) fn faults(language: Language, sent: &PageForm) -> Vec<FaultLine> {
    let error = ShopClock::parse(sent.text(ZONE.variable)).err();
    let line = |TimeZoneError(name)| {
        let message = texts::time_zone_fault(language, &name.escape_debug().to_string());
        FaultLine::of(format!("{}: {message}.", (ZONE.label)(language)))
    };
    error.map(line).into_iter().collect()
}

/// Stores the time zone in a form, if it is valid.
pub(super) async fn keep(app: &WizardHandles, visit: &WizardRequest, sent: &PageForm) -> Result<(), ApiError> {
    if sent.text(ZONE.variable).is_empty() {
        return Ok(());
    }
    let values = given_of(&[ZONE], sent, &app.setup.config, &visit.draft)?;
    change_draft(app, move |draft| draft.keep(ZONE_WORD, &[ZONE.key], values, CHOSEN)).await
}

/// Renders the list of time zones. `form` is a rejected form, whose selection is shown again.
pub(super) fn field(language: Language, config: &Config, draft: &SetupDraft, form: Option<&Form>) -> Markup {
    let current = zone_shown(config, draft);
    let typed = form.map(|form| form.text(ZONE.variable)).filter(|text| !text.is_empty());
    let chosen = typed.unwrap_or(&current);
    let is_open =
        typed.is_none() && draft.passed(ZONE_WORD).is_none() && config.origin.given_setting(ZONE.key).is_none();
    let names = ShopClock::zone_names();
    let other = Some(chosen).filter(|chosen| !names.iter().any(|name| name == chosen));
    html! {
        div class="field" {
            label for="zone" { ((ZONE.label)(language)) }
            select id="zone" name=(ZONE.variable) aria-describedby="about-zone" data-own-zone[is_open] {
                @if let Some(other) = other { option value=(other) selected { (other) } }
                @for name in &names { option value=(name) selected[name == chosen] { (name) } }
            }
            p class="hint" id="about-zone" { (ZONE.hint.text(language)) }
        }
    }
}

/// Renders the form that changes the time zone once there is an admin.
pub(super) fn section(visit: &WizardRequest, config: &Config, refused: Option<(&Markup, &Form)>) -> Markup {
    let language = visit.language;
    html! {
        form class="card" method="post" action=(SetupStep::Welcome.path()) aria-labelledby=(ZONE_WORD) {
            h2 id=(ZONE_WORD) { (texts::time_zone_heading(language)) }
            @if let Some((faults, _)) = refused { (faults) }
            (visit.hidden())
            input type="hidden" name="service" value=(ZONE_WORD);
            (field(language, config, &visit.draft, refused.map(|(_, form)| form)))
            button class="second" type="submit" { (texts::save(language)) }
        }
    }
}
