### Pages of quotes.

## List

title = Quotes
requests_link = Custom requests
requests_link_new = Custom requests ({ $count } new)
new_quote = New quote
filter_label = Status
all = All
email_filter = Customer email
search = Search
none_match = No quotes match.
show_all = Show all
none_yet = No quotes yet. Create a quote from a model or manually, or from a custom request.
quote_column = Quote
status_column = Status
customer_column = Customer
created_column = Created
valid_column = Valid until
total_column = Total
order_failed_mark = Order can't be created

## Statuses

status_draft = Draft
status_sent = Sent
status_accepted = Accepted
status_declined = Declined
status_expired = Expired

## A quote

all_quotes = All quotes
quote_title = Quote { $number }
glance = At a glance
order_failed = The order can't be created
customer = Customer
no_customer = Not set
request = Custom request
view_request = View request
order = Order
view_order = View order
created = Created
sent_at = Sent
answered_at = Answered
decline_reason = Decline reason
valid_until = Valid until
shipping_address = Shipping address
notes = Notes

## Lines and sums

lines = Lines
lines_label = Quote lines
description_column = Description
quantity_column = Quantity
price_column = Price
amount_column = Amount
subtotal = Subtotal
shipping = Shipping
tax = Tax, { $rate }
total = Total
from_sku = Printed from a product
printed_without_sku = Printed, product not set yet
not_printed = Not printed
model = { $size } each, { $material }, { $machine }.
no_material = material not set yet
work_sliced = Total: { $grams } g in { $span }, from the G-code.
work_before_slicing = Total: { $grams } g in { $span }, estimated from the volume until the model is sliced.
work_of_volume = Total: { $grams } g in { $span }, estimated from the volume.
work_slicing_failed = Total: { $grams } g in { $span }, estimated from the volume because slicing failed.
priced_by_hand = Price set manually.

## Costs

costs = Costs and margin (internal)
costs_label = Costs
line_column = Line
material_column = Material
energy_column = Energy
wear_column = Wear
labour_column = Labour
failures_column = Failures
costs_column = Costs
margin_column = Margin
actual = Actual: { $grams } g in { $span }
actual_so_far = Actual so far: { $grams } g in { $span }
costs_note = Excludes tax and shipping. Actual costs include failed prints.

## Drafts

edit_draft = Edit draft
edit_head = Edit customer, address, date and notes
email_field = Customer email
valid_field = Valid until
valid_hint = Leave empty for the default number of days after sending.
notes_field = Notes to customer
address_legend = Shipping address (determines tax)
save = Save
description_field = Description
description_hint = Leave empty for the name of the product or model.
quantity_field = Quantity
price_field = Unit price, excluding tax
price_hint = Leave empty for the product's price, or a price based on the model's costs.
source_field = Printed from
source_none = Not printed, such as design work
source_later = Printed (choose the product before sending)
source_sku = SKU { $code }, { $name }
source_model = Model { $name }
current_value = Current value
model_options = Model options
material_field = Material
material_later = Choose before sending
machine_field = Machine
usual_machine = Default
profile_field = Slicer profile

## New quotes

# $request is a_request as a link, $customer an email address.
responds_to = This quote responds to { $request } from { $customer }.
a_request = a custom request
by_model = From a model
by_model_text = The model is measured and priced immediately, and sliced if a slicer is set up. You can change everything before you send the quote.
model_file_field = Model (STL or 3MF file)
create_from_model = New quote from model
by_hand = Manually
by_hand_text = Enter the first line. You can add more lines and the address to the draft.
currency_field = Currency
currency_hint = Three letters, such as EUR. Leave empty for the shop's currency.
create_draft = Save draft

## Actions

actions = Actions
unchangeable = You can't change a quote after you send it. To change the offer, create another quote.
send = Send to customer
send_text = Emails the quote to { $email } so that the customer can accept it. You can't change the quote afterwards.
send_needs_email = Enter the customer's email address first.
delete = Delete draft
delete_text = You can't undo this.
withdraw_heading = Withdraw or mark as declined
withdraw_text = The customer can no longer accept the quote. You can't undo this.
reason_field = Reason (internal)
withdraw = Withdraw { $number }
