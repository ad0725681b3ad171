"""What the check needs of the machine: CUDA's libraries, a GPU, a Ringside that was built for it. And what is said about it."""
import collections
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

Program = collections.namedtuple("Program", "ringside peer folder")  # folder: of the backends

HERE = pathlib.Path(__file__).resolve().parents[1]  # scripts, or share/ringside/gpu-check
ROOT = HERE.parent  # of the sources

BACKENDS = ("libringside_nccl.so", "libringside_cuda.so", "libringside_cuda_math.so")
WAIT_S = 60  # for programs that only answer
# What a backend asks the dynamic linker for; these where no backend tells.
LIBRARIES = {"libnccl.so": ("2", "NCCL (package libnccl2 of NVIDIA's repository, or nvidia-nccl-cu13 of PyPI)"),
             "libcudart.so": ("13", "the CUDA runtime (package cuda-cudart-13-0 of NVIDIA's repository, or nvidia-cuda-runtime of PyPI)"),
             "libcublas.so": ("13", "cuBLAS (package libcublas-13-0 of NVIDIA's repository, or nvidia-cublas of PyPI)")}
# Run in a process of its own, because the dynamic linker reads LD_LIBRARY_PATH only when a process starts.
PROBE = """
import ctypes, json, sys
libraries = {name.split(".")[0]: ctypes.CDLL(name) for name in sys.argv[1:]}
cuda, nccl = libraries["libcudart"], libraries["libnccl"]
def number(library, function):
    value = ctypes.c_int(0)
    try:
        return value.value if getattr(library, function)(ctypes.byref(value)) else value.value
    except AttributeError:
        return None
count = ctypes.c_int(0)
code = cuda.cudaGetDeviceCount(ctypes.byref(count))
cuda.cudaGetErrorString.restype = ctypes.c_char_p
print(json.dumps({"gpus": count.value, "error": cuda.cudaGetErrorString(code).decode() if code else "",
                  "cuda": number(cuda, "cudaRuntimeGetVersion"), "driver_cuda": number(cuda, "cudaDriverGetVersion"),
                  "nccl": number(nccl, "ncclGetVersion")}))
"""


class Missing(Exception):
    """The check cannot run here. The text says what to do."""


def output(*command, environment=None):
    """(exit code, stdout, stderr) of a program that answers at once; code None: it is not there or does not answer."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              env=environment, timeout=WAIT_S, check=False)
        return done.returncode, done.stdout, done.stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, "", str(error)


def no_gpu(reason):
    return Missing(f"no GPU is found here ({reason}); run it on a machine with an NVIDIA GPU and its driver")


def smi():
    """A dict for each GPU that nvidia-smi lists. Raises `Missing` if there is none."""
    if shutil.which("nvidia-smi") is None:
        raise no_gpu("nvidia-smi is not in PATH")
    fields = ["name", "driver_version", "memory.total", "compute_cap", "pci.bus_id"]
    code, out, err = output("nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader")
    if code != 0:
        words = (out + err).strip().splitlines() or ["nvidia-smi fails"]
        raise no_gpu(words[0].rstrip("."))
    gpus = [dict(zip(fields, map(str.strip, line.split(",")))) for line in out.splitlines() if line.strip()]
    if not gpus:
        raise no_gpu("nvidia-smi lists none")
    return gpus


def find_program(ringside):
    """The parts of Ringside's installation or build. Raises `Missing` if one is not there."""
    if ringside is None:
        places = [(HERE / "../../../bin/ringside").resolve(), ROOT / "build" / "release" / "bin" / "ringside"]
        ringside = next((place for place in places if place.is_file()), None)
        if ringside is None:
            raise Missing(f"Ringside is not found in {' or '.join(map(str, places))}; --ringside PATH names its program")
    ringside = pathlib.Path(ringside).resolve()
    if not os.access(ringside, os.X_OK):
        raise Missing(f"{ringside} is no program; --ringside PATH names that of Ringside")
    folder = ringside.parents[1] / "lib" / "ringside"
    peer = next((place for place in (folder / "nccl-peer", ringside.parent / "nccl-peer") if place.is_file()), None)
    absent = [name for name in BACKENDS if not (folder / name).is_file()] + ([] if peer else ["nccl-peer"])
    if absent:
        raise Missing(f"this Ringside was built without {', '.join(absent)}; build it where the CUDA toolkit with nvcc and NCCL are "
                      "installed, or take an archive that was built there")
    return Program(ringside, peer, folder)


