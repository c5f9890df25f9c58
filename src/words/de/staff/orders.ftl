### Seiten für Bestellungen.

## Bezeichnungen an Bestellungen

status_draft = Entwurf
status_created = Zahlung offen
status_payment_failed = Zahlung fehlgeschlagen
status_paid = Bezahlt
status_printing = Im Druck
status_ready = Versandbereit
status_shipped = Versendet
status_cancelled = Storniert
status_refunded = Erstattet
flag_refund_due = Erstattung fällig
flag_amount_mismatch = Zahlungsbetrag weicht ab
flag_job_failed = Druckauftrag fehlgeschlagen
flag_all_jobs_cancelled = Alle Druckaufträge abgebrochen
flag_short = Weniger gute Teile als bestellt
flag_needs_attention = Ausschuss nicht nachgedruckt
flag_seller_incomplete = Für die Rechnung fehlen Name und Anschrift des Betriebs
flag_rejected_after_shipping = Versendete Teile sind Ausschuss: Ersatz senden
flag_surplus = Nachdruck nicht mehr nötig
flag_refund_failed = Erstattung fehlgeschlagen
flag_disputed = Zahlung angefochten
flag_dispute_lost = Rückbuchung nach Anfechtung
flag_unknown = Handlungsbedarf

## Liste

list_title = Bestellungen
jobs = Druckaufträge
new_order = Neue Bestellung
no_match = Keine passenden Bestellungen.
show_all = Alle anzeigen
none_heading = Noch keine Bestellungen
none_origin = Bestellungen kommen von Kunden, aus Ihrem Onlineshop (über die API), aus Vertriebskanälen und vom Team.
none_jobs = Sobald eine Bestellung bezahlt ist, werden ihre Druckaufträge angelegt und an passende Drucker gesendet.
create_first = Neue Bestellung
view_products = Produkte ansehen
timing_filters = Termin
status_filters = Status
sort_links = Sortierung
sort_urgent = Dringendste zuerst
sort_newest = Neueste zuerst
all_filter = Alle
search_field = Nummer oder E-Mail-Adresse
flagged_field = Mit Handlungsbedarf
show = Anzeigen
picture_column = Bild
order_column = Bestellung
status_column = Status
customer_column = Kunde
promised_column = Zugesagt
expected_column = Erwartet
total_column = Gesamtbetrag

## Eine Bestellung

all_orders = Alle Bestellungen
order_title = Bestellung { $number }
no_customer = Ohne Kunde
more_jobs =
    { $count ->
        [one] { $count } weiterer.
       *[other] { $count } weitere.
    }
view_all_jobs = Alle Druckaufträge ansehen
progress = Fortschritt
step_paid = Bezahlt
step_reserved = Material reserviert
step_printed = Gedruckt
step_printing = Im Druck
step_ready = Fertig
step_shipped = Versendet
progress_of = Fortschritt von { $number }
parts_good = { $good } von { $ordered } gut
expected_at = voraussichtlich { $time }
promised_at = zugesagt für { $time }
glance = Auf einen Blick
customer = Kunde
placed = Bestellt
paid = Bezahlt
due_date = Fällig am
promised = Zugesagt
ready = Fertig
expected = Voraussichtlich fertig
priority = Priorität
ship_to = Lieferadresse
notes = Anmerkungen
internal_notes = Interne Notizen
history = Verlauf

## Aktionen

confirm_draft = Entwurf bestätigen
more = Mehr
cancel = Stornieren
cancel_text = Offene Druckaufträge der Bestellung und ihre laufenden Drucke werden abgebrochen.
cancel_order = { $number } stornieren
no_waiting_field = Nicht auf Drucker warten, die nicht antworten
edit = Priorität, Termin und Notizen bearbeiten
edit_with_address = Priorität, Termin, Notizen und Adresse bearbeiten
priority_hint = 9 wird zuerst gedruckt.
due_date_hint = Bis zum Ende dieses Tages.
address_hint = Lieferadresse. Die Umsatzsteuer kann von ihr abhängen.
save = Speichern

## Positionen

lines = Positionen
order_lines = Positionen der Bestellung
item_column = Artikel
ordered_column = Bestellt
good_column = Gut
running_column = In Arbeit
missing_column = Fehlt
shipped_column = Versendet
amount_column = Betrag
sets_of_kit = (Set: { $good } von { $all } vollständig)
in_kit = (Teil eines Sets)
rejected = Ausschuss: { $count }

