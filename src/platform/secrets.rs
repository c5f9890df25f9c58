//! Creates and verifies passwords, API keys and session tokens ([`credentials`]), encrypts secrets stored in the
//! database ([`encryption`]), replaces the key that they are encrypted with ([`rotation`]), and detects server secrets
//! that do not match the database ([`check_values`]).

pub mod check_values;
pub mod credentials;
pub mod encryption;
pub mod random;
pub mod rotation;
