//! Marks in a place of the storage: each is an object with the text of the process that put it there last, so that
//! processes that use the same place find out about each other.

use super::{ObjectStorage, StorageError};

/// Media type of a mark.
const MEDIA: &str = "text/plain";

/// Process whose mark is in a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkOwner {
    /// The place has no mark.
    Nobody,
    /// The mark has the text of this process.
    Own,
    /// The mark has another text.
    Other,
}

/// Mark in a place of the storage.
#[derive(Clone, Debug)]
pub struct PlaceMark {
    storage: ObjectStorage,
    key: &'static str,
}

impl PlaceMark {
    /// Returns the mark with the given key, which must differ from those of all other objects in the place.
    pub fn new(storage: ObjectStorage, key: &'static str) -> Self {
        Self { storage, key }
    }

    /// Writes the text of a process to the place, replacing any other.
    ///
    /// # Errors
    ///
    /// Returns an error if the mark was not stored, or the outcome is unknown.
    pub async fn write(&self, text: &str) -> Result<(), StorageError> {
        self.storage.store(self.key, MEDIA, text.to_owned().into()).await
    }

    /// Writes the text of a process into the place, as [`Self::write`] does, by a single request that must not take
    /// effect late: another process may have put its mark there by then.
    ///
    /// # Errors
    ///
    /// Returns an error if the mark was not stored at once, or the outcome is unknown.
    pub async fn write_once(&self, text: &str) -> Result<(), StorageError> {
        self.storage.store_once(self.key, MEDIA, text.to_owned().into()).await
    }

    /// Returns the process whose mark is in the place, as seen by the process with the given text.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage does not respond.
    pub async fn owner(&self, text: &str) -> Result<MarkOwner, StorageError> {
        match self.storage.get(self.key).await {
            Ok(stored) if stored == text.as_bytes() => Ok(MarkOwner::Own),
            Ok(_) => Ok(MarkOwner::Other),
            Err(StorageError::Missing) => Ok(MarkOwner::Nobody),
            Err(error) => Err(error),
        }
    }

    /// Removes the mark.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage does not respond.
    pub async fn remove(&self) -> Result<(), StorageError> {
        self.storage.remove(self.key).await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn whoever_put_a_mark_last_owns_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let storage = ObjectStorage::folder(folder.path(), String::new()).unwrap();
        let (mark, beside) = (PlaceMark::new(storage.clone(), "one#mark"), PlaceMark::new(storage, "other#mark"));
        assert_eq!(mark.owner("a").await.unwrap(), MarkOwner::Nobody);
        mark.write("a").await.unwrap();
        assert_eq!(mark.owner("a").await.unwrap(), MarkOwner::Own);
        mark.write("b").await.unwrap();
        assert_eq!(mark.owner("a").await.unwrap(), MarkOwner::Other);
        assert_eq!(beside.owner("b").await.unwrap(), MarkOwner::Nobody);
        mark.remove().await.unwrap();
        assert_eq!(mark.owner("b").await.unwrap(), MarkOwner::Nobody);
    }
}
