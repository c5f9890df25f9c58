//! Page at `/` with links to the other pages, and the first steps.

/// HTML of the page. All its links point to this server.
pub const PAGE: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Printfloor</title>\
<meta name=\"viewport\" content=\"width=device-width\"><style>body{font:16px/1.5 sans-serif;max-width:44rem;\
margin:2rem auto;padding:0 1rem}code{background:#f4f4f4;padding:.1rem .3rem}li{margin:.4rem 0}</style></head><body>\
<main><h1>Printfloor</h1><p>The server is running. It takes orders, makes jobs of them, gives the jobs to printers and tells \
subscribed programs of each step.</p>\
<h2>Where things are</h2><ul>\
<li><a href=\"/docs/\">The API</a>: every operation, to read and to try out.</li>\
<li><a href=\"/docs/events\">Events</a>: what webhooks are sent, with examples.</li>\
<li><a href=\"/api/openapi.json\">The description of the API</a> as OpenAPI 3.1, for generators of clients; \
<a href=\"/api/openapi-3.0.json\">as OpenAPI 3.0</a> for older ones.</li>\
<li><a href=\"/setup\">The setup</a>: from a new server to the first print, in six steps.</li>\
<li><a href=\"/login\">Sign in as staff</a>: the floor, what is to be done, orders.</li>\
<li><a href=\"/sign-in\">Sign in as a customer</a>: orders and invoices.</li>\
<li><a href=\"/readyz\">Readiness</a>: whether the server can work.</li></ul>\
<h2>What to do first</h2><ol>\
<li>Open <a href=\"/setup\">the setup</a> with the code that the server printed: it makes the first admin, finds your printers \
and ends with a test print.</li>\
<li>Make an API key on the machine of the server: <code>printfloor key create --name me --role admin</code></li>\
<li>Open <a href=\"/docs/\">the API</a>, choose <b>Authorize</b> and paste the key under <code>apiKey</code>.</li>\
<li>Add a material, upload G-code and add a SKU: then an order can be placed and paid.</li></ol>\
<p>Without printers of your own: <code>printfloor demo</code> runs a whole simulated shop.</p></main></body></html>\n";
