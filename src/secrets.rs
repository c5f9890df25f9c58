//! Creating and checking passwords, API keys and session tokens ([`credentials`]), and encrypting secrets that are
//! stored in the database ([`encryption`]); noticing that the server's own secrets are not those of its data
//! ([`check_values`]).

pub mod check_values;
pub mod credentials;
pub mod encryption;
pub mod random;
