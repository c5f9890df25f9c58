//! Tests of header injection: whatever text from outsiders an email contains, it has exactly the headers and recipients
//! that the shop set.

use mail_parser::MessageParser;
use proptest::prelude::*;

use super::*;
use domain::access::normal_email;

/// Generates texts, some of which try to inject headers or recipients.
fn any_words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\r\nBcc: eve@example.com\r\n".to_owned()),
        Just("\nBcc: eve@example.com".to_owned()),
        Just("\rBcc: eve@example.com".to_owned()),
        Just("\u{2028}Bcc: eve@example.com".to_owned()),
        Just("=?utf-8?q?=0D=0ABcc:_eve@example.com?=".to_owned()),
        Just(", eve@example.com".to_owned()),
        Just("> <eve@example.com".to_owned()),
        Just("\r\n.\r\n".to_owned()),
        "[ -~äß€]{0,200}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn any_address() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9.+'=]{1,12}@[a-z0-9.-]{1,20}",
        "[a-z]{1,9}[.][!#$%&'*+/=?^_`{|}~a-z-]{1,9}@[a-z0-9]{1,9}[.]example",
        any_words(),
        any_words().prop_map(|words| format!("ann@example.org{words}")),
        any_words().prop_map(|words| format!("{words}@example.org")),
    ]
}

/// Returns the header names of an email in order.
fn header_names(raw: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(raw);
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    let begun = head.split("\r\n").filter(|line| !line.starts_with([' ', '\t']));
    begun.map(|line| line.split(':').next().unwrap_or_default().to_lowercase()).collect()
}

fn written(message: &Message) -> Result<lettre::Message, MailError> {
    compose(message, &sender(from()).unwrap())
}

/// Builds a message with text and HTML, like those sent to customers.
fn both() -> Message {
    Message { html: Some("<p>Hello</p>".into()), ..message("a") }
}

proptest! {
    #[test]
    fn words_add_no_header_and_no_receiver(subject in any_words(), text in any_words(), html in any_words()) {
        let harmless = written(&both()).unwrap();
        let bad = subject.contains(char::is_control);
        let message = Message { subject, text, html: Some(html), ..both() };
        match written(&message) {
            Ok(mail) => {
                prop_assert!(!bad);
                let raw = mail.formatted();
                prop_assert_eq!(header_names(&raw), header_names(&harmless.formatted()));
                prop_assert_eq!(mail.envelope(), harmless.envelope());
                let read = MessageParser::default().parse(&raw).unwrap();
                prop_assert!(read.bcc().is_none() && read.cc().is_none());
            }
            Err(error) => prop_assert!(bad, "{error}"),
        }
    }

    /// Verifies that an address accepted by the API always means exactly one recipient.
    #[test]
    fn an_address_is_one_receiver(address in any_address()) {
        let Ok(email) = normal_email(&address) else { return Ok(()) };
        prop_assert!(!email.contains([' ', ',', '<', '>', '"', '\r', '\n']), "{:?}", email);
        let message = Message { to: vec![email.clone()], ..both() };
        let mail = written(&message);
        prop_assert!(mail.is_ok(), "nothing can be sent to {email}");
        let mail = mail.unwrap();
        let receivers: Vec<&str> = mail.envelope().to().iter().map(AsRef::as_ref).collect();
        prop_assert_eq!(receivers, [email.as_str()]);
        prop_assert_eq!(header_names(&mail.formatted()), header_names(&written(&both()).unwrap().formatted()));
    }
}
