//! Undelivered emails, as rows on their own page and on others: the recipient, the topic, the reason, and the possible
//! actions for each.

use maud::{Markup, html};

use super::sheet::page_of;
use super::shell::act;
use super::to_do::TaskRow;
use super::{INVOICES_PATH, ORDERS_PATH, QUOTES_PATH};
use crate::design::Icon;
use crate::frame::{NEXT_SLOT, SLOT, time, with_parts};
use crate::times::message_in;
use domain::id::Id;
use domain::mail::part::MailTopic;
use domain::mail::undelivered::MailFailure;
use domain::mail::{Channel, Mail, MailState};
use domain::notation;
use domain::refusal::shortened;
use domain::time::Timestamp;
use http::error::ApiError;
use store::queries::Queries;
use words::Language;
use words::staff::emails as texts;

/// Path of the page that lists the emails that were not delivered.
pub(super) const EMAILS_PATH: &str = "/shop/settings/emails";
/// Last segment of the path of the form that sends an email again.
pub(super) const SEND_AGAIN: &str = "send-again";
/// Last segment of the path of the form that dismisses an email.
pub(super) const DISMISS: &str = "dismiss";
/// Last segment of the path of the form that puts a dismissed email back on the to-do list.
pub(super) const REOPEN: &str = "reopen";
/// Maximum number of recipients that are named; of more, the others are only counted.
const MAX_NAMED: usize = 3;
/// Maximum length of a displayed reason, in characters.
const MAX_REASON_CHARS: usize = 400;
/// Maximum number of emails on the page of the record that they are about.
const MAX_ABOUT: u64 = 10;

/// Renders an email that was not delivered, with forms that lead back to the page `back`.
pub(super) fn email_row(language: Language, mail: &Mail, now: Timestamp, back: &str) -> TaskRow {
    let at = mail.last_tried_at().unwrap_or(mail.created_at);
    let title = html! { b { (heading(language, mail)) } };
    let record = mail.topics.first().map(|topic| record_link(language, *topic)).filter(|(path, _)| path != back);
    let detail = html! {
        (reason(language, mail))
        @if let Some((path, label)) = &record { " · " a href=(path) { (label) } }
    };
    let acts = acts(language, mail, (now, "btn primary"), back);
    TaskRow::new(Icon::Mail, title).since(language, at).detail(detail).acts(acts)
}

/// Renders an email that was not delivered as a row of their list, with forms that lead back to the page `back`. On a
/// phone, it has its state in place of the reason, which unfolds.
pub(super) fn email_entry(language: Language, mail: &Mail, now: Timestamp, back: &str) -> Markup {
    let to = match (mail.channel, &mail.to[..]) {
        (Channel::Agent, _) => texts::gateway(language),
        (Channel::Mail, []) => texts::all_admins(language),
        (Channel::Mail, to) => recipients(language, to),
    };
    let reason = reason(language, mail);
    html! {
        tr {
            th scope="row" class="wide" {
                (subject_link(language, mail))
                span class="below ellipsis" title=(to) {
                    (time(language, mail.last_tried_at().unwrap_or(mail.created_at))) " · " (to)
                }
            }
            td class="spare" { (reason) }
            td class="fold on-phone" { details { summary { (state_text(language, mail)) } p { (reason) } } }
            td class="row-acts" { (acts(language, mail, (now, "btn"), back)) }
        }
    }
}

/// Renders the subject of an email, as a link to the record that it is about.
fn subject_link(language: Language, mail: &Mail) -> Markup {
    let (subject, subject_language) = mail.subject_for(language);
    let tag = (subject_language != language).then(|| subject_language.tag());
    html! {
        @match mail.topics.first() {
            Some(topic) => {
                a class="ellipsis" title=(subject) lang=[tag] href=(record_link(language, *topic).0) { (subject) }
            },
            None => { span class="ellipsis" title=(subject) lang=[tag] { (subject) } },
        }
    }
}

/// Renders the forms with which to act on an email. `class` is that of the first act.
fn acts(language: Language, mail: &Mail, (now, class): (Timestamp, &str), back: &str) -> Markup {
    let fields = back_field(back);
    let button = |word: &str, class: &str, label: &str| {
        act(&act_path(mail.id, word), &format!("{word}-{}", mail.id), class, label, Some(&fields))
    };
    html! {
        @if mail.can_be_sent_again(now) { (button(SEND_AGAIN, class, &texts::send_again(language))) }
        @if mail.state == MailState::Dismissed { (button(REOPEN, "btn", &texts::put_back(language))) }
        @else { (button(DISMISS, "btn", &texts::dismiss(language))) }
    }
}

