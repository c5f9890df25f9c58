//! Idempotency keys of the payment processor, which remembers each for a day.

use std::collections::BTreeMap;
use std::fmt;

use domain::time::DAY_MS;
use services::payments::ProcessorError;

/// Responses by idempotency key. A failure is a response as well, and is repeated as such.
pub struct KeyedAnswers<T>(BTreeMap<String, KeyedAnswer<T>>);

struct KeyedAnswer<T> {
    at_ms: i64,
    request: String,
    answer: Result<T, ProcessorError>,
}

impl<T> Default for KeyedAnswers<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Clone> KeyedAnswers<T> {
    /// Executes a request, unless its key has a response: then returns that response again, or a refusal if the key was
    /// used for another request.
    pub fn answer(
        &mut self,
        key: &str,
        request: &impl fmt::Debug,
        now_ms: i64,
        carry_out: impl FnOnce() -> Result<T, ProcessorError>,
    ) -> Result<T, ProcessorError> {
        self.0.retain(|_, stored| now_ms - stored.at_ms < DAY_MS);
        let request = format!("{request:?}");
        if let Some(stored) = self.0.get(key) {
            if stored.request == request {
                return stored.answer.clone();
            }
            let words = format!("the key {key} was used with another request");
            return Err(ProcessorError::Refused { status: 400, code: "idempotency_error".to_owned(), words });
        }
        let answer = carry_out();
        self.0.insert(key.to_owned(), KeyedAnswer { at_ms: now_ms, request, answer: answer.clone() });
        answer
    }
}
