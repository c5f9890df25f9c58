### Materialien: Liste, Lagerplätze, Seite eines Materials mit seinen Lagerbewegungen, Formular und Reservierungen.

## Liste

title = Lager
all_stock = Gesamter Bestand
slots_link = Fächer
bins_link = Lagerplätze
labels_link = Etiketten
add_material = Material anlegen
no_materials = Noch keine Materialien.
no_materials_advice = Legen Sie Filament, Harz oder Plattenmaterial an, das Sie auf Lager haben. Druckaufträge reservieren die Mengen, die sie brauchen, und Materialien, die zur Neige gehen, stehen hier.
none_match = Keine passenden Materialien.
show_all = Alle anzeigen
level_filter = Bestand
level_all = Alle
level_low = Knapp
search_field = Name, Marke oder Lagerplatz
search = Suchen

## Füllstände. Mengen haben ihre Einheit.

none_available = Nichts verfügbar
low = Knapp
enough = Ausreichend
to_order_heading = Nachzubestellen ({ $count })
# Der Meldebestand ist eine der beiden folgenden Angaben.
available_with_level = { $available } verfügbar, { $level }
reorder_level = Meldebestand { $point }
without_reorder_level = kein Meldebestand
no_reorder_level = Kein Meldebestand
order_amount = { $amount } bestellen
jobs_waiting =
    { $count ->
        [one] { $count } Druckauftrag wartet
       *[other] { $count } Druckaufträge warten
    }
levels_note = Die Balken zeigen erst den reservierten, dann den verfügbaren Bestand. Der senkrechte Strich ist der Meldebestand.
materials_table = Materialien
material_column = Material
level_column = Füllstand
status_column = Status
on_hand = Bestand
reserved = Reserviert
available = Verfügbar
reorder_at = Meldebestand
bin = Lagerplatz
# Auf Telefonen anstelle von Spalten. Der Meldebestand ist „Meldebestand …“ oder „kein Meldebestand“.
levels_line = Bestand { $on_hand }, { $reserved } reserviert, { $level }
levels_line_in_bin = Bestand { $on_hand }, { $reserved } reserviert, { $level }, Lagerplatz { $bin }

## Lagerplätze

bins_title = Lagerplätze
all_bins = Alle Lagerplätze
no_bins = Noch keine Lagerplätze. Um einen anzulegen, bearbeiten Sie ein Material und geben Sie einen Lagerplatz wie „Regal A3“ ein.
view_materials = Materialien ansehen
materials_in_bin =
    { $count ->
        [one] { $count } Material
       *[other] { $count } Materialien
    }
bin_labels = Etiketten für Lagerplätze
bin_contents = Inhalt
bin_empty = Dieser Lagerplatz ist leer. Um ein Material hierher umzulagern, bearbeiten Sie es und ändern Sie seinen Lagerplatz.
on_hand_and_available = Bestand { $on_hand }, { $available } verfügbar
receive_material = { $name } einbuchen
print_label = Etikett drucken

## Seite eines Materials

glance = Auf einen Blick
to_order = Nachzubestellen
brand = Marke
variant = Variante
vendor_code = Herstellercode
cost_per =
    { $quantity ->
        [kilogram] Kosten pro Kilogramm
        [litre] Kosten pro Liter
        [sheet] Kosten pro Platte
       *[unit] Kosten pro Stück
    }
also_tracked_in =
    { $system ->
        [spools] Auch in der Spulenverwaltung geführt
       *[parts] Auch in der Teileverwaltung geführt
    }
needs_decision = Entscheidung nötig
edit = Bearbeiten
waiting_jobs = Wartende Druckaufträge ({ $count })
view_job = Druckauftrag ansehen

## Wareneingänge, Zählungen und Verluste

receive_heading = Wareneingang
receive = Einbuchen
receive_amount = { $amount } einbuchen
receive_amount_of = { $amount } einbuchen: { $name }
received_field = Eingegangene Menge ({ $unit })
reason = Grund
# Üblicher Grund eines Wareneingangs, der bei den Lagerbewegungen steht.
delivery = Lieferung
adjust_heading = Bestand korrigieren
count_stock = Bestand zählen
count_note = Die gezählte Menge ersetzt den Bestand. Haben Druckaufträge mehr reserviert, werden die neuesten Reservierungen aufgehoben.
counted_field = Gezählte Menge ({ $unit })
save_count = Zählung speichern
write_off_stock = Bestand ausbuchen
lost_field = Verlorene Menge ({ $unit })
write_off = Ausbuchen
remove_heading = Entfernen
remove_summary = Material entfernen
remove_note = Das Material und sein Bestand werden nicht mehr aufgeführt. Die Lagerbewegungen bleiben erhalten. Ein Material, das in einem Produkt, einem Druckauftrag oder einem Fach verwendet wird, lässt sich nicht entfernen.
remove = { $name } entfernen

