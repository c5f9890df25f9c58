//! Optional components of a Moonraker server. Missing components are not called, because Moonraker would log each such
//! call as an error.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::FwRest;

/// Time for which the list of components is reused. A new component requires a restart of Moonraker, which the push
/// connection also reports.
const ANSWER_LIFETIME: Duration = Duration::from_secs(60);
/// Maximum number of components read.
const MAX_COMPONENTS: usize = 500;

/// List of components that Moonraker last reported.
#[derive(Debug, Default)]
pub(super) struct ComponentCache(Mutex<Option<(Vec<String>, Instant)>>);

impl ComponentCache {
    /// Invalidates the list, because Moonraker may have been restarted.
    pub(super) fn doubt(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn has(&self, name: &str) -> Option<bool> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (names, _) = cached.as_ref().filter(|(_, at)| at.elapsed() < ANSWER_LIFETIME)?;
        Some(names.iter().any(|listed| listed == name))
    }

    fn note(&self, names: Vec<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((names, Instant::now()));
    }
}

/// Returns whether this Moonraker reports a component with the given name; `None` if it cannot be queried at present.
pub(super) async fn has(printer: &FwRest, name: &str) -> Option<bool> {
    if let Some(has) = printer.components.has(name) {
        return Some(has);
    }
    let info = printer.info().await.ok()?;
    let listed = info.get("components").and_then(Value::as_array)?;
    let names = listed.iter().take(MAX_COMPONENTS).filter_map(Value::as_str).map(str::to_owned);
    printer.components.note(names.collect());
    printer.components.has(name)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::routing::get;
    use axum::{Json, Router};
    use serde_json::json;

    use crate::tests::{adapter, serve};
    use domain::printer_status::Activity;
    use domain::time::Timestamp;

    /// Starts a fake Moonraker with the given components that is printing `a.gcode`. Returns its address and the number
    /// of requests to each component.
    async fn moonraker(components: &'static [&'static str]) -> (String, Arc<[AtomicUsize; 2]>) {
        let requests = Arc::<[AtomicUsize; 2]>::default();
        let (spools, history) = (requests.clone(), requests.clone());
        let router = Router::new()
            .route(
                "/printer/objects/query",
                get(|| async {
                    let stats = json!({"state": "printing", "filename": "a.gcode", "total_duration": 20.0});
                    Json(json!({"result": {"status": {"webhooks": {"state": "ready"}, "print_stats": stats}}}))
                }),
            )
            .route(
                "/server/info",
                get(move || async move {
                    Json(json!({"result": {"klippy_connected": true, "klippy_state": "ready", "components": components}}))
                }),
            )
            .route(
                "/server/spoolman/status",
                get(move || async move {
                    spools[0].fetch_add(1, Ordering::SeqCst);
                    Json(json!({"result": {"spoolman_connected": true, "spool_id": 7}}))
                }),
            )
            .route(
                "/server/history/list",
                get(move || async move {
                    history[1].fetch_add(1, Ordering::SeqCst);
                    let print = |name: &str| json!({"filename": name, "status": "completed"});
                    Json(json!({"result": {"jobs": [print("a.gcode"), print("a.gcode"), print("b.gcode")]}}))
                }),
            );
        (serve(router).await, requests)
    }

    #[tokio::test]
    async fn a_component_that_is_not_there_is_never_asked() {
        let (url, requests) = moonraker(&["file_manager"]).await;
        let printer = adapter("fw_rest", &url);
        for _ in 0..3 {
            let status = printer.status(Timestamp(1)).await.unwrap();
            assert_eq!((status.state, status.books_on, status.runs), (Activity::Printing, None, None));
        }
        assert!(requests.iter().all(|times| times.load(Ordering::SeqCst) == 0), "each would be an error in its log");
    }

    #[tokio::test]
    async fn spools_and_prints_of_the_file_are_told_by_those_that_are_there() {
        let (url, requests) = moonraker(&["file_manager", "spoolman", "history"]).await;
        let printer = adapter("fw_rest", &url);
        for _ in 0..3 {
            let status = printer.status(Timestamp(1)).await.unwrap();
            assert_eq!(status.books_on.map(|booking| booking.spool), Some(7));
            assert_eq!((status.runs, status.prints_again()), (Some(2), true), "b.gcode is another file");
        }
        assert!(requests.iter().all(|times| times.load(Ordering::SeqCst) == 1), "an answer stands for a while");
    }
}
