### Warum Druckaufträge warten. Die meisten Meldungen sind Teilsätze: Der erste Buchstabe wird groß, und ein Punkt kommt dazu.

## Worauf ein Druckauftrag wartet

on_hold = angehalten, seit der Betrieb aus einer Sicherung wiederhergestellt wurde: Zuerst muss ein Admin die Wiederherstellung prüfen
turn = wartet, bis er an der Reihe ist
no_printer_can = Kein Drucker kann diesen Druckauftrag drucken
for_printer_with = Wartet auf einen Drucker mit { $material }
for_printer = Wartet auf einen Drucker
no_type_accepts = kein Druckertyp nimmt .{ $ending }-Dateien an; das Produkt braucht eine reine G-Code-Datei (.gcode)
none_registered = kein { $machine } ist vorhanden

## Stand des Druckauftrags

cancelling = wartet, bis der Drucker den Abbruch bestätigt
cancelling_at = wartet, bis der Drucker den Abbruch bestätigt; { $silence }
ending = der Druck ist beendet; der Drucker wird nach dem Ergebnis gefragt
sku_incomplete = das Produkt ist unvollständig
no_file = das Produkt hat weder eine G-Code-Datei noch ein Modell mit Slicer-Profil
being_read = Produkt und Datei werden gelesen
being_sliced = das Modell wird geslict
stock_check = wartet auf die Prüfung des Bestands
sending = wird an den Drucker gesendet
paused = am Drucker pausiert
no_reason_reported = der Drucker nennt keinen Grund
end_unknown = unklar, wie der Druck endete ({ $reason }); das muss jemand vom Team klären
start_unknown = unklar, ob der Druck begonnen hat ({ $reason }); das muss jemand vom Team klären
wrong_key = der Drucker lehnt den API-Schlüssel ab; geben Sie in den Einstellungen des Druckers den richtigen Schlüssel ein
silent_since = der Drucker antwortet nicht (letzte Antwort: { $time })
silent = der Drucker hat noch nicht geantwortet

## Bestand

below_reorder_point = der Bestand des Materials liegt unter dem Meldebestand
slicing_failed = das Slicen ist fehlgeschlagen
not_enough_material = es ist nicht genug Material verfügbar
held_by = { $words }; reserviert für { $jobs }
units = Stück

## Was Drucker sind oder brauchen, als Satzaussage nach dem Namen eines Druckers oder ihrer Anzahl

printers_with = { $count } Drucker { $predicate }
is_state = ist { $state }
are_state = sind { $state }
free_from = voraussichtlich ab { $time } frei
needs_clear_bed = wartet auf ein freies Druckbett
need_clear_beds = warten auf freie Druckbetten
next_try = { $predicate } (nächster Versuch in { $seconds }{ "\u00A0" }s)
has_unconfirmed = hat { $place } { $spool }: Bestätigen Sie, dass es { $material } ist
have_unconfirmed = haben { $place } { $spool }: Bestätigen Sie, dass es { $material } ist
needs = braucht { $objects }
need = brauchen { $objects }
among_others = { $predicate }, unter anderem
is_other_machine =
    { $machine ->
        [fdm_standard] ist kein Standard-Filamentdrucker
        [fdm_large] ist kein Großformat-Filamentdrucker
        [resin_standard] ist kein Standard-Harzdrucker
        [resin_large] ist kein Großformat-Harzdrucker
        [laser_cutter] ist kein Laserschneider
       *[laser_engraver] ist kein Lasergravierer
    }
are_other_machines =
    { $machine ->
        [fdm_standard] sind keine Standard-Filamentdrucker
        [fdm_large] sind keine Großformat-Filamentdrucker
        [resin_standard] sind keine Standard-Harzdrucker
        [resin_large] sind keine Großformat-Harzdrucker
        [laser_cutter] sind keine Laserschneider
       *[laser_engraver] sind keine Lasergravierer
    }
