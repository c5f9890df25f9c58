//! Transport to the processor: sends requests with the API key and the pinned API version, limits their time and size,
//! retries failures that are safe to retry, and pauses after several consecutive failures.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Method, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

use super::ProcessorError;
use super::form::ProcessorForm;
use domain::breaker::{Breaker, BreakerRules};
use domain::printer::denied_host;
use domain::refusal::shortened;
use domain::schedule::Delays;
use platform::http::read_beginning;

/// API version of the processor whose response format is parsed.
const API_VERSION: &str = "2026-06-24.dahlia";
/// Maximum size of a response in bytes: enough for a hundred of the largest listed objects.
const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;
/// Maximum length of a displayed message from the processor, in characters.
const MAX_WORDS_CHARS: usize = 300;
/// Maximum number of attempts per call.
const MAX_TRIES: u32 = 3;
/// Delays between retries of a call.
const RETRY_DELAYS: Delays = Delays { first: Duration::from_millis(250), longest: Duration::from_secs(2) };
/// Maximum `Retry-After` delay for which the client waits. If the delay is longer, the caller has to retry.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3);
/// Number of consecutive failures after which no calls are made for a while.
const FAILURES_UNTIL_OPEN: u32 = 3;

/// Address, API key and limits of the processor client.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Base URL of the API.
    pub api_base: String,
    /// Secret API key of the account.
    pub secret_key: String,
    /// Time limit for one call, including all attempts.
    pub timeout: Duration,
    /// Delays after several consecutive failures.
    pub pauses: Delays,
}

/// Client for the payment processor's API.
pub struct ProcessorClient {
    client: Client,
    base: Url,
    authorization: HeaderValue,
    within: Duration,
    rules: BreakerRules,
    /// Reference time from which the breaker counts milliseconds.
    began: Instant,
    till: Mutex<SendState>,
    customers: Mutex<SendState>,
}

/// Purpose of a call. Each purpose has a separate breaker, because any signed-in user can trigger the calls that only
/// display customer profiles, and these must not block payments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallPurpose {
    /// Checkout sessions and refunds.
    Till,
    /// Customers, including their cards and subscriptions.
    Customers,
}

impl CallPurpose {
    fn of(path: &[&str]) -> Self {
        match path.first() {
            Some(&("checkout" | "refunds")) => Self::Till,
            _ => Self::Customers,
        }
    }
}

#[derive(Default)]
struct SendState {
    breaker: Breaker,
    last_error: Option<String>,
}

/// Result of one attempt: a final result, or a failure after which a retry is allowed.
enum AttemptResult {
    Done(Result<Value, ProcessorError>),
    /// A failure after which a retry is safe, because nothing was done or there is an idempotency key; contains the
    /// requested delay.
    Again(ProcessorError, Option<Duration>),
}

