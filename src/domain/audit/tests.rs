use std::collections::HashSet;

use serde_json::json;

use super::*;
use crate::agent::Skill;
use crate::printer::DirectAction;

fn sentence(action: &str, outcome: &str) -> (String, Option<String>) {
    let sentence = AuditSentence::new(action, outcome, None);
    (sentence.before.into_owned(), sentence.after.map(Cow::into_owned))
}

#[test]
fn each_act_has_a_sentence_that_says_what_was_done() {
    for act in AuditedAct::ALL {
        let verb = act.verb();
        assert!(verb.matches("{}").count() <= 1, "{verb}");
        let first = verb.split(' ').next().unwrap_or_default();
        assert!(first.chars().all(|char| char.is_ascii_lowercase()) && first.len() > 2, "{verb}");
        // "Ada updated order 3" says nothing that the log does not say anyway.
        assert!(verb.split(' ').count() > 2 || !verb.starts_with("updated"), "{verb}");
        assert!(verb == verb.trim() && !verb.contains('_'), "{verb}");
        assert!(!act.label().contains('{'), "{}", act.label());
    }
}

#[test]
fn names_and_labels_are_unique_and_read_back() {
    let names: HashSet<&str> = AuditedAct::ALL.iter().map(|act| act.name()).collect();
    assert_eq!(names.len(), AuditedAct::ALL.len());
    let labels: HashSet<String> = AuditedAct::OF_PEOPLE.iter().map(|act| act.label()).collect();
    assert_eq!(labels.len(), AuditedAct::OF_PEOPLE.len());
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
    assert_eq!(AuditSentence::new("refused", "counted", Some(95)).before, "sent 95 more requests that were rejected");
    assert_eq!(AuditSentence::new("refused", "counted", Some(1)).before, "sent one more request that was rejected");
    assert_eq!(sentence("moon.land", DONE).0, "gave the command moon.land, which this release does not have");
    assert_eq!(AuditedAct::OrderCancel.label(), "cancelled an order");
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
        let attempt = act.attempt().unwrap_or_default();
        assert!(!attempt.is_empty(), "{}", act.name());
        assert_eq!(attempt.contains(SUBJECT_MARK), act.verb().contains(SUBJECT_MARK), "{attempt}");
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
