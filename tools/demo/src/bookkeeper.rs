//! Simulated admin who connects the accounting system as a real admin does in a browser: signs in with an emailed link
//! and consents on the provider's page. The simulated provider starts afresh each time, so the demo repeats this after
//! each start.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use api_requests::{HttpApi, RequestError, json_of};
use reqwest::{Method, Response, header};
use serde_json::json;
use simulator::accounting::AccountingSystem;
use tokio::time::sleep;

use super::screen::{LineTone, Screen};
use super::setup::ADMIN;
use crate::error::DemoError;

/// Interval between checks for the email.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum number of checks for the email.
const MAX_LOOKS: usize = 150;

/// Simulated admin who connects the accounting system.
pub struct AccountingAdmin {
    api: HttpApi,
    books: Arc<AccountingSystem>,
    /// Directory for emails written to files instead of being sent.
    outbox: PathBuf,
    screen: Screen,
}

impl AccountingAdmin {
    /// Builds an admin whose emails arrive in the directory `outbox`.
    pub fn new(api: HttpApi, books: Arc<AccountingSystem>, outbox: PathBuf, screen: Screen) -> Self {
        Self { api, books, outbox, screen }
    }

    /// Connects the accounting system once; if that fails, the demo continues without it. Returns only on an error.
    pub async fn work(self) -> DemoError {
        if let Err(error) = self.connect().await {
            let words = format!("the simulated accounting system is not connected: {error}");
            if let Err(error) = self.screen.line(LineTone::Bad, &words) {
                return error;
            }
        }
        std::future::pending().await
    }

    async fn connect(&self) -> Result<(), DemoError> {
        let before = mails(&self.outbox);
        self.api.post("/api/v1/auth/magic-link", &json!({"email": ADMIN})).await?;
        let token = self.token(&before).await?;
        let verified = self.get(&format!("/api/v1/auth/verify?token={token}"), None).await?;
        let cookie = header_of(&verified, "set-cookie")?;
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let sent = self.get("/api/v1/integrations/accounting/connect", Some(&cookie)).await?;
        let back = self.books.decide(&header_of(&sent, "location")?, true).map_err(DemoError::Failed)?;
        let path = back.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
        json_of(self.get(&path, Some(&cookie)).await?).await?;
        Ok(())
    }

    async fn get(&self, path: &str, cookie: Option<&str>) -> Result<Response, DemoError> {
        let request = self.api.request(Method::GET, path);
        let request = match cookie {
            Some(cookie) => request.header(header::COOKIE, cookie),
            None => request,
        };
        Ok(request.send().await.map_err(RequestError::from)?)
    }

    /// Waits for a new email and returns the token from its sign-in link.
    async fn token(&self, before: &BTreeSet<PathBuf>) -> Result<String, DemoError> {
        for _ in 0..MAX_LOOKS {
            let new: Vec<PathBuf> = mails(&self.outbox).difference(before).cloned().collect();
            if let Some(token) = new.iter().find_map(|mail| token_in(&std::fs::read_to_string(mail).ok()?)) {
                return Ok(token);
            }
            sleep(LOOK_INTERVAL).await;
        }
        Err(DemoError::Failed("no sign-in link arrived by email".to_owned()))
    }
}

/// Lists the emails in a directory; unfinished ones have a different file extension and are skipped.
fn mails(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "eml")).collect()
}

/// Extracts the sign-in link's token from an email to the admin, whose long lines may be wrapped.
fn token_in(mail: &str) -> Option<String> {
    let text = mail.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=");
    let (_, rest) = text.split_once("token=").filter(|_| text.contains(ADMIN))?;
    let token: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    (!token.is_empty()).then_some(token)
}

fn header_of(answer: &Response, name: &str) -> Result<String, DemoError> {
    let header = answer.headers().get(name).and_then(|value| value.to_str().ok());
    let words = || format!("a response with {} has no {name}", answer.status());
    header.map(str::to_owned).ok_or_else(|| DemoError::Failed(words()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_across_broken_lines() {
        let mail = "To: admin@demo.example\r\n\r\nhttp://127.0.0.1/sign-in/confirm?token=3Dab=\r\nC9&next=3D%2F\r\n";
        assert_eq!(token_in(mail).as_deref(), Some("abC9"));
        assert_eq!(token_in("admin@demo.example http://h/?token=abC9\r\n").as_deref(), Some("abC9"));
        assert_eq!(token_in("ann@example.org http://h/?token=abC9\r\n"), None, "of somebody else");
        assert_eq!(token_in("admin@demo.example"), None);
    }
}
