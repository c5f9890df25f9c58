"""Drives a simulated printer with bambulabs_api, and prints what it saw as one JSON object."""

import json
import subprocess
import sys
import time
import urllib.request

import bambulabs_api as bl
from bambulabs_api.ftp_client import PrinterFTPClient

NAME = "part.gcode.3mf"
PATIENCE = 30
program, package = sys.argv[1:]
# Slow enough that a print is on until it is told otherwise.
simulator = subprocess.Popen(
    [program, "--mqtt-lan", "1", "--base-port", "8883", "--speed", "60"], stdout=subprocess.PIPE, text=True
)
seen = {}


def until(what, so):
    end = time.monotonic() + PATIENCE
    while not so():
        if time.monotonic() > end:
            raise SystemExit(f"not so in {PATIENCE} s: {what}; so far {json.dumps(seen)}; {printer.mqtt_dump()}")
        time.sleep(0.02)


def state_is(wanted):
    until(wanted, lambda: printer.get_state().value == wanted)


def control(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:8883/_sim/{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


try:
    line = json.loads(simulator.stdout.readline())
    seen["line"] = line
    code, serial = line["apiKey"], line["serial"]

    stranger = PrinterFTPClient("127.0.0.1", "wrong")
    try:
        stranger.list_directory()
    except Exception as error:
        seen["wrongCode"] = str(error)

    printer = bl.Printer("127.0.0.1", code, serial)
    printer.mqtt_start()
    until("connected", printer.mqtt_client_connected)
    until("ready", printer.mqtt_client_ready)
    state_is("IDLE")
    until("a version", lambda: printer.mqtt_client.firmware_version() is not None)
    seen["firmware"] = printer.mqtt_client.firmware_version()
    printer.mqtt_client.process_ams()
    tray = printer.ams_hub()[0].filament_trays[2]
    seen["tray"] = [tray.tray_type, tray.tray_color, tray.tray_info_idx]
    seen["outside"] = printer.vt_tray().tray_type

    seen["upload"] = printer.upload_file(open(package, "rb"), NAME)
    seen["listed"] = [entry.split()[-1] for entry in printer.ftp_client.list_directory()[1]]
    printer.start_print(NAME, 1, use_ams=True, ams_mapping=[0])
    state_is("RUNNING")
    seen["layers"] = printer.total_layer_num()
    seen["file"] = printer.get_file_name()
    printer.pause_print()
    state_is("PAUSE")
    printer.gcode("M140 S45")
    until("the bed", lambda: printer.mqtt_dump()["print"]["bed_target_temper"] == 45)
    printer.turn_light_off()
    until("the light", lambda: printer.get_light_state() == "off")
    printer.set_print_speed(3)
    until("the speed", lambda: printer.get_print_speed() == 124)
    printer.resume_print()
    state_is("RUNNING")
    control("speed", {"speed": 2000})
    state_is("FINISH")
    seen["percent"] = printer.get_percentage()

    control("speed", {"speed": 1})
    printer.start_print(NAME, 1, use_ams=False, ams_mapping=[])
    state_is("PREPARE")
    printer.stop_print()
    state_is("FAILED")
    seen["cancelled"] = printer.print_error_code()
    seen["deleted"] = printer.delete_file(NAME)
    seen["log"] = [entry["what"] for entry in control("log")["log"]]
    printer.mqtt_stop()
    print(json.dumps(seen))
finally:
    simulator.terminate()
