//! Checks of the places for files, documents and backups.

use crate::Config;
use crate::bucket_address::BucketAddress;

/// Adds descriptions of all errors in the settings for files, documents and backups.
pub(super) fn problems(config: &Config, problems: &mut Vec<String>) {
    let storage = &config.object_storage;
    if let Some(place) = config.files_bucket() {
        if place.bucket.is_empty() {
            problems.push("files.dir must be a directory or s3://BUCKET/PATH".to_owned());
        }
        if storage.access_key_id.is_empty() || storage.secret_access_key.is_empty() {
            problems.push(
                "object_storage.access_key_id and OBJECT_STORAGE_SECRET_KEY must be set if files.dir is in a bucket"
                    .to_owned(),
            );
        }
    }
    let private = [("files.dir", config.files_bucket()), ("backup.to", BucketAddress::parse(&config.backup.to))];
    for (setting, place) in private {
        if place.is_some_and(|place| config.is_public(&place)) {
            problems.push(format!(
                "{setting} must not be in the bucket of the documents (object_storage.bucket), which everybody can read"
            ));
        }
    }
    if config.files.documents_dir.to_str().and_then(BucketAddress::parse).is_some() {
        problems.push(
            "files.documents_dir must be a directory; if it is empty, documents are in the bucket of files.dir or of \
             object_storage"
                .to_owned(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Secret;

    fn problems_of(config: &Config) -> Vec<String> {
        let mut all = Vec::new();
        problems(config, &mut all);
        all
    }

    #[test]
    fn files_in_a_bucket_need_its_name_and_keys() {
        let mut config = Config::default();
        assert_eq!(problems_of(&config), Vec::<String>::new());
        config.files.dir = "s3:///files".into();
        assert_eq!(problems_of(&config).len(), 2);
        config.files.dir = "s3://shop".into();
        config.object_storage.access_key_id = "id".to_owned();
        config.object_storage.secret_access_key = Secret::new("secret");
        assert_eq!(problems_of(&config), Vec::<String>::new());
        config.files.documents_dir = "s3://shop/documents".into();
        assert_eq!(problems_of(&config).len(), 1);
    }

    #[test]
    fn nothing_private_is_in_the_bucket_that_everybody_can_read() {
        let mut config = Config::default();
        config.object_storage.bucket = "papers".to_owned();
        config.object_storage.access_key_id = "id".to_owned();
        config.object_storage.secret_access_key = Secret::new("secret");
        config.files.dir = "s3://shop/papers".into();
        config.backup.to = "s3://copies".to_owned();
        assert_eq!(problems_of(&config), Vec::<String>::new());
        config.files.dir = "s3://papers/files".into();
        config.backup.to = "s3://papers".to_owned();
        let problems = problems_of(&config);
        assert!(
            problems.len() == 2 && problems.iter().all(|problem| problem.contains("everybody can read")),
            "{problems:?}"
        );
        config.object_storage.bucket = String::new();
        assert_eq!(problems_of(&config), Vec::<String>::new());
    }
}
