//! Storage for customers' sign-in links: only a snapshot row.

use crate::load::Load;
use crate::rows::snapshot_row;
use domain::sign_in_link::SignInLink;

snapshot_row!(SignInLink in sign_in_links unique hash, |this, at_rest| {
    hash: this.hash.clone(),
    expires_at: this.expires_at.0,
    created_at: this.created_at.0,
});

impl Load for SignInLink {}
