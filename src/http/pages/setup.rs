//! Setup wizard: configures a new shop in six steps, using the same commands as the routes under `/api/setup`. The
//! input is stored encrypted until the last step writes the settings, so that the setup can be interrupted and resumed.
//!
//! Until the setup is complete, the wizard is opened with a one-time code; afterwards, only admins can open it. It
//! covers only some of the settings.

mod advice;
mod commerce;
mod database;
mod done;
mod enter;
pub(super) mod fields;
mod first_print;
pub(super) mod integrations;
mod printers;
mod review;
mod search;
mod seller;
mod steps;
mod time_zone;
mod titles;
pub(super) mod trial;
mod welcome;

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use axum::response::Response;
use maud::{Markup, html};

use self::steps::{SetupStep, around};
pub(super) use self::trial::failed;
use super::form::TOKEN_FIELD;
use super::frame::{PageCode, page, respond, see_other, whole_page};
use super::refused::sentence;
use domain::setup::draft::SetupDraft;
use files::setup_draft::DraftFile;
use http::access::{Caller, RequiredAccess, with_access};
use http::csrf::FormToken;
use http::error::{ApiError, ErrorMeta};
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use http_api::production::setup::SetupHandles;
use platform::secrets::encryption::SecretCipher;

/// Path of the wizard's first page, with which the paths of all wizard pages start.
pub(super) const PATH: &str = "/setup";

handles! {
    /// Dependencies of the wizard pages.
    pub(crate) struct WizardHandles {
        setup: SetupHandles,
        cipher: Arc<SecretCipher>,
    }
}

