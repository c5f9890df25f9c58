//! Page on which staff members set up their own second factor with an authenticator app, confirm it with a first code,
//! or remove it.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use qrcode::{Color, EcLevel, QrCode};

use super::sessions::SessionPageHandles;
use crate::faults::{alert, with_refusal};
use crate::form::{FormBody, PageForm};
use crate::frame::{SLOT, see_other, time, with_parts};
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::field;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use http::access::Caller;
use http::error::ApiError;
use http::limits::LimitedReply;
use http::limits::layer::ClientAddress;
use http_api::production::second_factor::{self, FactorSecretView, SecondFactorView, own_factor};
use words::Language;
use words::staff::{account, shell};

/// Path of the second-factor page.
pub(super) const PATH: &str = "/shop/settings/second-factor";
/// Path to which the code that confirms the second factor is posted.
pub(super) const CONFIRM_PATH: &str = "/shop/settings/second-factor/confirm";
/// Path to which the form for removing the second factor is posted.
pub(super) const REMOVE_PATH: &str = "/shop/settings/second-factor/remove";
/// Width, in modules, of the blank margin around a QR code; if the margin is too small, cameras do not detect the code.
const QUIET_SQUARES: usize = 4;

/// Serves the second-factor page.
pub(super) async fn show(State(app): State<SessionPageHandles>, who: Caller) -> Result<Response, ApiError> {
    state_page(&app, &who, None)
}

fn page(
    app: &SessionPageHandles,
    who: &Caller,
    wrong: Option<&Markup>,
    content: &Markup,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let title = account::factor_title(viewer.language());
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(viewer.language())) } }
        h1 { (title) }
        @if let Some(wrong) = wrong { (wrong) }
        (content)
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

fn password_field(language: Language) -> Markup {
    let control = html! {
        input id="current" name="currentPassword" type="password" maxlength="1024" required
            autocomplete="current-password";
    };
    field("current", &account::current_password_field(language), &control)
}

fn code_field(label: &str) -> Markup {
    let control = html! {
        input id="code" name="code" maxlength="40" required autocomplete="one-time-code" autocapitalize="none" spellcheck="false";
    };
    field("code", label, &control)
}

fn state_page(app: &SessionPageHandles, who: &Caller, wrong: Option<&Markup>) -> Result<Response, ApiError> {
    let factor = own_factor(&app.sessions, who)?;
    page(app, who, wrong, &state(who.language, &factor))
}

fn state(language: Language, factor: &SecondFactorView) -> Markup {
    html! {
        @if factor.on {
            p {
                (account::factor_on(language))
                @if let Some(at) = factor.confirmed_at {
                    " " (with_parts(&account::factor_on_since(language, SLOT), &[&time(language, at)]))
                }
            }
            p {
                (account::recovery_codes_left(language, factor.recovery_codes_left))
                " " (account::recovery_codes_use(language))
            }
            form class="card form" method="post" action=(REMOVE_PATH) {
                (hidden())
                h2 { (account::turn_off_heading(language)) }
                (password_field(language))
                (code_field(&account::turn_off_code_field(language)))
                button class="second" type="submit" { (account::turn_off(language)) }
            }
            p class="soft" { (account::turn_off_note(language)) }
        } @else {
            p { (account::factor_off(language)) }
            form class="card form" method="post" action=(PATH) {
                (hidden())
                (password_field(language))
                button type="submit" { (account::set_up(language)) }
            }
        }
    }
}

/// Renders a QR code as inline SVG; `None` if the text does not fit.
fn qr(language: Language, text: &str) -> Option<Markup> {
    let code = QrCode::with_error_correction_level(text.as_bytes(), EcLevel::M).ok()?;
    let side = code.width();
    let dark = code.into_colors().into_iter().enumerate().filter(|(_, color)| *color == Color::Dark);
    let squares = dark.map(|(n, _)| format!("M{} {}h1v1h-1z", n % side + QUIET_SQUARES, n / side + QUIET_SQUARES));
    let squares: String = squares.collect();
    let whole = side + 2 * QUIET_SQUARES;
    Some(html! {
        svg width="240" height="240" viewBox={ "0 0 " (whole) " " (whole) } role="img" aria-label=(account::qr_code(language)) {
            rect width=(whole) height=(whole) fill="#fff" {}
            path d=(squares) fill="#000" {}
        }
    })
}

