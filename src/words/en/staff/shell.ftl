### Frame of all pages for the staff.

## Navigation

skip_link = Skip to content
pages = Pages
main_pages = Main pages
group_work = Work
group_shop = Shop
group_reports = Reports
to_do = To do
floor = Floor
orders = Orders
jobs = Jobs
stock = Stock
products = Products
customers = Customers
quotes = Quotes
invoices = Invoices
insights = Insights
settings = Settings
webhooks = API and webhooks
more = More
needing_attention = needing attention
open_tasks = open tasks

## Search

search = Search
search_whole_shop = Search orders, printers, spools…
# Name of the search, for screen readers.
whole_shop = Whole shop

## Account menu

account = Account
admin = Admin
operator = Operator
my_account = My account
change_password = Change password
api_documentation = API documentation
sign_out = Sign out

## Live state

connection_lost = Connection lost. This page may be out of date. Reconnecting…
live = Live
offline = Offline
floor_summary = Floor summary
count_printing = { $count } printing
# On pages that also count jobs: the number is that of printers.
printers_printing =
    { $count ->
        [one] { $number } printer printing
       *[other] { $number } printers printing
    }
count_ready = { $count } ready
count_needing_attention = { $count } needing attention
count_offline = { $count } offline
next_free = Next free { $time }

## Elapsed and remaining time, also as the script writes them

minutes = { $minutes } min
hours = { $hours } h { $minutes } min
elapsed = for { $span }
elapsed_under_minute = for less than a minute
left = { $span } left
left_under_minute = less than a minute left

## Messages of the script

done = Done.
failed = Something went wrong. Try again.
silent = The server is not responding. Check the printer before you try again.
keep_holding = Keep holding: { $action }
