//! Other systems of the world, at the ports of their clients.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::story::Story;
use services::mail::{MailError, Mailer, Message};

/// Mail service, which accepts every message and keeps it.
pub struct PostOffice {
    story: Arc<Story>,
    messages: Mutex<Vec<Message>>,
}

impl PostOffice {
    /// Creates a service that has no messages.
    pub fn new(story: Arc<Story>) -> Self {
        Self { story, messages: Mutex::default() }
    }
}

impl Mailer for PostOffice {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        async move {
            self.story.tell(format!("mail to {}: {}", message.to.join(", "), message.subject));
            self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message.clone());
            Ok(())
        }
        .boxed()
    }
}
