### Seiten für Produkte, Sets und Dateien.

## Liste

list_title = Produkte
new_kit = Neues Set
new_sku = Neues Produkt
skus_tab = Produkte und Sets
files_tab = Dateien
files_total =
    { $count ->
        [one] { $count } Datei
       *[other] { $count } Dateien
    }
no_sku_match = Keine passenden Produkte.
show_all = Alle anzeigen
product_column = Produkt
code_column = Artikelnummer
product_and_code_column = Produkt und Artikelnummer
material_column = Material je Teil
price_column = Preis
orderable_column = Bestellbar
# Auf Telefonen vor „Ja“ oder „Nein“.
orderable_label = Bestellbar
no_skus_heading = Noch keine Produkte
no_skus_text = Ein Produkt ist das, was Sie verkaufen. Dazu gehören sein Name, sein Preis, das Material für ein Teil und der G-Code, mit dem eine Platte mit Teilen gedruckt wird.
no_skus_next = Laden Sie oben G-Code hoch und legen Sie daraus auf der Seite der Datei ein Produkt an. Ein Set fasst Teile mehrerer Produkte zusammen.
filters = Anzeigen
all_filter = Alle
offered_filter = Im Verkauf
withdrawn_filter = Nicht im Verkauf
kits_filter = Sets
search_field = Name oder Artikelnummer
search = Suchen
kit_of =
    { $count ->
        [one] Set aus { $count } Produkt
       *[other] Set aus { $count } Produkten
    }
with_more_materials =
    { $count ->
        [one] { $material } und ein weiteres
       *[other] { $material } und { $count } weitere
    }
deleted_material = { $amount } eines gelöschten Materials

## Was gegen eine Bestellung spricht

orderable = Ja
not_orderable = Nein
partly_orderable = Teilweise
obstacle_withdrawn = es ist nicht im Verkauf und kann nicht bestellt werden
obstacle_not_public = es ist nicht öffentlich, nur das Team kann es bestellen
obstacle_no_file = es hat weder G-Code noch ein Modell: Kunden können es nicht bestellen, und Druckaufträge aus Bestellungen des Teams warten, bis eines davon vorliegt
obstacle_no_profile = sein Modell hat kein Slicer-Profil: Seine Druckaufträge warten, bis ein Profil oder G-Code vorliegt
obstacle_component_gone = ein Bestandteil wurde gelöscht oder ist nun selbst ein Set, deshalb kann es nicht bestellt werden
obstacle_component_withdrawn = sein Bestandteil { $component } ist nicht im Verkauf, deshalb kann es nicht bestellt werden
obstacle_component_no_file = sein Bestandteil { $component } hat weder G-Code noch ein Modell: Kunden können es nicht bestellen

## Sets

set_contents = Inhalt eines Sets
components = Bestandteile
parts_column = Teile
deleted_sku = Gelöschtes Produkt
complete_sets = Vollständige Sets
sets_complete =
    { $all ->
        [one] { $good } von { $all } Set vollständig
       *[other] { $good } von { $all } Sets vollständig
    }
shipped = { $count } versendet

## Ein Produkt

all_products = Alle Produkte
kits_with_sku = Sets mit diesem Produkt
glance = Auf einen Blick
slug = Slug
kind = Art
collections = Kollektionen
description = Beschreibung
added = Angelegt
changed = Zuletzt geändert
materials = Materialien
material_amounts = Materialmengen
per_part_column = Je Teil
per_plate_column =
    { $parts ->
        [one] Je Platte mit { $parts } Teil
       *[other] Je Platte mit { $parts } Teilen
    }
printed_from = Druckvorlage
plate_of_file = { $file }, Platte { $plate }
no_plate = Die Datei hat keine Platte { $plate }.
no_gcode = Kein G-Code.
no_gcode_but_model = Kein G-Code: Das Modell wird geslict, sobald der erste Druckauftrag es braucht.
model = Modell
view_file = Datei ansehen
slicer_profile = Slicer-Profil
machine = Maschine
parts_per_plate = Teile je Platte
time_per_plate = Druckzeit je Platte
size_of_plate = Größe einer vollen Platte
actions = Aktionen
edit = Bearbeiten
create_order = Neue Bestellung
view_jobs = Druckaufträge ansehen
withdraw = Aus dem Verkauf nehmen
withdraw_text = Neue Bestellungen können dieses Produkt nicht enthalten. Vorhandene Bestellungen werden noch gefertigt. Sie können das Produkt wieder anbieten.
withdraw_sku = { $name } aus dem Verkauf nehmen
offer_again = { $name } wieder anbieten
delete = Löschen
delete_sku_text = Das Produkt wird endgültig aus dem Katalog entfernt. Vorhandene Bestellungen und Druckaufträge behalten seine Angaben, und seine Dateien bleiben erhalten.
delete_named = { $name } löschen

## Arten von Maschinen

fdm_standard = Filamentdrucker
fdm_large = Großformat-Filamentdrucker
resin_standard = Harzdrucker
resin_large = Großformat-Harzdrucker
laser_cutter = Laserschneider
laser_engraver = Lasergravierer

## Formular für ein Produkt