## Lagerbewegungen

ledger = Lagerbewegungen
chart_limit = Das Diagramm zeigt die letzten { $count } Änderungen.
# Text des Diagramms für Vorleseprogramme.
chart_summary = Bestand vom { $from } bis zum { $until }: zwischen { $least } und { $most }; der Meldebestand ist { $point }
changes_table = Bestandsänderungen
time_column = Zeit
change_column = Art
on_hand_column = Bestand ({ $unit })
reserved_column = Reserviert ({ $unit })
on_hand_after = Bestand danach
reserved_after = Reserviert danach
by_column = Durch
movement_received = Wareneingang
movement_corrected = Korrektur
movement_reserved = Für einen Druckauftrag reserviert
movement_released = Reservierung aufgehoben
movement_printed = Verbrauch
movement_synchronised = In einem anderen System geändert

## Widersprüche zu Systemen, die dasselbe Material zählen

record_print = Druck jetzt verbuchen
keep_count = Bestand dort beibehalten
use_our_count = Unseren Bestand übernehmen ({ $amount })
use_their_count = Bestand von dort übernehmen ({ $amount })

## Formular für ein Material

edit_title = { $name } bearbeiten
back_without_saving = Zurück, ohne zu speichern
name_field = Name
type_field = Art
filament = Filament (Gramm)
resin = Harz (Milliliter)
laser_sheets = Platten für Laserschneider
laser_consumables = Verbrauchsmaterial für Laserschneider (Stück)
color_field = Farbe
color_hint = Zum Beispiel #1b1b22.
variant_hint = Zum Beispiel matt oder kohlefaserverstärkt.
vendor_code_hint = Der Code, den Drucker für diese Spulen melden.
bin_hint = Wie auf dem Etikett des Regals oder Behälters, zum Beispiel Regal A3.
reorder_hint = Bei weniger als dieser Menge steht das Material unter „Nachzubestellen“, und neue Druckaufträge warten möglicherweise.
reorder_quantity = Bestellmenge
cost_field = Kosten pro Kilogramm, Liter, Platte oder Stück
cost_hint = In { $currency }, zum Beispiel 25,00 für ein Kilogramm Filament. Daraus werden die Ausschusskosten berechnet.
save = Speichern

## Reservierungen von Druckaufträgen, und nicht erfasste Drucke. Mengen haben ihre Einheit.

claim_short = benötigt { $need } { $name }, { $free } verfügbar
claim_behind_others = benötigt { $need } { $name }, { $free } verfügbar, aber andere Druckaufträge haben Vorrang
claim_below_reorder_point = benötigt { $need } { $name }, aber der Bestand liegt unter dem Meldebestand: { $on_hand } vorhanden, { $point } insgesamt nötig
missing_booking = Drucke haben { $amount } von Spule { $spool } verbraucht, aber der Server des Druckers hat das nicht erfasst: Entscheiden Sie bei { $name }, ob der Verbrauch jetzt verbucht wird oder der Bestand dort so bleibt

## Meldungen der API für die Formulare

fault_decimals = darf höchstens drei Nachkommastellen haben
fault_too_large = ist zu groß

## Gründe, die der Betrieb selbst bei Lagerbewegungen vermerkt

reason_initial = Anfangsbestand
reason_count = Inventur
reason_retired = Spule { $spool } ausgesondert
reason_sliced = Bedarf nach dem Slicen
reason_exceeded = { $consumed } verbraucht, { $on_hand } vorhanden
reason_changed_there =
    { $system ->
        [spools] Spulenverwaltung, { $name }: dort geändert
       *[parts] Teileverwaltung, { $name }: dort geändert
    }
reason_accepted =
    { $system ->
        [spools] Spulenverwaltung, { $name }: Bestand von dort übernommen
       *[parts] Teileverwaltung, { $name }: Bestand von dort übernommen
    }
