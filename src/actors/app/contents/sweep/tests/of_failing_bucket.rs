//! A sweep through a bucket that fails, at a simulated service.

use simulator::peers::bucket::{BucketFault, SimBucket};

use super::*;
use services::object_storage::testing::simulated_bucket;

/// Time limit for a request.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Time at which everything that a test stores has been in the bucket for long.
const LATER: Timestamp = Timestamp(100_000 * DAY_MS);
/// Number of contents that no file names.
const UNNAMED: usize = 4;

/// Contents in a simulated bucket, with a directory of copies.
struct SimRig {
    bucket: SimBucket,
    _copies: TempDir,
    blobs: Arc<Blobs>,
    sweep: ContentSweep,
}

impl SimRig {
    async fn start(queries: &Queries) -> Self {
        let (bucket, copies) = (SimBucket::start().await.unwrap(), tempfile::tempdir().unwrap());
        let storage = simulated_bucket(bucket.url(), SimBucket::NAME, TIME_LIMIT);
        let limits = CopyLimits { max_bytes: u64::MAX, min_free_bytes: 0 };
        let blobs = Arc::new(Blobs::in_bucket(storage.below("files"), copies.path(), limits).unwrap());
        let sweep = ContentSweep {
            mark: SweepMark::without_delay(storage),
            ..ContentSweep::new(blobs.clone(), queries.clone(), None)
        };
        Self { bucket, _copies: copies, blobs, sweep }
    }

    /// Stores contents and returns their hash.
    async fn store(&self, bytes: &[u8]) -> String {
        self.blobs.store(bytes, &self.blobs.recording()).await.unwrap().sha256
    }

    async fn run(&self) -> Result<usize, RemoveError> {
        self.sweep.run_in(&parts(u64::MAX), &Leadership::default(), LATER).await
    }

    /// Returns the number of requests so far that remove contents.
    fn removals(&self) -> usize {
        self.bucket.calls().iter().filter(|call| call.starts_with("POST ") && call.contains("delete")).count()
    }

    /// Returns the number of contents in the bucket.
    fn stored(&self) -> usize {
        self.bucket.keys().iter().filter(|key| key.starts_with("files/")).count()
    }

    /// Lets each of the following requests to remove contents be answered like this.
    fn fail_removals(&self, fault: BucketFault) {
        for _ in 0..UNNAMED {
            self.bucket.fail("POST", "delete", fault);
        }
    }

    /// Stores contents that no file names yet. Returns the hash of the last ones, in a part after all others.
    async fn plant(&self) -> String {
        let mut contents = Vec::new();
        for n in 0..=UNNAMED {
            contents.push(self.store(&[n as u8]).await);
        }
        contents.sort();
        contents.pop().unwrap()
    }

    /// Sweeps for the first time, and loses these contents.
    async fn lose(&self, last: &str) {
        assert_eq!(self.run().await.unwrap(), 0, "the mark has just been put there");
        self.bucket.remove(&format!("files/{}/{last}", &last[..2]));
    }
}

#[tokio::test]
async fn a_bucket_that_fails_is_asked_for_one_removal_and_missing_contents_are_stored_again() {
    on_each(async |db| {
        let rig = SimRig::start(&Queries::new(db.clone())).await;
        let last = rig.plant().await;
        write(db, named(1, &last)).await.unwrap();
        rig.lose(&last).await;
        rig.fail_removals(BucketFault::Refused(503));
        let swept = rig.run().await;
        assert!(matches!(swept, Err(RemoveError::Disk(_))), "{swept:?}");
        assert_eq!((rig.removals(), rig.stored(), rig.sweep.missing_count()), (1, UNNAMED + 1, 0));
    })
    .await;
}

#[tokio::test]
async fn contents_that_a_bucket_refuses_to_remove_do_not_keep_others_from_it() {
    on_each(async |db| {
        let rig = SimRig::start(&Queries::new(db.clone())).await;
        let last = rig.plant().await;
        write(db, named(1, &last)).await.unwrap();
        rig.lose(&last).await;
        rig.bucket.fail("POST", "delete", BucketFault::Refused(403));
        let swept = rig.run().await;
        assert!(matches!(swept, Err(RemoveError::Disk(_))), "{swept:?}");
        assert_eq!((rig.removals(), rig.stored()), (UNNAMED, 2));
    })
    .await;
}
