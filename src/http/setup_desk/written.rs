//! Result of writing settings, as stored by the setup service and returned by the API.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use actors::app::service_tests::Service;

/// Setting whose value in the file has no effect.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(example = json!({"name": "mail.smtp_host", "by": "SMTP_HOST in the environment"}))]
pub struct ShadowedSetting {
    /// Name of the setting, as `section.key`.
    pub name: String,
    /// Source that takes precedence over the file.
    pub by: String,
}

/// Result of testing a service with the new settings.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(example = json!({
    "service": "agent", "message": "the gateway responds; the token was not tested, because only a real call uses it",
}))]
pub struct TestedService {
    /// Service that was tested.
    pub service: Service,
    /// Human-readable result, including what could not be tested.
    pub message: String,
}

/// Settings that were written, and the steps required for them to take effect.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(example = json!({
    "file": ".env", "written": ["SMTP_HOST"], "shadowed": [ShadowedSetting::example()], "restart": ["mail.smtp_port"],
    "tested": [TestedService::example()],
}))]
pub struct WrittenSettings {
    /// File that was written, in the server's working directory.
    pub file: &'static str,
    /// Variables written to the file.
    pub written: Vec<String>,
    /// Settings whose values have no effect because another source takes precedence over the file.
    pub shadowed: Vec<ShadowedSetting>,
    /// Settings that take effect after the server is restarted.
    pub restart: Vec<String>,
    /// Services that were tested with the new settings and are usable.
    pub tested: Vec<TestedService>,
}
