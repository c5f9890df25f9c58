### Seite, auf der Etiketten mit QR-Codes ausgewählt werden, und die Etiketten.

title = Etiketten
all_stock = Gesamter Bestand
about = Jedes Etikett hat einen QR-Code. Scannen Sie mit dem Smartphone das Etikett eines Druckers, um sein Druckbett als frei zu melden, das einer Spule, um sie in ein Fach einzulegen, oder das eines Lagerplatzes, um seinen Inhalt zu sehen.
codes_begin = Die QR-Codes beginnen mit { $address }.
unreachable = Smartphones können diese Adresse nicht öffnen. Öffnen Sie diese Seite unter der Netzwerkadresse des Servers oder legen Sie { $setting } fest.
paper = Papier
roll = Etikettendrucker, 62{ "\u00A0" }×{ "\u00A0" }29{ "\u00A0" }mm
sheet = A4-Blatt zum Ausschneiden
first_of = Die ersten { $shown } von { $count } werden angezeigt.
create = Etiketten drucken

## Drucker, Spulen und Lagerplätze

printers = Drucker
no_printers = Noch keine Drucker.
open_floor = Zur Werkstatt
spool = Spule { $number }
spool_of = Spule { $number }, { $material }
spools = Vorhandene Spulen
no_spools = Es sind keine nummerierten Spulen eingelegt oder in einer Spulenverwaltung erfasst.
bins = Lagerplätze
no_bins = Noch keine Lagerplätze. Um einen anzulegen, bearbeiten Sie ein Material und geben Sie einen Lagerplatz ein.

## Neue Spulen

new_spools = Neue Spulen
new_spools_elsewhere = Die Nummern vergibt Ihre Spulenverwaltung. Fügen Sie neue Spulen dort hinzu. Die Spulen erscheinen unten, sobald ihr Material mit dem zugehörigen Filament verknüpft ist.
no_materials = Legen Sie zuerst ein Material an.
go_to_stock = Zum Lager
new_spools_about = Jede Spule bekommt eine neue Nummer. Geben Sie die Restmenge ein, wenn Sie die Spule in ein Fach einlegen.
material_field = Material
count_field = Anzahl
