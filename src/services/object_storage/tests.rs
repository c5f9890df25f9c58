#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;

use simulator::peers::bucket::{BucketFault, SimBucket};

use super::large::LargeObjectError;
use super::testing::simulated_bucket;
use super::*;

/// Size of a file that is sent in two parts, in bytes.
const LARGE_BYTES: usize = 6 * 1024 * 1024;

fn open(endpoint: String, bucket: &str) -> ObjectStorage {
    simulated_bucket(endpoint, bucket, Duration::from_secs(2))
}

async fn start() -> (SimBucket, ObjectStorage) {
    let bucket = SimBucket::start().await.unwrap();
    let storage = open(bucket.url(), SimBucket::NAME);
    (bucket, storage)
}

/// Writes a file that is sent in two parts.
fn large_file(folder: &tempfile::TempDir) -> PathBuf {
    let file = folder.path().join("large");
    std::fs::write(&file, vec![7_u8; LARGE_BYTES]).unwrap();
    file
}

#[tokio::test]
async fn a_service_that_fails_is_not_one_that_does_not_respond() {
    let (bucket, storage) = start().await;
    storage.store("a/b", "text/plain", Bytes::from_static(b"abc")).await.unwrap();
    assert_eq!(storage.get("a/b").await.unwrap(), "abc");
    for _ in 0..3 {
        bucket.fail("GET", "a/b", BucketFault::Refused(507));
    }
    let error = storage.get("a/b").await.unwrap_err();
    assert!(matches!(error, StorageError::Unavailable(_)) && error.is_transient(), "{error:?}");
    bucket.fail("HEAD", "a/b", BucketFault::Hanging);
    let error = storage.size("a/b").await.unwrap_err();
    assert!(matches!(error, StorageError::Silent(_)) && error.is_transient(), "{error:?}");
    bucket.fail("PUT", "a/b", BucketFault::Refused(400));
    assert!(storage.store("a/b", "text/plain", Bytes::new()).await.unwrap_err().is_transient());
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let closed = open(format!("http://127.0.0.1:{port}"), SimBucket::NAME);
    assert!(matches!(closed.size("a/b").await, Err(StorageError::Silent(_))));
}

#[tokio::test]
async fn an_object_is_missing_only_if_its_folder_can_be_listed() {
    let (bucket, storage) = start().await;
    bucket.insert("a/b", b"abc");
    assert!(matches!(storage.size("a/c").await, Err(StorageError::Missing)));
    assert!(storage.lacks("a/c").await.unwrap() && !storage.lacks("a/b").await.unwrap());
    assert!(!storage.below("a").lacks("b").await.unwrap());
    let other = open(bucket.url(), "other");
    assert!(matches!(other.size("a/b").await, Err(StorageError::Missing)), "a head has no body");
    assert!(!matches!(other.lacks("a/b").await, Ok(_) | Err(StorageError::Missing)), "the bucket does not exist");
}

#[tokio::test]
async fn an_upload_whose_last_answer_is_lost_is_stored() {
    let (bucket, storage) = start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = large_file(&folder);
    bucket.fail("POST", "uploadId=", BucketFault::AnswerLost);
    storage.send_file("a", &file, &mut |_| {}).await.unwrap();
    assert_eq!(storage.size("a").await.unwrap(), LARGE_BYTES as u64);
    assert_eq!(bucket.calls().iter().filter(|call| call.starts_with("POST") && call.contains("uploadId=")).count(), 2);
}

#[tokio::test]
async fn an_upload_that_somebody_aborted_may_succeed_later() {
    let (bucket, storage) = start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = large_file(&folder);
    for (method, url) in [("PUT", "partNumber=2"), ("POST", "uploadId=")] {
        bucket.fail(method, url, BucketFault::Refused(404));
        let error = storage.send_file("a", &file, &mut |_| {}).await.unwrap_err();
        assert!(matches!(error, LargeObjectError::Storage(StorageError::Unavailable(_))), "{method}: {error:?}");
    }
    storage.send_file("a", &file, &mut |_| {}).await.unwrap();
}

#[tokio::test]
async fn a_removal_that_must_not_be_late_is_sent_once() {
    let (bucket, storage) = start().await;
    bucket.insert("a/b", b"abc");
    bucket.fail("POST", "delete", BucketFault::Refused(503));
    assert!(storage.remove_once("a/b").await.is_err());
    assert_eq!((bucket.calls().len(), bucket.keys().len()), (1, 1));
    storage.below("a").remove_once("b").await.unwrap();
    assert!(bucket.keys().is_empty());
}

#[tokio::test]
async fn an_object_that_must_not_be_stored_late_is_sent_once() {
    let (bucket, storage) = start().await;
    bucket.fail("PUT", "a/b", BucketFault::Refused(503));
    assert!(storage.store_once("a/b", "text/plain", Bytes::from_static(b"abc")).await.unwrap_err().is_transient());
    assert_eq!((bucket.calls().len(), bucket.keys().len()), (1, 0));
    storage.store_once("a/b", "text/plain", Bytes::from_static(b"abc")).await.unwrap();
    assert_eq!(storage.get("a/b").await.unwrap(), "abc");
}

#[tokio::test]
async fn a_slow_line_has_time_for_a_part() {
    let (_, storage) = start().await;
    assert_eq!(storage.transfer_time(0), Duration::from_secs(2));
    assert!(storage.transfer_time(5 * 1024 * 1024) >= Duration::from_secs(100));
}
