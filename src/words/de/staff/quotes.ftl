### Seiten für Angebote.

## Liste

title = Angebote
requests_link = Anfragen
requests_link_new = Anfragen ({ $count } neu)
new_quote = Neues Angebot
filter_label = Status
all = Alle
email_filter = E-Mail-Adresse des Kunden
search = Suchen
none_match = Keine passenden Angebote.
show_all = Alle anzeigen
none_yet = Noch keine Angebote. Erstellen Sie eines aus einem Modell, manuell oder aus einer Anfrage.
quote_column = Angebot
status_column = Status
customer_column = Kunde
created_column = Erstellt
valid_column = Gültig bis
total_column = Gesamtbetrag
order_failed_mark = Bestellung nicht möglich

## Status

status_draft = Entwurf
status_sent = Gesendet
status_accepted = Angenommen
status_declined = Abgelehnt
status_expired = Abgelaufen

## Ein Angebot

all_quotes = Alle Angebote
quote_title = Angebot { $number }
glance = Auf einen Blick
order_failed = Die Bestellung kann nicht angelegt werden
customer = Kunde
no_customer = Nicht angegeben
request = Anfrage
view_request = Anfrage ansehen
order = Bestellung
view_order = Bestellung ansehen
created = Erstellt
sent_at = Gesendet
answered_at = Beantwortet
decline_reason = Grund der Ablehnung
valid_until = Gültig bis
shipping_address = Lieferadresse
notes = Anmerkungen

## Positionen und Summen

lines = Positionen
lines_label = Positionen des Angebots
description_column = Bezeichnung
quantity_column = Menge
price_column = Einzelpreis
amount_column = Betrag
subtotal = Zwischensumme
shipping = Versand
tax = Umsatzsteuer, { $rate }
total = Gesamtbetrag
from_sku = Wird aus einem Produkt gedruckt
printed_without_sku = Wird gedruckt, Produkt noch offen
not_printed = Wird nicht gedruckt
model = Je { $size }, { $material }, { $machine }.
no_material = Material noch offen
work_sliced = Insgesamt { $grams }{ "\u00A0" }g in { $span }, laut G-Code.
work_before_slicing = Insgesamt { $grams }{ "\u00A0" }g in { $span }, nach dem Volumen geschätzt, bis das Modell geslict ist.
work_of_volume = Insgesamt { $grams }{ "\u00A0" }g in { $span }, nach dem Volumen geschätzt.
work_slicing_failed = Insgesamt { $grams }{ "\u00A0" }g in { $span }, nach dem Volumen geschätzt, weil das Slicen fehlgeschlagen ist.
priced_by_hand = Preis manuell festgelegt.

## Kosten

costs = Kosten und Marge (intern)
costs_label = Kosten
line_column = Position
material_column = Material
energy_column = Energie
wear_column = Verschleiß
labour_column = Arbeit
failures_column = Fehldrucke
costs_column = Kosten
margin_column = Marge
actual = Tatsächlich: { $grams }{ "\u00A0" }g in { $span }
actual_so_far = Tatsächlich bisher: { $grams }{ "\u00A0" }g in { $span }
costs_note = Ohne Umsatzsteuer und Versand. Die tatsächlichen Kosten enthalten Fehldrucke.

## Entwürfe

edit_draft = Entwurf bearbeiten
edit_head = Kunde, Adresse, Datum und Anmerkungen bearbeiten
email_field = E-Mail-Adresse des Kunden
valid_field = Gültig bis
valid_hint = Leer lassen für die übliche Gültigkeitsdauer ab dem Senden.
notes_field = Anmerkungen für den Kunden
address_legend = Lieferadresse (bestimmt die Umsatzsteuer)
save = Speichern
description_field = Bezeichnung
description_hint = Leer lassen für den Namen des Produkts oder Modells.
quantity_field = Menge
price_field = Einzelpreis, netto
price_hint = Leer lassen für den Preis des Produkts oder einen Preis nach den Kosten des Modells.
source_field = Druckvorlage
source_none = Wird nicht gedruckt, zum Beispiel Konstruktionsarbeit
source_later = Wird gedruckt (Produkt vor dem Senden auswählen)
source_sku = Produkt { $code }, { $name }
source_model = Modell { $name }
current_value = Bisheriger Wert
model_options = Optionen für Modelle
material_field = Material
material_later = Vor dem Senden auswählen
machine_field = Maschine
usual_machine = Standard
profile_field = Slicer-Profil

## Neue Angebote

# $request ist a_request als Link, $customer eine E-Mail-Adresse.
responds_to = Dieses Angebot beantwortet { $request } von { $customer }.
a_request = eine Anfrage
by_model = Aus einem Modell
by_model_text = Das Modell wird sofort vermessen und kalkuliert; wenn ein Slicer eingerichtet ist, wird es auch geslict. Vor dem Senden können Sie alles ändern.
model_file_field = Modell (STL- oder 3MF-Datei)
create_from_model = Neues Angebot aus Modell
by_hand = Manuell
by_hand_text = Geben Sie die erste Position ein. Weitere Positionen und die Adresse können Sie im Entwurf ergänzen.
currency_field = Währung
currency_hint = Drei Buchstaben, zum Beispiel EUR. Leer lassen für die Währung des Betriebs.
create_draft = Entwurf speichern

## Aktionen

actions = Aktionen
unchangeable = Ein gesendetes Angebot können Sie nicht mehr ändern. Erstellen Sie stattdessen ein weiteres Angebot.
send = An Kunden senden
send_text = Sendet das Angebot per E-Mail an { $email }. Der Kunde kann es annehmen; ändern können Sie es danach nicht mehr.
send_needs_email = Geben Sie zuerst die E-Mail-Adresse des Kunden ein.
delete = Entwurf löschen
delete_text = Das lässt sich nicht rückgängig machen.
withdraw_heading = Zurückziehen oder als abgelehnt markieren
withdraw_text = Der Kunde kann das Angebot nicht mehr annehmen. Das lässt sich nicht rückgängig machen.
reason_field = Grund (intern)
withdraw = { $number } zurückziehen
