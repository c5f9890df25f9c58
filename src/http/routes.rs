//! Route registration: each route states the access that it requires, so that no route is left open by oversight.
//!
//! Routes are also recorded as they are added, so that the API description is generated from exactly the routes that
//! are served ([`crate::openapi`]).

use axum::Router;
use axum::extract::FromRef;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::AppState;
use crate::access::RequiredAccess;
use crate::handler::DescribedHandler;
use crate::limits::layer::{RateLimitClass, treatment};
use crate::middleware::MiddlewareLayer;
use crate::operation::{DescribedContent, DescribedOperation, DescribedResource, NamedSchema, operation};
use crate::paths::is_billing;
use crate::route_guard::RouteGuard;
use crate::wire::{Components, ToSchema};

/// Route as served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServedRoute {
    /// HTTP method: GET, POST, PATCH, DELETE or OPTIONS.
    pub method: Method,
    /// Path pattern, as in the router: `/api/orders/{id}`, `/api/printers/{id}/files/{*name}`.
    pub path: &'static str,
    /// Access required by the route.
    pub need: RequiredAccess,
}

/// Routes of one resource, with their description. They are declared in the resource's own file: required access,
/// handler, description texts and specific errors. Parameters and responses are derived from the handler's types.
pub struct ResourceRoutes {
    routes: Routes,
    resource: DescribedResource,
    components: Components,
}

impl ResourceRoutes {
    /// Creates an empty set of routes. `kind` is the kind of object identified by `{id}`: it determines the error code
    /// of the 404, `<kind>_not_found`.
    pub fn new(tag: &'static str, about: &'static str, kind: &'static str) -> Self {
        let resource = DescribedResource { tag, about, kind, shapes: Vec::new(), operations: Vec::new() };
        Self { routes: Routes::new(), resource, components: Components::default() }
    }

    fn add<H, T>(mut self, (method, need, path): RouteKey, handler: H, timed: bool, words: DescribeFn) -> Self
    where
        H: Handler<T, AppState> + DescribedHandler<T>,
        T: 'static,
    {
        let mut operation = operation(method.clone(), path, "", "");
        H::describe(&mut operation, &mut self.components);
        let operation = words(operation);
        let refuses_query = refuses_query(need, &operation);
        let bounds = RouteBounds { timed, streamed: operation.streamed, refuses_query };
        self.resource.operations.push(operation);
        self.routes = self.routes.add(method, need, path, handler, bounds);
        self
    }

    /// Adds a named schema that no handler type refers to, such as an upload form.
    pub fn schema<T: ToSchema>(mut self) -> Self {
        self.components.add::<T>();
        self
    }

    /// Adds OPTIONS to each path that has none. Browsers send it automatically before cross-origin requests, so it is
    /// not described as an operation.
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
                let bounds = RouteBounds { timed: true, streamed: false, refuses_query: false };
                self.routes = self.routes.add(Method::OPTIONS, RequiredAccess::Open, path, handler, bounds);
                self.routes.0.last_mut().into_iter().for_each(|route| route.is_listed = false);
            }
        }
        self
    }

    /// Returns the description of the resource, for the OpenAPI document.
    pub fn resource(self) -> DescribedResource {
        let Self { mut resource, components, .. } = self;
        let named = components.into_schemas().map(|(name, shape, example)| NamedSchema { name, shape, example });
        resource.shapes.extend(named);
        resource
    }
}

/// Returns whether query parameters are rejected because the operation has none. They are ignored on routes that
/// browsers and other programs call with their own parameters, and on the emergency stop, which must never be delayed.
pub fn refuses_query(need: RequiredAccess, operation: &DescribedOperation) -> bool {
    let is_json = !matches!(
        operation.answer.1,
        DescribedContent::Other(..) | DescribedContent::Binary(_) | DescribedContent::Texts(_)
    );
    // The billing API ignores parameters that it does not know.
    let of_api = !is_billing(operation.path) && operation.path.starts_with("/api/") && need != RequiredAccess::Open;
    of_api && is_json && treatment(operation.path) != RateLimitClass::Always && !operation.has_query()
}

