### Seiten für Anfragen.

## Liste

title = Anfragen
status_field = Status
all = Alle
search_field = Name oder E-Mail-Adresse
show = Anzeigen
none_match = Keine passenden Anfragen.
show_all = Alle anzeigen
none_yet = Noch keine Anfragen. Kunden stellen Anfragen mit Fotos über das Formular auf Ihrer Website.
request_column = Anfrage
status_column = Status
customer_column = Kunde
received_column = Eingegangen
photos_column = Fotos
estimate_column = Schätzung

## Status

status_new = Neu
status_quoted = Angebot erstellt
status_accepted = Angenommen
status_declined = Abgelehnt
status_closed = Abgeschlossen

## Eine Anfrage

all_quotes = Alle Angebote
all_requests = Alle Anfragen
request_title = Anfrage von { $name }
glance = Auf einen Blick
customer = Kunde
phone = Telefon
received = Eingegangen
received_at = { $time }, von der Website { $site }
estimate_valid = Schätzung gültig bis
internal_notes = Interne Notizen
photos = Fotos
photos_of_closed = Die Anfrage ist abgeschlossen. Die Fotos wurden möglicherweise gelöscht.
photo_heic = Foto { $number } (HEIC, das nur wenige Browser anzeigen können)
photo_of = Foto { $number } von { $name }

## Wünsche

details = Wünsche des Kunden
product = Produkt
subject = Motiv
style = Stil
size = Größe
base = Sockel
colours = Farben
uv_coating = UV-Beschichtung
uv_yes = Ja
uv_no = Nein
addons = Extras
inscription = Inschrift
customer_notes = Anmerkungen des Kunden

## Schätzung und Angebote

estimate = Schätzung
unlisted = Nicht in den Preistabellen
total = Gesamtbetrag
quotes = Angebote
no_quotes = Noch keine.

## Aktionen

actions = Aktionen
is_closed = Diese Anfrage ist abgeschlossen.
create_quote = Neues Angebot aus Schätzung
create_other_quote = Neues Angebot ohne Schätzung
edit = Notizen und Status bearbeiten
no_change = Unverändert
save = Speichern
close_heading = Anfrage abschließen
close_text = Schließen Sie die Anfrage ab, wenn nichts mehr zu tun ist. Die Fotos werden danach möglicherweise gelöscht.
close = Anfrage von { $name } abschließen