fn secret_page(
    app: &SessionPageHandles,
    who: &Caller,
    wrong: Option<&Markup>,
    secret: Option<&FactorSecretView>,
) -> Result<Response, ApiError> {
    page(app, who, wrong, &secret_content(who.language, secret))
}

fn secret_content(language: Language, secret: Option<&FactorSecretView>) -> Markup {
    let heading = match secret {
        Some(_) => account::enter_code_second_heading(language),
        None => account::enter_code_heading(language),
    };
    html! {
        @if let Some(secret) = secret {
            @let key = html! { code { (secret.secret) } };
            section class="card" aria-labelledby="scan" {
                h2 id="scan" { (account::scan_heading(language)) }
                p { (account::scan_text(language)) }
                @if let Some(qr) = qr(language, &secret.url) { p { (qr) } }
                p { (with_parts(&account::secret_text(language, SLOT), &[&key])) }
                p class="soft" { (account::secret_note(language)) }
            }
        }
        form class="card form" method="post" action=(CONFIRM_PATH) {
            (hidden())
            h2 { (heading) }
            (code_field(&account::code_field(language)))
            button type="submit" { (account::turn_on(language)) }
        }
        @if secret.is_none() { p { a href=(PATH) { (account::start_over(language)) } } }
    }
}

/// Renders an error on a page in the given language.
fn refusal_page(
    language: Language,
    error: ApiError,
    page: impl FnOnce(&Markup) -> Result<Response, ApiError>,
) -> Result<Response, ApiError> {
    let page = page(&alert(language, &error))?;
    Ok(with_refusal(error, page))
}

/// Reads the body of the API operation from a form with the current password.
fn with_password(sent: &PageForm) -> FormBody {
    sent.body().with("currentPassword", sent.raw("currentPassword"))
}

/// Starts setting up the second factor and shows its secret.
pub(super) async fn set_up(
    State(app): State<SessionPageHandles>,
    ClientAddress(from): ClientAddress,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let reply = second_factor::start_setup(&app.sessions, from, &sent.request_of(with_password(&sent))).await;
    match reply.and_then(LimitedReply::into_answer) {
        Ok(secret) => secret_page(&app, &sent.call.who, None, Some(&secret)),
        Err(error) => {
            refusal_page(sent.call.who.language, error, |wrong| state_page(&app, &sent.call.who, Some(wrong)))
        }
    }
}

/// Confirms the second factor with a code and shows the recovery codes.
pub(super) async fn turn_on(State(app): State<SessionPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    match second_factor::turn_on(&app.sessions, &sent.request()).await {
        Ok(codes) => {
            let language = sent.call.who.language;
            let content = html! {
                p { (account::turned_on(language)) }
                section class="card" aria-labelledby="codes" {
                    h2 id="codes" { (account::recovery_codes_heading(language)) }
                    p { (account::recovery_codes_text(language)) }
                    ul { @for code in &codes.recovery_codes { li { code { (code) } } } }
                }
                p { a class="button" href=(PATH) { (account::codes_saved(language)) } }
            };
            page(&app, &sent.call.who, None, &content)
        }
        Err(error) => {
            refusal_page(sent.call.who.language, error, |wrong| secret_page(&app, &sent.call.who, Some(wrong), None))
        }
    }
}

/// Removes the second factor.
pub(super) async fn turn_off(
    State(app): State<SessionPageHandles>,
    ClientAddress(from): ClientAddress,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let reply = second_factor::turn_off(&app.sessions, from, &sent.request_of(with_password(&sent))).await;
    match reply.and_then(LimitedReply::into_answer) {
        Ok(_) => Ok(see_other(PATH)),
        Err(error) => {
            refusal_page(sent.call.who.language, error, |wrong| state_page(&app, &sent.call.who, Some(wrong)))
        }
    }
}
