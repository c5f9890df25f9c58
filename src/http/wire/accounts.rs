//! Validation rules for email addresses and passwords.

use api_schema::shape::Shape;
use utoipa::openapi::schema::SchemaFormat;

use super::{Rule, SecretText};
use domain::access::normal_email;
use domain::password::{MAX_PASSWORD_BYTES, MIN_PASSWORD_CHARS, password_fault};

/// Maximum length of an email address, in characters.
const MAX_EMAIL_CHARS: usize = 254;

/// Email address; surrounding whitespace is ignored.
pub struct EmailAddress;

impl Rule<String> for EmailAddress {
    fn judge(&self, text: &String) -> Result<(), String> {
        normal_email(text).map(drop).map_err(|_| "must be an email address".to_owned())
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit(|object| {
            object.format = Some(SchemaFormat::Custom("email".to_owned()));
            object.max_length = Some(MAX_EMAIL_CHARS);
        })
    }
}

/// New password. The server also limits its length in bytes and rejects blank and common passwords, which a schema
/// cannot express.
pub struct NewPassword;

impl Rule<String> for NewPassword {
    fn judge(&self, password: &String) -> Result<(), String> {
        password_fault(password).map_or(Ok(()), Err)
    }
    fn mark(&self, schema: Shape) -> Shape {
        let length = (Some(MIN_PASSWORD_CHARS), Some(MAX_PASSWORD_BYTES));
        SecretText.mark(schema).edit(|object| (object.min_length, object.max_length) = length)
    }
}
