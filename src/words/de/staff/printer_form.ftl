### Formulare eines Druckers: Felder, Typen und die Seiten, auf denen Drucker hinzugefügt, geändert und entfernt werden.

## Felder der Einrichtung und des Formulars

name_field = Name
type_field = Typ
type_with_port = { $program }, Port { $port }
url_field = URL oder IP-Adresse
url_sample = Zum Beispiel 192.168.1.20.
url_by_type = Wo Sie sie finden, hängt vom Druckertyp ab. Sie können auch eine URL mit Port eingeben.
url_port = Ist der Port nicht { $port }, hängen Sie ihn an: 192.168.1.20:8080.
key_field = API-Schlüssel
key_password = Sie können auch Benutzername und Passwort eingeben, in der Form Benutzername:Passwort.
key_text = Steht auf der Webseite oder dem Bildschirm des Druckers und heißt dort manchmal Zugangscode. Lassen Sie das Feld leer, wenn es keinen gibt.
key_not_needed = Nicht nötig für { $programs }.
key_required = Immer nötig für { $programs }.
serial_field = Seriennummer
serial_text = Nur nötig für { $programs }.
machine_field = Maschinentyp
machine_fdm_standard = Filamentdrucker
machine_fdm_large = Großformat-Filamentdrucker
machine_resin_standard = Harzdrucker
machine_resin_large = Großformat-Harzdrucker
machine_laser_cutter = Laserschneider
machine_laser_engraver = Lasergravierer
volume_fields = Bauraum (alle drei leer lassen, wenn er keine Rolle spielt)
more_fields = Weitere Angaben:
machine_with_volume = { $machine }, { $size } mm
width_field = Breite in mm
depth_field = Tiefe in mm
height_field = Höhe in mm
name_missing = Name: Geben Sie einen Namen ein.
url_missing = URL oder IP-Adresse: Geben Sie die Adresse des Druckers ein.
key_missing = { $field }: für Drucker dieses Typs erforderlich. Steht auf der Webseite oder dem Bildschirm des Druckers.

## Wo man den Schlüssel, die Adresse und die Seriennummer findet

hint_key = Steht auf der Webseite der Druckersoftware. Lassen Sie das Feld leer, wenn keiner nötig ist.
hint_address = Der Bildschirm des Druckers oder Ihr Router zeigt sie an.
hint_key_web = Meist keiner: Lassen Sie das Feld leer, wenn sich die Webseite des Druckers ohne Anmeldung öffnet.
hint_address_web = Die Adresse, unter der Sie die Webseite des Druckers öffnen, zum Beispiel Mainsail oder Fluidd.
access_code_field = Zugangscode
hint_key_lan = Acht Zeichen. Am Bildschirm des Druckers: Einstellungen, dann „Nur-LAN-Modus“ oder „Netzwerk“.
hint_address_lan = Am Bildschirm des Druckers: Einstellungen, dann „Nur-LAN-Modus“ oder „Netzwerk“.
hint_serial_lan = Am Bildschirm des Druckers: Einstellungen, dann „Gerät“. Sie steht auch auf dem Aufkleber auf der Rückseite.
hint_key_screen = Am Bildschirm des Druckers: Einstellungen, dann „Netzwerk“, dann „PrusaLink“.
hint_address_screen = Am Bildschirm des Druckers: Einstellungen, dann „Netzwerk“.
hint_key_application = In OctoPrint: Einstellungen, dann „Anwendungsschlüssel“. Der Schlüssel ist immer nötig.
hint_address_browser = Die Adresse, unter der Sie OctoPrint im Browser öffnen.

## Drucker jedes Typs, unter seinem Namen

models_of_firmware = Voron, Creality, Qidi, Sovol und andere mit Klipper, Mainsail oder Fluidd
models_of_server = Alle Drucker, die OctoPrint oder OctoPi steuert
models_of_web_interface = MK4, XL, MINI und andere mit PrusaLink
models_of_lan_mode = Serien X1, P1 und A1 im LAN-Modus
models_of_resin_and_board = Centauri Carbon

## Weitere Felder des Formulars

model_field = Modell
model_hint = Wie im Slicer, zum Beispiel MK4. Leer lassen, um Dateien für jedes Modell anzunehmen.
plate_field = Druckplatte
plate_hint = Wie im Slicer, zum Beispiel Textured PEI Plate. Leer lassen, um Dateien für jede Druckplatte anzunehmen.
location_field = Standort
location_hint = Raum oder Regal. Drucker mit demselben Standort stehen im Plan beisammen.
position_fields = Position im Plan
row_field = Reihe
row_hint = Von vorn gezählt.
column_field = Spalte
column_hint = Von links gezählt.
nozzle_fields = Düse (leer lassen, um Dateien für jede Düse anzunehmen)
nozzle_field = Düsendurchmesser in mm
nozzle_material_field = Düsenmaterial
tags_field = Schlagwörter
tags_hint = Trennen Sie Schlagwörter mit Kommas. Sie können Drucker über ihre Schlagwörter suchen.
camera_field = URL für Kamerabilder
camera_hint = Leer lassen, um die Kamera zu verwenden, die der Drucker meldet, falls er eine hat.
camera_login_field = Benutzername und Passwort der Kamera
camera_login_hint = In der Form Benutzername:Passwort, falls nötig. Leer lassen, um die aktuellen Zugangsdaten zu behalten.
auto_clear_field = Räumt sein Druckbett nach jedem Druck selbst ab

## Drucker hinzufügen

all_printers = Alle Drucker
add_title = Drucker hinzufügen
choose_text = Wählen Sie den Hersteller des Druckers oder seine Software.
types = Druckertypen
found_heading = In Ihrem Netzwerk gefunden
search_heading = In Ihrem Netzwerk
search_text = Printfloor sucht auf diesem Server und unter allen Adressen seines lokalen Netzwerks. Das dauert meist weniger als eine Minute. Ist Ihr Drucker in einem anderen Netzwerk, fügen Sie ihn unten manuell hinzu.
search = Netzwerk durchsuchen
by_hand_heading = Manuell hinzufügen
all_types = Alle Druckertypen
add_heading = Drucker hinzufügen: { $program }
skip_test = Verbindungstest überspringen
test_and_add = Testen und hinzufügen
cancel = Abbrechen

## Drucker ändern und entfernen

back_to = Zurück zu { $name }
edit_heading = { $name } bearbeiten
keep_key = Lassen Sie den Schlüssel leer, um den aktuellen zu behalten. Wenn Sie die Adresse ändern, geben Sie den Schlüssel noch einmal ein.
save = Speichern
remove_named = { $name } entfernen
remove_text = Printfloor überwacht diesen Drucker nicht mehr und gibt ihm keine Druckaufträge mehr. Frühere Drucke bleiben in Bestellungen und Aufzeichnungen.
remove = Drucker entfernen
remove_question = { $name } endgültig entfernen?

## Meldungen der API für die Formulare eines Druckers

fault_url = muss eine URL mit http, https oder mqtts sein, zum Beispiel http://192.168.1.20:7125
fault_camera_url = muss eine URL mit http oder https sein, zum Beispiel http://192.168.1.20/webcam/?action=snapshot
fault_no_printer = muss die Adresse eines Druckers sein
fault_no_camera = muss die Adresse einer Kamera sein
fault_serial = ist für Drucker dieses Typs erforderlich
printer_disconnected = Der Drucker ist getrennt oder noch nicht verbunden. Verbinden Sie ihn oder versuchen Sie es gleich noch einmal.
