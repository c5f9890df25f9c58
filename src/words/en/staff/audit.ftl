### The audit log: its page, the names of actors, and the nouns for what acts apply to.

## Page

title = Audit log
none_here = No entries match in this part of the log. Try older entries.
none = No entries match.
clear_filters = Clear filters
newest = Newest
older = Older
day_filters = Day
any_day = Any day
today = Today
yesterday = Yesterday
last_week = Last 7 days
current_filters = Current filters
remove_filter = , remove this filter
filter_log = Filter the audit log
actor = Actor
anyone = Anyone
action_filter = Action
any_action = Any action
resource = Resource
all_resources = All resources
from = From
until = Until
show = Apply
by_type = By type
by_printer = By printer
jobs = Jobs
settings = Settings

## Entry

details = Details
action = Action
outcome = Outcome
request = Request

## Sentences, after the name of the actor

did = { $act }
tried = tried to { $act }
rejected_counted =
    { $count ->
        [one] sent one more request that was rejected
       *[other] sent { $count } more requests that were rejected
    }
rejected_uncounted = sent more requests that were rejected
sign_in_failed = failed to sign in
rejected = sent a request that was rejected: { $request }
unknown_command = sent the command { $command }, which this version does not know

## Acts on printers that name a slot, a material or a state; the printer is in the case of its act

slot_removed = removed { $slot } from { $subject }
maintenance_begun = took { $subject } out of service
maintenance_over = returned { $subject } to service
marked_empty = marked { $place } of { $subject } as empty
loaded = loaded { $material } into { $subject }
loaded_onto = loaded { $material } onto { $place } of { $subject }
loaded_into = loaded { $material } into { $place } of { $subject }
some_spool = a spool
slot = slot { $label }
external_spool = the external spool
spool_holder = the spool holder
external_holder = the external spool holder

## Actors

actor_server = Printfloor
actor_owner = The server's owner
actor_setup = Setup
actor_processor = The payment processor
actor_anonymous = Someone who isn't signed in
actor_others = Others
some_customer = A customer
some_channel = A sales channel
some_user = A user
some_key = An API key
key = API key “{ $name }”

## Names of resources, with their nouns

order_named = order { $name }
invoice_named = invoice { $name }
invoice_for = for { $name }
invoice_without_recipient = without a recipient
quote_named = quote { $name }
file_named = file { $name }
endpoint_named = webhook endpoint { $name }
endpoint_without_host = without a host
channel_named = sales channel { $name }
sku_named = product { $name }
customer_named = customer { $name }
customer_named_indirect = customer { $name }
request_named = the custom request from { $name }
request_named_indirect = the custom request from { $name }

## Subjects of equal acts, in the accusative and in the dative; and equal acts on one subject, after the sentence

printers_counted =
    { $count ->
        [one] { $count } printer
       *[other] { $count } printers
    }
printers_counted_indirect =
    { $count ->
        [one] { $count } printer
       *[other] { $count } printers
    }
orders_counted =
    { $count ->
        [one] { $count } order
       *[other] { $count } orders
    }
orders_counted_indirect =
    { $count ->
        [one] { $count } order
       *[other] { $count } orders
    }
several_times = ({ $count } times)

## Nouns for kinds of resources in the accusative, in the dative, and in the plural

printer = a printer
printer_indirect = a printer
printer_plural = Printers
order = an order
order_indirect = an order
order_plural = Orders and jobs
material = a material or spool
material_indirect = a material or spool
material_plural = Materials and spools
sku = a product
sku_indirect = a product
sku_plural = Products
file = a file
file_indirect = a file
file_plural = Files
customer = a customer
customer_indirect = a customer
customer_plural = Customers
sign_in_link = a sign-in link
sign_in_link_indirect = a sign-in link
sign_in_link_plural = Sign-in links
custom_request = a custom request
custom_request_indirect = a custom request
custom_request_plural = Custom requests
quote = a quote
quote_indirect = a quote
quote_plural = Quotes
invoice = an invoice
invoice_indirect = an invoice
invoice_plural = Invoices
export = an export
export_indirect = an export
export_plural = Exports
accounting = the accounting system
accounting_indirect = the accounting system
accounting_plural = Accounting
posting = an accounting entry
posting_indirect = an accounting entry
posting_plural = Accounting entries
payment = a payment
payment_indirect = a payment
payment_plural = Unmatched payments
sales_channel = a sales channel
sales_channel_indirect = a sales channel
sales_channel_plural = Sales channels
channel_order = an order from a sales channel
channel_order_indirect = an order from a sales channel
channel_order_plural = Orders from sales channels
endpoint = a webhook endpoint
endpoint_indirect = a webhook endpoint
endpoint_plural = Webhook endpoints
user = a user
user_indirect = a user
user_plural = Users
session = a session
session_indirect = a session
session_plural = Sign-ins
api_key = an API key
api_key_indirect = an API key
api_key_plural = API keys
access = the shop's settings
access_indirect = the shop's settings
access_plural = Settings and agent
integration = an integration
integration_indirect = an integration
integration_plural = Integrations
mail = an email
mail_indirect = an email
mail_plural = Emails
backup = a backup
backup_indirect = a backup
backup_plural = Backups
restore = a restore
restore_indirect = a restore
restore_plural = Restores
rejected_request = a request
rejected_request_indirect = a request
rejected_request_plural = Rejected requests
unknown_subject = something

## Outcomes

outcome_no_response = no response from the printer
outcome_refused_by_printer = rejected by the printer
outcome_printer_busy = printer in use
outcome_unsupported = not supported by the printer
outcome_disconnected = printer disconnected by staff
outcome_not_possible = not possible at that time
outcome_stale = changed by someone else first
outcome_invalid = invalid input
outcome_not_signed_in = not signed in
outcome_wrong_credentials = wrong password or code
outcome_second_factor = second factor missing
outcome_forbidden = not allowed
outcome_cross_site = sent by another website
outcome_too_many = too many attempts
outcome_unknown = outcome unknown
outcome_unavailable = server unavailable
outcome_not_found = not found
outcome_rejected = rejected
