//! Error responses for payment processor failures.

use axum::http::StatusCode;

use super::ApiError;
use actors::checkouts::CheckoutError;
use actors::subscribers::SubscriberError;
use domain::refusal::Refusal;
use services::payments::ProcessorError;

impl From<CheckoutError> for ApiError {
    fn from(error: CheckoutError) -> Self {
        match error {
            CheckoutError::Refused(refusal) => refusal.into(),
            CheckoutError::NotConfigured => Self::unavailable("payments_not_configured", error.to_string(), 300),
            CheckoutError::Unavailable => Self::unavailable("processor_unavailable", error.to_string(), 10),
            CheckoutError::Ask(error) => error.into(),
            CheckoutError::Load(error) => error.into(),
        }
    }
}

impl From<SubscriberError> for ApiError {
    fn from(error: SubscriberError) -> Self {
        match error {
            SubscriberError::NotConfigured => CheckoutError::NotConfigured.into(),
            SubscriberError::Missing => Refusal::not_found("subscription").into(),
            SubscriberError::NotTheirs => Self::forbidden("forbidden", error.to_string()),
            SubscriberError::Processor(error) if error.code() == "idempotency_error" => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency_key_reused",
                "the idempotency key was already used with a different request",
            ),
            SubscriberError::Processor(ProcessorError::Refused { words, .. }) => Self::bad_request(
                "subscription_refused",
                format!("the payment processor rejected the request: {words}"),
            ),
            SubscriberError::Processor(error) => CheckoutError::from(error).into(),
        }
    }
}
