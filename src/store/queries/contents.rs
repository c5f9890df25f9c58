//! Queries for the contents on disk that files refer to.

use std::collections::HashSet;

use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};

use super::Queries;
use super::orders::json;
use crate::rows::LoadError;
use domain::file::File;
use entities::files;

impl Queries {
    /// Returns the hashes of all contents that files refer to: their own contents and their pictures.
    pub async fn named_contents(&self) -> Result<HashSet<String>, LoadError> {
        let select = files::Entity::find().filter(files::Column::Archived.eq(false)).select_only();
        let columns = select.columns([files::Column::Sha256, files::Column::Doc]);
        let docs: Vec<(String, String)> = columns.into_tuple().all(&self.db).await?;
        let mut named = HashSet::new();
        for (sha256, doc) in docs {
            let file: File = serde_json::from_str(&doc).map_err(json)?;
            named.insert(sha256);
            named.extend(file.metadata.pictures().cloned());
        }
        Ok(named)
    }

    /// Returns whether a file refers to the given content, either as its own or as its picture.
    pub async fn is_content_named(&self, sha256: &str) -> Result<bool, LoadError> {
        let names = files::Column::Sha256.eq(sha256).or(files::Column::Doc.like(format!("%\"{sha256}\"%")));
        let naming = files::Entity::find().filter(files::Column::Archived.eq(false)).filter(names);
        Ok(naming.count(&self.db).await? > 0)
    }
}
