### Seite eines Druckers mit seinen Notizen und die Seiten, auf denen dort eine Datei von Hand gedruckt wird.

## Oben auf der Seite

all_printers = Alle Drucker
manual_print = Manueller Druck …
edit_or_remove = Bearbeiten oder entfernen
history = Verlauf
now = Jetzt
camera_view = Kamerabild von { $name }

## Abbrechen, Teile, Not-Halt

cancel_question = { $print } auf { $name } abbrechen?
cancel_text = Der Druck wird beendet, und seine Teile sind verloren. Gehört er zu einem Druckauftrag, muss dieser noch einmal gedruckt werden.
view_job = Druckauftrag ansehen
cancel = { $print } auf { $name } abbrechen
parts_heading = Teile auf dem Druckbett
some_bad = Manche Teile sind Ausschuss
stop_heading = Not-Halt
stop_gentle = Drucker dieses Typs haben keinen Not-Halt, den Programme auslösen können: Der Druck wird auf dem schnellsten möglichen Weg beendet, und die Heizungen werden ausgeschaltet, wenn der Drucker es zulässt. Trennen Sie den Drucker im Notfall vom Stromnetz.
stop_text = Motoren und Heizungen werden sofort stromlos. Führen Sie danach eine Referenzfahrt aus und räumen Sie das Druckbett ab.
stop_warning = Software ist keine Sicherheitseinrichtung: Schalten Sie den Drucker im Notfall am Netz aus.
stop_name = Not-Halt von { $name }
stop = { $name } jetzt anhalten
stop_hint = Eine Sekunde lang gedrückt halten. Ohne JavaScript genügt ein Druck.

## Betrieb

service_heading = Betrieb
done_hint = Wird im Wartungsprotokoll gespeichert.
reason_field = Grund
put_back = Wieder in Betrieb nehmen
take_out = Außer Betrieb nehmen
connect = Verbinden
disconnect = Trennen

## Nächste Druckaufträge

queue_heading = Als Nächstes
ends = endet { $time }
more_jobs = und { $count } weitere
queue_note = Ein Druckauftrag wird einem Drucker erst beim Start zugeteilt; ein anderer Drucker kann ihm zuvorkommen.

## Einzelheiten

details_heading = Einzelheiten
printer_type = Typ
address = Adresse
location = Standort
position = Position
row_and_column = Reihe { $row }, Spalte { $column }
tags = Schlagwörter
last_response = Letzte Antwort
attention = Handlungsbedarf
bed_cleared = Druckbett abgeräumt
code_label = Etikett mit QR-Code

## Notizen

notes_heading = Notizen und Wartungsprotokoll
note_hint = Für das Protokoll oder die nächste Schicht.
add_note = Notiz hinzufügen
no_notes = Noch keine Notizen.
older_notes = und { $count } ältere
completed = Erledigt: { $names }
due = Fällig: { $name }
mark_done = Als erledigt markieren

## Eine Datei von Hand drucken

back_to = Zurück zu { $name }
upload_heading = Manueller Druck auf { $name }
file_field = G-Code
file_hint = Sie können die Datei vor dem Druck prüfen.
accepted_files = Dieser Drucker nimmt { $endings } an.
upload = Hochladen
print_question = { $file } auf { $name } drucken?
file = Datei
print_time = Druckzeit
material = Material
grams = { $grams } g
layers = Schichten
size = Größe
slicer = Slicer
check_again = Noch einmal prüfen
print_now = Jetzt auf { $name } drucken
print_note = Der Druck beginnt sofort und verwendet die Datei, wie sie ist. Ein manueller Druck gehört zu keinem Druckauftrag und keiner Bestellung und ändert den Bestand nicht.
filament_field = Fach für Filament { $number }
filament_field_of = Fach für Filament { $number } ({ $details })
automatic = automatisch
slot_title = Fach { $label }
external_spool = Externe Spule
slot_with = { $slot }: { $spool }
unknown_spool = unbekannt
not_gcode = Diese Datei enthält keinen G-Code.
other_format = { $name } nimmt { $endings } an, aber keine .{ $ending }-Dateien.
not_free = { $name } kann jetzt keinen Druck beginnen: { $reason }.

## Gründe, aus denen ein Drucker keinen Druck beginnen kann, als Fortsetzung der Meldung darüber

unready_manual_start = ein manueller Druck beginnt gerade
unready_unverified = nicht bestätigt, ob der letzte Druck begonnen hat oder wie er endete
unready_finishing = der letzte Druck wird gerade abgeschlossen
unready_paused = pausiert
unready_starting = ein Druck beginnt gerade
unready_printing = druckt
unready_other_print = druckt etwas anderes
unready_deleted = entfernt
unready_disconnected = getrennt
unready_wrong_key = lehnt den API-Schlüssel ab
unready_read_only = nimmt keine Befehle an
unready_connecting = wird gerade verbunden
unready_offline = offline
unready_maintenance = in Wartung
unready_error = meldet einen Fehler
unready_fault = nach einem Firmwarefehler noch nicht geprüft
unready_not_homed = Referenzfahrt nötig
unready_bed_not_cleared = das Druckbett ist nicht abgeräumt
unready_disk_full = der Speicher ist voll
unready_refuses_starts = lehnt Drucke ab
