"""A Flyte task whose function is the program of every worker. Flyte is large, so `./test.sh --ecosystem` runs this.

usage: flyte_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set, in an environment with flytekit and PyTorch
"""
import importlib.util
import json
import os
import pathlib
import socket
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

os.environ["RINGSIDE_EXECUTABLE"] = os.environ["RINGSIDE"]

from flytekit import Secret, task
from flytekit.configuration import Image, ImageConfig, SerializationSettings
from flytekit.core.local_cache import LocalTaskCache
from flytekit.tools.translator import get_serializable

import ringside.flyte
from ringside.flyte import Ringside, RunError

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "python" / "examples" / "flyte_workflow.py"
TOKEN = "0123456789abcdef" * 4


@task(task_config=Ringside(workers=2, strategy="ps-sync", servers=1, insecure_network=True),
      secret_requests=[Secret(group="ringside", key="token", mount_requirement=Secret.MountType.FILE)])
def sums(numbers: list[int]) -> int:
    """Worker 0 returns; all have its arguments."""
    import torch

    import ringside
    import ringside.torch

    ringside.init()
    model = torch.nn.Linear(4, 1)
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    return sum(numbers) + 100 * ringside.rank() + 1000 * ringside.size()


@task(task_config=Ringside(workers=2))
def fails(text: str) -> int:
    import ringside

    ringside.init()
    if text:
        raise ValueError(text)
    return 0


def settings():
    image = ImageConfig(default_image=Image(name="default", fqn="registry/ringside", tag="1"))
    return SerializationSettings(project="p", domain="d", version="v", image_config=image)


def template(entity):
    """What Flyte registers of a task."""
    return get_serializable({}, settings(), entity).template


class Tasks(unittest.TestCase):
    def test_worker_0_returns(self):
        self.assertEqual(sums(numbers=[1, 2, 3]), 2006)

    def test_an_exception_ends_the_task(self):
        with self.assertRaisesRegex(Exception, "ValueError: a mistake"):
            fails(text="a mistake")

    def test_wrong_numbers_are_refused(self):
        with self.assertRaisesRegex(ValueError, "workers=0"):
            @task(task_config=Ringside(workers=0))
            def none() -> int:
                return 0


class Registration(unittest.TestCase):
    def test_it_describes_itself_for_a_cluster(self):
        registered = template(sums)
        self.assertEqual(registered.type, "mpi")
        self.assertEqual(registered.custom, {"numWorkers": 3, "numLauncherReplicas": 1, "slots": 1})
        # Flyte mounts a secret at /etc/flyte/secrets/GROUP/KEY.
        [secret] = registered.security_context.secrets
        self.assertEqual(Ringside().token_file, f"/etc/flyte/secrets/{secret.group}/{secret.key}")

    def test_every_worker_and_server_has_a_slot(self):
        for config, pods in ((Ringside(workers=2), 2), (Ringside(workers=3, strategy="ps-sync"), 4), (Ringside(workers=3, strategy="ps-sync", slots=2), 2),
                             (Ringside(workers=2, strategy="ps-sync", servers=3), 5), (Ringside(workers=2, strategy="mixed"), 2),
                             (Ringside(workers=3, strategy="ps-sync", flags=["--servers", "workers"]), 6),
                             (Ringside(workers=3, strategy="ps-sync", flags=["--servers=colocated", "--quiet"]), 3),
                             (Ringside(workers=2, flags=["--out", "/results/one", "--json"]), 2)):
            with self.subTest(config=config):
                config.insecure_network = True
                self.assertEqual(config.pods(), pods)

    def test_a_network_that_nobody_allowed_is_refused_with_what_to_do(self):
        """Without a cluster it is needed by nobody: `fails` runs without it."""
        for config in (Ringside(workers=2), Ringside(workers=2, flags=["--tls", "certs"])):
            with self.assertRaisesRegex(ValueError, "give insecure_network=True if everybody on the pods' network may read"):
                config.pods()
        with self.assertRaisesRegex(ValueError, "insecure_network=True"):
            template(fails)
        self.assertEqual(Ringside(workers=2, insecure_network=True, flags=["--insecure-network"]).pods(), 2)
        self.assertEqual(Ringside(workers=2, flags=["--insecure-network"]).pods(), 2)

    def test_what_a_cluster_cannot_run_is_refused(self):
        for config, reason in ((Ringside(slots=0), "slots-per-pod"), (Ringside(strategy="rign"), "did you mean"),
                               (Ringside(flags=["--tls", "certs"]), "--tls"), (Ringside(flags=["--hostfile", "hosts"]), "--hostfile"),
                               (Ringside(servers=1), "servers")):
            config.insecure_network = True
            with self.subTest(config=config), self.assertRaisesRegex(ValueError, reason):
                config.pods()