rejects_format = nimmt keine .{ $ending }-Dateien an
reject_format = nehmen keine .{ $ending }-Dateien an
cannot_print_for = kann keine Datei drucken, die für { $model } geslict wurde
they_cannot_print_for = können keine Datei drucken, die für { $model } geslict wurde
is_too_small = ist zu klein für den Druck
are_too_small = sind zu klein für den Druck
cannot_assign = kann nicht erkennen, welches Filament der Datei welches Material braucht
they_cannot_assign = können nicht erkennen, welches Filament der Datei welches Material braucht
nozzle = eine Düse mit { $size }{ "\u00A0" }mm
nozzles = Düsen mit { $size }{ "\u00A0" }mm
plate = die Druckplatte { $name }
loaded = { $material } (nicht eingelegt)
material_at = { $material } { $place }
in_changer = { $material } im Filamentwechsler
fuller_spool = eine vollere Spule { $material } (noch { $left }{ "\u00A0" }{ $unit }, nötig sind { $need }{ "\u00A0" }{ $unit })
fuller_spools = vollere Spulen { $material }
rejected = hat den Druckauftrag abgelehnt: { $reason }
deleted_printer = ein entfernter Drucker { $predicate }
no_reason = kein Grund angegeben
its_material = das Material
in_slot = in Fach { $slot }
on_external_holder = auf dem externen Spulenhalter
slot = Fach { $label }
external_spool = der externe Spulenhalter
slot_title = Fach { $label }
external_spool_title = Externer Spulenhalter
standard_filament_printer = Standard-Filamentdrucker
large_filament_printer = Großformat-Filamentdrucker
standard_resin_printer = Standard-Harzdrucker
large_resin_printer = Großformat-Harzdrucker
laser_cutter = Laserschneider
laser_engraver = Lasergravierer

## Warum ein Drucker keinen Druckauftrag annimmt, nach „der Drucker ist“

unready_manual_start = dabei, einen manuellen Druck zu starten
unready_unverified = noch zu prüfen
unready_finishing = dabei, einen Druck abzuschließen
unready_paused = pausiert
unready_starting = dabei, einen Druck zu starten
unready_printing = mit einem Druck beschäftigt
unready_other_print = mit einem anderen Druck beschäftigt
unready_deleted = entfernt
unready_disconnected = getrennt
unready_wrong_key = wegen eines falschen API-Schlüssels nicht erreichbar
unready_read_only = nur mit Lesezugriff verbunden
unready_connecting = dabei, sich zu verbinden
unready_offline = offline
unready_maintenance = außer Betrieb
unready_maintenance_due = zur Wartung fällig ({ $names })
unready_error = im Fehlerzustand
unready_fault = nach einem Firmwarefehler angehalten
unready_not_homed = nicht referenziert
unready_bed = blockiert, bis das Druckbett frei ist
unready_disk_full = ohne freien Speicherplatz
unready_refuses_starts = nicht bereit, Drucke zu starten

## Was einem Drucker für einen Druckauftrag fehlt

lacks_machine = der Maschinentyp ist nicht { $machine }
lacks_format = .{ $ending }-Dateien werden nicht angenommen
lacks_model = das Modell ist { $own }, aber die Datei wurde für { $required } geslict
lacks_volume = der Bauraum von { $volume } ist zu klein für einen Druck von { $size }
lacks_nozzle = die Düse hat { $own }{ "\u00A0" }mm statt { $required }{ "\u00A0" }mm
lacks_plate = die Druckplatte ist { $own } statt { $required }
lacks_material = { $material } ist nicht eingelegt
lacks_slot = { $material } ist nicht { $place }, aber die Datei druckt nur von dort
lacks_changer = { $material } muss im Filamentwechsler sein: Der externe Spulenhalter kann nicht gewählt werden
lacks_filaments = es ist nicht bekannt, welches Filament der Datei welches Material braucht
lacks_amount = auf der Spule sind noch { $left }{ "\u00A0" }{ $unit } { $material }, nötig sind { $need }{ "\u00A0" }{ $unit }
spool_offer = ({ $slot } enthält { $spool }, noch ohne Zuordnung zu einem Material; bestätigen Sie, dass es { $material } ist)
printer_is = der Drucker ist { $state }
size = { $x }{ "\u00A0" }×{ "\u00A0" }{ $y }{ "\u00A0" }×{ "\u00A0" }{ $z }{ "\u00A0" }mm

## Aufzählungen

more_names =
    { $count ->
        [one] noch { $count }
       *[other] { $count } weitere
    }
