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
use super::faults::{error_text, fault_text};
use super::form::TOKEN_FIELD;
use super::frame::{PageCode, in_english, page_in, respond_in, see_other, whole_page};
use super::sentences::sentence;
use domain::setup::draft::SetupDraft;
use files::setup_draft::DraftFile;
use http::access::{Caller, RequiredAccess, with_access};
use http::csrf::FormToken;
use http::error::{ApiError, ErrorMeta};
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use http_api::production::setup::SetupHandles;
use platform::secrets::encryption::SecretCipher;
use words::Language;
use words::staff::setup as texts;

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
        .page(post.clone(), Setup, search::CANCEL_PATH, search::cancel, form)
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
    /// Language of the page: that of the signed-in admin, else the one that the browser prefers.
    pub(super) language: Language,
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
        Ok(Self { language: who.language, draft, has_admin, completed, token })
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
        whole_page(self.language, status, &step.title(self.language), &self.around(step, content), false)
    }

    /// Renders the page of the given step, with its own script.
    pub(super) fn scripted_page(
        &self,
        status: StatusCode,
        step: SetupStep,
        content: &Markup,
        code: &PageCode,
    ) -> Response {
        respond_in(self.language, status, &step.title(self.language), "wide", &self.around(step, content), code)
    }

    /// Renders the page of the given step, with live updates.
    pub(super) fn live_page(&self, step: SetupStep, content: &Markup) -> Response {
        whole_page(self.language, StatusCode::OK, &step.title(self.language), &self.around(step, content), true)
    }

    fn around(&self, step: SetupStep, content: &Markup) -> Markup {
        around(self.language, step, (self.has_admin, self.may_go_on()), content)
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

/// Text of the wizard in the language of the page.
type WizardText = fn(Language) -> String;

/// Renders an error page. An unauthenticated visitor is instead redirected to the entry page with the error code.
pub(super) fn refused(language: Language, status: StatusCode, meta: &ErrorMeta) -> Response {
    if status == StatusCode::UNAUTHORIZED {
        return see_other(&enter::path_after(&meta.code));
    }
    let (title, advice) = refusal_texts(status, &meta.code);
    let title = title(language);
    let content = html! {
        h1 { (title) }
        p {
            @if let Some(text) = error_text(language, &meta.code, &meta.message) { (text) }
            @else { (in_english(language, &sentence(&meta.message))) }
        }
        p { (advice(language)) }
        a class="button" href=(PATH) { (texts::open_setup(language)) }
    };
    page_in(language, status, &title, &content)
}

/// Returns the title of an error page, and the advice on it.
fn refusal_texts(status: StatusCode, code: &str) -> (WizardText, WizardText) {
    match (status.as_u16(), code) {
        (403, "insufficient_role") => (texts::admins_title, texts::admins_text),
        (403, _) => (texts::outdated_title, texts::outdated_text),
        (404, _) => (texts::missing_title, texts::missing_text),
        (409, "setup_completed") => (texts::completed_title, texts::completed_text),
        (409, "settings_fixed") => (texts::fixed_title, texts::fixed_text),
        (409, "unreadable_env") => (texts::unreadable_title, texts::unreadable_text),
        (409, _) => (texts::conflict_title, texts::conflict_text),
        (429, _) => (texts::too_many_title, texts::too_many_text),
        (503, _) => (texts::unavailable_title, texts::unavailable_text),
        (400..=499, _) => (texts::invalid_title, texts::invalid_text),
        _ => (texts::broken_title, texts::broken_text),
    }
}

/// Line of a form's errors.
#[derive(Clone, Debug)]
pub(super) struct FaultLine {
    /// Name of the setting or service with the error, if any.
    subject: Option<String>,
    message: String,
    /// `true` if the message is in English, whatever the language of the page.
    is_english: bool,
}

impl FaultLine {
    /// Creates a line from a message in the language of the page.
    pub(super) fn of(message: String) -> Self {
        Self { subject: None, message, is_english: false }
    }

    /// Returns the line as text.
    pub(super) fn text(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{subject}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Renders the line.
    pub(super) fn render(&self, language: Language) -> Markup {
        html! {
            @if let Some(subject) = &self.subject { (subject) ": " }
            @if self.is_english { (in_english(language, &self.message)) } @else { (self.message) }
        }
    }
}

/// Formats a form's errors, one per line. The names of settings are left unchanged.
pub(super) fn faults_of(language: Language, error: &ApiError) -> Vec<FaultLine> {
    let body = error.body();
    let lines = body["errors"].as_array().into_iter().flatten().filter_map(|fault| {
        let (path, words) = (fault["path"].as_str()?, fault["message"].as_str()?);
        let translated = fault_text(language, words);
        let (is_english, words) = (translated.is_none(), translated.as_deref().unwrap_or(words));
        let name = path.strip_prefix("settings.").unwrap_or(path);
        Some(if name == "settings" {
            FaultLine { subject: None, message: sentence(words), is_english }
        } else {
            FaultLine { subject: Some(name.to_owned()), message: format!("{words}."), is_english }
        })
    });
    let lines: Vec<FaultLine> = lines.collect();
    if !lines.is_empty() {
        return lines;
    }
    let translated = error_text(language, error.code(), error.message());
    let is_english = translated.is_none();
    let message = translated.unwrap_or_else(|| sentence(error.message()));
    vec![FaultLine { subject: None, message, is_english }]
}

/// Renders the error messages for a form.
pub(super) fn wrong(language: Language, lines: &[FaultLine]) -> Markup {
    html! {
        @if !lines.is_empty() {
            div class="bad" role="alert" { @for line in lines { p { (line.render(language)) } } }
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
        let lines = |language, error: &ApiError| -> Vec<String> {
            faults_of(language, error).iter().map(FaultLine::text).collect()
        };
        let english = ["SMTP_PORT: must be a number or null.", "Mail: the address is not valid."];
        assert_eq!(lines(Language::English, &error), english);
        let other = ApiError::bad_request("x", "no such thing");
        assert_eq!(lines(Language::English, &other), ["No such thing."]);
    }

    #[test]
    fn messages_in_english_are_marked_on_pages_in_german() {
        let mut faults = domain::refusal::Faults::default();
        faults.note("settings.SMTP_PORT", "must be odd");
        faults.note("settings.SMTP_HOST", "must not be empty");
        let error = ApiError::from(domain::refusal::Refusal::faults(faults));
        let [english, german] = Language::ALL.map(|language| wrong(language, &faults_of(language, &error)).0);
        assert!(english.contains("<p>SMTP_PORT: must be odd.</p>"), "{english}");
        assert!(german.contains("<p>SMTP_PORT: <span lang=\"en\">must be odd.</span></p>"), "{german}");
        assert!(german.contains("<p>SMTP_HOST: darf nicht leer sein.</p>"), "{german}");
    }
}
