### Messages of the API about invoices, quotes and payments.

## Fields

fault_discount = must not exceed the sum of the lines
fault_total = the total is too large; split the invoice
fault_not_future = must be in the future
fault_past = must not be in the past
fault_method = is reserved for what the payment processor reports; use another name
fault_above_due = must be at most the amount due
fault_above_refundable = must be at most the amount not yet refunded
fault_payment = is required for payments outside of the payment processor
fault_price_of_sku = is required, because the SKU's price is in another currency
fault_inactive_sku = this SKU is not active
fault_unpriced = is too large to be priced; reduce the quantity, or set a price

## Forms

changed_since = The record has changed since you read it.
not_in_status = This isn't possible in the current status. Reload the page to see it.
nothing_to_refund = Nothing is left to refund. Leave the refund method empty to refund through the payment processor.
refunds_under_way = Wait until the pending refunds are complete.
refund_at_processor = The payment was made through the payment processor; refund it there, and the refund is recorded here automatically.
payment_unnamed = The payment processor has not reported the ID of this payment yet; try again in a minute.
has_payments = The invoice has payments; refund them first.
already_paid = The invoice is already paid.
belongs_to_order = The payments of this invoice are recorded on its order.
too_many_payments = The maximum number of payments and refunds is reached.
not_issued = The invoice is a draft; issue it first.
