//! Creates and verifies passwords, API keys and session tokens ([`credentials`]), encrypts secrets that are stored in
//! the database ([`encryption`]), and detects that the server's own secrets are not those of its data
//! ([`check_values`]).

pub mod check_values;
pub mod credentials;
pub mod encryption;
pub mod random;
