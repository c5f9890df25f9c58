use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;

#[tokio::test]
async fn a_judgement_serves_everybody_who_asks_within_a_second() {
    let (cache, judged, began) = (ReadinessCache::default(), AtomicUsize::new(0), Instant::now());
    let judge = || async {
        judged.fetch_add(1, Relaxed);
        let (components, degraded) = (BTreeMap::new(), Vec::new());
        ReadinessResult { database: DatabaseStatus::Ok, redis: None, components, degraded, fault: None }
    };
    for (after_ms, judgements) in [(0, 1), (1, 1), (500, 1), (999, 1), (1000, 2), (1500, 2), (2001, 3)] {
        cache.recent(began + Duration::from_millis(after_ms), judge).await;
        assert_eq!(judged.load(Relaxed), judgements, "after {after_ms} ms");
    }
    // Many at the same moment wait for one judgement.
    let later = began + Duration::from_secs(10);
    futures::future::join_all((0..50).map(|_| cache.recent(later, judge))).await;
    assert_eq!(judged.load(Relaxed), 4);
}
