### Seite eines Druckers mit seinen Notizen und die Seiten, auf denen dort eine Datei manuell gedruckt wird.

## Oben auf der Seite

all_printers = Alle Drucker
manual_print = Manueller Druck{ "\u00A0" }…
edit_or_remove = Bearbeiten oder entfernen
history = Verlauf
now = Jetzt
camera_view = Kamerabild von { $name }

## Abbrechen, Teile, Not-Halt

cancel_question = { $print } auf { $name } abbrechen?
cancel_text = Der Druck wird beendet, und seine Teile sind verloren. Gehört er zu einem Druckauftrag, muss dieser noch einmal gedruckt werden.
keep_printing = Weiterdrucken
cancel = { $print } auf { $name } abbrechen
parts_heading = Teile auf dem Druckbett
stop_heading = Not-Halt
stop_gentle = Drucker dieses Typs haben keinen Not-Halt, den Software auslösen kann. Der Druck wird so schnell wie möglich beendet, und die Heizungen werden ausgeschaltet, wenn der Drucker es zulässt.
stop_text = Motoren und Heizungen werden sofort stromlos geschaltet. Führen Sie danach eine Referenzfahrt aus und räumen Sie das Druckbett ab.
stop_warning = Software ist keine Sicherheitseinrichtung. Schalten Sie den Drucker im Notfall am Gerät aus oder ziehen Sie den Netzstecker.
stop_name = Not-Halt von { $name }
stop = { $name } jetzt anhalten
stop_hint = Eine Sekunde lang gedrückt halten. Ohne JavaScript genügt einmaliges Drücken.

## Betrieb

service_heading = Betrieb und Verbindung
done_hint = Wird im Wartungsprotokoll gespeichert.
reason_field = Grund
put_back = Wieder in Betrieb nehmen
take_out = Außer Betrieb nehmen
connect = Verbinden
disconnect = Trennen

## Nächste Druckaufträge

queue_heading = Als Nächstes
ends = Ende { $time }
more_jobs =
    { $count ->
        [one] und ein weiterer
       *[other] und { $count } weitere
    }
queue_note = Ein Druckauftrag wird einem Drucker erst beim Start zugewiesen; ein anderer Drucker kann ihm zuvorkommen.

## Einzelheiten

details_heading = Details
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
note_hint = Für das Wartungsprotokoll oder die nächste Schicht.
add_note = Notiz hinzufügen
no_notes = Noch keine Notizen.
older_notes = und { $count } ältere
completed = Erledigt: { $names }
due = Fällig: { $name }
mark_done = Als erledigt markieren

## Eine Datei manuell drucken

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
grams = { $grams }{ "\u00A0" }g
layers = Schichten
size = Größe
slicer = Slicer
check_again = Noch einmal prüfen
print_now = Jetzt auf { $name } drucken
print_note = Der Druck beginnt sofort und verwendet die Datei unverändert. Ein manueller Druck gehört zu keinem Druckauftrag und keiner Bestellung und ändert den Bestand nicht.
filament_field = Fach für Filament { $number }
filament_field_of = Fach für Filament { $number } ({ $details })
automatic = Automatisch
slot_with = { $slot }: { $spool }
unknown_spool = unbekannt
not_gcode = Diese Datei enthält keinen G-Code.
other_format = { $name } nimmt { $endings } an, aber keine .{ $ending }-Dateien.
not_free = { $name } kann jetzt keinen Druck beginnen: { $reason }.
