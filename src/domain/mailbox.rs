//! Mailbox behind an email address. Several addresses may lead to the same mailbox, and limits apply per mailbox.

/// Providers that ignore dots in the part before the `@`, with the canonical domain of each.
const DOTLESS_PROVIDERS: [(&str, &str); 2] = [("gmail.com", "gmail.com"), ("googlemail.com", "gmail.com")];

/// Returns the mailbox to which email for an address is delivered, as far as can be inferred from the address: in
/// lowercase, without anything that follows a `+`, and without dots if the provider ignores them. It is used only for
/// limits; email goes to the original address.
pub fn mailbox(email: &str) -> String {
    let email = email.trim().to_lowercase();
    let Some((local, domain)) = email.rsplit_once('@') else { return email };
    // An address that begins with `+` has nothing else.
    let local = local.split_once('+').map(|(local, _)| local).filter(|local| !local.is_empty()).unwrap_or(local);
    match DOTLESS_PROVIDERS.iter().find(|(provider, _)| *provider == domain) {
        Some((_, provider)) => format!("{}@{provider}", local.replace('.', "")),
        None => format!("{local}@{domain}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_of_one_mailbox_are_one() {
        for address in ["ann@example.org", "Ann@Example.ORG", "ann+shop@example.org", "ann+a+b@example.org"] {
            assert_eq!(mailbox(address), "ann@example.org");
        }
        for address in ["an.n@gmail.com", "a.n.n+1@GoogleMail.com"] {
            assert_eq!(mailbox(address), "ann@gmail.com");
        }
        assert_ne!(mailbox("a.nn@example.org"), mailbox("ann@example.org"), "dots are somebody else elsewhere");
        assert_eq!(mailbox("+ann@example.org"), "+ann@example.org");
        assert_eq!(mailbox("no address"), "no address");
    }

    proptest! {
        #[test]
        fn the_mailbox_of_a_mailbox_is_itself(email in "[a-zA-Z.+]{1,8}@(gmail|googlemail|example)\\.com") {
            let once = mailbox(&email);
            prop_assert_eq!(mailbox(&once), once);
        }
    }
}