/// Renders the undelivered emails about a record for the record's own page, whose path is `back`; nothing if there are
/// none.
pub(super) async fn undelivered_about(
    language: Language,
    queries: &Queries,
    (record, now): (Id, Timestamp),
    back: &str,
) -> Result<Markup, ApiError> {
    let mails = queries.undelivered_about(record, MAX_ABOUT).await?;
    Ok(html! {
        @if !mails.is_empty() {
            section class="panel tasks" aria-labelledby="undelivered" {
                div class="tasks-head" { h2 id="undelivered" { (texts::heading(language, mails.len() as u64)) } }
                ul class="rows" { @for mail in &mails { (email_row(language, mail, now, back).html()) } }
            }
        }
    })
}

/// Returns the path to which the form for the act `word` on an email is posted.
fn act_path(id: Id, word: &str) -> String {
    format!("{EMAILS_PATH}/{id}/{word}")
}

/// Renders the hidden field with the page to which a form leads back.
pub(super) fn back_field(back: &str) -> Markup {
    html! { input type="hidden" name="back" value=(back); }
}

/// Renders the recipient and the topic of an email.
fn heading(language: Language, mail: &Mail) -> Markup {
    let (subject, subject_language) = mail.subject_for(language);
    let subject = html! {
        @if subject_language == language { (subject) } @else { span lang=(subject_language.tag()) { (subject) } }
    };
    match (mail.channel, &mail.to[..]) {
        (Channel::Agent, _) => with_parts(&texts::to_gateway(language, SLOT), &[&subject]),
        (Channel::Mail, []) => with_parts(&texts::to_admins(language, SLOT), &[&subject]),
        (Channel::Mail, to) => {
            let recipients = html! { (recipients(language, to)) };
            with_parts(&texts::to_recipients(language, SLOT, NEXT_SLOT), &[&recipients, &subject])
        }
    }
}

/// Returns the recipients of an email as a list.
fn recipients(language: Language, to: &[String]) -> String {
    if to.len() <= MAX_NAMED {
        return notation::list(language, to);
    }
    let (named, others) = to.split_at(MAX_NAMED - 1);
    let others = texts::others(language, others.len());
    let entries: Vec<&str> = named.iter().map(String::as_str).chain([others.as_str()]).collect();
    notation::list(language, &entries)
}

/// Renders the reason why an email was not delivered. The words of the mail server or service are in English.
pub(super) fn reason(language: Language, mail: &Mail) -> Markup {
    let error = match &mail.error {
        Some(error) => message_in(language, &shortened(error.clone(), MAX_REASON_CHARS)),
        None => html! { (texts::no_reason(language)) },
    };
    let text = match mail.reason_to_abandon() {
        Some(MailFailure::Rejected) => texts::rejected,
        Some(MailFailure::Unsendable) => texts::unsendable,
        Some(MailFailure::Expired) => texts::expired,
        Some(MailFailure::Exhausted) | None => texts::exhausted,
    };
    with_parts(&text(language, SLOT), &[&error])
}

/// Returns the reason why an email was not delivered in one or two words.
fn state_text(language: Language, mail: &Mail) -> String {
    match mail.reason_to_abandon() {
        Some(MailFailure::Rejected) => texts::state_rejected(language),
        Some(MailFailure::Unsendable) => texts::state_unsendable(language),
        Some(MailFailure::Expired) => texts::state_expired(language),
        Some(MailFailure::Exhausted) | None => texts::state_exhausted(language),
    }
}

