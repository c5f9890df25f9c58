//! Undelivered emails. A few are separate tasks; many, which usually share one reason, are a single task.

use maud::{Markup, html};

use super::row::TaskRow;
use super::{ROWS_PER_KIND, TaskKind, ToDoHandles};
use crate::design::Icon;
use crate::frame::{SLOT, with_parts};
use crate::staff::TO_DO_PATH;
use crate::staff::undelivered::{EMAILS_PATH, email_row, reason};
use domain::mail::{Mail, MailState};
use http::error::ApiError;
use store::queries::Page;
use words::Language;
use words::staff::{emails as texts, to_do};

/// Maximum number of emails listed as separate tasks.
const MAX_SINGLE: u64 = 3;

/// Lists the emails that were not delivered, the latest first.
pub(super) async fn emails(language: Language, app: &ToDoHandles) -> Result<TaskKind, ApiError> {
    let page = Page { limit: ROWS_PER_KIND, offset: 0 };
    let (some, total) = app.jobs.queries.emails(MailState::Failed, page).await?;
    let now = app.board.shop.environment.now();
    let is_many = total > MAX_SINGLE;
    let rows = if is_many {
        gathered(language, &some, total).into_iter().collect()
    } else {
        some.iter().map(|mail| email_row(language, mail, now, TO_DO_PATH)).collect()
    };
    let below = html! {
        div class="choice" { a href=(EMAILS_PATH) { (texts::view_emails(language)) } }
    };
    let below = (!is_many).then_some(below);
    Ok(TaskKind { below, ..TaskKind::new(language, "emails", to_do::kind_emails, rows) })
}

/// Renders many emails, of which `some` are the latest, as one task; `None` if none of them can be read.
fn gathered(language: Language, some: &[Mail], total: u64) -> Option<TaskRow> {
    let latest = some.first()?;
    let at = latest.last_tried_at().unwrap_or(latest.created_at);
    let title = html! { b { (texts::heading(language, total)) } };
    let acts = html! { a class="btn primary" href=(EMAILS_PATH) { (texts::view_emails(language)) } };
    let row = TaskRow::new(Icon::Mail, title).since(language, at);
    Some(row.detail(reasons(language, latest, some, total)).acts(acts))
}

/// Renders the reason that all emails share, or the reason of the latest one.
fn reasons(language: Language, latest: &Mail, some: &[Mail], total: u64) -> Markup {
    let key = |mail: &Mail| (mail.reason_to_abandon(), mail.error.clone());
    let is_shared = some.len() as u64 == total && some.iter().all(|mail| key(mail) == key(latest));
    let reason = reason(language, latest);
    if is_shared { reason } else { with_parts(&texts::several_reasons(language, SLOT), &[&reason]) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use domain::mail::{MailCommand, TryOutcome};
    use domain::testing::{Bench, id};

    fn failed(bench: &Bench, error: &str) -> Mail {
        let mail = Mail::new(&bench.cx(), vec!["a@x.org".to_owned()], "Subject".to_owned(), "Text".to_owned());
        let (mut mail, outcome) = (Some(mail), TryOutcome::Rejected(error.to_owned()));
        bench.tell(&mut mail, id(1), &MailCommand::Tried { number: 1, outcome, sent_in: Vec::new() }).unwrap();
        mail.unwrap()
    }

    #[test]
    fn many_emails_are_one_task_with_the_reason_that_they_share() {
        let bench = Bench::new();
        let mails: Vec<Mail> = (0..4).map(|_| failed(&bench, "the key is wrong")).collect();
        let html = |some: &[Mail], total| gathered(Language::English, some, total).unwrap().html().into_string();
        let shared = html(&mails, 4);
        assert!(shared.contains("4 emails were not delivered"), "{shared}");
        assert!(shared.contains("</span> · The mail server or service rejected it: the key is wrong<"), "{shared}");
        // Of the others nothing is known here.
        assert!(html(&mails, 5).contains("For several reasons. The latest: The mail server"), "{}", html(&mails, 5));
        let other = [failed(&bench, "no mailbox")];
        let mixed: Vec<Mail> = other.into_iter().chain(mails).collect();
        let mixed = html(&mixed, 5);
        assert!(mixed.contains("The latest: The mail server or service rejected it: no mailbox"), "{mixed}");
        assert!(gathered(Language::English, &[], 5).is_none());
    }
}
