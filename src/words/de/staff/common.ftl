### Teile, die in allen Bereichen vorkommen.

total =
    { $count ->
        [one] { $count } Eintrag
       *[other] { $count } Einträge
    }
newer = Neuere
older = Ältere
shown_once = Wird nur einmal angezeigt
copy = Kopieren
recent_activity = Letzte Aktivität
open_audit_log = Protokoll öffnen
list_end = { $rest } und { $last }

## Felder von Formularen

address_line_1 = Straße und Hausnummer
address_line_2 = Adresszusatz
postal_code = Postleitzahl
city = Ort
region = Bundesland oder Region
country = Land (Code aus zwei Buchstaben)
good_parts = Gute Teile
bad_parts = Ausschuss
report_bad_parts = Ausschuss{ "\u00A0" }…
defect = Mangel
amount = Betrag
note = Notiz
expected_delivery = Voraussichtliche Zustellung
reference = Referenz
due_date = Fällig am
work_done = Notiz oder erledigte Arbeit
notes_to_customer = Anmerkungen für den Kunden
internal_notes = Interne Notizen

## Abnahme von Teilen und Not-Halt

picture_of_parts = Bild der Teile
no_defect = Keine Angabe
defect_adhesion = schlechte Haftung
defect_warping = Verzug
defect_stringing = Fäden
defect_layer_shift = Schichtversatz
defect_spaghetti = Spaghetti
defect_wrong_colour = falsche Farbe
defect_other = Sonstiges
good = Gut
bad = Ausschuss
both_bad = Beide Ausschuss
all_bad = Alle { $parts } Ausschuss
some_bad = { $parts } Ausschuss
both_good = Beide gut
all_good = Alle { $parts } gut
sign_off = Abnahme bestätigen
emergency_stop = Not-Halt
hold_to_stop = Not-Halt von { $printer }: eine Sekunde lang gedrückt halten
emergency_stop_of = Not-Halt von { $printer }

## Dauern

span_minutes = { $minutes }{ "\u00A0" }Min.
span_hours = { $hours }{ "\u00A0" }Std. { $minutes }{ "\u00A0" }Min.
# Kurz, für die Kacheln der Werkstatt.
compact_under_minute = < 1{ "\u00A0" }Min.
compact_hours = { $hours }:{ $minutes }{ "\u00A0" }Std.
compact_whole_hours = { $hours }{ "\u00A0" }Std.

## Positionen von Entwürfen

edit_line = Position { $number } bearbeiten: { $title }
save_line = Position speichern
remove_line = Position { $number } entfernen
add_line_title = Weitere Position
add_line = Position hinzufügen

## Erste Schritte eines Betriebs

get_started = Erste Schritte
get_started_text = Richten Sie vor dem ersten Druck drei Dinge ein. Danach stehen hier Ihre Aufgaben.
add_printer = Drucker hinzufügen
add_printer_text = Geben Sie seine Adresse ein. Admins können auch das Netzwerk durchsuchen.
add_material = Material anlegen
add_material_text = Filament, Harz oder Plattenmaterial, und wie viel Sie davon haben.
add_sku = Produkt anlegen
add_sku_text = Ein Produkt, das Sie verkaufen, mit Datei, Material und Preis.
step_done = Erledigt
step_to_do = Offen
first_orders = Bestellungen
get_started_note = Bezahlte { $orders } werden dann automatisch gedruckt. Wenn Sie zuerst einen laufenden Betrieb erkunden möchten, führen Sie { $command } aus. Dafür brauchen Sie keine Drucker, und an diesem Betrieb ändert sich nichts.