/// Returns the path of the page for the record that an email is about, with the label of a link to it.
fn record_link(language: Language, topic: MailTopic) -> (String, String) {
    match topic {
        MailTopic::Order(id) => (page_of(ORDERS_PATH, id), texts::view_order(language)),
        MailTopic::Invoice(id) => (page_of(INVOICES_PATH, id), texts::view_invoice(language)),
        MailTopic::Quote(id) => (page_of(QUOTES_PATH, id), texts::view_quote(language)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use domain::mail::alert::AlertKind;
    use domain::mail::{MailCommand, TryOutcome};
    use domain::testing::{Bench, id};

    /// Builds an email that the mail service rejected.
    fn rejected(mail: Mail, bench: &Bench) -> Mail {
        let (mut mail, outcome) = (Some(mail), TryOutcome::Rejected("550 no <such> mailbox".to_owned()));
        bench.tell(&mut mail, id(1), &MailCommand::Tried { number: 1, outcome, sent_in: Vec::new() }).unwrap();
        mail.unwrap()
    }

    /// Builds an email about an order that the mail service rejected.
    fn about_order(bench: &Bench) -> Mail {
        let to = vec!["ann@example.org".to_owned()];
        let mail = Mail::new(&bench.cx(), to, "Your <order>".to_owned(), "Text".to_owned());
        rejected(mail.about(MailTopic::Order(id(7))), bench)
    }

    #[test]
    fn a_row_says_who_did_not_receive_what_and_why() {
        let bench = Bench::new();
        let mail = about_order(&bench);
        let row = |language, back: &str| email_row(language, &mail, bench.now, back).html().into_string();
        let order = format!("{ORDERS_PATH}/{}", id(7));
        let english = row(Language::English, "/to-do");
        for part in [
            "Email to ann@example.org about “Your &lt;order&gt;” was not delivered",
            "The mail server or service rejected it: 550 no &lt;such&gt; mailbox",
            &format!("<a href=\"{order}\">View order</a>"),
            &format!("action=\"{EMAILS_PATH}/{}/send-again\"", mail.id),
            "name=\"back\" value=\"/to-do\"",
        ] {
            assert!(english.contains(part), "{part} in {english}");
        }
        assert!(!row(Language::English, &order).contains("View order"), "that is the page itself");
        let german = row(Language::German, "/to-do");
        for part in [
            "Mail an ann@example.org zu „<span lang=\"en\">Your &lt;order&gt;</span>“ wurde nicht zugestellt",
            "abgelehnt: <span lang=\"en\">550 no &lt;such&gt; mailbox</span>",
        ] {
            assert!(german.contains(part), "{part} in {german}");
        }
    }

    #[test]
    fn the_list_has_a_row_of_few_words_whose_reason_unfolds() {
        let bench = Bench::new();
        let mail = about_order(&bench);
        let row = email_entry(Language::German, &mail, bench.now, EMAILS_PATH).into_string();
        let order = format!("{ORDERS_PATH}/{}", id(7));
        for part in [
            &*format!("title=\"Your &lt;order&gt;\" lang=\"en\" href=\"{order}\">Your &lt;order&gt;</a>"),
            "<span class=\"below ellipsis\" title=\"ann@example.org\"><shop-time moment ",
            " de> · ann@example.org</span>",
            "<summary>Abgelehnt</summary><p>Der Mailserver oder Maildienst hat sie abgelehnt: ",
            &format!("action=\"{EMAILS_PATH}/{}/dismiss\"", mail.id),
        ] {
            assert!(row.contains(part), "{part} in {row}");
        }
        assert!(!row.contains("btn primary"), "no row of the list stands out: {row}");
    }

    #[test]
    fn alerts_are_named_in_the_language_of_the_page_and_many_recipients_are_counted() {
        let mut bench = Bench::new();
        bench.rules.agent_gateway = true;
        bench.rules.operator_mail = Vec::new();
        let mails = Mail::alert(&bench.cx(), AlertKind::LowStock, |language| match language {
            Language::English => ("Low stock".to_owned(), "9 g".to_owned()),
            Language::German => ("Knapper Bestand".to_owned(), "9 g".to_owned()),
        });
        let heading = |language| mails.iter().map(|mail| heading(language, mail).into_string()).collect::<Vec<_>>();
        assert_eq!(
            heading(Language::English),
            [
                "Email to the admins about “Low stock” was not delivered",
                "Message to the agent gateway about “Low stock” was not delivered"
            ]
        );
        assert!(
            heading(Language::German)[0].ends_with("Mail an die Admins zu „Knapper Bestand“ wurde nicht zugestellt")
        );
        let to = ["a@x.org", "b@x.org", "c@x.org", "d@x.org"].map(str::to_owned);
        assert_eq!(recipients(Language::English, &to[..3]), "a@x.org, b@x.org and c@x.org");
        assert_eq!(recipients(Language::English, &to), "a@x.org, b@x.org and 2 others");
    }
}
