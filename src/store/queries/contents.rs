//! Queries for the contents on disk that files refer to.

use std::collections::HashSet;

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::Queries;
use super::orders::json;
use crate::rows::LoadError;
use domain::file::File;
use domain::id::Id;
use entities::files;

impl Queries {
    /// Returns the number of files that have not been deleted.
    pub async fn present_files(&self) -> Result<u64, LoadError> {
        Ok(files::Entity::find().filter(files::Column::Archived.eq(false)).count(&self.db).await?)
    }

    /// Returns the hashes of file contents that begin with the given hexadecimal digits. The hashes of their pictures
    /// are read by [`Self::pictures_after`].
    pub async fn named_contents(&self, digits: &str) -> Result<HashSet<String>, LoadError> {
        use files::Column as C;
        let select = files::Entity::find().filter(C::Archived.eq(false)).filter(C::Sha256.gte(digits));
        let end = end_of(digits).map(|end| C::Sha256.lt(end));
        let select = select.apply_if(end, QueryFilter::filter).select_only();
        let hashes: Vec<String> = select.column(C::Sha256).into_tuple().all(&self.db).await?;
        Ok(hashes.into_iter().collect())
    }

    /// Returns the hashes of the pictures of the next files by ID, at most `most` of those that may have any, and the
    /// last of these files; `None` if there are no more.
    pub async fn pictures_after(&self, after: Option<Id>, most: u64) -> Result<Option<(Id, Vec<String>)>, LoadError> {
        use files::Column as C;
        let later = after.map(|id| C::Id.gt(id.to_string()));
        let select = files::Entity::find().filter(may_have_pictures()).apply_if(later, QueryFilter::filter);
        let select = select.order_by_asc(C::Id).limit(most).select_only();
        let docs: Vec<String> = select.column(C::Doc).into_tuple().all(&self.db).await?;
        let (mut last, mut hashes) = (None, Vec::new());
        for doc in docs {
            let file: File = serde_json::from_str(&doc).map_err(json)?;
            hashes.extend(file.metadata.pictures().cloned());
            last = Some(file.id);
        }
        Ok(last.map(|last| (last, hashes)))
    }

    /// Returns whether a file refers to the given content, either as its own or as its picture.
    pub async fn is_content_named(&self, sha256: &str) -> Result<bool, LoadError> {
        let own = files::Entity::find().filter(files::Column::Sha256.eq(sha256));
        if own.filter(files::Column::Archived.eq(false)).count(&self.db).await? > 0 {
            return Ok(true);
        }
        let of_pictures = files::Column::Doc.like(format!("%\"{sha256}\"%"));
        let naming = files::Entity::find().filter(may_have_pictures()).filter(of_pictures);
        Ok(naming.count(&self.db).await? > 0)
    }
}

/// Returns the condition that selects the files that may refer to pictures: all but the images that the server took of
/// prints, which are nearly all files of a shop. Must match the partial index exactly; otherwise SQLite does not use
/// the index.
fn may_have_pictures() -> Expr {
    Expr::cust("attempt_id IS NULL AND NOT archived")
}

/// Returns the smallest text of as many hexadecimal digits that is beyond all hashes that begin with the given ones;
/// `None` if there is none.
fn end_of(digits: &str) -> Option<String> {
    let next = u64::from_str_radix(digits, 16).ok()?.checked_add(1)?;
    Some(format!("{next:0width$x}", width = digits.len())).filter(|end| end.len() == digits.len())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::rows::samples::{file, id, on_each, write};
    use crate::rows::{Batch, Snapshot as _};
    use domain::file::{FileMetadata, PhotoSubject};

    /// Builds file number `n`, whose contents have a hash of these digits, with a picture if one is given.
    fn file_with(n: u128, digits: &str, picture: Option<&str>) -> File {
        let thumbnail = picture.map(hash);
        File { sha256: hash(digits), metadata: FileMetadata { thumbnail, ..FileMetadata::default() }, ..file(n) }
    }

    fn hash(digits: &str) -> String {
        digits.repeat(32)
    }

    #[test]
    fn hashes_with_the_same_digits_have_an_end() {
        let ends = ["a8", "a9", "af", "09", "fe", "ff", ""].map(|digits| end_of(digits).unwrap_or_default());
        assert_eq!(ends, ["a9", "aa", "b0", "0a", "ff", "", ""]);
    }

    #[tokio::test]
    async fn contents_are_named_by_their_first_digits_and_pictures_in_pages() {
        on_each(async |db| {
            let mut batch = Batch::default();
            let photo_of = Some(PhotoSubject { order: id(90), job: id(91), attempt: id(92) });
            let photo = File { photo_of, ..file_with(5, "a9", None) };
            for file in [
                file_with(1, "a9", Some("11")),
                file_with(2, "aa", None),
                file_with(3, "ff", Some("22")),
                File { archived: true, ..file_with(4, "a9", Some("33")) },
                photo,
            ] {
                batch.push_snapshot(file.snapshot(file.id, 1, true).unwrap());
            }
            write(db, batch).await.unwrap();
            let queries = Queries::new(db.clone());
            assert_eq!(queries.present_files().await.unwrap(), 4);
            for (digits, expected) in [
                ("a9", vec!["a9"]),
                ("aa", vec!["aa"]),
                ("ff", vec!["ff"]),
                ("00", Vec::new()),
                ("", vec!["a9", "aa", "ff"]),
            ] {
                let expected: HashSet<String> = expected.iter().map(|digits| hash(digits)).collect();
                assert_eq!(queries.named_contents(digits).await.unwrap(), expected, "{digits}");
            }
            let (mut after, mut pictures) = (None, Vec::new());
            while let Some((last, hashes)) = queries.pictures_after(after, 2).await.unwrap() {
                assert!(hashes.len() <= 2);
                pictures.extend(hashes);
                after = Some(last);
            }
            assert_eq!((pictures, after), (vec![hash("11"), hash("22")], Some(id(3))));
        })
        .await;
    }
}
