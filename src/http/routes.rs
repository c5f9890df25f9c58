//! The one way to add a route: each states who may use it, so that none is open by oversight.
//!
//! What is added is also recorded, so that the API's description is made from the very routes that are served
//! ([`crate::http::openapi`]).

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::http::AppState;
use crate::http::access::{Gate, RequiredAccess, guard};
use crate::http::limits::layer::treatment;
use crate::http::openapi::derive;
use crate::http::openapi::operation::{DescribedOperation, DescribedResource, NamedSchema, operation};
use crate::http::wire::{Components, DescribedHandler, ToSchema};

/// A route as it is served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Served {
    /// GET, POST, PATCH, DELETE or OPTIONS.
    pub method: Method,
    /// As the router knows it: `/api/orders/{id}`, `/api/printers/{id}/files/{*name}`.
    pub path: &'static str,
    /// Who may use it.
    pub need: RequiredAccess,
}

/// The routes of one resource, with their description. They are declared in the resource's own file: who may use each,
/// its handler, its words and its own errors. What it takes and answers is asked of the handler's types.
pub struct ResourceRoutes {
    routes: Routes,
    resource: DescribedResource,
    components: Components,
}

impl ResourceRoutes {
    /// None yet. `kind` is what `{id}` names: it makes the code of the 404, `<kind>_not_found`.
    pub fn new(tag: &'static str, about: &'static str, kind: &'static str) -> Self {
        let resource = DescribedResource { tag, about, kind, shapes: Vec::new(), operations: Vec::new() };
        Self { routes: Routes::new(), resource, components: Components::default() }
    }

    fn add<H, T>(mut self, (method, need, path): RouteKey, handler: H, timed: bool, words: Words) -> Self
    where
        H: Handler<T, AppState> + DescribedHandler<T>,
        T: 'static,
    {
        let mut operation = operation(method.clone(), path, "", "");
        H::describe(&mut operation, &mut self.components);
        let operation = words(operation);
        let refuses_query = derive::refuses_query(need, &operation);
        let bounds = Bounds { timed, streamed: operation.streamed, refuses_query };
        self.resource.operations.push(operation);
        self.routes = self.routes.add(method, need, path, handler, bounds);
        self
    }

    /// Adds a named schema that no type of a handler brings along, such as the form of an upload.
    pub fn schema<T: ToSchema>(mut self) -> Self {
        self.components.add::<T>();
        self
    }

    /// Adds OPTIONS to each of its paths that has none. Browsers ask it by themselves before a request of another
    /// origin, so no description lists it as an operation.
    pub fn with_preflights<H, T>(mut self, handler: H) -> Self
    where
        H: Handler<T, AppState> + Copy,
        T: 'static,
    {
        let mut paths: Vec<&'static str> = self.resource.operations.iter().map(|operation| operation.path).collect();
        paths.dedup();
        for path in paths {
            let is_served =
                self.routes.0.iter().any(|route| route.served.path == path && route.served.method == Method::OPTIONS);
            if !is_served {
                let bounds = Bounds { timed: true, streamed: false, refuses_query: false };
                self.routes = self.routes.add(Method::OPTIONS, RequiredAccess::Open, path, handler, bounds);
                self.routes.0.last_mut().into_iter().for_each(|route| route.is_listed = false);
            }
        }
        self
    }

    /// The description of the resource, for the document.
    pub fn resource(self) -> DescribedResource {
        let Self { mut resource, components, .. } = self;
        let named = components.0.into_iter().map(|(name, shape, example)| NamedSchema { name, shape, example });
        resource.shapes.extend(named);
        resource
    }
}

