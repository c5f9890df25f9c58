//! Other systems of the world, at the ports of their clients.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::chance::branch;
use crate::faults::{FaultKind, FaultPlan};
use crate::power::Power;
use crate::story::Story;
use services::mail::{MailError, Mailer, Message};

/// Mail service, which keeps the messages that it accepts.
pub struct PostOffice {
    story: Arc<Story>,
    power: Arc<Power>,
    state: Mutex<PostState>,
}

struct PostState {
    chance: Rng,
    refused: f64,
    messages: Vec<Message>,
}

impl PostOffice {
    /// Creates a service that has no messages and refuses none.
    pub fn new(seed: u64, story: Arc<Story>, power: Arc<Power>) -> Self {
        let state = PostState { chance: branch(seed, "mail"), refused: 0.0, messages: Vec::new() };
        Self { story, power, state: Mutex::new(state) }
    }

    /// Lets mails be refused as often as a plan says.
    pub fn set_rates(&self, plan: &FaultPlan) {
        self.state().refused = plan.rate(FaultKind::MailRefused);
    }

    fn accept(&self, message: &Message) -> Result<(), MailError> {
        let mut state = self.state();
        if state.chance.f64() < state.refused {
            return Err(MailError::Transient { reason: "try again later".to_owned() });
        }
        self.story.tell(format!("mail to {}: {}", message.to.join(", "), message.subject));
        state.messages.push(message.clone());
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, PostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mailer for PostOffice {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        async move {
            self.power.pass().await;
            let result = self.accept(message);
            self.power.pass().await;
            result
        }
        .boxed()
    }
}
