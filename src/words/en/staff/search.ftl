### Search of the whole shop.

title = Search
field = Number, name, code or email address
search = Search

## Results

printers = Printers
spools = Spools
materials = Materials
of_order = for { $number }
all_orders = All matching orders
all_jobs = All matching jobs
all_printers = All matching printers
all_slots = All slots
all_materials = All matching materials
all_products = All matching products
all_customers = All matching customers
search_jobs = Search jobs by product or file

## Nothing to show

none_match = Nothing matches “{ $text }”.
hint = Search for orders, jobs and spools by number, printers and materials by name, products by name or code, customers by name or email address, and orders also by the customer's email address.