/// Method, who may use it, and path.
type RouteKey = (Method, RequiredAccess, &'static str);

/// Says of an operation what its types do not: name, summary, errors of its own.
pub type Words = fn(DescribedOperation) -> DescribedOperation;

macro_rules! described_routes {
    ($($(#[$doc:meta])* $name:ident: $method:ident, $timed:literal;)*) => {
        impl ResourceRoutes {$(
            $(#[$doc])*
            pub fn $name<H, T>(self, need: RequiredAccess, path: &'static str, handler: H, words: Words) -> Self
            where
                H: Handler<T, AppState> + DescribedHandler<T>,
                T: 'static,
            {
                self.add((Method::$method, need, path), handler, $timed, words)
            }
        )*}
    };
}
described_routes! {
    /// Adds a route for reading, with the time limit of requests.
    get: GET, true;
    /// Adds a route for creating or for a command, with the time limit of requests.
    post: POST, true;
    /// Adds a route for changing, with the time limit of requests.
    patch: PATCH, true;
    /// Adds a route for removing, with the time limit of requests.
    delete: DELETE, true;
    /// Adds OPTIONS, where a contract lists it as an operation.
    options: OPTIONS, true;
    /// GET without a time limit.
    get_long: GET, false;
    /// POST without a time limit.
    post_long: POST, false;
    /// DELETE without a time limit.
    delete_long: DELETE, false;
    /// PATCH without a time limit.
    patch_long: PATCH, false;
}

/// How a page is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageBounds {
    /// A page or a short form, with the time limit of requests.
    Form,
    /// A short form without the time limit of requests: a machine or another system is asked, in its own time.
    Long,
    /// A form with a file: its handler takes the body as it comes.
    Upload,
    /// A stream that stays open.
    Stream,
}

type BuildRoute = Box<dyn FnOnce(&AppState) -> MethodRouter<AppState>>;

/// How a route is bounded beyond what its path says.
#[derive(Clone, Copy)]
struct Bounds {
    /// A request has the time limit of requests.
    timed: bool,
    /// The handler takes the body as it comes.
    streamed: bool,
    /// There are no parameters in the query, and those that are sent are refused.
    refuses_query: bool,
}

/// A route of the table.
struct Route {
    served: Served,
    build: BuildRoute,
    /// Whether it is among the routes that descriptions and tests go through.
    is_listed: bool,
}

/// Routes and who may use them.
#[derive(Default)]
pub struct Routes(Vec<Route>);

impl Routes {
    /// An empty table, to which routes are added.
    pub fn new() -> Self {
        Self::default()
    }

    fn add<H, T>(mut self, method: Method, need: RequiredAccess, path: &'static str, handler: H, bounds: Bounds) -> Self
    where
        H: Handler<T, AppState>,
        T: 'static,
    {
        let (word, filter) = match method {
            Method::POST => ("POST", MethodFilter::POST),
            Method::PATCH => ("PATCH", MethodFilter::PATCH),
            Method::DELETE => ("DELETE", MethodFilter::DELETE),
            Method::OPTIONS => ("OPTIONS", MethodFilter::OPTIONS),
            _ => ("GET", MethodFilter::GET),
        };
        let make = move |app: &AppState| {
            let gate = Gate {
                access: FromRef::from_ref(app),
                audit: FromRef::from_ref(app),
                need,
                within: bounds.timed.then(|| app.config.server.request_timeout_seconds.duration()),
                meter: app.meters.of(word, path),
                treatment: treatment(path),
                streamed: bounds.streamed,
                refuses_query: bounds.refuses_query,
                bodies: app.bodies.clone(),
                admission: app.admission.clone(),
            };
            on(filter, handler).layer(from_fn_with_state(Arc::new(gate), guard))
        };
        self.0.push(Route { served: Served { method, path, need }, build: Box::new(make), is_listed: true });
        self
    }

    /// Adds a page, which no description names.
    pub fn page<H, T>(
        self,
        method: Method,
        need: RequiredAccess,
        path: &'static str,
        handler: H,
        bounds: PageBounds,
    ) -> Self
    where
        H: Handler<T, AppState>,
        T: 'static,
    {
        let (timed, streamed) = (bounds == PageBounds::Form, bounds == PageBounds::Upload);
        self.add(method, need, path, handler, Bounds { timed, streamed, refuses_query: false })
    }

    /// Those of a resource.
    pub fn resource(mut self, of: ResourceRoutes) -> Self {
        self.0.extend(of.routes.0);
        self
    }

    /// Returns the routes in the order in which they were added, without those that only browsers ask by themselves.
    pub fn served(&self) -> Vec<Served> {
        self.0.iter().filter(|route| route.is_listed).map(|route| route.served.clone()).collect()
    }

    /// The routes as the router of the framework, with the guard of each.
    pub(super) fn into_router(self, app: &AppState) -> Router<AppState> {
        self.0.into_iter().fold(Router::new(), |router, route| router.route(route.served.path, (route.build)(app)))
    }
}
