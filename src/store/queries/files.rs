//! Groups of files as people look for them, and the number of files in each.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use super::orders::json;
use super::{FileFilter, Queries, parse_word};
use crate::rows::{LoadError, word};
use domain::file::FileKind;
use entities::files;

/// Group of files that people look for together, across kinds or within one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileGroup {
    /// G-code and models, from which parts are printed.
    PrintFiles,
    /// Images of finished prints, which the server took with the printers' cameras.
    CameraPictures,
    /// All other images, which people uploaded.
    UploadedPictures,
}

impl FileGroup {
    /// Returns the condition that selects the group's files.
    pub(super) fn condition(self) -> Result<Condition, LoadError> {
        use files::Column as C;
        let [gcode, model, image] = [FileKind::Gcode, FileKind::Model, FileKind::Image].map(|kind| word(&kind));
        let image = C::Kind.eq(image.map_err(json)?);
        Ok(match self {
            Self::PrintFiles => Condition::all().add(C::Kind.is_in([gcode.map_err(json)?, model.map_err(json)?])),
            Self::CameraPictures => Condition::all().add(image).add(C::AttemptId.is_not_null()),
            Self::UploadedPictures => Condition::all().add(image).add(C::AttemptId.is_null()),
        })
    }

    /// Returns whether files of a kind, which show a print or not, belong to the group.
    fn has(self, kind: FileKind, is_photo: bool) -> bool {
        match self {
            Self::PrintFiles => matches!(kind, FileKind::Gcode | FileKind::Model),
            Self::CameraPictures => kind == FileKind::Image && is_photo,
            Self::UploadedPictures => kind == FileKind::Image && !is_photo,
        }
    }
}

/// Numbers of files, without archived ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileCounts {
    /// Number of G-code files.
    pub gcode: u64,
    /// Number of models.
    pub models: u64,
    /// Number of images in [`FileGroup::CameraPictures`].
    pub camera_pictures: u64,
    /// Number of images in [`FileGroup::UploadedPictures`].
    pub uploaded_pictures: u64,
}

impl FileCounts {
    /// Returns the number of files of all kinds.
    pub fn total(&self) -> u64 {
        self.gcode + self.models + self.camera_pictures + self.uploaded_pictures
    }
}

impl Queries {
    /// Returns the numbers of files.
    pub async fn file_counts(&self) -> Result<FileCounts, LoadError> {
        let mut counts = FileCounts::default();
        for (key, count) in self.row_counts("files").await? {
            let (kind, is_photo) = parse_key(&key)?;
            *match kind {
                FileKind::Gcode => &mut counts.gcode,
                FileKind::Model => &mut counts.models,
                FileKind::Image if is_photo => &mut counts.camera_pictures,
                FileKind::Image => &mut counts.uploaded_pictures,
            } += count;
        }
        Ok(counts)
    }

    /// Returns the total number of files that match a filter, if it is known without counting them.
    pub(super) async fn file_total(&self, filter: &FileFilter) -> Result<Option<u64>, LoadError> {
        let FileFilter { kind, group, sha256: None, q: None } = filter else { return Ok(None) };
        let mut total = 0;
        for (key, count) in self.row_counts("files").await? {
            let (own, is_photo) = parse_key(&key)?;
            if kind.is_none_or(|kind| kind == own) && group.is_none_or(|group| group.has(own, is_photo)) {
                total += count;
            }
        }
        Ok(Some(total))
    }
}

/// Parses the key of a number of files: their kind, and whether they show a print.
fn parse_key(key: &str) -> Result<(FileKind, bool), LoadError> {
    let is_photo = key.ends_with(" print");
    let kind = key.split(' ').next().unwrap_or_default().to_owned();
    Ok((parse_word("files", kind)?, is_photo))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::queries::Page;
    use crate::rows::samples::{file, id, on_each, write};
    use crate::rows::{Batch, Snapshot};
    use domain::file::{File, PhotoSubject};

    const ALL: Page = Page { limit: 100, offset: 0 };

    #[tokio::test]
    async fn files_are_listed_and_counted_by_group() {
        on_each(async |db| {
            let queries = Queries::new(db.clone());
            assert_eq!(queries.file_counts().await.unwrap(), FileCounts::default());
            let of_kind = |n, kind| File { kind, ..file(n) };
            let photo = |n| {
                let photo_of = Some(PhotoSubject { order: id(1), job: id(2), attempt: id(3) });
                File { photo_of, ..of_kind(n, FileKind::Image) }
            };
            let mut batch = Batch::default();
            let archived = [File { archived: true, ..photo(8) }, File { archived: true, ..file(9) }];
            let listed =
                [file(1), of_kind(2, FileKind::Model), photo(3), of_kind(4, FileKind::Image), photo(5), file(6)];
            for file in listed.into_iter().chain(archived) {
                batch.push_snapshot(file.snapshot(file.id, 1, true).unwrap());
            }
            write(db, batch).await.unwrap();
            let list = async |group: FileGroup| -> Vec<u128> {
                let filter = FileFilter { group: Some(group), ..FileFilter::default() };
                let (files, total) = queries.files(&filter, ALL).await.unwrap();
                assert_eq!(files.len() as u64, total);
                let ids: Vec<_> = files.iter().filter_map(|versioned| Some(versioned.state.as_ref()?.id)).collect();
                (1..10).filter(|n| ids.contains(&id(*n))).collect()
            };
            assert_eq!(list(FileGroup::PrintFiles).await, [1, 2, 6]);
            assert_eq!(list(FileGroup::CameraPictures).await, [3, 5]);
            assert_eq!(list(FileGroup::UploadedPictures).await, [4]);
            let counts = FileCounts { gcode: 2, models: 1, camera_pictures: 2, uploaded_pictures: 1 };
            assert_eq!(queries.file_counts().await.unwrap(), counts);
            assert_eq!(counts.total(), 6);
        })
        .await;
    }
}
