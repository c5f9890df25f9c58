//! Rules for a custom request: creation, edits and quote outcomes.

use std::convert::Infallible;

use super::{
    CustomRequest, CustomRequestChange, CustomRequestCommand, CustomRequestCreated, CustomRequestStatus, MAX_PHOTOS,
    NewCustomRequest, NewPhoto, Photo,
};
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::event::Event;
use crate::event::data::CustomRequestData;
use crate::file::File;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::{AlertKind, one_line};
use crate::notation;
use crate::refusal::Refusal;
use crate::time::DAY_MS;
use words::Language;
use words::staff::alerts as texts;

impl Aggregate for CustomRequest {
    const KIND: &'static str = "custom_request";
    type Row = Infallible;
    type Created = CustomRequestCreated;
    type Effect = Infallible;

    fn revision(&self) -> Option<i64> {
        Some(self.revision)
    }
}

impl Command<CustomRequest> for CustomRequestCommand {
    type Answer = CustomRequest;

    fn decide(
        &self,
        this: Option<&CustomRequest>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<CustomRequest, Self::Answer> {
        use CustomRequestCommand as C;
        use CustomRequestStatus as S;
        let before = match (this, self) {
            (None, C::Create(new)) => return create(cx, id, new),
            (None, _) => return Err(Refusal::not_found(CustomRequest::KIND)),
            (Some(request), _) => request,
        };
        let mut next = before.clone();
        match self {
            C::Create(_) => return Err(Refusal::conflict("exists", "this custom request already exists")),
            C::Update { if_version: _, change } => next.update(change)?,
            C::Close if before.status == S::Closed => {
                return Err(Refusal::transition("the custom request cannot be closed", before.status));
            }
            C::Close => next.status = S::Closed,
            C::CloseUnanswered { .. } if before.status != S::New => {
                return Err(Refusal::transition("the custom request cannot be closed as unanswered", before.status));
            }
            C::CloseUnanswered { .. } => (next.status, next.unanswered) = (S::Closed, true),
            C::Quoted { quote_id } => {
                // One that is told late neither takes back a decision nor opens anything again.
                let again = before.quote_id == Some(*quote_id);
                if before.status == S::New || (before.status == S::Declined && !again) {
                    (next.status, next.quote_id) = (S::Quoted, Some(*quote_id));
                } else if before.status == S::Quoted {
                    next.quote_id = Some(*quote_id);
                }
            }
            C::QuoteAccepted { quote_id } => {
                (next.status, next.quote_id, next.unanswered) = (S::Accepted, Some(*quote_id), false);
            }
            C::QuoteDeclined { quote_id } => {
                if before.status == S::Quoted && before.quote_id == Some(*quote_id) {
                    next.status = S::Declined;
                }
            }
        }
        Ok(next.after(cx, before))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            CustomRequestCommand::Create(_) => AuditedAct::CustomRequestCreate,
            CustomRequestCommand::Update { .. } => AuditedAct::CustomRequestUpdate,
            CustomRequestCommand::Close => AuditedAct::CustomRequestClose,
            CustomRequestCommand::CloseUnanswered { .. } => AuditedAct::CustomRequestCloseUnanswered,
            CustomRequestCommand::Quoted { .. } => AuditedAct::CustomRequestQuoted,
            CustomRequestCommand::QuoteAccepted { .. } => AuditedAct::CustomRequestQuoteAccepted,
            CustomRequestCommand::QuoteDeclined { .. } => AuditedAct::CustomRequestQuoteDeclined,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            CustomRequestCommand::Update { if_version, .. } | CustomRequestCommand::CloseUnanswered { if_version } => {
                *if_version
            }
            _ => None,
        }
    }
}

fn create(
    cx: &DecisionContext<'_>,
    id: Id,
    new: &NewCustomRequest,
) -> Result<Decision<CustomRequest, CustomRequest>, Refusal> {
    if !(1..=MAX_PHOTOS).contains(&new.photos.len()) {
        return Err(Refusal::field("photos", format!("must have 1 to {MAX_PHOTOS} items")));
    }
    let files: Vec<File> = (1..).zip(&new.photos).map(|(n, photo)| file(cx, id, n, photo)).collect();
    let photo = |(file, photo): (&File, &NewPhoto)| Photo { file_id: file.id, format: photo.format, size: photo.size };
    let prices = &cx.rules.intake;
    let request = CustomRequest {
        id,
        revision: 1,
        status: CustomRequestStatus::New,
        site: new.site.clone().unwrap_or_else(|| cx.rules.site.clone()),
        customer_id: new.customer_id,
        customer_email: new.customer_email.clone(),
        customer_name: new.customer_name.clone(),
        phone: new.phone.clone(),
        wishes: new.wishes.clone(),
        photos: files.iter().zip(&new.photos).map(photo).collect(),
        estimate: prices.estimate(&new.wishes, &cx.rules.currency),
        valid_until: cx.now.plus_ms(prices.valid_days.saturating_mul(DAY_MS)),
        quote_id: None,
        internal_notes: None,
        unanswered: false,
        created_at: cx.now,
        updated_at: cx.now,
    };
    let mails = request.alert(cx).into_iter().map(|mail| CustomRequestCreated::Mail(Box::new(mail)));
    let photos = files.into_iter().map(|file| CustomRequestCreated::Photo(Box::new(file)));
    let event = request.event(cx, "custom_request.created");
    Ok(Decision::to(request.clone(), request).events([event]).created(mails.chain(photos)))
}