## Sendungen

shipment = Sendung { $number }
pickup = Abholung
expected_delivery_on = Zustellung voraussichtlich { $day }
packing_list = Packliste
carrier_field = Versanddienst
tracking_field = Sendungsnummer
parts_field = { $item } (bis zu { $count })
sets_field =
    { $count ->
        [one] { $item } (bis zu { $count } vollständiges Set)
       *[other] { $item } (bis zu { $count } vollständige Sets)
    }
accept_short_field = Der Kunde nimmt weniger Teile an
ship = Versenden
mark_picked_up = Als abgeholt markieren
new_shipment = Neue Sendung
new_shipment_text = Für mehrere Pakete geben Sie weniger Teile ein und versenden den Rest später.
ship_some = Teillieferung versenden{ "\u00A0" }…
ship_some_text = Diese Teile werden als eigene Sendung versendet. Die Bestellung gilt als versendet, sobald alle Teile versendet sind.

## Packliste

packing_title = Packliste { $shipment } zur Bestellung { $number }
back_to_order = Zurück zur Bestellung
no_address = Keine Adresse
shipped_at = versendet { $time }
packing_notes = Anmerkungen: { $notes }
contents = Inhalt
packed_items = Verpackte Artikel
packed_column = Verpackt
parts_column = Teile
of_kit = (aus { $kit })
printed_in = Gedruckt in { $prints }. Wenn sich ein Teil als mangelhaft herausstellt, melden Sie es in seinem Druckauftrag als Ausschuss. Es gilt dann wieder als fehlend.
parts_of_job =
    { $count ->
        [one] { $job } ({ $count } Teil)
       *[other] { $job } ({ $count } Teile)
    }

## Zahlungen

payments = Zahlungen
shipping = Versand
tax = Umsatzsteuer
total = Gesamtbetrag
net_paid = Gezahlt, abzüglich Erstattungen
due = Offener Betrag
pending_refunds = Ausstehende Erstattungen
refund_requested = angefordert { $time }
refund_rejected = Vom Zahlungsdienst abgelehnt: { $error }
refund_waiting = wartet auf den Zahlungsdienst
payment_refunded = erstattet
payment_failed = fehlgeschlagen
record_payment = Zahlung erfassen
method_field = Zahlungsart
amount_field = Betrag in { $currency }
payment_hint = Lassen Sie das Feld leer, um den gesamten offenen Betrag ({ $due }) zu erfassen.
refund_payment = { $amount } erstatten ({ $method }, { $time })
refund_text = Erstatten Sie diese Zahlung ganz oder teilweise. Zahlungen über den Zahlungsdienst werden dort erstattet. Alle anderen Erstattungen zahlen Sie selbst aus; hier werden sie nur erfasst.
refund_hint = Lassen Sie das Feld leer, um den gesamten Restbetrag zu erstatten.
other_method_field = Andere Art der Erstattung
refund_to = An { $customer } erstatten
refund_to_customer = An den Kunden erstatten

## Neue Bestellung

no_skus_heading = Noch keine bestellbaren Produkte
no_skus_text = Bestellungen bestehen aus Produkten. Legen Sie zuerst ein Produkt mit Preis, Material und G-Code an.
new_sku = Neues Produkt
order_heading = Bestellung
email_field = E-Mail-Adresse des Kunden
email_hint = Für die Rechnung und Nachrichten zur Bestellung. Bleibt das Feld leer, werden keine E-Mails gesendet.
new_due_date_hint = Bis zum Ende dieses Tages. Leer bedeutet: so bald wie möglich.
more_products = Weitere Produkte
more_products_hint = Zeilen ohne Produkt werden nicht beachtet.
optional_fields = Adresse, Notizen und Priorität
new_address_hint = Die Adresse ist freiwillig. Versandkosten und Umsatzsteuer können von ihr abhängen.
new_priority_hint = 0 bis 9; 9 wird zuerst gedruckt. Ohne Angabe gilt 5.
place_order = Bestellung anlegen
discard = Abbrechen
product_field = Produkt
quantity_field = Anzahl
next_product_field = Produkt { $number }
next_quantity_field = Anzahl ({ $number })
product_hint = Name oder Artikelnummer eines Produkts oder Sets. Es gilt der Katalogpreis.

## Verlauf

