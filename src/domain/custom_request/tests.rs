#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::aggregate::{Aggregate as _, Command as _, Decision, DecisionContext};
use crate::event::Event;
use crate::intake_prices::tests::{prices, wishes};
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::testing::{Bench, id};
use crate::time::DAY_MS;

const REQUEST: u32 = 1;

fn new_request(photos: usize) -> NewCustomRequest {
    let photo = |n| NewPhoto { sha256: format!("{n:064x}"), size: 7, format: PictureFormat::Png };
    NewCustomRequest {
        site: None,
        customer_id: id(7),
        customer_email: "ann@example.org".to_owned(),
        customer_name: "Ann Example".to_owned(),
        phone: None,
        wishes: wishes(),
        photos: (0..photos).map(photo).collect(),
    }
}

struct Desk {
    bench: Bench,
    request: Option<CustomRequest>,
}

impl Desk {
    fn new() -> Self {
        let mut bench = Bench::new();
        bench.rules.intake = prices();
        Self { bench, request: None }
    }
    fn with(new: NewCustomRequest) -> (Self, Decision<CustomRequest, CustomRequest>) {
        let mut desk = Self::new();
        let decision = desk.ask(&CustomRequestCommand::Create(Box::new(new))).unwrap();
        (desk, decision)
    }
    fn ask(&mut self, command: &CustomRequestCommand) -> Result<Decision<CustomRequest, CustomRequest>, Refusal> {
        self.bench.tell(&mut self.request, id(REQUEST), command)
    }
    fn say(&mut self, status: CustomRequestStatus) -> Result<Decision<CustomRequest, CustomRequest>, Refusal> {
        let change = CustomRequestChange { status: Some(status), ..CustomRequestChange::default() };
        self.ask(&CustomRequestCommand::Update { if_version: None, change })
    }
    fn request(&self) -> &CustomRequest {
        self.request.as_ref().unwrap()
    }
    fn status(&self) -> CustomRequestStatus {
        self.request().status
    }
}

fn words(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.event.as_str()).collect()
}

#[test]
fn a_request_comes_in_with_its_photos_as_files_and_a_mail() {
    let (desk, decision) = Desk::with(new_request(3));
    let request = desk.request();
    assert_eq!((request.status, request.revision, request.site.as_str()), (CustomRequestStatus::New, 1, "industries"));
    assert_eq!(request.valid_until, desk.bench.now.plus_ms(14 * DAY_MS));
    assert_eq!(request.estimate.total_cents, 12_222);
    assert_eq!(words(&decision.events), ["custom_request.created"]);
    let (mut mails, mut files) = (Vec::new(), Vec::new());
    for created in decision.created {
        match created {
            CustomRequestCreated::Mail(mail) => mails.push(mail),
            CustomRequestCreated::Photo(file) => files.push(file),
        }
    }
    assert_eq!(
        request.photos.iter().map(|photo| photo.file_id).collect::<Vec<_>>(),
        files.iter().map(|file| file.id).collect::<Vec<_>>()
    );
    assert!(files.iter().zip(1..).all(|(file, n)| file.name.ends_with(&format!("-{n}.png")) && !file.archived));
    let [mail] = &mails[..] else { panic!("{mails:?}") };
    assert_eq!(mail.subject, "Custom request from Ann Example: figurine, $122.22");
    assert!(mail.text.contains("with 3 photos"), "{}", mail.text);
    assert!(!mail.text.contains("price tables"), "{}", mail.text);
}

#[test]
fn what_a_customer_writes_stays_on_its_line() {
    let mut new = new_request(1);
    new.customer_name = "Ann\nBcc: all@example.org".to_owned();
    new.wishes.style_id = "odd".to_owned();
    new.wishes.notes = Some("first\nEstimated at $0.01".to_owned());
    let (_, decision) = Desk::with(new);
    let Some(CustomRequestCreated::Mail(mail)) = decision.created.first() else { panic!("{decision:?}") };
    assert!(!mail.subject.contains('\n'));
    assert!(mail.text.contains("\nNotes: first Estimated at $0.01\n"), "{}", mail.text);
    assert!(mail.text.contains("estimated with defaults: styleId."), "{}", mail.text);
}

#[test]
fn photos_are_one_to_ten() {
    for photos in [0, 11] {
        let refused = Desk::new().ask(&CustomRequestCommand::Create(Box::new(new_request(photos)))).unwrap_err();
        assert_eq!(refused.faults[0].path, "photos");
    }
    Desk::with(new_request(10));
}