impl ProcessorClient {
    /// Creates a client for the given account; makes no calls yet. `client` is the HTTP client for configured services.
    pub fn new(client: Client, settings: &ClientSettings) -> Result<Self, ProcessorError> {
        let wrong = |words: &str| ProcessorError::Settings(words.to_owned());
        let mut base =
            Url::parse(settings.api_base.trim()).map_err(|error| ProcessorError::Settings(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(wrong("the address must begin with http:// or https://"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(wrong("the address must not contain a password"));
        }
        // Names are judged when they are dialled.
        if let Some(range) = denied_host(&base) {
            return Err(ProcessorError::Settings(format!("{range} is not allowed")));
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        base.set_query(None);
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", settings.secret_key))
            .map_err(|_| wrong("the secret key contains invalid characters"))?;
        authorization.set_sensitive(true);
        let rules = BreakerRules {
            failures_until_open: FAILURES_UNTIL_OPEN,
            pauses: settings.pauses,
            longest_call: settings.timeout,
        };
        Ok(Self {
            client,
            base,
            authorization,
            within: settings.timeout,
            rules,
            began: Instant::now(),
            till: Mutex::default(),
            customers: Mutex::default(),
        })
    }

    /// Sends a GET request.
    pub(super) async fn get(&self, path: &[&str], query: &ProcessorForm) -> Result<Value, ProcessorError> {
        self.call(Method::GET, path, query, None).await
    }

    /// Sends a POST request. A request that creates something needs an idempotency key, so that the object is created
    /// only once, no matter how often the request is sent.
    pub(super) async fn post(
        &self,
        path: &[&str],
        form: &ProcessorForm,
        key: Option<&str>,
    ) -> Result<Value, ProcessorError> {
        self.call(Method::POST, path, form, key).await
    }

    /// Describes the processor's problem according to the latest calls, if any.
    pub(super) fn trouble_now(&self) -> Option<String> {
        let trouble = |purpose| self.trouble_with(purpose);
        trouble(CallPurpose::Till).or_else(|| trouble(CallPurpose::Customers))
    }

    fn trouble_with(&self, purpose: CallPurpose) -> Option<String> {
        let now = self.now_ms();
        self.with(purpose, |inside| {
            let error = inside.last_error.as_ref()?;
            let again = match inside.breaker.closed_for_ms(now) {
                0 => String::new(),
                ms => format!("; next try in {} s", ms.div_ceil(1000)),
            };
            Some(format!("{error}, {} times in a row{again}", inside.breaker.failures()))
        })
    }

    async fn call(
        &self,
        method: Method,
        path: &[&str],
        form: &ProcessorForm,
        key: Option<&str>,
    ) -> Result<Value, ProcessorError> {
        let purpose = CallPurpose::of(path);
        if let Err(wait_ms) = self.with(purpose, |inside| inside.breaker.admit(&self.rules, self.now_ms())) {
            let seconds = wait_ms.div_ceil(1000);
            let words = format!("several failures in a row; next try in {seconds} s");
            return Err(ProcessorError::Unavailable(words));
        }
        let late = || Err(ProcessorError::Unavailable(format!("no response within {} s", self.within.as_secs_f64())));
        let outcome = timeout(self.within, self.tries(&method, path, form, key)).await.unwrap_or_else(|_| late());
        match &outcome {
            Err(
                error @ (ProcessorError::Unavailable(_) | ProcessorError::Failing(_) | ProcessorError::Credentials(_)),
            ) => {
                self.failed(purpose, &error.to_string());
            }
            _ => self.with(purpose, |inside| {
                inside.breaker.succeeded();
                inside.last_error = None;
            }),
        }
        outcome
    }

    async fn tries(
        &self,
        method: &Method,
        path: &[&str],
        form: &ProcessorForm,
        key: Option<&str>,
    ) -> Result<Value, ProcessorError> {
        let mut tries = 0;
        loop {
            let (error, retry_after) = match self.send_once(method, path, form, key).await {
                AttemptResult::Done(outcome) => return outcome,
                AttemptResult::Again(error, retry_after) => (error, retry_after),
            };
            tries += 1;
            if tries >= MAX_TRIES || retry_after.is_some_and(|pause| pause > MAX_RETRY_AFTER) {
                return Err(error);
            }
            tracing::debug!(%error, tries, "retrying a request to the payment processor");
            let pause = RETRY_DELAYS.next(tries - 1, 1.0);
            sleep(retry_after.unwrap_or_default().max(pause)).await;
        }
    }

    async fn send_once(
        &self,
        method: &Method,
        path: &[&str],
        form: &ProcessorForm,
        key: Option<&str>,
    ) -> AttemptResult {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(path);
        }
        let encoded = form.encoded();
        let question = *method == Method::GET;
        if question && !encoded.is_empty() {
            url.set_query(Some(&encoded));
        }
        let mut request = self
            .client
            .request(method.clone(), url)
            .timeout(self.within)
            .header(AUTHORIZATION, self.authorization.clone())
            .header("stripe-version", API_VERSION);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if !question {
            request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(encoded);
        }
        match request.send().await {
            Ok(answer) => judge(answer).await,
            // Questions, keys and what sets a state may be sent twice; nothing else is sent.
            Err(error) => AttemptResult::Again(ProcessorError::Unavailable(error.without_url().to_string()), None),
        }
    }

    fn failed(&self, purpose: CallPurpose, words: &str) {
        let now = self.now_ms();
        let failures = self.with(purpose, |inside| {
            inside.breaker.failed(&self.rules, now, 1.0);
            inside.last_error = Some(words.to_owned());
            inside.breaker.failures()
        });
        if failures == 1 {
            tracing::warn!(
                error = words,
                "the payment processor failed; further failures are not logged until it responds"
            );
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn with<T>(&self, purpose: CallPurpose, act: impl FnOnce(&mut SendState) -> T) -> T {
        let inside = match purpose {
            CallPurpose::Till => &self.till,
            CallPurpose::Customers => &self.customers,
        };
        act(&mut inside.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Classifies a response.
async fn judge(mut answer: Response) -> AttemptResult {
    let status = answer.status().as_u16();
    let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (said_again, pause) = (header("stripe-should-retry"), header(RETRY_AFTER.as_str()));
    let pause = pause.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    let (body, broken) = read_beginning(&mut answer, MAX_ANSWER_BYTES + 1, MAX_ANSWER_BYTES + 1).await;
    if let Some(error) = broken {
        return AttemptResult::Again(ProcessorError::Unavailable(error.without_url().to_string()), None);
    }
    if body.len() > MAX_ANSWER_BYTES {
        let words = format!("the response is longer than {MAX_ANSWER_BYTES} bytes");
        return AttemptResult::Done(Err(ProcessorError::Unavailable(words)));
    }
    let value = bounded_json::read(&body, bounded_json::ANSWER);
    if (200..300).contains(&status) {
        let value = value.map_err(|error| ProcessorError::Unavailable(format!("the response is not JSON: {error}")));
        return AttemptResult::Done(value);
    }
    let value = value.unwrap_or_default();
    let (code, words) = words(&value, &body);
    let unavailable = || {
        let words = format!("status {status}: {words}");
        if status >= 500 { ProcessorError::Failing(words) } else { ProcessorError::Unavailable(words) }
    };
    match (status, said_again.as_deref()) {
        // A key that may not do one thing may do another: 403 is a refusal of this alone.
        (401, _) => AttemptResult::Done(Err(ProcessorError::Credentials(status))),
        (409 | 429 | 500..=599, Some("false")) => AttemptResult::Done(Err(unavailable())),
        (409 | 429 | 500..=599, _) | (_, Some("true")) => AttemptResult::Again(unavailable(), pause),
        _ => AttemptResult::Done(Err(ProcessorError::Refused { status, code, words })),
    }
}

/// Returns the processor's error code and message.
fn words(value: &Value, body: &[u8]) -> (String, String) {
    let error = &value["error"];
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    // An idempotency error has a type and no code.
    let code = Some(text("code")).filter(|code| !code.is_empty()).unwrap_or(text("type"));
    let words = match text("message") {
        "" => String::from_utf8_lossy(body).into_owned(),
        message => message.to_owned(),
    };
    let plain = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    (shortened(plain(code), MAX_WORDS_CHARS), shortened(plain(&words), MAX_WORDS_CHARS))
}
