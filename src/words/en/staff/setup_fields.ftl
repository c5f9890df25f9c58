### Services and settings of the setup wizard and the integrations page: names, states, fields, purposes, and advice.

## Services

database = Database
redis = Queue and shared store
smtp = Mail server
email = Email service
workflow = Workflow automation
farm_ui = Print farm management
failure_detection = AI failure detection
smart_home = Smart home
parts = Parts management
spools = Spool management
agent = Agent gateway
accounting = Accounting
payments = Payment processor
printer = Printer

## States of a service

left_out = Skipped
begun = Incomplete
not_used = Not used
tested_unwritten = Tested, not written yet
tested = Tested
built_in = Built in
configured = Configured

## Purposes

about_workflow = Receives events, such as low stock, and runs your own workflows.
about_farm_ui = Shows all printers on its own page.
about_failure_detection = Watches the cameras and reports failing prints.
about_smart_home = Shows printer states and triggers automations.
about_parts = Keeps stock in sync. Changes made there appear here within five minutes.
about_spools = Tracks how much is left on each spool.
about_agent = Accepts chat commands, such as pausing a print.
about_payments = Accepts cards and other payment methods. Without it, you mark orders as paid manually.
about_email = Sends emails through an API. Use this or the mail server below. Without either, emails are written to files.
about_smtp = Sends emails over SMTP. Your provider gives you the server, port, user name and password.

## Fields

sample = For example, { $sample }.
already_set = Already set. Leave empty to keep the current value.
set_by = Set by { $source }.
remove = Remove
url_field = Address (URL)
token_field = API key or token
token_hint = From that system's settings. Leave empty if none is required.
database_hint = For example, postgres://user:password@localhost:5432/printfloor. Leave empty to use a file in the data directory, which is enough for one small shop.
redis_hint = For example, redis://localhost:6379. Leave empty to keep everything in memory. This is enough for one server.
port_field = Port
port_hint = Usually 587 or 465.
user_field = User name
user_hint = Leave empty if none is required.
password_field = Password
sender_field = Sender
sender_hint = For example, My Shop <shop@example.org>.
email_key_field = Email service API key
secret_key_field = Secret key
secret_key_hint = Starts with sk_ or rk_.
webhook_secret_field = Webhook signing secret
webhook_secret_hint = Starts with whsec_. The processor shows it next to the webhook endpoint for this shop.
publishable_key_field = Publishable key
publishable_key_hint = Starts with pk_.
workflow_hint = The URL that receives events.
time_zone_field = Shop time zone
time_zone_hint = All times on pages and in emails use this time zone.

## Details of the shop

your_shop = Your shop: { $field }
seller_name_field = Shop name
seller_name_hint = As in the company register, or your own name.
line1_field = Street and number
line2_field = Address line 2
postal_code_field = Postcode
city_field = City
country_field = Country
country_hint = Two letters, such as DE or US.
vat_id_field = VAT ID
vat_id_hint = With its country prefix, such as DE123456789. Leave empty if you have none.
tax_number_field = Tax number
tax_number_hint = From your tax office, if you have no VAT ID.
seller_gaps = Invoices require the shop's { $names }.
gap_name = name
gap_street = street and number
gap_city = city
gap_country = country
gap_vat_id = VAT ID with its country prefix
gap_tax_number = VAT ID or tax number

## Advice for a service that fails

advice_refused = Nothing is listening at that address and port. Check that the service is running and the port is right. In a container, `localhost` is the container itself.
advice_credentials = The service responded but rejected the credentials. Copy the user name, password or key again, without spaces around them.
advice_host = The host name can't be resolved. Check it for typos, or use the IP address.
advice_name = The server responded, but the name at the end of the address doesn't exist there. Create it, or correct the name.
advice_tls = The secure connection failed. Check whether the address must begin with http:// instead of https://, and whether the certificate is self-signed.
advice_time = The machine didn't respond in time. Check that it is switched on and on the same network, and that no firewall blocks the port.
advice_address = A service can't use that address. Enter its address on your network.
advice_firmware = The printer's web server is running, but its firmware isn't connected. Switch the printer on, check its USB cable, and restart the firmware from the printer's web page.
advice_database = The address has the form postgres://user:password@machine:5432/name. Leave it empty to use the built-in database.
advice_redis = The address has the form redis://machine:6379, or redis://:password@machine:6379. Leave it empty to run without Redis.
advice_smtp = Check the server, port, user name and password in the settings of your email account.
advice_payments = Copy the keys again from the processor's developer page. All three must belong to the same account.
advice_printer = Open the address in a browser on this server. If the printer's web page opens, check the printer type and its key.
advice_other = Open the address in a browser on this server. If the system's web page opens, copy its key again.

## Results of tests, in place of the English messages

result_works = it responds in time and accepts writes
result_memory = not configured: rate limits and the event stream stay in this process
result_key = the printer rejects the key
result_read_only = the printer does not accept commands
result_firmware = its server responds, but the printer's firmware does not
result_silent = the printer does not respond
result_responds = { $name } responds
result_created = { $name } does not exist yet; the next start creates it
result_unusable = { $name } cannot be used
result_smtp = { $place } accepts connections and the credentials
