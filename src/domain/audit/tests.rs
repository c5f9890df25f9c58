use std::collections::HashSet;

use serde_json::json;

use super::*;
use crate::agent::Skill;
use crate::printer::DirectAction;

fn sentence(action: &str, outcome: &str) -> (String, Option<String>) {
    let sentence = AuditSentence::new(Language::English, action, outcome, None);
    (sentence.before, sentence.after)
}

/// Returns the sentence in German about what Ada did to this subject.
fn german(action: &str, outcome: &str, count: Option<u64>, subject: &str) -> String {
    let AuditSentence { before, after } = AuditSentence::new(Language::German, action, outcome, count);
    after.map_or_else(|| format!("Ada {before}"), |after| format!("Ada {before}{subject}{after}"))
}

#[test]
fn each_act_has_a_sentence_that_says_what_was_done() {
    for act in AuditedAct::ALL {
        let verb = act.verb(Language::English);
        assert!(verb.matches(SUBJECT_MARK).count() <= 1, "{verb}");
        let first = verb.split(' ').next().unwrap_or_default();
        assert!(first.chars().all(|char| char.is_ascii_lowercase()) && first.len() > 2, "{verb}");
        // "Ada updated order 3" says nothing that the log does not say anyway.
        assert!(verb.split(' ').count() > 2 || !verb.starts_with("updated"), "{verb}");
        assert!(verb == verb.trim() && !verb.contains('_'), "{verb}");
        let label = act.label(Language::English);
        assert!(!label.contains('{') && !label.contains(SUBJECT_MARK), "{label}");
        let german = act.verb(Language::German);
        assert_eq!(german.matches(SUBJECT_MARK).count(), verb.matches(SUBJECT_MARK).count(), "{german}");
        assert!(german == german.trim() && german != verb && !german.starts_with("hat "), "{german}");
    }
}

#[test]
fn names_and_labels_are_unique_and_read_back() {
    let names: HashSet<&str> = AuditedAct::ALL.iter().map(|act| act.name()).collect();
    assert_eq!(names.len(), AuditedAct::ALL.len());
    for language in Language::ALL {
        let labels: HashSet<String> = AuditedAct::OF_PEOPLE.iter().map(|act| act.label(language)).collect();
        assert_eq!(labels.len(), AuditedAct::OF_PEOPLE.len(), "{language:?}");
    }
    assert!(AuditedAct::ALL.iter().all(|act| AuditedAct::parse(act.name()) == Some(*act)));
    assert!(AuditedKind::ALL.iter().all(|kind| AuditedKind::parse(kind.word()) == Some(*kind)));
    assert_eq!((AuditedAct::parse("update"), AuditedKind::parse("thing")), (None, None));
}

#[test]
fn entries_are_sentences() {
    let part = |text: &str| Some(text.to_owned());
    assert_eq!(sentence("printer.pause", DONE), ("paused ".to_owned(), part("")));
    assert_eq!(sentence("printer.emergency_stop", DONE), ("stopped ".to_owned(), part(" with the emergency stop")));
    assert_eq!(sentence("session.open", DONE), ("signed in".to_owned(), None));
    assert_eq!(sentence("job.cancel", DONE), ("cancelled a job of ".to_owned(), part("")));
    assert_eq!(sentence("printer.pause", "printer_offline"), ("tried to pause ".to_owned(), part("")));
    assert_eq!(sentence("POST /api/auth/login", "wrong_credentials"), ("failed to sign in".to_owned(), None));
    assert_eq!(
        sentence("DELETE /api/users/{id}", "last_admin").0,
        "sent a request that was rejected: DELETE /api/users/{id}"
    );
    let counted = |count| AuditSentence::new(Language::English, "refused", "counted", count).before;
    assert_eq!(counted(Some(95)), "sent 95 more requests that were rejected");
    assert_eq!(counted(Some(1)), "sent one more request that was rejected");
    assert_eq!(counted(None), "sent more requests that were rejected");
    assert_eq!(sentence("moon.land", DONE).0, "sent the command moon.land, which this version does not know");
    assert_eq!(AuditedAct::OrderCancel.label(Language::English), "cancelled an order");
}

#[test]
fn german_sentences_have_their_subjects_in_the_right_case() {
    assert_eq!(german("printer.pause", DONE, None, "Curie"), "Ada hat Curie pausiert");
    assert_eq!(german("printer.pause", "printer_offline", None, "Curie"), "Ada hat versucht, Curie zu pausieren");
    assert_eq!(german("session.open", DONE, None, ""), "Ada hat sich angemeldet");
    assert_eq!(german("POST /login", "wrong_credentials", None, ""), "Ada konnte sich nicht anmelden");
    let counted = "Ada hat 1.200 weitere Anfragen gesendet, die abgelehnt wurden";
    assert_eq!(german("refused", "counted", Some(1_200), ""), counted);
    let unknown = "Ada hat den Befehl moon.land gesendet, den diese Version nicht kennt";
    assert_eq!(german("moon.land", DONE, None, ""), unknown);

    let label = |act: AuditedAct| act.label(Language::German);
    assert_eq!(label(AuditedAct::OrderCancel), "eine Bestellung storniert");
    assert_eq!(label(AuditedAct::OrderPayment), "eine Zahlung zu einer Bestellung gemeldet");
    assert_eq!(label(AuditedAct::PrinterPutFile), "eine Datei auf einen Drucker hochgeladen");
    assert_eq!(label(AuditedAct::PrinterDeleteFile), "eine Datei auf einem Drucker gelöscht");
    let named = |case| AuditedKind::CustomRequest.named(Language::German, case, "Ann");
    assert_eq!(named(AuditedAct::CustomRequestClose.case()), "die Anfrage von Ann");
    assert_eq!(named(AuditedAct::CustomRequestQuoted.case()), "der Anfrage von Ann");
    for act in AuditedAct::ALL {
        let text = label(*act);
        let is_alone = act.verb(Language::German) == text;
        let has = |nouns: [&str; 2]| nouns.iter().any(|noun| text.contains(noun));
        assert!(
            is_alone || !has(["zu eine ", "von eine "]),
            "the noun after this preposition is in the dative: {text}"
        );
        assert!(is_alone || !has(["für einem ", "für einer "]), "the noun after this preposition is not: {text}");
    }
}

