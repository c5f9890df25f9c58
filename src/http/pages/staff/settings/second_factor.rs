//! Page on which staff members set up their own second factor with an authenticator app, confirm it with a first code,
//! or remove it.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use qrcode::{Color, EcLevel, QrCode};
use serde_json::json;

use super::sessions::SessionPageHandles;
use crate::faults::alert;
use crate::form::PageForm;
use crate::frame::{see_other, time};
use crate::refused::with_refusal;
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::field;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use http::access::Caller;
use http::error::ApiError;
use http::limits::LimitedReply;
use http::limits::layer::ClientAddress;
use http_api::production::second_factor::{self, FactorSecretView, own_factor};

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
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        h1 { "Two-step sign-in" }
        @if let Some(wrong) = wrong { (wrong) }
        (content)
    };
    Ok(viewer.page(StaffSection::Settings, "Two-step sign-in", &app.settings.board.view(), &content))
}

fn password_field() -> Markup {
    let control = html! {
        input id="current" name="current" data-member="currentPassword" type="password" maxlength="1024" required
            autocomplete="current-password";
    };
    field("current", "Current password", &control)
}

fn code_field(label: &str) -> Markup {
    let control = html! {
        input id="code" name="code" maxlength="40" required autocomplete="one-time-code" autocapitalize="none" spellcheck="false";
    };
    field("code", label, &control)
}

fn state_page(app: &SessionPageHandles, who: &Caller, wrong: Option<&Markup>) -> Result<Response, ApiError> {
    let factor = own_factor(&app.sessions, who)?;
    let content = html! {
        @if factor.on {
            p {
                "Two-step sign-in is on. You sign in with your password and a code from your authenticator app."
                @if let Some(at) = factor.confirmed_at { " Turned on: " (time(at)) "." }
            }
            p {
                @if factor.recovery_codes_left == 1 { "You have 1 recovery code left." }
                @else { "You have " (factor.recovery_codes_left) " recovery codes left." }
                " If you lose the app, each code signs you in once."
            }
            form class="card form" method="post" action=(REMOVE_PATH) {
                (hidden())
                h2 { "Turn off" }
                (password_field())
                (code_field("Code from the app, or a recovery code"))
                button class="second" type="submit" { "Turn off two-step sign-in" }
            }
            p class="soft" { "To switch to another app or get new recovery codes, turn off two-step sign-in and set it up again." }
        } @else {
            p { "Sign in with your password and a code from an authenticator app, so that a stolen password is not enough." }
            form class="card form" method="post" action=(PATH) {
                (hidden())
                (password_field())
                button type="submit" { "Set up" }
            }
        }
    };
    page(app, who, wrong, &content)
}

/// Renders a QR code as inline SVG; `None` if the text does not fit.
fn qr(text: &str) -> Option<Markup> {
    let code = QrCode::with_error_correction_level(text.as_bytes(), EcLevel::M).ok()?;
    let side = code.width();
    let dark = code.into_colors().into_iter().enumerate().filter(|(_, color)| *color == Color::Dark);
    let squares = dark.map(|(n, _)| format!("M{} {}h1v1h-1z", n % side + QUIET_SQUARES, n / side + QUIET_SQUARES));
    let squares: String = squares.collect();
    let whole = side + 2 * QUIET_SQUARES;
    Some(html! {
        svg width="240" height="240" viewBox={ "0 0 " (whole) " " (whole) } role="img" aria-label="QR code for an authenticator app" {
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
    let content = html! {
        @if let Some(secret) = secret {
            section class="card" aria-labelledby="scan" {
                h2 id="scan" { "1. Add your account to the app" }
                p { "Scan this QR code with an authenticator app on your phone." }
                @if let Some(qr) = qr(&secret.url) { p { (qr) } }
                p { "Or type this key into the app: " code { (secret.secret) } }
                p class="soft" { "You won't be able to see this key again." }
            }
        }
        form class="card form" method="post" action=(CONFIRM_PATH) {
            (hidden())
            h2 { @if secret.is_some() { "2. Enter a code" } @else { "Enter a code" } }
            (code_field("Code from the app"))
            button type="submit" { "Turn on two-step sign-in" }
        }
        @if secret.is_none() { p { a href=(PATH) { "Start over" } } }
    };
    page(app, who, wrong, &content)
}

/// Renders an error on a page.
fn refusal_page(
    error: ApiError,
    page: impl FnOnce(&Markup) -> Result<Response, ApiError>,
) -> Result<Response, ApiError> {
    let page = page(&alert(&error))?;
    Ok(with_refusal(error, page))
}

/// Starts setting up the second factor and shows its secret.
pub(super) async fn set_up(
    State(app): State<SessionPageHandles>,
    ClientAddress(from): ClientAddress,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let body = json!({"currentPassword": sent.raw("current")});
    let reply = second_factor::start_setup(&app.sessions, from, &sent.call.of_form(&body)).await;
    match reply.and_then(LimitedReply::into_answer) {
        Ok(secret) => secret_page(&app, &sent.call.who, None, Some(&secret)),
        Err(error) => refusal_page(error, |wrong| state_page(&app, &sent.call.who, Some(wrong))),
    }
}

/// Confirms the second factor with a code and shows the recovery codes.
pub(super) async fn turn_on(State(app): State<SessionPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let body = json!({"code": sent.text("code")});
    match second_factor::turn_on(&app.sessions, &sent.call.of_form(&body)).await {
        Ok(codes) => {
            let content = html! {
                p { "Two-step sign-in is on. All your other sessions have ended." }
                section class="card" aria-labelledby="codes" {
                    h2 id="codes" { "Recovery codes" }
                    p { "Print these codes or write them down now. You won't be able to see them again. If you lose the app, each code signs you in once." }
                    ul { @for code in &codes.recovery_codes { li { code { (code) } } } }
                }
                p { a class="button" href=(PATH) { "I've saved the codes" } }
            };
            page(&app, &sent.call.who, None, &content)
        }
        Err(error) => refusal_page(error, |wrong| secret_page(&app, &sent.call.who, Some(wrong), None)),
    }
}

/// Removes the second factor.
pub(super) async fn turn_off(
    State(app): State<SessionPageHandles>,
    ClientAddress(from): ClientAddress,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let body = json!({"currentPassword": sent.raw("current"), "code": sent.text("code")});
    let reply = second_factor::turn_off(&app.sessions, from, &sent.call.of_form(&body)).await;
    match reply.and_then(LimitedReply::into_answer) {
        Ok(_) => Ok(see_other(PATH)),
        Err(error) => refusal_page(error, |wrong| state_page(&app, &sent.call.who, Some(wrong))),
    }
}
