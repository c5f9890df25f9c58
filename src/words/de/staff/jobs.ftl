### Druckaufträge: ihre Liste, ihre Seiten und ihre Zeilen auf der Seite einer Bestellung.

## Liste

title = Druckaufträge
all_orders = Alle Bestellungen
none_yet_title = Noch keine Druckaufträge
none_yet_text = Ein Druckauftrag umfasst eine Platte mit Teilen. Aus bezahlten Bestellungen entstehen Druckaufträge, die automatisch an passende Drucker gehen.
view_orders = Bestellungen ansehen
none_match = Keine passenden Druckaufträge.
show_all = Alle anzeigen
status = Status
filter_all = Alle
job_column = Druckauftrag
product_column = Produkt
order_column = Bestellung
printer_column = Drucker
priority = Priorität
progress_column = Fortschritt
progress_of = Fortschritt von { $number }
ended = beendet { $time }
search_field = Druckauftrag, Bestellung, Produkt oder Datei
all_printers = Alle Drucker
created_field = Angelegt
any_time = Alle Tage
today = Heute
last_week = Letzte 7 Tage
last_month = Letzte 30 Tage
show = Anzeigen
picture_column = Bild

## Status

state_created = Wartet auf eine Datei
state_validated = In Vorbereitung
state_review = Wartet auf Prüfung
state_sliced = Wartet auf einen Drucker
state_start_unverified = Start nicht bestätigt
state_end_unverified = Ergebnis nicht bestätigt
state_dispatching = Wird an einen Drucker gesendet
state_printing = Druckt
state_paused = Pausiert
state_unsigned = Abnahme fehlt
state_completed = Gedruckt
state_failed = Fehlgeschlagen
state_cancelled = Abgebrochen

## Zustände auf einem Drucker, der nicht antwortet

no_answer = Keine Antwort von { $printer }
no_answer_since = Keine Antwort von { $printer } seit { $time }
last_state = Letzter bekannter Zustand: { $state }

## Seite eines Druckauftrags

job_title = Druckauftrag { $number }
order_link = Bestellung
all_jobs = Alle Druckaufträge
product_link = Produkt
file_link = Datei
materials = Material
amount_of = { $amount } { $material }
amount_of_deleted = { $amount } eines gelöschten Materials
claim_held = reserviert
claim_in_line = wartet auf Bestand
claim_requested = angefordert
claim_none = nicht reserviert
used_so_far = bisher { $amount } verbraucht
compatibility = Eignung der Drucker
no_printers = Noch keine Drucker.
open_floor = Zur Werkstatt
printers = Drucker
can_print_column = Kann drucken
missing_column = Was fehlt
slots_column = Fächer
can_now = Jetzt
can_later = Später
cannot_but_free = Nein (Drucker ist frei)
cannot = Nein
slot = Fach
slot_content = { $slot }: { $amount }
not_confirmed = (Einlegen nicht bestätigt)

## Zeile eines Druckauftrags

all_reasons = Alle Gründe
printer_message = Meldung des Druckers
cancelling = Abbruch läuft: wartet auf die Bestätigung des Druckers.
order_line = Position { $line }
parts =
    { $parts ->
        [one] { $parts } Teil
       *[other] { $parts } Teile
    }
priority_of = Priorität { $priority }
reprint_of_rejected = Nachdruck für Ausschuss
spare = { $needed } benötigt, { $spare } zusätzlich
due = fällig { $time }
expected = voraussichtlich fertig { $time }

## Drucke

removed_printer = einem entfernten Drucker
print_claimed = Druck { $number } ist { $printer } zugewiesen
print_uploading = Druck { $number } wird zu { $printer } übertragen
print_start_sent = Druck { $number } startet auf { $printer }
print_confirmed = Druck { $number } läuft auf { $printer }
print_finished = Druck { $number } ist auf { $printer } fertig geworden
print_failed = Druck { $number } ist auf { $printer } fehlgeschlagen
print_cancelled = Druck { $number } wurde auf { $printer } abgebrochen
print_refused = Druck { $number } wurde von { $printer } abgelehnt
print_not_started = Druck { $number } hat auf { $printer } nicht begonnen
print_abandoned = Druck { $number } auf { $printer } wurde aufgegeben
print_from = von { $time }
print_to = bis { $time }
good_of = { $good } von { $parts } gut
end_picture = Bild am Ende von Druck { $number }

## Aktionen

did_it_succeed = Ist der Druck gelungen? Wenn er fertig wurde, wird sein ganzes Material als verbraucht gebucht. Wenn er fehlgeschlagen ist, werden nach dem letzten gemeldeten Fortschritt { $percent }{ "\u00A0" }% gebucht.
mark_not_started = Als nicht gestartet markieren
mark_finished = Als fertig gedruckt markieren
mark_failed = Als fehlgeschlagen markieren
not_responding = Antwortet der Drucker nicht?
not_responding_text = Sehen Sie nach dem Drucker und wählen Sie dann, wie der Druck endete. Der Drucker beginnt keinen weiteren Druckauftrag, bis Sie sein Druckbett abräumen und als frei melden.
pause = Pausieren
resume = Fortsetzen
release = Freigeben
retry = Erneut versuchen
reprint = Nachdrucken
reprint_note = Gute Teile aus diesem Druckauftrag zählen dann nicht mehr für die Bestellung. Die Bestellung ist wieder im Druck, bis der Ersatz fertig ist.
reprint_all = Alle Teile nachdrucken
edit_or_cancel = Bearbeiten oder abbrechen
cancel_text = Ein laufender Druck wird gegebenenfalls beendet, und der Bestellung fehlen dann die Teile dieses Druckauftrags. Solange die Bestellung offen ist, können Sie den Druckauftrag erneut versuchen.
save = Speichern
cancel = { $number } abbrechen
cancel_on = { $number } auf { $printer } abbrechen
no_confirmation = Nicht auf die Bestätigung des Druckers warten
sign_off_parts = Teile abnehmen