#[test]
fn a_quote_tells_what_became_of_it_however_often() {
    let (quote, other) = (id(11), id(12));
    let (mut desk, _) = Desk::with(new_request(1));
    let decision = desk.ask(&CustomRequestCommand::Quoted { quote_id: quote }).unwrap();
    assert_eq!((desk.status(), words(&decision.events)), (CustomRequestStatus::Quoted, vec!["custom_request.quoted"]));
    assert!(desk.ask(&CustomRequestCommand::Quoted { quote_id: quote }).unwrap().next.is_none());
    desk.ask(&CustomRequestCommand::QuoteDeclined { quote_id: other }).unwrap();
    assert_eq!(desk.status(), CustomRequestStatus::Quoted, "another quote");
    desk.ask(&CustomRequestCommand::QuoteDeclined { quote_id: quote }).unwrap();
    assert_eq!(desk.status(), CustomRequestStatus::Declined);
    desk.ask(&CustomRequestCommand::Quoted { quote_id: quote }).unwrap();
    assert_eq!(desk.status(), CustomRequestStatus::Declined, "it is told late");
    desk.ask(&CustomRequestCommand::Quoted { quote_id: other }).unwrap();
    assert_eq!((desk.status(), desk.request().quote_id), (CustomRequestStatus::Quoted, Some(other)));
    desk.ask(&CustomRequestCommand::Close).unwrap();
    desk.ask(&CustomRequestCommand::Quoted { quote_id: quote }).unwrap();
    assert_eq!(desk.status(), CustomRequestStatus::Closed);
    desk.ask(&CustomRequestCommand::QuoteAccepted { quote_id: other }).unwrap();
    assert_eq!(desk.status(), CustomRequestStatus::Accepted, "what is sold is never closed unseen");
    assert_eq!(desk.request().revision, 1, "no person changed it");
}

#[test]
fn an_operator_says_what_was_agreed_elsewhere() {
    use CustomRequestStatus as S;
    let (mut desk, _) = Desk::with(new_request(1));
    assert_eq!(desk.say(S::Accepted).unwrap_err().code, "invalid_transition");
    for status in [S::Declined, S::Quoted, S::Accepted, S::Closed] {
        desk.say(status).unwrap();
        assert_eq!(desk.status(), status);
    }
    for refused in [S::New, S::Quoted, S::Accepted, S::Declined] {
        assert_eq!(desk.say(refused).unwrap_err().code, "invalid_transition", "{refused}");
    }
    assert_eq!(desk.ask(&CustomRequestCommand::Close).unwrap_err().code, "invalid_transition");
    let noted = CustomRequestChange { internal_notes: Some(Some("called back".to_owned())), status: None };
    let noted = CustomRequestCommand::Update { if_version: Some(1), change: noted };
    let bench = Bench::new();
    let cx = DecisionContext { by: &Principal::Machine, ..bench.cx() };
    let next = noted.decide(desk.request.as_ref(), id(REQUEST), &cx).unwrap().next.unwrap();
    assert_eq!((next.internal_notes.as_deref(), next.revision), (Some("called back"), 2));
    assert_eq!(noted.if_version(), Some(1));
}

#[test]
fn only_a_new_request_is_closed_as_unanswered() {
    let close = CustomRequestCommand::CloseUnanswered { if_version: Some(1) };
    assert_eq!(close.if_version(), Some(1));
    let (mut desk, _) = Desk::with(new_request(2));
    let closed = desk.ask(&close).unwrap();
    assert_eq!(words(&closed.events), ["custom_request.closed"]);
    assert!(desk.status() == CustomRequestStatus::Closed && desk.request().unanswered);
    assert_eq!(desk.ask(&close).unwrap_err().code, "invalid_transition");
    desk.ask(&CustomRequestCommand::QuoteAccepted { quote_id: id(11) }).unwrap();
    assert!(!desk.request().unanswered, "it was answered after all");
    let (mut desk, _) = Desk::with(new_request(1));
    desk.ask(&CustomRequestCommand::Quoted { quote_id: id(11) }).unwrap();
    assert_eq!(desk.ask(&close).unwrap_err().code, "invalid_transition");
    desk.ask(&CustomRequestCommand::Close).unwrap();
    assert!(!desk.request().unanswered, "somebody of the shop closed it");
}

#[test]
fn each_status_has_its_name_and_only_what_can_follow_is_set_by_an_operator() {
    use CustomRequestStatus as S;
    let table = [
        (S::New, "new", vec![S::New, S::Quoted, S::Declined, S::Closed]),
        (S::Quoted, "quoted", vec![S::Quoted, S::Accepted, S::Declined, S::Closed]),
        (S::Accepted, "accepted", vec![S::Accepted, S::Closed]),
        (S::Declined, "declined", vec![S::Quoted, S::Declined, S::Closed]),
        (S::Closed, "closed", vec![S::Closed]),
    ];
    for (from, name, allowed) in &table {
        assert_eq!(from.to_string(), *name);
        assert_eq!(serde_json::to_value(from).unwrap(), *name, "as it is stored");
        for (to, to_name, _) in &table {
            let (mut desk, _) = Desk::with(new_request(1));
            desk.request.as_mut().unwrap().status = *from;
            match desk.say(*to) {
                Ok(decision) => {
                    assert!(allowed.contains(to), "{from} {to}");
                    assert_eq!(decision.next.is_some(), from != to, "{from} {to}");
                }
                Err(refusal) => {
                    assert!(!allowed.contains(to), "{from} {to}");
                    let message = format!("the custom request cannot become {to_name} while its status is {name}");
                    assert_eq!(refusal.message, message);
                }
            }
        }
    }
}

