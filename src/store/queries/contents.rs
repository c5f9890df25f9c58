//! Queries for the contents on disk that files refer to.

use std::collections::HashSet;

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};

use super::Queries;
use super::orders::json;
use crate::rows::LoadError;
use domain::file::File;
use entities::files;

impl Queries {
    /// Returns the hashes of all contents that files refer to: their own contents and their pictures.
    pub async fn named_contents(&self) -> Result<HashSet<String>, LoadError> {
        let hashes = files::Entity::find().filter(files::Column::Archived.eq(false)).select_only();
        let hashes: Vec<String> = hashes.column(files::Column::Sha256).into_tuple().all(&self.db).await?;
        let mut named: HashSet<String> = hashes.into_iter().collect();
        let docs = files::Entity::find().filter(may_have_pictures()).select_only();
        let docs: Vec<String> = docs.column(files::Column::Doc).into_tuple().all(&self.db).await?;
        for doc in docs {
            let file: File = serde_json::from_str(&doc).map_err(json)?;
            named.extend(file.metadata.pictures().cloned());
        }
        Ok(named)
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
