//! A posting: one document that was issued, on its way into the books of the accounting system.
//!
//! Its id follows from that of its document, so that there is one, whoever begins it and however often. What is told
//! there is looked for by its number before it is made, and made under a key that stays the same until a person says
//! that it is to be tried anew: so it is made once, also when an answer is lost. What the system refuses waits for a
//! person and holds nothing else up.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::id::Id;
use crate::domain::invoice::{Document, DocumentKind};
use crate::domain::mail::Mail;
use crate::domain::mail::alert::AlertKind;
use crate::domain::refusal::{Refusal, shortened};
use crate::domain::time::Timestamp;

/// Most characters of what the accounting system said that are kept.
const MAX_WORDS_CHARS: usize = 500;

/// How far a posting is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostingState {
    /// It is being sent, until it is known to be there.
    Sending,
    /// It is in the books.
    Posted,
    /// The accounting system said no; a person may have it tried again.
    Refused,
}

/// A document on its way into the books.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Posting {
    /// Follows from the document's.
    pub id: Id,
    /// What was issued.
    pub document_id: Id,
    /// The invoice that it belongs to.
    pub invoice_id: Id,
    /// Invoice or credit note.
    pub kind: DocumentKind,
    /// Number of the document, as people see it.
    pub number: String,
    /// What is to be paid, or went back, in minor units.
    pub amount_cents: i64,
    /// ISO 4217 code in lower case.
    pub currency: String,
    /// How far it is.
    pub state: PostingState,
    /// Counts from 1 how often people had it tried anew; part of the key under which it is made.
    pub round: u32,
    /// The accounting system's id of it.
    pub remote_id: Option<String>,
    /// Why it was refused.
    pub error: Option<String>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Posting {
    /// The key under which it is made there: the same until a person has it tried anew.
    pub fn key(&self) -> String {
        format!("{}-{}", self.id, self.round)
    }
}

/// What can be asked of a posting.
#[derive(Clone, Debug)]
pub enum PostingCommand {
    /// Begins; one that was begun goes on as it is.
    Begin(Box<Document>),
    /// It is in the books.
    Posted {
        /// [`Posting::round`] of the try.
        round: u32,
        /// The accounting system's id of it.
        remote_id: String,
    },
    /// The accounting system said no.
    Refused {
        /// [`Posting::round`] of the try.
        round: u32,
        /// What it said.
        words: String,
    },
    /// A person has it tried anew.
    Retry,
}

impl Aggregate for Posting {
    const KIND: &'static str = "posting";
    type Command = PostingCommand;
    type Answer = Box<Posting>;
    type Row = Infallible;
    type Created = Mail;
    type Effect = Infallible;

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &PostingCommand,
    ) -> Result<Decision<Self>, Refusal> {
        match (this, command) {
            (None, PostingCommand::Begin(document)) => Ok(to(Self {
                id,
                document_id: document.id,
                invoice_id: document.invoice_id,
                kind: document.kind,
                number: document.number_text(),
                amount_cents: document.payable_cents(),
                currency: document.content.currency.clone(),
                state: PostingState::Sending,
                round: 1,
                remote_id: None,
                error: None,
                created_at: cx.now,
                updated_at: cx.now,
            })),
            (None, _) => Err(Refusal::not_found(Self::KIND)),
            (Some(this), PostingCommand::Posted { round, remote_id }) if this.awaits(*round) => Ok(to(Self {
                state: PostingState::Posted,
                remote_id: Some(remote_id.clone()),
                error: None,
                updated_at: cx.now,
                ..this.clone()
            })),
            (Some(this), PostingCommand::Refused { round, words }) if this.awaits(*round) => {
                let words = shortened(words.clone(), MAX_WORDS_CHARS);
                let text = format!(
                    "The accounting system does not take {}: {words}.\n\nMend it there or in the settings and have it \
                     tried again; nothing else waits for it.\n",
                    this.number
                );
                let subject = format!("{} is not in the books", this.number);
                let mails = Mail::alert(cx, AlertKind::Accounting, &subject, &text);
                let (state, error) = (PostingState::Refused, Some(words));
                Ok(to(Self { state, error, updated_at: cx.now, ..this.clone() }).created(mails))
            }
            (Some(this), PostingCommand::Retry) if this.state == PostingState::Refused => {
                let (state, round) = (PostingState::Sending, this.round.saturating_add(1));
                Ok(to(Self { state, round, updated_at: cx.now, ..this.clone() }))
            }
            (Some(this), PostingCommand::Retry) if this.state == PostingState::Posted => {
                Err(Refusal::conflict("already_posted", format!("{} is in the books", this.number)))
            }
            (Some(this), _) => Ok(Decision::unchanged(Box::new(this.clone()))),
        }
    }

    fn name(command: &PostingCommand) -> &'static str {
        match command {
            PostingCommand::Begin(_) => "posting.begin",
            PostingCommand::Posted { .. } => "posting.posted",
            PostingCommand::Refused { .. } => "posting.refused",
            PostingCommand::Retry => "posting.retry",
        }
    }

    fn effects(&self) -> Vec<Infallible> {
        Vec::new()
    }
}

