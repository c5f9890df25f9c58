//! Moto, a real server for the Amazon S3 protocol.

use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::client::http;
use super::db::SERVICES;
use super::ports::free_port;
use super::until;

/// Environment variable with the path of a Python environment that contains moto; `scripts/test` sets it.
const VENV: &str = "PRINTFLOOR_TEST_MOTO";

/// A server with one bucket; stopped when dropped.
pub struct Moto {
    child: Child,
    pub url: String,
}

impl Moto {
    /// Starts a server with a bucket whose objects anybody may read and delete; `None` if moto is not installed and
    /// services are not required.
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
        let moto = Self { child, url: format!("http://127.0.0.1:{port}") };
        let place = format!("{}/{bucket}", moto.url);
        until("the bucket to be made", || async {
            http().put(&place).send().await.ok().filter(|answer| answer.status().is_success()).map(drop)
        })
        .await;
        let policy = json!({"Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:DeleteObject"],
            "Resource": format!("arn:aws:s3:::{bucket}/*"),
        }]});
        let open = http().put(format!("{place}?policy")).body(policy.to_string()).send().await.unwrap();
        assert!(open.status().is_success(), "{open:?}");
        Some(moto)
    }

    /// Lists the keys of a bucket's objects.
    pub async fn keys(&self, bucket: &str) -> Vec<String> {
        let answer = http().get(format!("{}/{bucket}?list-type=2", self.url)).send().await.unwrap();
        let text = answer.text().await.unwrap();
        let keys = text.split("<Key>").skip(1);
        keys.map(|rest| rest.split("</Key>").next().unwrap().to_owned()).collect()
    }

    /// Returns the content of an object.
    pub async fn object(&self, bucket: &str, key: &str) -> Vec<u8> {
        let answer = http().get(format!("{}/{bucket}/{key}", self.url)).send().await.unwrap();
        assert!(answer.status().is_success(), "{key}: {answer:?}");
        answer.bytes().await.unwrap().to_vec()
    }

    /// Removes an object.
    pub async fn remove(&self, bucket: &str, key: &str) {
        let removed = http().delete(format!("{}/{bucket}/{key}", self.url)).send().await.unwrap();
        assert!(removed.status().is_success(), "{removed:?}");
    }

    /// Makes the server reject every request from now on, because it knows no keys.
    pub async fn reject_keys(&self) {
        let rejects = http().post(format!("{}/moto-api/reset-auth", self.url)).body("0").send().await.unwrap();
        assert!(rejects.status().is_success(), "{rejects:?}");
    }

    /// Stops the server.
    pub fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        self.end();
    }
}
