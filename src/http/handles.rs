//! Handles that request handlers extract. Every resource declares the handles that it uses, so that its dependencies
//! are visible in its code.
//!
//! Handles outlive the request, are cheap to clone, and are identified by type. The whole server state is used only by
//! the middleware around the handlers.

use axum::extract::FromRef;

use crate::AppState;
use platform::watch::WatchSender;

/// Sender that announces commits to the access aggregate (users, keys and sessions).
#[derive(Clone)]
pub struct AccessChanges(pub WatchSender<u64>);

impl FromRef<AppState> for AccessChanges {
    fn from_ref(app: &AppState) -> Self {
        Self(app.access_changes.clone())
    }
}

/// Declares the handles of a resource: a struct that its handlers extract with `State`.
#[macro_export]
macro_rules! handles {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone)]
        $vis struct $name {
            $(
                #[doc = concat!("Handle `", stringify!($field), "` of the shop.")]
                $vis $field: $type,
            )*
        }

        impl axum::extract::FromRef<$crate::AppState> for $name {
            fn from_ref(app: &$crate::AppState) -> Self {
                Self { $($field: axum::extract::FromRef::from_ref(app),)* }
            }
        }
    };
}
pub use handles;
