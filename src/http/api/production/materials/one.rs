//! `GET /api/inventory/materials/{id}`, whose JSON is written once for each state of the material.

use std::sync::Arc;

use axum::extract::State;

use super::MaterialView;
use domain::material::Material;
use http::command_request::{find_existing, present_state};
use http::error::ApiError;
use http::handles::handles;
use http::path_id::PathId;
use http::reply::Resource;
use http::written_answers::WrittenAnswers;
use kernel::directory::Directory;

handles! {
    /// Dependencies of reading a material.
    pub struct MaterialReadHandles {
        materials: Directory<Material>,
        // All who may read a material see the same.
        answers: Arc<WrittenAnswers<Material, (), ()>>,
    }
}

/// Responds with a material.
pub(super) async fn show(
    State(app): State<MaterialReadHandles>,
    PathId(id): PathId,
) -> Result<Resource<MaterialView>, ApiError> {
    let (version, state) = find_existing(&app.materials, id).await?;
    let material = present_state(&state)?;
    let answer = app.answers.get((id, ()), &state, (), || MaterialView::new(material, version))?;
    Ok(Resource::written(version, answer))
}
