### Spulen und Fächer: Liste der Fächer und Seite einer Spule.

## Plätze und Mengen. Mengen haben ihre Einheit.

in_slot = { $printer }, Fach { $slot }
in_external_slot = { $printer }, externer Spulenhalter
left = noch { $amount }
spool = Spule { $number }

## Liste der Fächer

slots_title = Fächer
slots_table = Inhalt der Fächer
no_printers = Noch keine Drucker.
open_floor = Zur Werkstatt
unknown = Unbekannt
reported_by_printer = (vom Drucker gemeldet)
change_contents_of = Inhalt ändern: { $place }
change = Ändern
contents_of = Inhalt: { $place }
printer_reports = Der Drucker meldet { $spool }.
remaining_in_unit_field = Restmenge, in der Einheit des Materials
number_field = Spulennummer (optional)
save_contents = Inhalt speichern
mark_empty = Als leer markieren
cancel = Abbrechen

## Spulen eines Materials

of_material_heading = Spulen
none_loaded = Es sind keine Spulen eingelegt.
no_number = Ohne Nummer
in_place = in { $place }
on_shelf = im Regal
labels_link = Spulenetiketten

## Seite einer Spule

all_stock = Gesamter Bestand
loaded = Eingelegt
shelf_status = Im Regal
details = Details
material = Material
material_unknown = Unbekannt. Wählen Sie ein Material, wenn Sie die Spule einlegen.
remaining = Restmenge
needs_decision = Entscheidung nötig
not_recorded = Nicht erfasst
loaded_in = Eingelegt in
print_label = Etikett drucken

## Einlegen

load_heading = Einlegen
move_heading = In ein anderes Fach umlegen
no_other_slots = Keine weiteren Fächer. Fügen Sie zuerst einen Drucker hinzu.
choose_material = Material auswählen
place_field = Drucker und Fach
place_choice = { $place } ({ $content })
busy_place_choice = { $place } ({ $content }), beschäftigt
empty = leer
remaining_field = Restmenge ({ $unit })
load = Spule einlegen

## Wiegen

weigh = Wiegen
weighed_by_printer = Der Drucker meldet die Restmenge.
scale_field = Anzeige der Waage
empty_weight_field = Gewicht der leeren Spule
or_remaining_field = Oder die Restmenge
save_weight = Gewicht speichern

## Entnehmen

unload_heading = Entnehmen
mark_unloaded = Als entnommen markieren
write_on_spool = Schreiben Sie „noch { $amount }“ auf die Spule, sofern keine Spulenverwaltung sie erfasst.
retire_number = Spule { $number } aussondern
retire_note = Das Fach gilt danach als leer.
write_off_field = Den Rest von { $amount } ausbuchen
retire = Spule aussondern
