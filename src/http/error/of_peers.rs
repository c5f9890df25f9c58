//! Error responses for failures of external systems: the accounting system and cameras.

use axum::http::StatusCode;

use super::ApiError;
use printers::cameras::CameraFault;
use services::accounting::AccountingError;

/// Error code: the accounting system is not responding.
pub const PROVIDER_UNAVAILABLE: &str = "provider_unavailable";

impl From<AccountingError> for ApiError {
    fn from(error: AccountingError) -> Self {
        match error {
            AccountingError::Refused(words) => Self::bad_request("code_refused", words),
            AccountingError::Unavailable(_) | AccountingError::Busy(_) | AccountingError::Token => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, PROVIDER_UNAVAILABLE, error.to_string())
            }
        }
    }
}

impl From<CameraFault> for ApiError {
    fn from(fault: CameraFault) -> Self {
        let (status, code) = match fault {
            CameraFault::None(_) => (StatusCode::NOT_FOUND, "no_camera"),
            CameraFault::Away => (StatusCode::CONFLICT, "printer_disconnected"),
            CameraFault::Printer(error) => return error.into(),
            CameraFault::Refused(_) => (StatusCode::BAD_GATEWAY, "camera_refused"),
            CameraFault::Silent(_) => (StatusCode::GATEWAY_TIMEOUT, "camera_timeout"),
            CameraFault::Crowded => return Self::unavailable("overloaded", fault.to_string(), 1),
        };
        Self::new(status, code, fault.to_string())
    }
}
