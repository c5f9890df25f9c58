//! Moto, a real server for the Amazon S3 protocol. It is Python and takes most of a second to start, so that tests
//! share one, each with its own bucket, unless they end it.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use super::client::http;
use super::db::SERVICES;
use super::ports::free_port;
use super::until;

/// Environment variable with the path of a Python environment that contains moto; `scripts/test` sets it.
const VENV: &str = "PRINTFLOOR_TEST_MOTO";

/// Environment variable with the address of a server that all tests of a run share; `scripts/test` starts it.
const SHARED: &str = "PRINTFLOOR_TEST_MOTO_SERVER";

/// Number of buckets that this process has made on the shared server.
static BUCKET_COUNT: AtomicU32 = AtomicU32::new(0);

/// A bucket on a server.
pub struct Moto {
    /// Process of the test's own server, which is stopped when this value is dropped; `None` for the shared server.
    child: Option<Child>,
    http: reqwest::Client,
    /// Address of the server.
    pub url: String,
    /// Name of the bucket.
    pub bucket: String,
}

impl Moto {
    /// Makes a bucket of its own for this test, whose name begins with `name`, on the server that all tests share or,
    /// if there is none, as [`Self::start`] does.
    pub async fn bucket(name: &str) -> Option<Self> {
        let Ok(url) = std::env::var(SHARED) else { return Self::start(name).await };
        let bucket = format!("{name}-{}-{}", std::process::id(), BUCKET_COUNT.fetch_add(1, Ordering::Relaxed));
        let moto = Self { child: None, http: http(), url, bucket };
        moto.make_bucket().await;
        Some(moto)
    }

    /// Starts a server of the test's own, which it may end, with a bucket of this name; `None` if moto is not installed
    /// and services are not required.
    pub async fn start(bucket: &str) -> Option<Self> {
        let Ok(venv) = std::env::var(VENV) else {
            assert!(std::env::var_os(SERVICES).is_none(), "{VENV} is not set");
            eprintln!("left out: no {VENV}");
            return None;
        };
        let port = free_port();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/moto");
        let child = Command::new(script)
            .args(["serve", &venv, &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let moto = Self { child: Some(child), http: http(), url, bucket: bucket.to_owned() };
        moto.make_bucket().await;
        Some(moto)
    }

    /// Makes the bucket as soon as the server responds. Anybody may read and delete its objects.
    async fn make_bucket(&self) {
        let place = format!("{}/{}", self.url, self.bucket);
        until("the bucket to be made", || async {
            self.http.put(&place).send().await.ok().filter(|answer| answer.status().is_success()).map(drop)
        })
        .await;
        let policy = json!({"Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:DeleteObject"],
            "Resource": format!("arn:aws:s3:::{}/*", self.bucket),
        }]});
        let open = self.http.put(format!("{place}?policy")).body(policy.to_string()).send().await.unwrap();
        assert!(open.status().is_success(), "{open:?}");
    }

    /// Returns the address of a folder in the bucket, as settings and commands take it.
    pub fn place(&self, folder: &str) -> String {
        format!("s3://{}/{folder}", self.bucket)
    }

    /// Lists the keys of the bucket's objects.
    pub async fn keys(&self) -> Vec<String> {
        let answer = self.http.get(format!("{}/{}?list-type=2", self.url, self.bucket)).send().await.unwrap();
        let text = answer.text().await.unwrap();
        let keys = text.split("<Key>").skip(1);
        keys.map(|rest| rest.split("</Key>").next().unwrap().to_owned()).collect()
    }

    /// Returns the content of an object.
    pub async fn object(&self, key: &str) -> Vec<u8> {
        let answer = self.http.get(format!("{}/{}/{key}", self.url, self.bucket)).send().await.unwrap();
        assert!(answer.status().is_success(), "{key}: {answer:?}");
        answer.bytes().await.unwrap().to_vec()
    }

    /// Removes an object.
    pub async fn remove(&self, key: &str) {
        let removed = self.http.delete(format!("{}/{}/{key}", self.url, self.bucket)).send().await.unwrap();
        assert!(removed.status().is_success(), "{removed:?}");
    }

    /// Makes the test's own server reject every request from now on, because it knows no keys.
    pub async fn reject_keys(&self) {
        assert!(self.child.is_some(), "other tests use the server");
        let rejects = self.http.post(format!("{}/moto-api/reset-auth", self.url)).body("0").send().await.unwrap();
        assert!(rejects.status().is_success(), "{rejects:?}");
    }

    /// Stops the test's own server.
    pub fn end(&mut self) {
        let mut child = self.child.take().expect("a server of the test's own");
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.end();
        }
    }
}
