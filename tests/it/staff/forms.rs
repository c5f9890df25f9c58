//! The token that forms carry: masked anew on each page, and good on all of them.

use super::operator;
use crate::billing::pages::{posted, token};
use crate::support::{App, Db};

/// Length of a piece of a token that an attacker would guess at once.
const PIECE: usize = 8;

#[tokio::test]
async fn the_token_of_forms_looks_different_on_each_page_and_is_good_on_all() {
    let app = App::new(Db::sqlite()).await;
    let sam = operator(&app).await;
    let tokens = [token(&sam.get("/shop/settings/password").await), token(&sam.get("/shop/settings/password").await)];
    let pieces: Vec<&str> = (0..=tokens[0].len() - PIECE).map(|at| &tokens[0][at..at + PIECE]).collect();
    assert!(pieces.iter().all(|piece| !tokens[1].contains(piece)), "{tokens:?}");
    for own in &tokens {
        let sent =
            posted(&sam, "/shop/settings/password", &[("form_token", own), ("current", "x"), ("new", "y")]).await;
        assert_eq!(sent.status, 400, "the form is read: {}", sent.text);
    }
    let mut wrong = tokens[0].clone();
    let last = if wrong.ends_with('0') { "1" } else { "0" };
    wrong.replace_range(wrong.len() - 1.., last);
    for wrong in [wrong.as_str(), &tokens[0][..64], ""] {
        let sent =
            posted(&sam, "/shop/settings/password", &[("form_token", wrong), ("current", "x"), ("new", "y")]).await;
        assert_eq!(sent.status, 403, "{wrong}");
    }
}
