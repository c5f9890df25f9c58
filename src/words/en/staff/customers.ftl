### Pages of customers.

## Search

title = Customers
search_field = Name or email address
search = Search
none_match = No customers match “{ $text }”.
show_all = Show all
none_match_hint = People named only on an order or quote appear here after they sign in or make a purchase.
none_yet = No customers yet. Customers appear here after their first order or sign-in.
email_column = Email address
name_column = Name
company_column = Company
phone_column = Phone
since_column = Since

## A customer

all_customers = All customers
profile = Profile
email = Email address
phone = Phone
company = Company
vat_id = VAT ID
language = Language
billing_address = Billing address
billing_address_additional = Additional billing address
shipping_address = Shipping address
shipping_address_additional = Additional shipping address
since = Since
profile_note = Only the customer can change this profile.
spent = Total spent, less refunds
nothing_spent = Nothing yet.
spent_of_latest = Based on the latest { $latest } of { $all } payments and refunds.

## Orders, invoices, quotes, custom requests and payments of a customer

orders = Orders
all_orders = View all orders
invoices = Invoices
all_invoices = View all invoices
quotes = Quotes
all_quotes = View all quotes
requests = Custom requests
all_requests = View all custom requests
payments = Payments and refunds
none_of_these = None yet.
# $record is an_order or an_invoice, as a link.
payment_for = { $method } for { $record }
an_order = an order
an_invoice = an invoice
refunded_at = refunded, { $time }
refund_failed_at = refund failed, { $time }
