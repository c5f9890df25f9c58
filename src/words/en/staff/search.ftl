### Search of the whole shop.

title = Search
field = Number, name, code or email address
search = Search

## Results

printers = Printers
spools = Spools
materials = Materials
of_order = for { $number }
all_orders = All orders that match
all_jobs = All jobs that match
all_printers = All printers that match
all_slots = All slots
all_materials = All materials that match
all_products = All products that match
all_customers = All customers that match
search_jobs = Search jobs by product or file

## Nothing to show

none_match = Nothing matches “{ $text }”.
hint = Search for orders, jobs and spools by number, printers and materials by name, products by name or code, and customers and their orders by email address.
