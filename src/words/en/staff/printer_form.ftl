### Forms of a printer: fields, types, and the pages on which printers are added, changed and removed.

## Fields of the wizard and of the form

name_field = Name
type_field = Type
type_with_port = { $program }, port { $port }
url_field = URL or IP address
url_sample = For example, 192.168.1.20.
url_by_type = Where to find it depends on the printer type. You can also enter a URL with a port.
url_port = If the port isn't { $port }, add it: 192.168.1.20:8080.
key_field = API key
key_password = You can also enter a user name and password, as user:password.
key_text = Shown on the printer's web page or screen, sometimes called the access code. Leave it empty if there is none.
key_not_needed = Not needed for { $programs }.
key_required = Always required for { $programs }.
serial_field = Serial number
serial_text = Only needed for { $programs }.
machine_field = Machine type
machine_fdm_standard = Filament printer
machine_fdm_large = Filament printer, large
machine_resin_standard = Resin printer
machine_resin_large = Resin printer, large
machine_laser_cutter = Laser cutter
machine_laser_engraver = Laser engraver
volume_fields = Build volume (leave all three empty if it doesn't matter)
more_fields = More details:
machine_with_volume = { $machine }, { $size } mm
width_field = Width in mm
depth_field = Depth in mm
height_field = Height in mm
name_missing = Name: enter a name.
url_missing = URL or IP address: enter the printer's address.
key_missing = { $field }: required for printers of this type. It is shown on the printer's web page or screen.

## Where owners find the key, the address and the serial number

hint_key = Shown on the web page of the printer's software. Leave it empty if none is required.
hint_address = The printer's screen or your router shows it.
hint_key_web = Usually none: leave it empty if the printer's web page opens without signing in.
hint_address_web = The address at which you open the printer's web page, such as Mainsail or Fluidd.
access_code_field = Access code
hint_key_lan = Eight characters. On the printer's screen: Settings, then LAN Only Mode or Network.
hint_address_lan = On the printer's screen: Settings, then LAN Only Mode or Network.
hint_serial_lan = On the printer's screen: Settings, then Device. It is also on the sticker at the back.
hint_key_screen = On the printer's screen: Settings, then Network, then PrusaLink.
hint_address_screen = On the printer's screen: Settings, then Network.
hint_key_application = In OctoPrint: Settings, then Application Keys. The key is always required.
hint_address_browser = The address at which you open OctoPrint in the browser.

## Printers of each type, below its name

models_of_firmware = Voron, Creality, Qidi, Sovol and others with Klipper, Mainsail or Fluidd
models_of_server = Any printer that OctoPrint or OctoPi controls
models_of_web_interface = MK4, XL, MINI and others with PrusaLink
models_of_lan_mode = X1, P1 and A1 series in LAN mode
models_of_resin_and_board = Centauri Carbon

## Further fields of the form

model_field = Model
model_hint = As named in the slicer, such as MK4. Leave empty to accept files for any model.
plate_field = Build plate
plate_hint = As named in the slicer, such as Textured PEI Plate. Leave empty to accept files for any plate.
location_field = Location
location_hint = Room or shelf. Printers with the same location appear together on the plan.
position_fields = Position on the plan
row_field = Row
row_hint = Counted from the front.
column_field = Column
column_hint = Counted from the left.
nozzle_fields = Nozzle (leave empty to accept files for any nozzle)
nozzle_field = Nozzle diameter in mm
nozzle_material_field = Nozzle material
tags_field = Tags
tags_hint = Separate tags with commas. You can search for printers by tag.
camera_field = Camera snapshot URL
camera_hint = Leave empty to use the camera that the printer reports, if any.
camera_login_field = Camera user name and password
camera_login_hint = As user:password, if required. Leave empty to keep the current ones.
auto_clear_field = Clears its own bed after each print

## Adding a printer

all_printers = All printers
add_title = Add a printer
choose_text = Choose the printer's maker or its software.
types = Printer types
found_heading = Found on your network
search_heading = On your network
search_text = Printfloor looks on this server and at all addresses on its local network. This usually takes less than a minute. If your printer is on another network, add it manually below.
search = Search the network
by_hand_heading = Add manually
all_types = All printer types
add_heading = Add a printer: { $program }
skip_test = Skip the connection test
test_and_add = Test and add
cancel = Cancel

## Changing and removing a printer

back_to = Back to { $name }
edit_heading = Edit { $name }
keep_key = Leave the key empty to keep the current one. If you change the address, enter the key again.
save = Save
remove_named = Remove { $name }
remove_text = Printfloor stops monitoring this printer and sends it no more jobs. Past prints stay in orders and records.
remove = Remove printer
remove_question = Remove { $name } permanently?

## Messages of the API, for the forms of a printer

fault_url = must be an http, https or mqtts URL, such as http://192.168.1.20:7125
fault_camera_url = must be an http or https URL, such as http://192.168.1.20/webcam/?action=snapshot
fault_no_printer = must be the address of a printer
fault_no_camera = must be the address of a camera
fault_serial = is required for printers of this type
printer_disconnected = The printer is disconnected, or not connected yet. Connect it, or try again in a moment.