event_order_cancelled = Bestellung storniert
event_order_created = Bestellung eingegangen
event_order_draft = Entwurf angelegt
event_order_flagged = Bestellung mit Handlungsbedarf
event_order_late = Bestellung verspätet
event_order_paid = Bestellung bezahlt
event_order_part_shipped = Teillieferung versendet
event_order_payment_failed = Zahlung fehlgeschlagen
event_order_payment_recorded = Zahlung erfasst
event_order_printing = Druck begonnen
event_order_ready = Bestellung versandbereit
event_order_refund_recorded = Erstattung erfasst
event_order_refunded = Bestellung erstattet
event_order_shipped = Bestellung versendet
event_job_added = { $job } ersetzt Ausschuss
event_job_blocked = { $job } wartet auf Prüfung
event_job_cancelled =
    { $printer ->
        [none] { $job } wurde abgebrochen
       *[other] { $job } wurde auf { $printer } abgebrochen
    }
event_job_completed =
    { $printer ->
        [none] { $job } ist fertig gedruckt
       *[other] { $job } ist auf { $printer } fertig gedruckt
    }
event_job_created = { $job } wurde angelegt
event_job_dispatching =
    { $printer ->
        [none] { $job } wurde einem Drucker zugewiesen
       *[other] { $job } wurde { $printer } zugewiesen
    }
event_job_failed =
    { $printer ->
        [none] { $job } ist fehlgeschlagen
       *[other] { $job } ist auf { $printer } fehlgeschlagen
    }
event_job_not_started =
    { $printer ->
        [none] { $job } hat nicht begonnen
       *[other] { $job } hat auf { $printer } nicht begonnen
    }
event_job_paused =
    { $printer ->
        [none] { $job } wurde pausiert
       *[other] { $job } wurde auf { $printer } pausiert
    }
event_job_printing =
    { $printer ->
        [none] Der Druck von { $job } hat begonnen
       *[other] Der Druck von { $job } hat auf { $printer } begonnen
    }
event_job_released = { $job } wurde freigegeben
event_job_resumed =
    { $printer ->
        [none] { $job } wurde fortgesetzt
       *[other] { $job } wurde auf { $printer } fortgesetzt
    }
event_job_retried = { $job } wurde erneut eingereiht
event_job_signed_off = { $job } wurde abgenommen
event_job_sliced = { $job } ist druckbereit
event_job_unverified =
    { $printer ->
        [none] { $job } druckt vielleicht noch: bitte am Drucker nachsehen
       *[other] { $job } druckt vielleicht noch auf { $printer }: bitte am Drucker nachsehen
    }
event_job_validated = { $job } wurde geprüft
event_printer_attention_cleared = { $printer } wurde geprüft
event_printer_bed_cleared = Das Druckbett von { $printer } wurde abgeräumt
event_printer_commanded = Ein Befehl wurde an { $printer } gesendet
event_printer_connected = { $printer } wurde verbunden
event_printer_created = { $printer } wurde hinzugefügt
event_printer_deleted = { $printer } wurde entfernt
event_printer_disconnected = { $printer } wurde getrennt
event_printer_emergency_stopped = { $printer } wurde mit dem Not-Halt angehalten
event_printer_failure_suspected = Die Kamera von { $printer } zeigt einen möglichen Fehldruck
event_printer_firmware_error = { $printer } hat einen Firmwarefehler gemeldet
event_printer_homed = Mit { $printer } wurde eine Referenzfahrt ausgeführt
event_printer_in_service = { $printer } wurde wieder in Betrieb genommen
event_printer_maintenance_due = Für { $printer } ist eine Wartung fällig
event_printer_maintenance_logged = Eine Wartung von { $printer } wurde eingetragen
event_printer_offline = { $printer } ist nicht mehr erreichbar
event_printer_online = { $printer } ist wieder erreichbar
event_printer_out_of_service = { $printer } wurde außer Betrieb genommen
event_printer_updated = Die Einstellungen von { $printer } wurden geändert
event_credit_note_issued = Rechnungskorrektur ausgestellt
event_invoice_flagged = Rechnung mit Handlungsbedarf
event_invoice_issued = Rechnung ausgestellt
event_invoice_paid = Rechnung bezahlt
event_invoice_refunded = Rechnung erstattet
event_invoice_voided = Rechnung storniert
event_unknown = Bestellung geändert
event_some_job = Ein Druckauftrag
