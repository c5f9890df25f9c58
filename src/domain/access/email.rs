//! Normal form of email addresses: trimmed and in lowercase, so that an account is found regardless of how the address
//! was typed.

use crate::refusal::Refusal;

/// Normalizes an email address; rejects a malformed one with 400 on the field `email`. The syntax follows the HTML
/// standard (`input type=email`): a mailbox of ordinary characters, `@`, and a host name. Dots are allowed only between
/// characters, as mail servers require: an email to `a..b@example.com` could not be delivered.
pub fn normal_email(text: &str) -> Result<String, Refusal> {
    let email = text.trim().to_lowercase();
    if well_formed(&email) { Ok(email) } else { Err(Refusal::field("email", "must be an email address")) }
}

fn well_formed(email: &str) -> bool {
    let Some((mailbox, host)) = email.rsplit_once('@') else {
        return false;
    };
    let ordinary = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+/=?^_`{|}~-".contains(c);
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    email.len() <= 254
        && mailbox.len() <= 64
        && mailbox.split('.').all(|atom| !atom.is_empty() && atom.chars().all(ordinary))
        && host.split('.').all(label)
}
