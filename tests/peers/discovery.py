"""Lets the server look for printers in the network that `discovery` made, and prints what came of it as one JSON object."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request

PATIENCE = 60
printfloor, simulator, folder = sys.argv[1:]
os.chdir(folder)
processes = []
# Who was asked, by address and port, at addresses where nobody may be asked.
asked = []
# Who was asked at the ends of the network, where nobody is a printer.
reached = set()


def start(*command, **more):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more)
    processes.append(process)
    return process


def simulate(kind, port):
    process = start(simulator, f"--{kind}", "1", "--base-port", str(port))
    return json.loads(process.stdout.readline())


def pipe(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def listen(host, port, met):
    listener = socket.create_server((host, port))

    def accept():
        while True:
            met(listener.accept()[0])

    threading.Thread(target=accept, daemon=True).start()


def relay(host, port):
    """A printer of this machine stands at another address, too."""

    def met(client):
        target = socket.create_connection(("127.0.0.1", port))
        for ends in ((client, target), (target, client)):
            threading.Thread(target=pipe, args=ends, daemon=True).start()

    listen(host, port, met)


def trap(host, port):
    def met(client):
        asked.append(f"{host}:{port}")
        client.close()

    listen(host, port, met)


def mark(host, port):
    def met(client):
        reached.add(f"{host}:{port}")
        client.close()

    listen(host, port, met)


def announce():
    """What a printer in LAN mode says to everybody, from 10.77.5.9."""
    said = (
        "NOTIFY * HTTP/1.1\r\nHOST: 239.255.255.250:1990\r\nLocation: 203.0.113.7\r\nNT: urn:bambulab-com:device:3dprinter:1\r\n"
        "USN: 01P00A987654321\r\nDevModel.bambu.com: C12\r\nDevName.bambu.com: left one\r\n\r\n"
    )
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    out.bind(("10.77.5.9", 0))
    while True:
        try:
            out.sendto(said.encode(), ("10.77.5.255", 2021))
        except OSError:
            pass
        time.sleep(0.1)


def call(method, path, key, accept="application/json", body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:8787{path}", data, method=method)
    request.add_header("Content-Type", "application/json")
    request.add_header("X-API-Key", key)
    request.add_header("Accept", accept)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.read().decode()


try:
    lines = [simulate("fw-rest", 7125), simulate("server-rest", 5000), simulate("mqtt-lan", 8883), simulate("prusa-link", 80)]
    relay("10.77.5.7", 7125)
    relay("10.77.5.10", 8883)
    # This machine's own address, those of other networks, and ports that no printer is looked for at.
    for other in ("10.77.5.1", "10.77.6.1", "10.77.4.254", "203.0.113.7"):
        for port in (80, 443, 5000, 7125, 8883):
            trap(other, port)
    for last in (11, 254):
        mark(f"10.77.5.{last}", 80)
    for port in (22, 990, 3030, 8080):
        trap("10.77.5.7", port)
    threading.Thread(target=announce, daemon=True).start()
    environment = {
        "PATH": os.environ["PATH"],
        "PRINTFLOOR_DISCOVERY__LISTEN_SECONDS": "2",
        "PRINTFLOOR_DISCOVERY__LOCAL_NETWORK": "true",
    }
    made = subprocess.run(
        [printfloor, "key", "create", "--new", "--name", "judge", "--role", "admin"],
        env=environment, capture_output=True, text=True, check=True,
    )
    key = next(word for word in made.stdout.split() if word.startswith("key_"))
    start(printfloor, "serve", env=environment)
    end = time.monotonic() + PATIENCE
    while True:
        try:
            call("GET", "/readyz", key)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
    began = time.monotonic()
    found = json.loads(call("POST", "/api/setup/discover", key))
    seconds = time.monotonic() - began
    printer = {
        "name": "left", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://10.77.5.7:7125/",
        "apiKey": lines[0]["apiKey"], "buildVolume": {"x": 220, "y": 220, "z": 250},
    }
    call("POST", "/api/printers", key, body=printer)
    told = call("POST", "/api/setup/discover", key, "text/event-stream")
    print(json.dumps({"printers": found["printers"], "lines": lines, "asked": asked, "reached": sorted(reached), "seconds": seconds, "told": told}))
finally:
    for process in processes:
        process.terminate()