edit_sku = { $name } bearbeiten
back = Zurück
save = Speichern
save_and_order = Speichern und ein Stück bestellen
cancel = Abbrechen
too_many_components = Dieses Set hat zu viele Bestandteile für dieses Formular. Die Bestandteile bleiben unverändert; bearbeiten Sie sie über die API.
details = Angaben
name_field = Name
name_hint = Für Kunden sichtbar.
code_hint = Kurz und eindeutig, für das Team.
price_hint = Ohne Umsatzsteuer, zum Beispiel 2,50 oder 2.50.
currency_field = Währung
currency_hint = Code aus drei Buchstaben.
public_field = Für Kunden sichtbar
catalogue = Katalog
slug_hint = Für Webadressen. Bleibt das Feld leer, gilt die Artikelnummer.
kind_hint = Ihre eigene Kategorie.
collections_hint = Slugs, durch Kommas getrennt.
pictures_field = Bilder
pictures_hint = URLs oder IDs hochgeladener Bilder, eine je Zeile.
material_field = Material
choose_material = Material auswählen
consumption_field = Material je volle Platte
consumption_hint = In der Einheit des Materials. Die Menge in der Datei hat Vorrang.
further_material_field = Weiteres Material { $number }
further_amount_field = Menge je Platte ({ $number })
further_filament_field = Filament in der Datei ({ $number })
further_filament_hint = Gezählt ab 0.
print_files = Druckdateien
no_file = Keine
gcode_hint = Hier stehen nur die neuesten Dateien. Für eine ältere beginnen Sie auf deren Seite.
plate_field = Platte in der Datei
model_hint = Wird für den ersten Druckauftrag geslict, wenn es keinen G-Code gibt.
profile_hint = Name des Profils, mit dem das Modell geslict wird.
minutes_field = Minuten je Platte
minutes_hint = Gilt, wenn die Datei keine Druckzeit enthält.
width_field = Breite in mm
width_hint = Leer bedeutet: passt auf jeden Drucker.
depth_field = Tiefe in mm
height_field = Höhe in mm
components_hint = Geben Sie Artikelnummern von Produkten ein, die keine Sets sind. Zeilen ohne Artikelnummer werden nicht beachtet.
component_field = Produkt { $number }
component_quantity_field = Anzahl ({ $number })

## Dateien

gcode = G-Code
picture = Bild
no_files_heading = Noch keine Dateien
no_files_text = Laden Sie G-Code aus Ihrem Slicer hoch. Druckzeit, Gewicht und Bild werden aus der Datei gelesen. Legen Sie danach ein Produkt daraus an.
no_files_slicer = Ihr Slicer kann Dateien auch direkt hochladen: Tragen Sie diesen Server dort als Druckserver ein. Näheres steht in der { $link }.
api_documentation = API-Dokumentation
no_file_match = Keine passenden Dateien.
upload_files = Dateien hochladen
upload_kinds = G-Code, Modelle oder Bilder
drop_hint = Sie können Dateien auch direkt auf diese Seite ziehen.
sending = Wird hochgeladen{ "\u00A0" }…
sent = Hochgeladen. Die Datei wird gelesen{ "\u00A0" }…
upload_failed = Das hat nicht geklappt. Versuchen Sie es noch einmal.
upload_broken = Die Verbindung ist abgebrochen, und es wurde nichts gespeichert. Laden Sie die Datei noch einmal hoch.
files_uploaded = { $number } von { $total } Dateien hochgeladen.
set_file_type = Dateityp auswählen
upload = Hochladen
file_name_field = Name
file_type = Dateityp
models_filter = Modelle
camera_pictures_filter = Kamerabilder
uploaded_pictures_filter = Hochgeladene Bilder
picture_column = Bild
file_material_column = Material
print_act = Drucken{ "\u00A0" }…
file_column = Datei
time_column = Zeit
weight = Gewicht
size = Größe
uploaded = Hochgeladen
plate_count =
    { $count ->
        [one] { $count } Platte
       *[other] { $count } Platten
    }
all_files = Alle Dateien
slicer = Slicer
print_time = Druckzeit
filament_length = Filamentlänge
layers = Schichten
dimensions = Abmessungen
download = Herunterladen
plates = Platten
plate = Platte { $number }
plate_as_sliced = Platte { $number } nach dem Slicen
filaments = Filamente
any_kind = beliebig
for_printer = Für { $model }.
nozzle = Düse { $diameter }{ "\u00A0" }mm.
skus_of_file = Produkte aus dieser Datei
none = Keine.
full_form = Produkt mit dem vollständigen Formular anlegen
delete_file_text = Das lässt sich nicht rückgängig machen. Eine Datei, die ein Produkt oder ein offener Druckauftrag verwendet, kann nicht gelöscht werden.
manual_print = Manueller Druck
no_printer_fits = Kein Drucker nimmt dieses Dateiformat an.
manual_print_text = Der Druck beginnt sofort, an der Warteschlange vorbei: Es wird kein Material reserviert, und die Teile brauchen keine Abnahme. Teile, die Kunden bestellt haben, drucken Sie mit Druckaufträgen.
printer_field = Drucker
printer_hint = Das Druckbett muss frei und das richtige Filament eingelegt sein.
choose_printer = Drucker auswählen
print_named = { $name } drucken

## Produkt aus einer Datei

create_sku = Produkt anlegen
needs_material = Ein Produkt braucht ein Material aus dem Lager. Legen Sie zuerst das Material an und kommen Sie dann hierher zurück.
add_material = Material anlegen
create_another = Weiteres Produkt anlegen
price_field = Preis ({ $currency })
net_price_hint = Ohne Umsatzsteuer.
suggested_price_hint = Ohne Umsatzsteuer. Vorschlag für einen Druck nach Ihren Kostensätzen.
stated_consumption_field = Material je Platte
stated_consumption_hint = Steht nicht in der Datei.
email_field = E-Mail-Adresse des Kunden
email_hint = Für den Fall, dass Sie gleich ein Stück bestellen. Bleibt das Feld leer, werden keine E-Mails gesendet.
create_and_order = Anlegen und ein Stück bestellen
facts = Aus der Datei übernommen: { $facts }
