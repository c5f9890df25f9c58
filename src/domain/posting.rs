//! A posting: the transfer of one issued document to the accounting system.
//!
//! Its ID is derived from the ID of its document, so that there is exactly one posting per document, no matter how
//! often posting is started. A document is looked up by its number before it is created in the accounting system, and
//! created under an idempotency key that stays the same until an operator requests a retry. It is therefore created
//! only once even if a response is lost. A posting that the system rejects needs an operator and blocks nothing else.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::invoice::{DocumentKind, IssuedDocument};
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::refusal::{Refusal, shortened};
use crate::time::Timestamp;
use words::staff::alerts as texts;

/// Maximum stored length of a message from the accounting system, in characters.
const MAX_WORDS_CHARS: usize = 500;

/// State of a posting, from sending to acceptance or rejection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostingState {
    /// Being sent, until the accounting system is known to contain it.
    Sending,
    /// Present in the accounting system.
    Posted,
    /// Rejected by the accounting system; an operator may retry it.
    Refused,
}

/// Posting of a document to the accounting system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Posting {
    /// Identifier, derived from the document's identifier.
    pub id: Id,
    /// Issued document.
    pub document_id: Id,
    /// Invoice that the document belongs to.
    pub invoice_id: Id,
    /// Type of the document: invoice or credit note.
    pub kind: DocumentKind,
    /// Document number, as displayed.
    pub number: String,
    /// Amount invoiced or credited, in minor units.
    pub amount_cents: i64,
    /// ISO 4217 code in lowercase.
    pub currency: String,
    /// Current state.
    pub state: PostingState,
    /// Number of the round, starting at 1; each retry by an operator starts a new round. The number is part of the
    /// idempotency key.
    pub round: u32,
    /// The accounting system's ID for the document, if known.
    pub remote_id: Option<String>,
    /// Error message returned by the accounting system when it rejected the document, if any.
    pub error: Option<String>,
    /// Time at which the posting was started.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl Posting {
    /// Returns the idempotency key, which stays the same until an operator requests a retry.
    pub fn key(&self) -> String {
        format!("{}-{}", self.id, self.round)
    }
}

/// Command that starts a posting, records its outcome or retries it.
#[derive(Clone, Debug)]
pub enum PostingCommand {
    /// Starts posting a document; has no effect if already started.
    Begin(Box<IssuedDocument>),
    /// Records that the accounting system contains the document.
    Posted {
        /// [`Posting::round`] in which the document was sent.
        round: u32,
        /// The accounting system's ID for the document.
        remote_id: String,
    },
    /// Records that the accounting system rejected the document.
    Refused {
        /// [`Posting::round`] in which the document was sent.
        round: u32,
        /// The accounting system's message.
        words: String,
    },
    /// Retries a rejected posting at an operator's request.
    Retry,
}

impl Aggregate for Posting {
    const KIND: &'static str = "posting";
    type Row = Infallible;
    type Created = Mail;
    type Effect = Infallible;
}

impl Command<Posting> for PostingCommand {
    type Answer = Box<Posting>;

    fn decide(
        &self,
        this: Option<&Posting>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Posting, Self::Answer> {
        match (this, self) {
            (None, PostingCommand::Begin(document)) => Ok(to(Posting {
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
            (None, _) => Err(Refusal::not_found(Posting::KIND)),
            (Some(this), PostingCommand::Posted { round, remote_id }) if this.awaits(*round) => Ok(to(Posting {
                state: PostingState::Posted,
                remote_id: Some(remote_id.clone()),
                error: None,
                updated_at: cx.now,
                ..this.clone()
            })),
            (Some(this), PostingCommand::Refused { round, words }) if this.awaits(*round) => {
                let words = shortened(words.clone(), MAX_WORDS_CHARS);
                let mails = Mail::alert(cx, AlertKind::Accounting, |language| {
                    let text = texts::not_posted(language, &this.number, &words);
                    (texts::not_posted_subject(language, &this.number), text)
                });
                let (state, error) = (PostingState::Refused, Some(words));
                Ok(to(Posting { state, error, updated_at: cx.now, ..this.clone() }).created(mails))
            }
            (Some(this), PostingCommand::Retry) if this.state == PostingState::Refused => {
                let (state, round) = (PostingState::Sending, this.round.saturating_add(1));
                Ok(to(Posting { state, round, updated_at: cx.now, ..this.clone() }))
            }
            (Some(this), PostingCommand::Retry) if this.state == PostingState::Posted => {
                Err(Refusal::conflict("already_posted", format!("{} has already been posted", this.number)))
            }
            (Some(this), _) => Ok(Decision::unchanged(Box::new(this.clone()))),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            PostingCommand::Begin(_) => AuditedAct::PostingBegin,
            PostingCommand::Posted { .. } => AuditedAct::PostingPosted,
            PostingCommand::Refused { .. } => AuditedAct::PostingRefused,
            PostingCommand::Retry => AuditedAct::PostingRetry,
        }
    }
}

fn to(posting: Posting) -> Decision<Posting, Box<Posting>> {
    let answer = Box::new(posting.clone());
    Decision::to(posting, answer)
}

impl Posting {
    /// Returns whether an outcome from the given round is still relevant.
    fn awaits(&self, round: u32) -> bool {
        self.state == PostingState::Sending && self.round == round
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;
    use crate::testing::invoices::document;
    use crate::testing::{Bench, id};

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
        let decision = bench.tell(&mut this, id(1), &refused).unwrap();
        assert!(decision.created[0].text.contains("account 200 does not exist"));
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
        /// Checks that a posted document stays posted under the ID that was reported first.
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

    #[test]
    fn a_posting_waits_for_the_outcome_of_its_round_alone() {
        let bench = Bench::new();
        let mut this = begun(&bench);
        assert_eq!(this.as_ref().unwrap().key(), format!("{}-1", id(1)));
        let posted = |round| PostingCommand::Posted { round, remote_id: "remote".to_owned() };
        let refused = |round| PostingCommand::Refused { round, words: "no".to_owned() };
        for early in [PostingCommand::Retry, posted(0), posted(2), refused(2)] {
            assert!(bench.tell(&mut this, id(1), &early).unwrap().next.is_none(), "{early:?}");
        }
        bench.tell(&mut this, id(1), &refused(1)).unwrap();
        assert!(bench.tell(&mut this, id(1), &posted(1)).unwrap().next.is_none(), "it was refused");
        let now = this.clone().unwrap();
        assert_eq!((now.state, now.round, now.error.as_deref()), (PostingState::Refused, 1, Some("no")));
        bench.tell(&mut this, id(1), &PostingCommand::Retry).unwrap();
        let now = this.clone().unwrap();
        assert_eq!((now.state, now.key()), (PostingState::Sending, format!("{}-2", id(1))));
        bench.tell(&mut this, id(1), &posted(2)).unwrap();
        let now = this.clone().unwrap();
        assert_eq!((now.state, now.remote_id.as_deref(), now.error), (PostingState::Posted, Some("remote"), None));
        assert!(bench.tell(&mut this, id(1), &refused(2)).unwrap().next.is_none(), "it was posted");
    }
}