fn to(posting: Posting) -> Decision<Posting> {
    let answer = Box::new(posting.clone());
    Decision::to(posting, answer)
}

impl Posting {
    /// Whether the outcome of a try of this round counts.
    fn awaits(&self, round: u32) -> bool {
        self.state == PostingState::Sending && self.round == round
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;
    use crate::domain::accounting::paper::tests::document;
    use crate::domain::testing::{Bench, id};

    fn begun(bench: &Bench) -> Option<Posting> {
        let mut this = None;
        bench.tell(&mut this, id(1), &PostingCommand::Begin(Box::new(document(&[(1000, 2, 1900)], 0, 0)))).unwrap();
        this
    }

    #[test]
    fn what_is_refused_is_told_once_and_tried_anew_under_another_key() {
        let bench = Bench::new();
        let mut this = begun(&bench);
        let first = this.as_ref().unwrap().key();
        let refused = PostingCommand::Refused { round: 1, words: "account 200 does not exist".to_owned() };
        let told = bench.tell(&mut this, id(1), &refused).unwrap();
        assert!(told.created[0].text.contains("account 200 does not exist"));
        assert!(bench.tell(&mut this, id(1), &refused).unwrap().created.is_empty(), "once");
        bench.tell(&mut this, id(1), &PostingCommand::Retry).unwrap();
        assert_ne!(this.as_ref().unwrap().key(), first, "the kept answer to the first key is a no");
        let late = PostingCommand::Posted { round: 1, remote_id: "x".to_owned() };
        assert!(bench.tell(&mut this, id(1), &late).unwrap().next.is_none(), "of the round before");
        let posted = PostingCommand::Posted { round: 2, remote_id: "y".to_owned() };
        bench.tell(&mut this, id(1), &posted).unwrap();
        assert_eq!(bench.tell(&mut this, id(1), &PostingCommand::Retry).unwrap_err().code, "already_posted");
    }

    proptest! {
        /// What is in the books stays there under the id that was told first.
        #[test]
        fn what_is_posted_stays(steps in prop::collection::vec((0u8..4, 1u32..4), 0..40)) {
            let bench = Bench::new();
            let mut this = begun(&bench);
            let mut posted: Option<String> = None;
            for (n, (what, round)) in steps.into_iter().enumerate() {
                let command = match what {
                    0 => PostingCommand::Begin(Box::new(document(&[(5, 1, 0)], 0, 0))),
                    1 => PostingCommand::Posted { round, remote_id: n.to_string() },
                    2 => PostingCommand::Refused { round, words: "no".to_owned() },
                    _ => PostingCommand::Retry,
                };
                let _ = bench.tell(&mut this, id(1), &command);
                let now = this.clone().unwrap();
                if posted.is_some() {
                    prop_assert_eq!((now.state, &now.remote_id), (PostingState::Posted, &posted));
                }
                posted = now.remote_id;
            }
        }
    }
}
