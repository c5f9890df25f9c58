//! Addresses of places in a bucket, such as `s3://shop/files`.

use std::fmt;

/// Beginning of every address.
const SCHEME: &str = "s3://";

/// Place in a bucket: an object, or all objects whose keys begin with a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BucketAddress {
    /// Bucket name; empty if the address lacks it.
    pub bucket: String,
    /// Path in the bucket, without slashes at its ends; empty for the whole bucket.
    pub path: String,
}

impl BucketAddress {
    /// Parses an address; `None` if the text is a path of this machine.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(SCHEME)?;
        let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
        Some(Self { bucket: bucket.to_owned(), path: path.trim_matches('/').to_owned() })
    }

    /// Returns the place with the given name below this one.
    pub fn join(&self, name: &str) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) };
        Self { bucket: self.bucket.clone(), path }
    }
}

impl fmt::Display for BucketAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.bucket, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_buckets_are_told_from_paths() {
        for path in ["/srv/backups", "s3", "s3:/shop"] {
            assert_eq!(BucketAddress::parse(path), None);
        }
        for (text, address) in [
            ("s3://shop", "s3://shop/a.tar"),
            ("s3://shop/", "s3://shop/a.tar"),
            ("s3://shop/daily/", "s3://shop/daily/a.tar"),
            ("s3://shop/daily/new", "s3://shop/daily/new/a.tar"),
        ] {
            let place = BucketAddress::parse(text).map(|place| place.join("a.tar").to_string());
            assert_eq!(place.as_deref(), Some(address));
        }
        assert!(BucketAddress::parse("s3:///daily").is_some_and(|place| place.bucket.is_empty()));
    }
}
