"""Repeats with the payment processor's own client what the server's client sent, under the same keys.

A key that was used for another request is refused, so each object that comes back shows that both sent the same. Prints
one JSON object.
"""

import json
import sys

import stripe

url, key, given = sys.argv[1:]
given = json.loads(given)
client = stripe.StripeClient(key, base_addresses={"api": url}, max_network_retries=0).v1
metadata = {"orderId": "o1"}
seen = {}

seen["customer"] = client.customers.create(
    {"email": "ann@example.org", "name": "Ann", "metadata": {"customerId": "c-1"}}, {"idempotency_key": "k-customer"}
).id
seen["payment"] = client.checkout.sessions.create(
    {
        "mode": "payment",
        "client_reference_id": "o1",
        "metadata": metadata,
        "payment_intent_data": {"metadata": metadata},
        "line_items": [
            {
                "quantity": 1,
                "price_data": {"currency": "usd", "unit_amount": 1250, "product_data": {"name": "Order ORD-000001 & more"}},
            }
        ],
        "customer_email": "buyer+1@example.org",
        "success_url": "http://shop.example/thanks?a=1&b=2",
        "cancel_url": "http://shop.example/",
    },
    {"idempotency_key": "k-payment"},
).id
seen["subscription_session"] = client.checkout.sessions.create(
    {
        "mode": "subscription",
        "client_reference_id": "c-1",
        "metadata": {"customerId": "c-1"},
        "subscription_data": {"metadata": {"customerId": "c-1"}},
        "line_items": [{"price": given["price"], "quantity": 2}],
        "customer": given["customer"],
        "success_url": "http://shop.example/yes",
        "cancel_url": "http://shop.example/no",
    },
    {"idempotency_key": "k-subscription"},
).id
seen["refund"] = client.refunds.create(
    {"payment_intent": given["intent"], "amount": 250, "metadata": metadata}, {"idempotency_key": "k-refund"}
).id
seen["portal"] = client.billing_portal.sessions.create(
    {"customer": given["customer"], "return_url": "http://shop.example/me"}, {"idempotency_key": "k-portal"}
).url

session = client.checkout.sessions.retrieve(seen["payment"])
seen["session"] = [session.status, session.payment_status, session.payment_intent, session.amount_total]
seen["refunds"] = len(list(client.refunds.list({"payment_intent": given["intent"], "limit": 2}).auto_paging_iter()))
found = client.customers.search({"query": "metadata['customerId']:'c-1'"})
seen["found"] = [one.id for one in found.data]
cards = client.payment_methods.list({"customer": given["customer"], "type": "card"})
seen["cards"] = [one.card.last4 for one in cards.data]
listed = client.subscriptions.list({"customer": given["customer"], "status": "all"}).data
seen["subscriptions"] = [[one.id, one.status, one["items"].data[0].quantity] for one in listed]
whole = client.subscriptions.retrieve(
    listed[0].id, {"expand": ["latest_invoice", "default_payment_method", "items.data.price.product"]}
)
seen["whole"] = [whole.latest_invoice.total, whole.default_payment_method.card.last4]
ending = client.subscriptions.update(listed[0].id, {"cancel_at_period_end": True})
seen["ending"] = ending.cancel_at_period_end


def error(call):
    try:
        call()
    except stripe.StripeError as refused:
        return [type(refused).__name__, refused.http_status, refused.code, getattr(refused, "param", None)]
    return None


other = stripe.StripeClient("sk_test_wrong", base_addresses={"api": url}, max_network_retries=0).v1
same_key = {"idempotency_key": "k-refund"}
seen["errors"] = [
    error(lambda: other.refunds.list()),
    error(lambda: client.refunds.create({"payment_intent": given["intent"], "amount": 251}, same_key)),
    error(lambda: client.refunds.create({"payment_intent": given["intent"], "surprise": 1})),
    error(lambda: client.checkout.sessions.retrieve("cs_none")),
    error(lambda: client.checkout.sessions.expire(seen["payment"])),
]

body, signature, secret = given["signed"]
seen["event"] = stripe.Webhook.construct_event(body.encode(), signature, secret).type
print(json.dumps(seen))