/// Builds the file for the photo with the given number.
fn file(cx: &DecisionContext<'_>, request: Id, n: usize, photo: &NewPhoto) -> File {
    let name = format!("custom-request-{request}-{n}.{}", photo.format.extension());
    File::photo(cx, request, name, photo.sha256.clone(), photo.size)
}

impl CustomRequest {
    fn update(&mut self, change: &CustomRequestChange) -> Result<(), Refusal> {
        use CustomRequestStatus as S;
        if let Some(notes) = &change.internal_notes {
            self.internal_notes.clone_from(notes);
        }
        let Some(status) = change.status.filter(|status| *status != self.status) else { return Ok(()) };
        let allowed = match self.status {
            S::New => matches!(status, S::Quoted | S::Declined | S::Closed),
            S::Quoted => matches!(status, S::Accepted | S::Declined | S::Closed),
            S::Declined => matches!(status, S::Quoted | S::Closed),
            S::Accepted => matches!(status, S::Closed),
            S::Closed => false,
        };
        if !allowed {
            return Err(Refusal::transition(&format!("the custom request cannot become {status}"), self.status));
        }
        self.status = status;
        Ok(())
    }

    /// Builds the decision that leads from `before` to the current state, or an unchanged decision if nothing differs.
    fn after(mut self, cx: &DecisionContext<'_>, before: &Self) -> Decision<Self, Self> {
        if self == *before {
            return Decision::unchanged(self);
        }
        self.revision += i64::from(cx.by.is_person());
        self.updated_at = cx.now;
        let event_name = (self.status != before.status).then_some(match self.status {
            CustomRequestStatus::New => "custom_request.created",
            CustomRequestStatus::Quoted => "custom_request.quoted",
            CustomRequestStatus::Accepted => "custom_request.accepted",
            CustomRequestStatus::Declined => "custom_request.declined",
            CustomRequestStatus::Closed => "custom_request.closed",
        });
        let events: Vec<Event> = event_name.into_iter().map(|event| self.event(cx, event)).collect();
        Decision::to(self.clone(), self).events(events)
    }

    fn event(&self, cx: &DecisionContext<'_>, event: &str) -> Event {
        let data = CustomRequestData {
            custom_request_id: self.id,
            status: self.status,
            customer_email: self.customer_email.clone(),
            product_type: self.wishes.product_type.clone(),
            estimated_total_cents: self.estimate.total_cents,
            currency: self.estimate.currency.clone(),
            quote_id: self.quote_id,
        };
        Event::new(cx, event, (Self::KIND, self.id), None, &data)
    }

    /// Builds the email to the operators about a new request. Each text written by the customer is on its own line.
    fn alert(&self, cx: &DecisionContext<'_>) -> Vec<Mail> {
        Mail::alert(cx, AlertKind::CustomRequest, |language| {
            let total = notation::amount(language, self.estimate.total_cents, &self.estimate.currency);
            let product = &self.wishes.product_type;
            let subject = texts::request_subject(language, &self.customer_name, product, &total);
            (subject, self.alert_text(language, cx, &total))
        })
    }

    /// Returns the text of the email about a new request, with its estimated total.
    fn alert_text(&self, language: Language, cx: &DecisionContext<'_>, total: &str) -> String {
        let Self { customer_name, customer_email, wishes, .. } = self;
        let until = notation::date_and_time(language, &cx.rules.clock, self.valid_until);
        let unpriced: Vec<&str> = self.estimate.unknown().collect();
        let details = texts::wishes(
            language,
            &one_line(&wishes.subject_type),
            &one_line(&wishes.style_id),
            &one_line(&wishes.size_id),
            &one_line(&wishes.base_option_id),
            wishes.color_count,
        );
        let (customer, email) = (one_line(customer_name), one_line(customer_email));
        let product = one_line(&wishes.product_type);
        let lines = [
            Some(texts::request(language, &customer, &email, &product, &details, self.photos.len())),
            self.phone.as_ref().map(|text| texts::phone_line(language, &one_line(text))),
            wishes.inscription.as_ref().map(|text| texts::inscription_line(language, &one_line(text))),
            wishes.notes.as_ref().map(|text| texts::notes_line(language, &one_line(text))),
            Some(texts::estimate(language, total, &until)),
            (!unpriced.is_empty()).then(|| texts::unpriced(language, &unpriced.join(", "))),
            Some(texts::request_advice(language)),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}
