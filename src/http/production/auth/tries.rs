//! How often somebody may try to show a password.

use std::net::IpAddr;

use super::SessionHandles;
use crate::domain::access::{SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
use crate::domain::limits::LimitKind;
use crate::http::error::ApiError;
use crate::http::limits::{Charge, Limited, within};

/// Refusals of somebody whose password was right.
const OF_SECOND_FACTOR: [&str; 3] = [SECOND_FACTOR_REQUIRED, WRONG_CODE, TOO_MANY_CODES];

/// Runs `rest`, which checks a password, unless too many were tried: of this account from this address, and from all.
/// An attempt whose password was right and whose second factor was not is no guess at the password and is taken back;
/// codes have a count of their own.
pub(in crate::http::production) async fn within_tries<R>(
    app: &SessionHandles,
    email: &str,
    from: IpAddr,
    rest: impl Future<Output = Result<R, ApiError>>,
) -> Result<Limited<R>, ApiError> {
    let now = app.environment.now();
    let tries = [Charge::of_pair(LimitKind::Login, email, from), Charge::of_text(LimitKind::Account, email)];
    let counted = async {
        let answer = rest.await;
        if answer.as_ref().is_err_and(|error| OF_SECOND_FACTOR.contains(&error.code())) {
            app.limits.take_back(&tries, now).await;
        }
        answer
    };
    within(&app.limits, now, &tries, counted).await
}