def wanted(folder):
    """The names of the libraries that the backends in `folder` load, with what provides them."""
    text = b"".join(place.read_bytes() for place in sorted(pathlib.Path(folder).glob("libringside_*.so")))
    names = {}
    for library, (version, remedy) in LIBRARIES.items():
        found = re.search(re.escape(library).encode() + rb"\.(\d+)", text)
        names[f"{library}.{found.group(1).decode() if found else version}"] = remedy
    return names


def folders_of_machine(environment):
    """Where CUDA's libraries may lie, best first; None stands for where the dynamic linker looks by itself."""
    yield from (pathlib.Path(entry) for entry in environment.get("LD_LIBRARY_PATH", "").split(":") if entry)
    yield None
    for root in sorted(pathlib.Path("/usr/local").glob("cuda*"), reverse=True):
        yield from (root / "lib64", root / "lib", *sorted(root.glob("targets/*/lib")))
    for entry in sys.path:
        yield from sorted(pathlib.Path(entry or ".").glob("nvidia/*/lib"))


def known_to_linker():
    """The names of libraries that the dynamic linker finds by itself."""
    program = shutil.which("ldconfig", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if program is None:
        return set()
    lines = output(program, "-p")[1].splitlines()
    if platform.machine() == "x86_64":
        lines = [line for line in lines if "x86-64" in line]
    return {line.split()[0] for line in lines if "=>" in line}


def find_libraries(names, folders, linker):
    """The folders that LD_LIBRARY_PATH must have for `names`. Raises `Missing` with all that are not there."""
    folders = list(folders)
    needed, absent = [], []
    for name, remedy in names.items():
        for folder in folders:
            if folder is None and name in linker:
                break
            if folder is not None and (folder / name).is_file():
                if str(folder) not in needed:
                    needed.append(str(folder))
                break
        else:
            absent.append(f"{name} is not found; install {remedy}")
    if absent:
        raise Missing("\n".join(absent + ["looked in LD_LIBRARY_PATH, ldconfig -p, /usr/local/cuda*/ and nvidia/*/lib of Python's packages"]))
    return needed


def environment_with(needed):
    environment = dict(os.environ)
    entries = needed + [entry for entry in environment.get("LD_LIBRARY_PATH", "").split(":") if entry and entry not in needed]
    if entries:
        environment["LD_LIBRARY_PATH"] = ":".join(entries)
    return environment


def probe(names, environment, driver):
    """What CUDA and NCCL say of themselves and of the GPUs. Raises `Missing` if CUDA can use none."""
    code, out, err = output(sys.executable, "-c", PROBE, *names, environment=environment)
    if code != 0:
        raise Missing(f"CUDA's libraries cannot be loaded: {(err.strip().splitlines() or ['?'])[-1]}")
    found = json.loads(out)
    if found["error"] or found["gpus"] == 0:
        raise no_gpu(f"{found['error'] or 'CUDA counts 0 devices'}; its driver is {driver}")
    return found


def version_text(number, digits):
    """13000 with 1000 is 13.0; 22809 with 10000 and 100 is 2.28.9."""
    if number is None:
        return "unknown"
    parts, rest = [], number
    for digit in digits:
        parts.append(str(rest // digit))
        rest %= digit
    return ".".join(parts)


def cpu_name():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return found.group(1) if found else platform.machine()


def ringside_version(ringside, environment):
    """(version, commit, the whole text)."""
    code, out, err = output(ringside, "--version", environment=environment)
    found = re.search(r"^ringside (\S+) \(git ([^,)]+)", out)
    if code != 0 or not found:
        raise Missing(f"{ringside} --version fails: {(err or out).strip()}")
    return found.group(1), found.group(2), out.strip()


def facts(program, environment, gpus, found):
    version, commit, text = ringside_version(program.ringside, environment)
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "ringside": version, "commit": commit, "ringside_version_text": text,
            "gpus": found["gpus"], "gpu_names": [gpu["name"] for gpu in gpus], "gpu_memory": [gpu["memory.total"] for gpu in gpus],
            "gpu_details": gpus, "driver": gpus[0]["driver_version"],
            "cuda": version_text(found["cuda"], (1000, 10)), "cuda_of_driver": version_text(found["driver_cuda"], (1000, 10)),
            "nccl": version_text(found["nccl"], (10000, 100, 1)), "topology": output("nvidia-smi", "topo", "-m")[1].strip("\n"),
            "cpu": cpu_name(), "cores": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "python": platform.python_version()}
