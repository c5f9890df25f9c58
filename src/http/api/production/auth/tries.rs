//! Rate limits on password attempts.

use std::net::IpAddr;

use super::SessionHandles;
use domain::limits::LimitKind;
use domain::second_factor::{SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
use http::error::ApiError;
use http::limits::{LimitedReply, WindowKey, within};

/// Error codes for sign-ins that were rejected even though the password was correct.
const OF_SECOND_FACTOR: [&str; 3] = [SECOND_FACTOR_REQUIRED, WRONG_CODE, TOO_MANY_CODES];

/// Runs `rest`, which checks a password, unless there have been too many attempts for the given account, from the given
/// address or in total. An attempt with the correct password but a missing or incorrect second factor is not counted,
/// because it is not a guess at the password; codes have their own limit.
pub(in crate::production) async fn within_tries<R>(
    app: &SessionHandles,
    email: &str,
    from: IpAddr,
    rest: impl Future<Output = Result<R, ApiError>>,
) -> Result<LimitedReply<R>, ApiError> {
    let now = app.environment.now();
    let tries = [WindowKey::of_pair(LimitKind::Login, email, from), WindowKey::of_text(LimitKind::Account, email)];
    let counted = async {
        let answer = rest.await;
        if answer.as_ref().is_err_and(|error| OF_SECOND_FACTOR.contains(&error.code())) {
            app.limits.take_back(&tries, now).await;
        }
        answer
    };
    within(&app.limits, now, &tries, counted).await
}