#[test]
fn acts_that_may_fail_are_attempts_then() {
    let direct = [
        DirectAction::Pause,
        DirectAction::Resume,
        DirectAction::Cancel,
        DirectAction::Gcode,
        DirectAction::PutFile,
        DirectAction::DeleteFile,
        DirectAction::RestartFirmware,
        DirectAction::Home,
        DirectAction::EmergencyStop,
    ];
    let skills = Skill::ALL.iter().map(|skill| skill.action());
    for act in direct.into_iter().map(DirectAction::action).chain(skills) {
        for language in Language::ALL {
            let attempt = act.attempt(language).unwrap_or_default();
            assert!(!attempt.is_empty(), "{}", act.name());
            assert_eq!(attempt.contains(SUBJECT_MARK), act.verb(language).contains(SUBJECT_MARK), "{attempt}");
        }
    }
}

#[test]
fn secrets_are_hidden_wherever_they_are() {
    let mut facts = json!({
        "status": 409,
        "path": "/pay/pl_8f3kq0Zs9Ryw1Qb7/retry",
        "about": [{"newPassword": "correct horse", "token": null, "email": "ann@example.org"}],
    });
    hide_secrets(&mut facts);
    assert_eq!(
        facts,
        json!({
            "status": 409,
            "path": "/pay/…/retry",
            "about": [{"newPassword": "hidden", "token": null, "email": "ann@example.org"}],
        })
    );
    for path in ["/api/orders/01890a5d-ac96-774b-bcce-b302099a8073", "/shop/settings/users", "/api/payment-processors"]
    {
        let mut facts = json!({"path": path});
        hide_secrets(&mut facts);
        assert_eq!(facts["path"], path);
    }
}

#[test]
fn subjects_are_named_and_counted_with_their_nouns() {
    use SubjectCase::{Direct, Indirect};
    for (kind, named) in [
        (AuditedKind::Printer, "Curie"),
        (AuditedKind::ApiKey, "Curie"),
        (AuditedKind::Order, "order Curie"),
        (AuditedKind::Invoice, "invoice Curie"),
        (AuditedKind::Quote, "quote Curie"),
        (AuditedKind::File, "file Curie"),
        (AuditedKind::Endpoint, "webhook endpoint Curie"),
        (AuditedKind::SalesChannel, "sales channel Curie"),
        (AuditedKind::Sku, "product Curie"),
        (AuditedKind::Customer, "customer Curie"),
        (AuditedKind::CustomRequest, "the custom request from Curie"),
    ] {
        for case in [Direct, Indirect] {
            assert_eq!(kind.named(Language::English, case, "Curie"), named);
        }
    }
    let counted = |kind: AuditedKind| {
        let of = |language: Language, case| kind.counted(language, case, 3).unwrap_or_default();
        [
            of(Language::English, Direct),
            of(Language::English, Indirect),
            of(Language::German, Direct),
            of(Language::German, Indirect),
        ]
    };
    assert_eq!(counted(AuditedKind::Printer), ["3 printers", "3 printers", "3 Drucker", "3 Druckern"]);
    assert_eq!(counted(AuditedKind::Order), ["3 orders", "3 orders", "3 Bestellungen", "3 Bestellungen"]);
    assert_eq!(AuditedKind::Sku.counted(Language::English, Direct, 3), None);
    let customer = [Direct, Indirect].map(|case| AuditedKind::Customer.named(Language::German, case, "Ann"));
    assert_ne!(customer[0], customer[1], "in their cases");
    let plurals: HashSet<String> = AuditedKind::ALL.iter().map(|kind| kind.plural(Language::English)).collect();
    assert_eq!((plurals.len(), plurals.contains("Emails")), (AuditedKind::ALL.len(), true));
    let nouns = [Direct, Indirect].map(|case| AuditedKind::Order.noun(Language::German, case));
    assert_eq!(nouns, ["eine Bestellung", "einer Bestellung"]);
}

#[test]
fn only_long_words_of_a_path_that_could_be_secrets_are_hidden() {
    let hidden = |path: &str| {
        let mut facts = json!({"path": path, "other": "/pay/pl_8f3kq0Zs9Ryw1Qb7"});
        hide_secrets(&mut facts);
        assert_eq!(facts["other"], "/pay/pl_8f3kq0Zs9Ryw1Qb7", "only paths are shortened");
        facts["path"].as_str().map(str::to_owned)
    };
    assert_eq!(hidden("/a/123456789012345").as_deref(), Some("/a/123456789012345"));
    assert_eq!(hidden("/a/1234567890123456").as_deref(), Some("/a/…"));
    assert_eq!(hidden("/a/payment-processors").as_deref(), Some("/a/payment-processors"));
    let mut facts = json!([{"Session-Token": "x", "note": {"recoveryHash": 7}}]);
    hide_secrets(&mut facts);
    assert_eq!(facts, json!([{"Session-Token": "hidden", "note": {"recoveryHash": "hidden"}}]));
}
