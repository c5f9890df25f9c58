//! Messages about emails that were not delivered: the page that lists them, and their rows on other pages.

use crate::messages;

messages! {
    "staff/emails":

    title;
    introduction;
    filter_label;
    undelivered;
    dismissed;
    none_undelivered;
    none_dismissed;
    heading(count: u64);

    to_recipients(recipients: &str, subject: &str);
    to_admins(subject: &str);
    to_gateway(subject: &str);
    others(count: usize);

    rejected(reason: &str);
    unsendable(reason: &str);
    expired(reason: &str);
    exhausted(reason: &str);
    no_reason;
    several_reasons(reason: &str);

    email_column;
    reason_column;
    acts_column;
    all_admins;
    gateway;
    state_rejected;
    state_unsendable;
    state_expired;
    state_exhausted;

    send_again;
    dismiss;
    put_back;
    send_all_again(count: usize);
    dismiss_all(count: usize);
    view_emails;
    view_order;
    view_invoice;
    view_quote;
}