#: Keeps its argv, its environment and the file of the token.
STUB_RINGSIDE = """#!{python}
import json, os, pathlib, sys
token = pathlib.Path(os.environ["RINGSIDE_TOKEN_FILE"])
pathlib.Path("{folder}/ringside.json").write_text(json.dumps(
    {"argv": sys.argv[1:], "environment": dict(os.environ), "mode": token.lstat().st_mode, "token": token.read_text()}))
"""
#: Runs its command in another pod, whose files are those of the launcher: so the launcher's copy of the token steps aside.
STUB_MPIRUN = """#!{python}
import json, os, pathlib, subprocess, sys
copy = pathlib.Path("{folder}/copy")
pathlib.Path("{folder}/mpirun.json").write_text(json.dumps(sys.argv[1:]))
copy.rename("{folder}/launchers")
done = subprocess.run(sys.argv[sys.argv.index("sh"):])
if done.returncode == 0:
    copy.rename("{folder}/workers")
pathlib.Path("{folder}/launchers").rename(copy)
sys.exit(done.returncode)
"""
STUB_HOSTNAME = "#!/bin/sh\n[ \"$*\" = -i ] && echo 10.1.2.3 fd00::1 || echo pod-0\n"


class Command(unittest.TestCase):
    """The command of the launcher's pod, run by a shell, with stubs of the programs that it calls."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        programs = self.folder / "bin"
        programs.mkdir()
        for name, text in (("ringside", STUB_RINGSIDE), ("mpirun", STUB_MPIRUN), ("hostname", STUB_HOSTNAME)):
            (programs / name).write_text(text.replace("{python}", sys.executable).replace("{folder}", str(self.folder)))
            (programs / name).chmod(0o755)
        # As Kubernetes mounts a secret: links that lead to a file which everybody may read.
        mounted = self.folder / "a secret"
        (mounted / "..2024").mkdir(parents=True)
        (mounted / "..2024" / "token").write_text(TOKEN + "\n")
        (mounted / "..2024" / "token").chmod(0o644)
        (mounted / "..data").symlink_to("..2024")
        (mounted / "token").symlink_to("..data/token")
        self.token_file = mounted / "token"
        self.enterContext(mock.patch.object(ringside.flyte, "TOKEN_COPY", str(self.folder / "copy")))

    def launch(self, **config):
        config = Ringside(**{"workers": 2, "insecure_network": True, "token_file": str(self.token_file), **config})
        # Flyte takes functions of a module alone.
        with mock.patch.multiple(sums.task_config, **vars(config)):
            command = sums.get_command(settings())
        environment = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "FLYTE_INTERNAL_EXECUTION_ID": "f1"}
        return subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=60)

    def recorded(self, program):
        return json.loads((self.folder / f"{program}.json").read_text())

    def test_it_trains_on_the_pods_of_the_operator(self):
        done = self.launch(strategy="ps-sync", flags=["--env-of", "a b; $HOME"])
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.recorded("ringside")
        train, flags, task_command = run["argv"][:7], run["argv"][7:run["argv"].index("--")], run["argv"][run["argv"].index("--") + 1:]
        self.assertEqual(train, ["train", "--launcher", "mpirun", "--hostfile", "/etc/mpi/hostfile", "--start-timeout", "10min"])
        self.assertEqual(flags, ["--strategy", "ps-sync", "--workers", "2", "--insecure-network", "--env-of", "a b; $HOME"])
        self.assertEqual(task_command[0], "pyflyte-execute")
        # The templates of Flyte stay as they are: it replaces them before the pod starts.
        self.assertEqual(task_command[task_command.index("--inputs") + 1], "{{.input}}")
        self.assertLessEqual({"RINGSIDE_ADDRESS": "10.1.2.3", "FLYTE_FAIL_ON_ERROR": "true", "FLYTE_INTERNAL_EXECUTION_ID": "f1"}.items(),
                             run["environment"].items())

    def test_every_pod_copies_the_token_from_the_link_of_the_secret(self):
        done = self.launch()
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.recorded("ringside")
        self.assertEqual(run["environment"]["RINGSIDE_TOKEN_FILE"], str(self.folder / "copy"))
        self.assertEqual((run["mode"], run["token"]), (stat.S_IFREG | 0o600, TOKEN + "\n"))
        workers = self.folder / "workers"
        self.assertEqual((workers.lstat().st_mode, workers.read_text()), (stat.S_IFREG | 0o600, TOKEN + "\n"))
        words = self.recorded("mpirun")
        self.assertEqual(words[words.index("--hostfile"):][:4], ["--hostfile", "/etc/mpi/hostfile", "--map-by", "ppr:1:node"])
        self.assertNotIn(TOKEN, json.dumps([run["argv"], run["environment"], words]))

    def test_ringside_reads_the_copy_and_not_the_link(self):
        self.launch()
        ranks = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
        for file, code in (("copy", 0), (self.token_file, 2)):
            with socket.socket() as held:  # until rank 0 listens
                held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                held.bind(("127.0.0.1", 0))
                variables = {**ranks, "MASTER_PORT": str(held.getsockname()[1]), "RINGSIDE_TOKEN_FILE": str(self.folder / file)}
                done = subprocess.run([os.environ["RINGSIDE"], "train", "--strategy", "none", "--workers", "1", "--steps", "2", "--out",
                                       self.folder / "run"], env={**os.environ, **variables}, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_an_earlier_copy_is_replaced_and_no_link_followed(self):
        victim = self.folder / "victim"
        victim.write_text("kept")
        (self.folder / "copy").symlink_to(victim)
        self.assertEqual(self.launch().returncode, 0)
        self.assertEqual(victim.read_text(), "kept")
        self.assertEqual(self.recorded("ringside")["token"], TOKEN + "\n")

    def test_a_secret_that_nobody_requested_is_named(self):
        self.token_file = self.folder / "no secret"
        done = self.launch()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"pod-0 cannot read {self.token_file}: request the secret", done.stderr)
        self.assertFalse((self.folder / "ringside.json").exists())

    def test_another_start_timeout_is_given_once(self):
        self.launch(flags=["--start-timeout=1min"])
        self.assertEqual([word for word in self.recorded("ringside")["argv"] if "timeout" in word], ["--start-timeout=1min"])


class Workflow(unittest.TestCase):
    def test_the_example_runs_under_pyflyte(self):
        pyflyte = pathlib.Path(sys.executable).with_name("pyflyte")
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "HOME": folder}
            done = subprocess.run([pyflyte, "run", EXAMPLE, "study", "--epochs", "20"], capture_output=True, text=True, timeout=300,
                                  env=environment, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            self.assertRegex(done.stdout, r"loss 0\.\d+ before, 0\.\d+ after 20 epochs")

    def example(self):
        spec = importlib.util.spec_from_file_location("flyte_workflow", EXAMPLE)
        module = importlib.util.module_from_spec(spec)
        sys.modules["flyte_workflow"] = module
        self.addCleanup(sys.modules.pop, "flyte_workflow")
        spec.loader.exec_module(module)
        return module

    def test_the_example_registers_its_retries_and_its_cache(self):
        """Flyte itself does the retries, on a cluster: flytekit does none locally."""
        example = self.example()
        train = template(example.train)
        self.assertEqual((train.metadata.retries.retries, train.metadata.discoverable), (2, False))
        prepare = template(example.prepare).metadata
        self.assertEqual((prepare.discoverable, prepare.discovery_version, prepare.retries.retries), (True, "1", 0))

    def test_the_example_prepares_the_same_data_once(self):
        example = self.example()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch("flytekit.core.local_cache.CACHE_LOCATION", folder))
        self.enterContext(mock.patch.object(LocalTaskCache, "_initialized", False))
        self.enterContext(mock.patch.dict(os.environ, {"FLYTE_LOCAL_CACHE_ENABLED": "true"}))
        with mock.patch.object(example.numpy.random, "default_rng", wraps=example.numpy.random.default_rng) as made:
            first = example.prepare(samples=4, seed=1)
            self.assertEqual(example.prepare(samples=4, seed=1), first)
            self.assertEqual(made.call_count, 1)
            self.assertNotEqual(example.prepare(samples=4, seed=2), first)
            self.assertEqual(made.call_count, 2)


if __name__ == "__main__":
    unittest.main()
