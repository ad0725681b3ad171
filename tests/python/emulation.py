"""Whether this machine can run emulated hosts."""
import json
import subprocess


def missing(ringside):
    """What `ringside doctor` does not find of what emulated hosts with rates need."""
    doctor = json.loads(subprocess.run([ringside, "doctor", "--json"], capture_output=True, text=True, check=False).stdout)
    return [each["name"] for each in doctor["findings"] if each["name"] in ("emulated hosts", "emulated rates") and not each["ok"]]