/// Key of a route: method, required access, and path.
type RouteKey = (Method, RequiredAccess, &'static str);

/// Function that adds to an operation's description the details not expressed by its types: name, summary, specific
/// errors.
pub type DescribeFn = fn(DescribedOperation) -> DescribedOperation;

macro_rules! described_routes {
    ($($(#[$doc:meta])* $name:ident: $method:ident, $timed:literal;)*) => {
        impl ResourceRoutes {$(
            $(#[$doc])*
            pub fn $name<H, T>(self, need: RequiredAccess, path: &'static str, handler: H, words: DescribeFn) -> Self
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
    /// Adds a route for reading, with the request time limit.
    get: GET, true;
    /// Adds a route for creating or for a command, with the request time limit.
    post: POST, true;
    /// Adds a route for changing, with the request time limit.
    patch: PATCH, true;
    /// Adds a route for removing, with the request time limit.
    delete: DELETE, true;
    /// Adds OPTIONS, for contracts that list it as an operation.
    options: OPTIONS, true;
    /// Adds GET without a time limit.
    get_long: GET, false;
    /// Adds POST without a time limit.
    post_long: POST, false;
    /// Adds DELETE without a time limit.
    delete_long: DELETE, false;
    /// Adds PATCH without a time limit.
    patch_long: PATCH, false;
}

/// Limits on requests for a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageBounds {
    /// Page or short form, with the request time limit.
    Form,
    /// Short form without the request time limit, because it waits for a printer or an external system.
    Long,
    /// Form with a file, whose handler streams the body.
    Upload,
    /// Stream that stays open.
    Stream,
}

type BuildRoute = Box<dyn FnOnce(&AppState) -> MethodRouter<AppState>>;

/// Limits on a route, in addition to those implied by its path.
#[derive(Clone, Copy)]
struct RouteBounds {
    /// `true` if the request time limit applies.
    timed: bool,
    /// `true` if the handler streams the body.
    streamed: bool,
    /// `true` if requests with query parameters are rejected, because the route has none.
    refuses_query: bool,
}

/// Route in the table.
struct Route {
    served: ServedRoute,
    build: BuildRoute,
    /// `true` if the route is visible to API descriptions and tests.
    is_listed: bool,
}

/// Routes, and the access required by each.
#[derive(Default)]
pub struct Routes(Vec<Route>);

impl Routes {
    /// Creates an empty table, to which routes are added.
    pub fn new() -> Self {
        Self::default()
    }

    fn add<H, T>(
        mut self,
        method: Method,
        need: RequiredAccess,
        path: &'static str,
        handler: H,
        bounds: RouteBounds,
    ) -> Self
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
            let gate = RouteGuard {
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
            on(filter, handler).layer(MiddlewareLayer::new(gate))
        };
        self.0.push(Route { served: ServedRoute { method, path, need }, build: Box::new(make), is_listed: true });
        self
    }

    /// Adds a page, which is not part of the API description.
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
        self.add(method, need, path, handler, RouteBounds { timed, streamed, refuses_query: false })
    }

    /// Adds the routes of a resource.
    pub fn resource(mut self, of: ResourceRoutes) -> Self {
        self.0.extend(of.routes.0);
        self
    }

    /// Returns the routes in the order in which they were added, without those that only browsers request
    /// automatically.
    pub fn served(&self) -> Vec<ServedRoute> {
        self.0.iter().filter(|route| route.is_listed).map(|route| route.served.clone()).collect()
    }

    /// Converts the routes to the framework's router, each with its guard.
    pub fn into_router(self, app: &AppState) -> Router<AppState> {
        self.0.into_iter().fold(Router::new(), |router, route| router.route(route.served.path, (route.build)(app)))
    }
}
