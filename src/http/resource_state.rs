//! State that resources keep in the server, such as caches. There is one value per type, created from the shop on first
//! use. The HTTP layer itself knows no resources, so it stores the states by type.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::FromRef;

use crate::AppState;
use actors::app::App;
use config::Config;

/// State of a resource, which handlers access through a handle of type `Arc<Self>`.
pub trait ResourceState: Send + Sync + 'static {
    /// Creates the state for a started shop. Must not use the state of other resources.
    fn create(app: &App, config: &Config) -> Self;
}

/// States of all resources used so far, by type.
#[derive(Default)]
pub struct ResourceStates(RwLock<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl ResourceStates {
    /// Returns the state of the requested type, creating it if it does not exist.
    fn get<T: ResourceState>(&self, create: impl FnOnce() -> T) -> Arc<T> {
        let key = TypeId::of::<T>();
        let existing = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(state) = existing.and_then(|state| state.downcast().ok()) {
            return state;
        }
        let mut states = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another request may have created it in between.
        if let Some(state) = states.get(&key).and_then(|state| state.clone().downcast().ok()) {
            return state;
        }
        let state = Arc::new(create());
        states.insert(key, state.clone());
        state
    }
}

impl<T: ResourceState> FromRef<AppState> for Arc<T> {
    fn from_ref(state: &AppState) -> Self {
        state.resource_states.get(|| T::create(&state.app, &state.config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Cache(u32);

    impl ResourceState for Cache {
        fn create(_: &App, _: &Config) -> Self {
            Self(1)
        }
    }

    #[test]
    fn a_state_is_created_once() {
        let states = ResourceStates::default();
        let first = states.get(|| Cache(7));
        let second = states.get(|| Cache(8));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(second.0, 7);
    }
}
