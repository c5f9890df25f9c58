//! Shared token with which the agent gateway authenticates.

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};

use config::Config;
use domain::signing::same;

/// Route that receives the gateway's commands.
pub const PATH: &str = "/webhooks/agent";

/// Returns whether the request carries the gateway's token; `false` if none is configured.
pub fn is_shown(config: &Config, headers: &HeaderMap) -> bool {
    let token = config.agent.token.expose();
    let header_value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let authorization = header_value
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    // Digests have one length, so the comparison tells nothing of the token's.
    let digest = |text: &str| <[u8; 32]>::from(Sha256::digest(text));
    !token.is_empty() && authorization.is_some_and(|(_, presented)| same(&digest(token), &digest(presented.trim())))
}
