//! Creating and checking passwords, API keys and session tokens ([`credentials`]), and encrypting secrets that are
//! stored in the database ([`encryption`]).

pub mod credentials;
pub mod encryption;
pub mod random;