#[test]
fn a_later_quote_replaces_the_one_that_is_open_and_no_other() {
    use CustomRequestStatus as S;
    let (quote, other) = (id(11), id(12));
    let cases =
        [(S::Quoted, Some(other)), (S::Accepted, Some(quote)), (S::Closed, Some(quote)), (S::Declined, Some(other))];
    for (status, latest) in cases {
        let (mut desk, _) = Desk::with(new_request(1));
        desk.ask(&CustomRequestCommand::Quoted { quote_id: quote }).unwrap();
        desk.request.as_mut().unwrap().status = status;
        desk.ask(&CustomRequestCommand::Quoted { quote_id: other }).unwrap();
        assert_eq!(desk.request().quote_id, latest, "{status}");
    }
    let (mut desk, _) = Desk::with(new_request(1));
    desk.ask(&CustomRequestCommand::QuoteDeclined { quote_id: quote }).unwrap();
    assert_eq!(desk.status(), S::New, "it was never quoted");
}

#[test]
fn only_changes_that_a_version_was_read_for_have_one() {
    let none = CustomRequestChange::default();
    let update = CustomRequestCommand::Update { if_version: Some(7), change: none };
    let close = CustomRequestCommand::CloseUnanswered { if_version: Some(8) };
    assert_eq!((update.if_version(), close.if_version()), (Some(7), Some(8)));
    assert_eq!(CustomRequestCommand::Close.if_version(), None);
    let (mut desk, _) = Desk::with(new_request(1));
    desk.request.as_mut().unwrap().revision = 7;
    assert_eq!(desk.request().revision(), Some(7));
    let again = CustomRequestCommand::Create(Box::new(new_request(1)));
    assert_eq!(desk.ask(&again).unwrap_err().code, "exists");
    assert_eq!(Desk::new().ask(&CustomRequestCommand::Close).unwrap_err().code, "custom_request_not_found");
}

#[test]
fn a_commit_names_the_mail_and_the_files_that_it_creates() {
    let (desk, decision) = Desk::with(new_request(1));
    let photo = desk.request().photos[0].file_id;
    let mail = decision.created.iter().find_map(|created| match created {
        CustomRequestCreated::Mail(mail) => Some(mail.id),
        CustomRequestCreated::Photo(_) => None,
    });
    let created: Vec<_> = decision.created.iter().map(|created| (created.kind(), created.id())).collect();
    assert_eq!(created, [("mail", mail.unwrap()), ("file", photo)]);
}

fn any_command() -> impl Strategy<Value = CustomRequestCommand> {
    use CustomRequestStatus as S;
    let quote = (10_u32..13).prop_map(id);
    let status = prop::option::of(select(vec![S::New, S::Quoted, S::Accepted, S::Declined, S::Closed]));
    prop_oneof![
        quote.clone().prop_map(|quote_id| CustomRequestCommand::Quoted { quote_id }),
        quote.clone().prop_map(|quote_id| CustomRequestCommand::QuoteAccepted { quote_id }),
        quote.prop_map(|quote_id| CustomRequestCommand::QuoteDeclined { quote_id }),
        Just(CustomRequestCommand::Close),
        (status, prop::option::of("\\PC{0,20}")).prop_map(|(status, notes)| CustomRequestCommand::Update {
            if_version: None,
            change: CustomRequestChange { internal_notes: notes.map(Some), status },
        }),
    ]
}

proptest! {
    /// Checks that, for any sequence of commands, the customer's specifications stay unchanged, quotes are never
    /// refused, and each status change is published once.
    #[test]
    fn a_request_stays_what_it_was(commands in prop::collection::vec(any_command(), 0..30)) {
        let (mut desk, _) = Desk::with(new_request(2));
        let first = desk.request().clone();
        for command in &commands {
            let before = desk.request().clone();
            let of_quote = !matches!(command, CustomRequestCommand::Close | CustomRequestCommand::Update { .. });
            match desk.ask(command) {
                Ok(decision) => {
                    let changed = usize::from(desk.status() != before.status);
                    prop_assert_eq!(decision.events.len(), changed);
                }
                Err(refusal) => {
                    prop_assert!(!of_quote, "{refusal}");
                    prop_assert_eq!(desk.request(), &before);
                }
            }
            let now = desk.request();
            prop_assert_eq!((&now.wishes, &now.photos, &now.estimate), (&first.wishes, &first.photos, &first.estimate));
            prop_assert_eq!(now.valid_until, first.valid_until);
        }
    }
}
