//! Handlers whose arguments and results describe their API operation.

use axum::extract::{self, State};
use axum::http::HeaderMap;
use axum::response::IntoResponse;

use crate::access::Caller;
use crate::command_request::CommandRequest;
use crate::error::ApiError;
use crate::limits::LimitedReply;
use crate::limits::layer::ClientAddress;
use crate::operation::{self, DescribedContent, DescribedOperation, Parameter};
use crate::page::{OpenQuery, Query};
use crate::path_id::{NamedId, PathId};
use crate::reply::{Created, ListPage, Media, MediaType, NoContent, Plain, Resource, WithCookie};
use crate::wire::{Components, ListItem, Member, Request, RequestBody, Response, ToSchema, read_body, schema_of};

/// Argument of a handler. Information derived from the route (roles, path, identifier) is not described again.
pub trait Argument {
    /// Describes the parts of a request that the argument reads.
    fn describe(_: &mut DescribedOperation, _: &mut Components) {}
}

impl<S> Argument for State<S> {}
impl Argument for PathId {}
impl Argument for NamedId {}
impl Argument for Caller {}
impl Argument for HeaderMap {}
impl Argument for ClientAddress {}
/// Body that the handler reads itself, such as an upload; it is described with the route.
impl Argument for extract::Request {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.streamed = true;
    }
}
impl Argument for CommandRequest<()> {}

impl<B: RequestBody> Argument for CommandRequest<B> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<B::Value>();
        operation.body = Some(operation::DescribedBody {
            media: "application/json",
            shape: schema_of::<B::Value>(),
            example: Some(B::Value::example()),
            optional: B::OPTIONAL,
        });
        operation.read_body = Some(|bytes| read_body::<B>(bytes).map(drop));
    }
}

impl<T: Request> Argument for Query<T> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        T::components(components);
        let parameter = |member: Member| Parameter {
            name: member.name.to_owned(),
            in_query: true,
            shape: member.schema.without_null(),
            about: member.description,
        };
        operation.parameters.extend(T::members().into_iter().map(parameter));
    }
}

impl<T: Request> Argument for OpenQuery<T> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        Query::<T>::describe(operation, components);
    }
}

/// Success response of a handler.
pub trait Reply: IntoResponse {
    /// Adds the reply's status and content to the description of the operation.
    fn describe(operation: &mut DescribedOperation, components: &mut Components);
}

fn content<T: ToSchema>(components: &mut Components) -> DescribedContent {
    components.add::<T>();
    T::NAME.map_or_else(|| DescribedContent::Json(T::schema(), T::example()), DescribedContent::Named)
}

impl<T: Response> Reply for Resource<T> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        operation.answer = (200, content::<T>(components));
    }
}

impl<T: Response> Reply for Plain<T> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        operation.answer = (200, content::<T>(components));
    }
}

impl<T: Response> Reply for Created<T> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        (operation.answer, operation.located) = ((201, content::<T>(components)), true);
    }
}

impl<T: ListItem> Reply for ListPage<T> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add_page::<T>();
        operation.answer = (200, DescribedContent::NamedPage(T::PAGE_NAME));
    }
}

impl<M: MediaType> Reply for Media<M> {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.answer = (200, DescribedContent::Other(M::MEDIA, M::EXAMPLE));
    }
}

impl Reply for NoContent {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.answer = (204, DescribedContent::Nothing);
    }
}

impl<R: Reply> Reply for WithCookie<R> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        R::describe(operation, components);
        operation.sets_cookie = true;
    }
}

impl<R: Reply> Reply for LimitedReply<R> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        R::describe(operation, components);
    }
}

/// Response that the handler builds itself, such as a download; it is described with the route.
impl Reply for axum::response::Response {
    fn describe(_: &mut DescribedOperation, _: &mut Components) {}
}

/// Handler whose arguments and result are described. `T` is the marker type that axum infers from its arguments.
#[diagnostic::on_unimplemented(
    message = "this handler cannot be described",
    label = "each argument must be an `Argument`, and the result a `Result<impl Reply, ApiError>`"
)]
pub trait DescribedHandler<T> {
    /// Adds the handler's arguments and result to the description of the operation.
    fn describe(operation: &mut DescribedOperation, components: &mut Components);
}

macro_rules! described {
    ($($argument:ident),*) => {
        impl<F, Fut, R, M, $($argument: Argument),*> DescribedHandler<(M, $($argument,)*)> for F
        where
            F: FnOnce($($argument),*) -> Fut,
            Fut: Future<Output = Result<R, ApiError>>,
            R: Reply,
        {
            fn describe(operation: &mut DescribedOperation, components: &mut Components) {
                $($argument::describe(operation, components);)*
                R::describe(operation, components);
            }
        }
    };
}
described!();
described!(A);
described!(A, B);
described!(A, B, C);
described!(A, B, C, D);
described!(A, B, C, D, E);
described!(A, B, C, D, E, G);
