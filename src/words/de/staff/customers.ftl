### Seiten für Kunden.

## Suche

title = Kunden
search_field = Name oder E-Mail-Adresse
search = Suchen
none_match = Kein Kunde passt zu „{ $text }“.
show_all = Alle anzeigen
none_match_hint = Wer nur in einer Bestellung oder einem Angebot genannt ist, erscheint hier nach der ersten Anmeldung oder dem ersten Kauf.
none_yet = Noch keine Kunden. Kunden erscheinen hier nach ihrer ersten Bestellung oder Anmeldung.
email_column = E-Mail-Adresse
name_column = Name
company_column = Firma
phone_column = Telefon
since_column = Kunde seit

## Ein Kunde

all_customers = Alle Kunden
profile = Profil
email = E-Mail-Adresse
phone = Telefon
company = Firma
vat_id = USt-IdNr.
language = Sprache
billing_address = Rechnungsadresse
billing_address_additional = Weitere Rechnungsadresse
shipping_address = Lieferadresse
shipping_address_additional = Weitere Lieferadresse
since = Kunde seit
profile_note = Nur der Kunde selbst kann dieses Profil ändern.
spent = Umsatz abzüglich Erstattungen
nothing_spent = Noch nichts.
spent_of_latest = Berechnet aus den neuesten { $latest } von { $all } Zahlungen und Erstattungen.

## Bestellungen, Rechnungen, Angebote, Anfragen und Zahlungen eines Kunden

orders = Bestellungen
all_orders = Alle Bestellungen ansehen
invoices = Rechnungen
all_invoices = Alle Rechnungen ansehen
quotes = Angebote
all_quotes = Alle Angebote ansehen
requests = Anfragen
all_requests = Alle Anfragen ansehen
payments = Zahlungen und Erstattungen
none_of_these = Noch keine.
# $record ist an_order oder an_invoice, als Link.
payment_for = { $method } für { $record }
an_order = eine Bestellung
an_invoice = eine Rechnung
refunded_at = erstattet, { $time }
refund_failed_at = Erstattung fehlgeschlagen, { $time }
