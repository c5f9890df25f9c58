### Die Werkstatt: alle Drucker, in Abschnitten oder auf einem Plan der Räume.

title = Werkstatt
back = Zur Werkstatt
no_match = Keine passenden Drucker.
show_all = Alle Drucker anzeigen
stop_note = Um einen Drucker sofort anzuhalten, halten Sie sein rotes Achteck eine Sekunde lang gedrückt. Motoren und Heizungen werden abgeschaltet, soweit der Drucker das zulässt.
safety_note = Software ist keine Sicherheitseinrichtung. Schalten Sie den Drucker im Notfall am Gerät aus oder ziehen Sie den Netzstecker.

## Kopf. Die Beschriftungen der Filter folgen auf eine Zahl

filter_label = Drucker filtern
filter_all =
    { $count ->
        [one] Drucker
       *[other] Drucker
    }
filter_attention = mit Handlungsbedarf
filter_printing = im Druck
filter_ready = bereit
filter_offline = offline
printers = Drucker
search = Drucker suchen
list = Liste
plan = Plan
wall = Wandanzeige
add_printer = Drucker hinzufügen
view = Ansicht
group_by = Gruppieren nach
by_state = Zustand
by_place = Standort
by_model = Modell
density = Kartengröße
automatic = Nach Anzahl der Drucker
comfortable = Normal
compact = Kompakt
dense = Sehr kompakt
large = Groß
apply = Anwenden
next_free = Als Nächster frei: { $time } · { $printer }
up_next = Als Nächstes
waiting =
    { $count ->
        [one] { $count } wartet
       *[other] { $count } warten
    }
nothing_waiting = Kein Druckauftrag wartet auf einen Drucker.

## Abschnitte

group_attention = Mit Handlungsbedarf
group_printing = Im Druck
group_ready = Bereit
group_offline = Offline oder außer Betrieb
no_place = Ohne Standort
no_model = Ohne Modell

## Wandanzeige: Bedienung der Seiten, die von selbst wechseln

wall_pages = Seiten
wall_page = { $page } von { $pages }
previous_page = Vorherige Seite
next_page = Nächste Seite
wall_pause = Anhalten
wall_resume = Fortsetzen

## Plan

plan_of = Plan von { $place }
plan_without_place = Plan der Drucker ohne Standort
column = Spalte { $number }
row = Reihe { $number }
position_note = Um einen Drucker zu platzieren, wählen Sie „Bearbeiten oder entfernen“ in seinem Menü.

## Betrieb ohne Drucker

empty_title = Noch keine Drucker
empty_text = Jeder Drucker erhält hier eine Karte mit seinem aktuellen Druck, der Restzeit und allem, was zu tun ist. So fangen Sie an:
first_printer = { $link }. Seine Karte erscheint hier und wird laufend aktualisiert.
first_printer_link = Drucker hinzufügen
first_material = { $link } und den vorhandenen Bestand erfassen.
first_material_link = Material anlegen
first_product = { $link }, mit einer G-Code-Datei: Kunden können es dann bestellen.
first_product_link = Produkt anlegen
demo_note = Um sich erst umzusehen, führen Sie { $command } auf diesem Server aus. Der Befehl startet einen simulierten Betrieb mit arbeitenden Druckern.
api_note = Alles hier ist auch über { $link } verfügbar.
api_link = die API

## Hochladen einer Datei, die auf eine Karte gezogen wird

upload_failed = Die Datei wurde nicht angenommen.
upload_busy = Eine andere Datei wird noch hochgeladen.
uploading = { $file } für { $printer } wird hochgeladen
cancel_upload = Hochladen abbrechen
upload_silent = Der Server antwortet nicht. Versuchen Sie es noch einmal.
upload_cancelled = Hochladen abgebrochen.
one_file = Ziehen Sie immer nur eine Datei auf eine Karte.
