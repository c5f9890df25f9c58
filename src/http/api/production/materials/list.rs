//! `GET /api/inventory/materials`, joined from the JSON of each material, which is written once for each of its states.

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;

use super::MaterialView;
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::material::{Material, MaterialType};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::reply::ListPage;
use http::written_answers::WrittenAnswers;
use kernel::directory::Directory;
use store::queries::{MaterialFilter, Queries};

handles! {
    /// Dependencies of listing materials.
    pub struct MaterialListHandles {
        materials: Directory<Material>,
        queries: Queries,
        // Those of single materials, which are shown in the same way.
        answers: Arc<WrittenAnswers<Material, (), ()>>,
    }
}

/// Query parameters for listing materials.
#[derive(Request, Debug)]
pub struct MaterialQuery {
    /// Return only materials of the given type.
    #[api(name = "type")]
    kind: Option<MaterialType>,
    /// Return only materials whose name or brand contains the given text.
    q: Option<String>,
    #[api(flatten)]
    page: PageQuery,
}

/// Responds with the materials that match the query.
pub(super) async fn show(
    State(app): State<MaterialListHandles>,
    Query(query): Query<MaterialQuery>,
) -> Result<ListPage<MaterialView>, ApiError> {
    let page = query.page.into();
    let filter = MaterialFilter { kind: query.kind, q: query.q };
    let in_memory = |id: Id, version: i64| {
        let state = app.materials.resident(id)?.read();
        (state.version == version && state.state.is_some()).then_some(state)
    };
    let (some, total) = app.queries.materials_in_memory(&filter, page, in_memory).await?;
    let item = |state: &Arc<Versioned<Material>>| {
        let material = state.state.as_ref()?;
        let view = || MaterialView::new(material, state.revision());
        let present = in_memory(material.id, state.version);
        Some(app.answers.get_if_present((material.id, ()), state, present.as_ref(), (), view))
    };
    let items = some.iter().filter_map(item).collect::<Result<_, ApiError>>()?;
    Ok(ListPage::written(page, items, total))
}
