//! Storage for tests: a bucket of a simulated service.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use super::{BucketSettings, ObjectStorage};
use platform::http::{LanSettings, lan};

/// Opens a bucket of the service at `endpoint`, whose requests have the given time limit.
pub fn simulated_bucket(endpoint: String, bucket: &str, timeout: Duration) -> ObjectStorage {
    let settings = BucketSettings {
        bucket: bucket.to_owned(),
        endpoint,
        region: "us-east-1".to_owned(),
        access_key_id: "id".to_owned(),
        secret_access_key: "secret".to_owned(),
        public_url: String::new(),
        timeout,
    };
    ObjectStorage::bucket(&settings, lan(&LanSettings::default()).unwrap()).unwrap()
}
