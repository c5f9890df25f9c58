//! A bucket that does not respond, or fails, at a simulated service.

use std::time::Duration;

use simulator::peers::bucket::{BucketFault, SimBucket};
use tokio::time::{Instant, timeout};

use super::*;
use services::object_storage::StorageError;
use services::object_storage::testing::simulated_bucket;

/// Size, in bytes, of contents that are received in several parts, and passed on to clients.
const LARGE_BYTES: usize = 9 * 1024 * 1024;
/// Time limit for a request.
const TIME_LIMIT: Duration = Duration::from_secs(1);
/// Time within which a removal that can no longer take effect is over.
const SOON: Duration = Duration::from_secs(5);

/// Contents in a simulated bucket, with a directory of copies.
struct Rig {
    bucket: SimBucket,
    copies: tempfile::TempDir,
    blobs: Arc<Blobs>,
}

fn open(endpoint: String, bucket: &str, copies: &Path) -> Arc<Blobs> {
    let storage = simulated_bucket(endpoint, bucket, TIME_LIMIT);
    Arc::new(Blobs::in_bucket(storage, copies, copy_limits(0)).unwrap())
}

impl Rig {
    async fn start() -> Self {
        Self::with_time_limit(TIME_LIMIT).await
    }

    /// Starts a bucket whose requests have this time limit.
    async fn with_time_limit(limit: Duration) -> Self {
        let (bucket, copies) = (SimBucket::start().await.unwrap(), tempfile::tempdir().unwrap());
        let storage = simulated_bucket(bucket.url(), SimBucket::NAME, limit);
        let blobs = Arc::new(Blobs::in_bucket(storage, copies.path(), copy_limits(0)).unwrap());
        Self { bucket, copies, blobs }
    }

    async fn store(&self, bytes: &[u8]) -> String {
        self.blobs.store(bytes, &self.blobs.recording()).await.unwrap().sha256
    }
}

#[tokio::test]
async fn a_bucket_that_does_not_respond_is_not_asked_again_at_once() {
    let copies = tempfile::tempdir().unwrap();
    // Nothing listens on this port once its listener is gone.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let blobs = open(format!("http://127.0.0.1:{port}"), SimBucket::NAME, copies.path());
    let recording = blobs.recording();
    let error = blobs.store(b"abc", &recording).await.unwrap_err();
    assert!(!is_lost(&error) && error.downcast::<StorageError>().is_ok());
    let again = blobs.store(b"abc", &recording).await.unwrap_err();
    assert!(again.to_string().contains("a moment ago"), "{again}");
    assert_eq!(files_below(copies.path()), 0, "nothing is left behind");
}

#[tokio::test]
async fn a_request_that_is_not_answered_ends_nothing_that_is_under_way() {
    let rig = Rig::start().await;
    let sha256 = rig.store(&vec![7_u8; LARGE_BYTES]).await;
    let (mut content, size) = rig.blobs.read(&sha256).await.unwrap();
    let mut first = [0_u8; 1000];
    content.read_exact(&mut first).await.unwrap();
    rig.bucket.fail("HEAD", "/ff/", BucketFault::Hanging);
    assert!(rig.blobs.local(&"f".repeat(64)).await.is_err());
    let refused = rig.blobs.local(&sha256).await.unwrap_err();
    assert!(refused.to_string().contains("a moment ago"), "{refused}");
    let mut rest = Vec::new();
    content.read_to_end(&mut rest).await.unwrap();
    assert_eq!((first.len() + rest.len()) as u64, size);
}

#[tokio::test]
async fn a_service_that_fails_is_asked_again_at_once() {
    let rig = Rig::start().await;
    let sha256 = rig.store(b"abc").await;
    // Each request is tried three times.
    for _ in 0..3 {
        rig.bucket.fail("HEAD", &sha256, BucketFault::Refused(507));
    }
    let error = rig.blobs.local(&sha256).await.unwrap_err();
    assert!(!is_lost(&error) && error.downcast::<StorageError>().is_ok());
    assert!(rig.blobs.local(&sha256).await.is_ok());
}

#[tokio::test]
async fn contents_are_lost_only_if_the_bucket_is_there_without_them() {
    let rig = Rig::start().await;
    let sha256 = rig.store(b"abc").await;
    rig.bucket.fail("HEAD", &sha256, BucketFault::Refused(404));
    assert!(!is_lost(&rig.blobs.local(&sha256).await.unwrap_err()), "a proxy may say so");
    let copies = tempfile::tempdir().unwrap();
    let other = open(rig.bucket.url(), "other", copies.path());
    assert!(!is_lost(&other.local(&sha256).await.unwrap_err()), "the bucket does not exist");
    rig.bucket.remove(&format!("{}/{sha256}", &sha256[..2]));
    assert!(is_lost(&rig.blobs.local(&sha256).await.unwrap_err()));
}

#[tokio::test]
async fn a_folder_of_copies_that_somebody_emptied_is_made_anew() {
    let rig = Rig::start().await;
    let sha256 = rig.store(b"abc").await;
    std::fs::remove_dir_all(rig.copies.path().join(INCOMING_FOLDER)).unwrap();
    assert!(rig.blobs.local(&sha256).await.is_ok());
    std::fs::remove_dir_all(rig.copies.path().join(INCOMING_FOLDER)).unwrap();
    rig.store(b"xyz").await;
    let disk = tempfile::tempdir().unwrap();
    let on_disk = Blobs::open(disk.path()).unwrap();
    std::fs::remove_dir_all(disk.path()).unwrap();
    assert!(on_disk.store(b"abc", &on_disk.recording()).await.is_err(), "its disk may not be mounted");
}