/// Returns whether the path belongs to a wizard page.
pub(super) fn is_path(path: &str) -> bool {
    path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Adds the wizard pages to the routes.
pub(super) fn routes(routes: Routes) -> Routes {
    use RequiredAccess::{Open, Setup};
    let (get, post, form, long) = (Method::GET, Method::POST, PageBounds::Form, PageBounds::Long);
    routes
        .page(get.clone(), Open, enter::PATH, enter::show, form)
        .page(post.clone(), Open, enter::PATH, enter::show_code, form)
        .page(post.clone(), Open, enter::SIGN_IN_PATH, enter::sign_in, form)
        .page(get.clone(), Setup, PATH, welcome::show, form)
        .page(post.clone(), Setup, PATH, welcome::make_admin, form)
        .page(get.clone(), Setup, database::PATH, database::show, form)
        .page(post.clone(), Setup, database::PATH, database::test, long)
        .page(get.clone(), Setup, printers::PATH, printers::show, form)
        .page(get.clone(), Setup, printers::NEW_PATH, printers::show_form, form)
        .page(post.clone(), Setup, printers::NEW_PATH, printers::add, long)
        .page(post.clone(), Setup, search::PATH, search::begin, form)
        .page(get.clone(), Setup, search::LIVE_PATH, search::live, PageBounds::Stream)
        .page(get.clone(), Setup, integrations::PATH, integrations::show, form)
        .page(post.clone(), Setup, integrations::PATH, integrations::test, long)
        .page(get.clone(), Setup, commerce::PATH, commerce::show, form)
        .page(post.clone(), Setup, commerce::PATH, commerce::test, long)
        .page(get.clone(), Setup, review::PATH, review::show, form)
        .page(post.clone(), Setup, review::PATH, review::save, long)
        .page(get.clone(), Setup, done::PATH, done::show, form)
        .page(get, Setup, first_print::LIVE_PATH, first_print::live, PageBounds::Stream)
        .page(post, Setup, done::PRINT_PATH, done::print, long)
}

/// Request for a wizard page, with its session and the state of the setup.
pub(super) struct WizardRequest {
    /// Input from earlier steps.
    pub(super) draft: SetupDraft,
    /// `true` if there is an admin who can sign in.
    pub(super) has_admin: bool,
    /// `true` once the setup is complete; from then on, only admins can open the wizard.
    pub(super) completed: bool,
    /// CSRF token of a staff session. The setup session does not need one, because browsers only send its cookie with
    /// requests from this server's pages.
    token: Option<String>,
}

impl WizardRequest {
    /// Loads the state of the setup.
    pub(super) async fn new(app: &WizardHandles, who: &Caller) -> Result<Self, ApiError> {
        let config = &app.setup.config;
        let (has_admin, completed) = with_access(&app.setup.access, |access| {
            (access.admins().next().is_some(), access.setup_completed_at.is_some())
        })?;
        let token = who.session.map(|session| FormToken::of(&config.auth.session_secret, session).masked());
        let file = draft_file(app);
        let draft = tokio::task::spawn_blocking(move || file.load()).await.map_err(ApiError::internal)?;
        Ok(Self { draft, has_admin, completed, token })
    }

    /// Returns whether the steps after the second one are available.
    pub(super) fn may_go_on(&self) -> bool {
        self.has_admin && self.draft.may_go_on()
    }

    /// Returns a redirect to an earlier step if the requested step is not available yet.
    pub(super) fn instead(&self) -> Option<Response> {
        let to = if self.has_admin { database::PATH } else { PATH };
        (!self.may_go_on()).then(|| see_other(to))
    }

    /// Renders the hidden CSRF token field, which every form contains.
    pub(super) fn hidden(&self) -> Markup {
        html! { @if let Some(token) = &self.token { input type="hidden" name=(TOKEN_FIELD) value=(token); } }
    }

    /// Renders the page of the given step.
    pub(super) fn page(&self, status: StatusCode, step: SetupStep, content: &Markup) -> Response {
        whole_page(status, step.title(), &around(step, self.has_admin, self.may_go_on(), content), false)
    }

    /// Renders the page of the given step, with its own script.
    pub(super) fn scripted_page(
        &self,
        status: StatusCode,
        step: SetupStep,
        content: &Markup,
        code: &PageCode,
    ) -> Response {
        let body = around(step, self.has_admin, self.may_go_on(), content);
        respond(status, step.title(), "wide", &body, code)
    }

    /// Renders the page of the given step, with live updates.
    pub(super) fn live_page(&self, step: SetupStep, content: &Markup) -> Response {
        whole_page(StatusCode::OK, step.title(), &around(step, self.has_admin, self.may_go_on(), content), true)
    }
}

/// Returns the file in which the wizard's input is stored.
pub(super) fn draft_file(app: &WizardHandles) -> DraftFile {
    DraftFile::new(&app.setup.config.server.data_dir, &app.cipher)
}

/// Changes the stored input; concurrent changes are serialized.
pub(super) async fn change_draft(
    app: &WizardHandles,
    change: impl FnOnce(&mut SetupDraft) + Send + 'static,
) -> Result<(), ApiError> {
    let _turn = app.setup.setup.write().await;
    let file = draft_file(app);
    let changed = tokio::task::spawn_blocking(move || {
        let mut draft = file.load();
        change(&mut draft);
        file.store(&draft)
    });
    Ok(changed.await.map_err(ApiError::internal)??)
}

/// Renders an error page. An unauthenticated visitor is instead redirected to the entry page with the error code.
pub(super) fn refused(status: StatusCode, meta: &ErrorMeta) -> Response {
    if status == StatusCode::UNAUTHORIZED {
        return see_other(&enter::path_after(&meta.code));
    }
    let (title, advice) = match (status.as_u16(), meta.code.as_str()) {
        (403, "insufficient_role") => ("Admin access required", "Sign in as an admin and open the page again."),
        (403, _) => ("Please try again", "Go back, reload the page and submit the form again."),
        (404, _) => ("Page not found", "Start with the first step."),
        (409, "setup_completed") => ("Setup is complete", "Sign in as an admin to change its settings."),
        (409, "settings_fixed") => {
            ("Settings can't be saved here", "Set the environment variables where this server is started.")
        }
        (409, "unreadable_env") => (".env can't be read", "Fix the line named above and try again."),
        (409, _) => ("This isn't possible now", "Go back and reload the page to see the current state."),
        (429, _) => ("Too many requests", "Wait a moment and try again."),
        (503, _) => ("Temporarily unavailable", "Nothing was lost. Try again in a minute."),
        (400..=499, _) => ("That didn't work", "Go back and fix the problem described above."),
        _ => ("Something went wrong", "Try again later. Details are in the server log."),
    };
    let content = html! {
        h1 { (title) }
        p { (sentence(&meta.message)) }
        p { (advice) }
        a class="button" href=(PATH) { "Open setup" }
    };
    page(status, title, &content)
}

/// Formats a form's errors, one per line. The names of settings are left unchanged.
pub(super) fn faults_of(error: &ApiError) -> Vec<String> {
    let body = error.body();
    let sentences = body["errors"].as_array().into_iter().flatten().filter_map(|fault| {
        let (path, words) = (fault["path"].as_str()?, fault["message"].as_str()?);
        let name = path.strip_prefix("settings.").unwrap_or(path);
        Some(if name == "settings" { sentence(words) } else { format!("{name}: {words}.") })
    });
    let sentences: Vec<String> = sentences.collect();
    if sentences.is_empty() { vec![sentence(error.message())] } else { sentences }
}

/// Renders the error messages of a form.
pub(super) fn wrong(lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            div class="bad" role="alert" { @for line in lines { p { (line) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_the_wizard_are_told_from_all_else() {
        for page in ["/setup", "/setup/enter", "/setup/printers/new"] {
            assert!(is_path(page), "{page}");
        }
        for other in ["/", "/setups", "/api/setup/status", "/orders/setup"] {
            assert!(!is_path(other), "{other}");
        }
    }

    #[test]
    fn faults_name_what_is_to_be_mended() {
        let mut faults = domain::refusal::Faults::default();
        faults.note("settings.SMTP_PORT", "must be a number or null");
        faults.note("settings", "mail: the address is not valid");
        let error = ApiError::from(domain::refusal::Refusal::faults(faults));
        assert_eq!(faults_of(&error), ["SMTP_PORT: must be a number or null.", "Mail: the address is not valid."]);
        assert_eq!(faults_of(&ApiError::bad_request("x", "no such thing")), ["No such thing."]);
    }
}
