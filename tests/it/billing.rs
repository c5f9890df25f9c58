//! The billing API: the customers' half, over HTTP.

mod accounting;
mod books;
mod catalog;
mod checkout;
pub mod description;
mod drafts;
mod edge;
pub mod exports;
pub mod intake;
pub mod invoices;
mod mails;
mod orders;
pub mod pages;
mod paying;
mod profile;
mod quotes;
mod redirects;
mod roles;
mod sessions;
mod storefront;
mod uploads;
mod whole;

use mail_parser::{MessageParser, MimeHeaders as _};

use crate::api::with_cookie;
use crate::support::{App, Client, until};

/// A parsed email from the outbox.
#[derive(Debug)]
pub struct Mail {
    pub to: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// Attached files: names and contents.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Mail {
    /// Parses an email, which must contain its text both as plain text and as HTML.
    pub fn read(raw: &[u8]) -> Self {
        let message = MessageParser::default().parse(raw).expect("a mail");
        let to = message.to().and_then(|to| to.first()).and_then(|to| to.address()).expect("a receiver");
        let files = message.attachments().map(|file| {
            let name = file.attachment_name().unwrap_or_default().to_owned();
            (name, file.contents().to_vec())
        });
        assert!(message.text_body_count() > 0 && message.html_body_count() > 0);
        Self {
            to: to.to_owned(),
            subject: message.subject().unwrap_or_default().to_owned(),
            text: message.body_text(0).expect("a text").into_owned(),
            html: message.body_html(0).expect("a text in HTML").into_owned(),
            files: files.collect(),
        }
    }
}

/// Lists the emails to an address in the order in which they were written.
pub fn mails_to(app: &App, email: &str) -> Vec<Mail> {
    let Ok(folder) = std::fs::read_dir(app.data().join("outbox")) else { return Vec::new() };
    let mut files: Vec<_> = folder.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "eml"));
    // Their names are ids, which count up.
    files.sort();
    let mails = files.iter().filter_map(|file| Some(Mail::read(&std::fs::read(file).ok()?)));
    mails.filter(|mail| mail.to == email).collect()
}

/// Lists the distinct sign-in links of an email, as path and query.
pub fn links(mail: &Mail) -> Vec<String> {
    let mut paths = Vec::new();
    let all = format!("{}\n{}", mail.text, mail.html);
    for (at, _) in all.match_indices("token=") {
        let start = all[..at].rfind("http").expect("an address");
        let rest = &all[start..];
        let end = rest.find(|c: char| c.is_whitespace() || c == '"' || c == '<').unwrap_or(rest.len());
        let link = rest[..end].replace("&amp;", "&");
        let path = link.splitn(4, '/').nth(3).map(|path| format!("/{path}")).expect("a path");
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Requests a sign-in link for this address; returns the link from the email.
pub async fn link(app: &App, body: serde_json::Value) -> String {
    let email = body["email"].as_str().unwrap().trim().to_lowercase();
    let of_links = || mails_to(app, &email).into_iter().filter(|mail| mail.subject == "Your sign-in link");
    let before = of_links().count();
    let answer = app.nobody().post("/api/v1/auth/magic-link", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    until("the link to be mailed", || async {
        let new = of_links().nth(before)?;
        let mut links = links(&new);
        assert_eq!(links.len(), 1, "text and HTML have the same link: {}", new.text);
        links.pop()
    })
    .await
}

/// Returns the path and query that redeem an emailed link.
pub fn verify(link: &str) -> String {
    let query = link.split_once('?').expect("a query").1;
    format!("/api/v1/auth/verify?{query}")
}

/// Signs in a customer; returns the session cookie as `name=value`.
pub async fn cookie_of(app: &App, email: &str) -> String {
    let link = link(app, serde_json::json!({"email": email})).await;
    let answer = app.nobody().get(&verify(&link)).await;
    assert_eq!(answer.status, 302, "{}", answer.text);
    answer.header("set-cookie").expect("a cookie").split(';').next().unwrap().to_owned()
}

/// Creates a pay link for an invoice; returns its token.
pub async fn pay_token_of(app: &App, invoice: &str) -> String {
    let pay_link = app.act(&format!("/api/invoices/{invoice}/pay-link")).await.expect(200);
    let url = pay_link["payUrl"].as_str().expect("an address");
    url.rsplit('/').next().unwrap().to_owned()
}

/// Returns a client of a customer who has just signed in.
pub async fn customer(app: &App, email: &str) -> Client {
    with_cookie(app, &cookie_of(app, email).await)
}