#[tokio::test]
async fn a_backup_outlasts_a_bucket_that_does_not_respond_for_a_moment() {
    let rig = Rig::start().await;
    let sha256 = rig.store(b"abc").await;
    rig.bucket.fail("HEAD", &sha256, BucketFault::Hanging);
    assert_eq!(visits(&rig.blobs).await, [(sha256, 3)]);
    assert_eq!(files_below(rig.copies.path()), 0);
}

#[tokio::test]
async fn contents_are_not_stored_right_after_the_answer_to_their_removal_was_lost() {
    let rig = Rig::start().await;
    let sha256 = rig.store(b"abc").await;
    let removal = rig.blobs.removal(&sha256).unwrap();
    rig.bucket.fail("POST", "delete", BucketFault::AnswerLost);
    assert_eq!(removal.remove().await.unwrap_err().kind(), io::ErrorKind::HostUnreachable);
    removal.hold();
    assert!(rig.blobs.removal(&sha256).is_none(), "it is not over");
    assert!(!rig.blobs.recording().try_add(&sha256));
}

#[tokio::test]
async fn contents_are_stored_as_soon_as_it_is_certain_that_they_were_removed() {
    let rig = Rig::with_time_limit(Duration::from_secs(3600)).await;
    let sha256 = rig.store(b"abc").await;
    let removal = rig.blobs.removal(&sha256).unwrap();
    rig.bucket.fail("POST", "delete", BucketFault::AnswerLost);
    assert!(is_outcome_unknown(&removal.remove().await.unwrap_err()));
    removal.hold();
    let recording = rig.blobs.recording();
    assert!(!recording.try_add(&sha256));
    timeout(SOON, recording.add(&sha256)).await.unwrap();
}

#[tokio::test]
async fn contents_that_may_still_be_removed_are_held_for_the_time_limit_of_a_request() {
    let limit = Duration::from_secs(3);
    let rig = Rig::with_time_limit(limit).await;
    let sha256 = rig.store(b"abc").await;
    let removal = rig.blobs.removal(&sha256).unwrap();
    rig.bucket.fail("POST", "delete", BucketFault::Hanging);
    let sent_at = Instant::now();
    assert!(is_outcome_unknown(&removal.remove().await.unwrap_err()));
    removal.hold();
    let recording = rig.blobs.recording();
    timeout(SOON, recording.add(&sha256)).await.unwrap();
    assert!(sent_at.elapsed() >= limit);
}

#[tokio::test]
async fn a_removal_that_was_refused_or_not_sent_is_over_at_once() {
    let rig = Rig::start().await;
    let sha256 = rig.store(b"abc").await;
    rig.bucket.fail("POST", "delete", BucketFault::Refused(403));
    let refusal = rig.blobs.removal(&sha256).unwrap().remove().await.unwrap_err();
    assert!(!is_outcome_unknown(&refusal), "{refusal}");
    rig.bucket.fail("HEAD", "/ff/", BucketFault::Hanging);
    assert!(rig.blobs.local(&"f".repeat(64)).await.is_err());
    let removal = rig.blobs.removal(&sha256).unwrap();
    assert!(removal.remove().await.unwrap_err().to_string().contains("a moment ago"));
    removal.hold();
    assert!(rig.blobs.removal(&sha256).is_some(), "nothing was sent");
}

#[tokio::test]
async fn a_slow_upload_keeps_nobody_waiting() {
    let rig = Rig::start().await;
    let (stored, slow_sha256) = (rig.store(b"abc").await, hex::encode(Sha256::digest(b"hello")));
    rig.bucket.fail("PUT", "", BucketFault::Hanging);
    let recording = rig.blobs.recording();
    let mut slow = std::pin::pin!(rig.blobs.store(b"hello", &recording));
    while rig.bucket.calls().len() < 2 {
        assert!(futures::poll!(&mut slow).is_pending());
        tokio::task::yield_now().await;
    }
    rig.blobs.removal(&stored).unwrap().remove().await.unwrap();
    assert!(rig.blobs.removal(&slow_sha256).is_none(), "it is being recorded");
    rig.store(b"xyz").await;
    assert!(slow.await.is_err());
}

#[tokio::test]
async fn contents_that_are_gone_are_sent_again_from_their_copy() {
    let (place, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = ObjectStorage::folder(place.path(), String::new()).unwrap();
    let blobs = Blobs::in_bucket(storage, copies.path(), copy_limits(u64::MAX)).unwrap();
    assert!(!blobs.store_copy_again(&"f".repeat(64)).await.unwrap());
    let sha256 = blobs.store(b"abc", &blobs.recording()).await.unwrap().sha256;
    let object = place.path().join(&sha256[..2]).join(&sha256);
    std::fs::remove_file(&object).unwrap();
    assert!(blobs.store_copy_again(&sha256).await.unwrap());
    assert_eq!(std::fs::read(object).unwrap(), b"abc");
}
