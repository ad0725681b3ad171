"""Manifests of Kubernetes against the schemas of the resources, and their launcher's command as the operators run it.

usage: manifest_test.py [CLASS]     with RINGSIDE (the executable) set, in an environment with pyyaml and jsonschema; Launcher as root
"""
import copy
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import jsonschema
import yaml

from main import main
from ssh_hosts import ADDRESSES, SshHosts, run

RINGSIDE = os.environ["RINGSIDE"]
SCHEMAS = pathlib.Path(__file__).with_name("schemas")
SCHEMA_OF = {("kubeflow.org/v1", "MPIJob"): "mpijob-v1", ("kubeflow.org/v2beta1", "MPIJob"): "mpijob-v2beta1",
             ("trainer.kubeflow.org/v1alpha1", "TrainJob"): "trainjob",
             ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): "trainingruntime"}
KINDS = ["mpijob-v1", "mpijob-v2beta1", "trainjob"]


def closed(schema):
    """The schema, but objects have no other properties than those it lists: Kubernetes drops what it does not know."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(part) for key, part in schema.items()}
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    if schema.get("type") == "object" and "additionalProperties" not in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        result["additionalProperties"] = False
    return result


def validator(document):
    name = SCHEMA_OF[document["apiVersion"], document["kind"]]
    schema = closed(json.loads(gzip.decompress((SCHEMAS / f"{name}.json.gz").read_bytes())))
    # Kubernetes itself checks the metadata.
    schema["properties"]["metadata"] = {"type": "object"}
    return jsonschema.Draft7Validator(schema)


def manifest(kind, *flags, expects=0):
    done = subprocess.run([RINGSIDE, "manifest", "--kind", kind, "--image", "registry/ringside:1", *flags], capture_output=True, text=True)
    assert done.returncode == expects, done.stderr
    return done.stdout if expects == 0 else done.stderr


def documents(kind, *flags):
    return [document for document in yaml.safe_load_all(manifest(kind, *flags)) if document]


FLAGS = ["--insecure-network", "--strategy", "ps-sync", "--workers", "4", "--servers", "2", "--cpus", "500m", "--memory", "2Gi",
         "--gpus", "1", "--slots-per-pod", "2", "--env", "WORD=a b: c", "--volume-claim", "results", "--namespace", "teams", "--name", "four"]


def pods(job):
    """The pod templates of a job or a runtime, by role."""
    if job["kind"] == "MPIJob":
        replicas = job["spec"]["mpiReplicaSpecs"]
        return {"launcher": replicas["Launcher"]["template"], "worker": replicas["Worker"]["template"]}
    jobs = {part["name"]: part["template"]["spec"]["template"] for part in job["spec"]["template"]["spec"]["replicatedJobs"]}
    return {"launcher": jobs["launcher"], "worker": jobs["node"]}


class Schemas(unittest.TestCase):
    def test_every_kind_is_valid_with_every_object_closed(self):
        for kind in KINDS:
            for flags in (FLAGS, ["--insecure-network", "--strategy", "ring", "--workers", "2"],
                          ["--insecure-network", "--strategy", "ring", "--workers", "2", "--", "python3", "train.py", "--lr", "0.1"]):
                with self.subTest(kind=kind, flags=flags):
                    checked = 0
                    for document in documents(kind, *flags):
                        if (document["apiVersion"], document["kind"]) in SCHEMA_OF:
                            self.assertEqual(list(validator(document).iter_errors(document)), [])
                            checked += 1
                    self.assertEqual(checked, 2 if kind == "trainjob" else 1)

    def test_ten_mutations_are_each_refused(self):
        def rename(part, old, new):
            part[new] = part.pop(old)

        mutations = [
            lambda job: rename(job["spec"], "mpiReplicaSpecs", "mpiReplicaSpec"),
            lambda job: rename(job["spec"], "slotsPerWorker", "slotsPerWorkers"),
            lambda job: job["spec"].update(slotsPerWorker="2"),
            lambda job: job["spec"]["runPolicy"].update(cleanPodPolicy=3),
            lambda job: rename(pods(job)["launcher"]["spec"]["containers"][0], "args", "arguments"),
            lambda job: pods(job)["launcher"]["spec"]["containers"][0].update(command="ringside"),
            lambda job: pods(job)["worker"]["spec"]["containers"][0].pop("name"),
            lambda job: rename(pods(job)["worker"]["spec"]["containers"][0]["env"][0], "value", "values"),
            lambda job: pods(job)["worker"]["spec"]["volumes"][0]["secret"].update(defaultMode="0400"),
            lambda job: rename(pods(job)["worker"]["spec"]["containers"][0]["volumeMounts"][0], "mountPath", "path"),
        ]
        for kind in ("mpijob-v1", "mpijob-v2beta1"):
            job = documents(kind, *FLAGS)[-1]
            for number, mutate in enumerate(mutations):
                with self.subTest(kind=kind, mutation=number):
                    wrong = copy.deepcopy(job)
                    mutate(wrong)
                    self.assertNotEqual(list(validator(wrong).iter_errors(wrong)), [])

    def test_ten_mutations_of_a_train_job_and_its_runtime_are_each_refused(self):
        def container(runtime, role):
            return pods(runtime)[role]["spec"]["containers"][0]

        mutations = [
            lambda runtime, job: runtime["spec"]["mlPolicy"]["mpi"].update(numProcPerNodes=1),
            lambda runtime, job: runtime["spec"]["mlPolicy"]["mpi"].update(mpiImplementation="LAM"),
            lambda runtime, job: runtime["spec"]["template"]["spec"]["replicatedJobs"][0].pop("name"),
            lambda runtime, job: runtime["spec"]["template"]["spec"]["successPolicy"].update(operator=["All"]),
            lambda runtime, job: runtime["spec"]["template"]["spec"]["replicatedJobs"][1]["dependsOn"][0].update(status="Begun"),
            lambda runtime, job: container(runtime, "launcher").update(command="ringside"),
            lambda runtime, job: container(runtime, "worker").update(argument=[]),
            lambda runtime, job: container(runtime, "worker")["readinessProbe"]["tcpSocket"].pop("port"),
            lambda runtime, job: pods(runtime)["worker"]["spec"]["volumes"][0]["secret"].update(defaultMode="0400"),
            lambda runtime, job: job["spec"]["runtimeRef"].pop("name"),
            lambda runtime, job: job["spec"]["trainer"].update(numNodes="3"),
        ]
        documents_of_it = documents("trainjob", *FLAGS)[-2:]
        for number, mutate in enumerate(mutations):
            with self.subTest(mutation=number):
                runtime, job = copy.deepcopy(documents_of_it)
                mutate(runtime, job)
                self.assertEqual(sum(bool(list(validator(document).iter_errors(document))) for document in (runtime, job)), 1)

    def test_what_was_asked_for_is_there(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                secret, policy, *jobs = documents(kind, *FLAGS)
                self.assertEqual(secret["kind"], "Secret")
                self.assertRegex(secret["stringData"]["token"], "^[0-9a-f]{64}$")
                self.assertEqual(policy["kind"], "NetworkPolicy")
                self.assertEqual({document["metadata"]["namespace"] for document in (secret, policy, *jobs)}, {"teams"})
                launcher, worker = pods(jobs[0])["launcher"], pods(jobs[0])["worker"]
                selected = policy["spec"]["podSelector"]["matchLabels"].items()
                for pod in (launcher, worker):
                    self.assertLessEqual(selected, pod["metadata"]["labels"].items())
                    container = pod["spec"]["containers"][0]
                    self.assertEqual(container["image"], "registry/ringside:1")
                    self.assertIn({"name": "WORD", "value": "a b: c"}, container["env"])
                    volume = pod["spec"]["volumes"][0]["secret"]
                    self.assertEqual((volume["secretName"], volume["defaultMode"]), (secret["metadata"]["name"], 0o400))
                limits = worker["spec"]["containers"][0]["resources"]["limits"]
                self.assertEqual(limits, {"cpu": "1000m", "memory": "4Gi", "nvidia.com/gpu": 2})
                arguments = launcher["spec"]["containers"][0]["args"]
                self.assertIn("--servers=2", arguments)
                self.assertEqual(arguments[-2:], ["--out", "/results/four"])

    def test_there_is_a_slot_for_every_worker_and_server(self):
        for flags, expected in ((["--workers", "4", "--servers", "2"], 6), (["--workers", "4", "--servers", "1", "--slots-per-pod", "2"], 3)):
            job = documents("mpijob-v2beta1", "--insecure-network", "--strategy", "ps-sync", *flags)[-1]
            self.assertEqual(job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"], expected)
        job = documents("trainjob", "--insecure-network", "--strategy", "ring", "--workers", "3")[-1]
        self.assertEqual(job["spec"]["trainer"], {"numNodes": 3, "numProcPerNode": 1})

    def test_a_dollar_is_one(self):
        """Kubernetes itself replaces $(NAME)."""
        job = documents("mpijob-v1", "--insecure-network", "--env", "WORD=$(HOME)", "--workers", "1", "--", "echo", "a$b")[-1]
        container = pods(job)["launcher"]["spec"]["containers"][0]
        self.assertIn({"name": "WORD", "value": "$$(HOME)"}, container["env"])
        self.assertEqual(container["args"][-1], "a$$b")

    def test_the_image_may_have_what_this_machine_lacks(self):
        for flags in (["--workers", "2", "--", "/opt/app/python3", "train.py"], ["--workers", "2", "--data", "mnist", "--data-dir", "/no/data"],
                      ["--workers", "2", "--data", "npz:/no/data.npz"], ["--workers", "2", "--resume", "/no/checkpoint"],
                      ["--workers", "2", "--strategy", "nccl"]):
            for kind in KINDS:
                with self.subTest(flags=flags, kind=kind):
                    documents(kind, "--insecure-network", *flags)

    def test_two_manifests_have_two_tokens(self):
        tokens = {documents("mpijob-v1", "--insecure-network")[0]["stringData"]["token"] for _ in range(2)}
        self.assertEqual(len(tokens), 2)

    def test_what_is_wrong_is_refused_by_name(self):
        cases = [(["--name", "Four"], "--name: 'Four'"), (["--memory", "much"], "--memory: 'much'"), (["--cpus", "-1"], "--cpus: '-1'"),
                 (["--env", "WORD"], "--env: 'WORD'"), (["--slots-per-pod", "0"], "--slots-per-pod"),
                 (["--hostfile", "x"], "--hostfile: the manifest decides that itself"), (["--config", "x"], "--config"),
                 (["--network", "1Gbps"], "--network"), (["--env", "A=1", "--env", "A=2"], "A is given more than once"),
                 (["--env", "OMPI_MCA_x=1"], "--env: OMPI_MCA_x"), (["--name", "4"], "--name: '4'"), (["--tls", "certs"], "--tls"), (["--image", ""], "--image"), (["--strategy", "rign"], "did you mean")]
        for flags, message in cases:
            with self.subTest(flags=flags):
                command = [RINGSIDE, "manifest", "--kind", "mpijob-v2beta1", "--insecure-network"]
                if "--image" not in flags:
                    command += ["--image", "i"]
                done = subprocess.run([*command, *flags], capture_output=True, text=True)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")
        self.assertIn("is not loopback", manifest("mpijob-v1", "--strategy", "ring", expects=2))
        self.assertIn("--kind", manifest("mpijob-v3", expects=2))

    def test_memory_for_a_process_is_divided_among_its_processors(self):
        """Slurm has no limit for a task, only for a processor or a node."""
        for flags, expected in ((["--memory", "8Gi", "--cpus", "4"], "2048M"), (["--memory", "1Gi", "--cpus", "3"], "342M"),
                                (["--memory", "4Gi"], "4096M"), (["--memory", "2G"], "1908M"), (["--memory", "512Ki"], "1M")):
            with self.subTest(flags=flags):
                done = subprocess.run([RINGSIDE, "manifest", "--kind", "sbatch", "--workers", "2", *flags], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"#SBATCH --mem-per-cpu={expected}\n", done.stdout)

    def test_a_worker_in_a_batch_script_sees_all_gpus_of_its_node(self):
        """It takes the one of its local rank. By --gpus-per-task alone it would see its own."""
        done = subprocess.run([RINGSIDE, "manifest", "--kind", "sbatch", "--workers", "2", "--gpus", "1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("#SBATCH --gpus-per-task=1\n#SBATCH --gpu-bind=none\n", done.stdout)

    def test_a_batch_script_for_several_nodes_needs_a_protected_network(self):
        """As the run itself would say, but before it has waited in the queue."""
        def written(*flags):
            done = subprocess.run([RINGSIDE, "manifest", "--kind", "sbatch", "--workers", "2", *flags], capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 2))
            self.assertEqual(done.returncode == 2, done.stdout == "", done.stderr)
            return done.returncode == 0, done.stderr

        ring, servers = ["--strategy", "ring"], ["--strategy", "ps-sync", "--servers", "2", "--ps-transport", "grpc"]
        for flags, word in ((ring, "is not loopback"), (servers, "is not loopback"), ([*ring, "--tls", "/no/certs"], "--tls does not encrypt"),
                            ([*ring, "--env", "RINGSIDE_ADDRESS=192.0.2.7"], "192.0.2.7 is not loopback")):
            with self.subTest(flags=flags):
                done, text = written("--nodes", "2", *flags)
                self.assertFalse(done)
                self.assertIn(word, text)
        # The certificates are on the nodes.
        for flags in ([*ring, "--insecure-network"], [*servers, "--tls", "/no/certs"], [*servers, "--env", "RINGSIDE_TLS=/no/certs"],
                      [*ring, "--env", "RINGSIDE_ADDRESS=127.0.0.1"]):
            with self.subTest(flags=flags):
                self.assertEqual(written("--nodes", "2", *flags), (True, ""))
        # One node needs none, and Slurm may choose one.
        for flags in (["--nodes", "1"], []):
            with self.subTest(flags=flags):
                self.assertEqual(written(*ring, *flags), (True, ""))


class Launcher(unittest.TestCase):
    """Two pods are the second host; their names lead there. /etc is a copy, so that nothing of this machine changes."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.hosts = self.enterContext(SshHosts(self.folder))

    def prepare(self, kind, flags):
        secret, *_, job = [document for document in documents(kind, *flags) if document["kind"] in ("Secret", "MPIJob", "TrainingRuntime")]
        v1 = kind == "mpijob-v1"
        names = {"mpijob-v1": ["four-worker-0", "four-worker-1"],
                 "mpijob-v2beta1": ["four-worker-0.four.teams.svc", "four-worker-1.four.teams.svc"],
                 "trainjob": ["four-node-0-0.four", "four-node-0-1.four"]}[kind]
        etc = self.folder / "etc"
        shutil.copytree("/etc", etc, symlinks=True, ignore_dangling_symlinks=True)
        with (etc / "hosts").open("a") as file:
            if not v1:  # Version 1 has no names for pods.
                file.writelines(f"{ADDRESSES[1]} {name}\n" for name in names)
        (etc / "mpi").mkdir()
        slots = 2
        (etc / "mpi" / "hostfile").write_text("".join(f"{name} slots={slots}\n" for name in names))
        kubexec = etc / "mpi" / "kubexec.sh"
        kubexec.write_text("#!/bin/sh\nset -x\nPOD_NAME=$1\nshift\n"
                           f"export TMPDIR=$(mktemp -d {self.folder}/tmp.XXXXXX)\n"  # each pod has its own
                           f'exec ip netns exec {self.hosts.names[1]} /bin/sh -c "$*"\n')
        kubexec.chmod(0o555)
        (etc / "ringside").mkdir()
        (etc / "ringside" / "token").touch(0o400)
        (etc / "ringside" / "token").write_text(secret["stringData"]["token"])
        run("nsenter", f"--target={self.hosts.sshd.pid}", "--mount", "mount", "--bind", etc, "/etc")
        return etc, pods(job)["launcher"]["spec"]["containers"][0]

    def environment(self, kind, container):
        variables = {"PATH": f"{pathlib.Path(RINGSIDE).parent}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": os.environ.get("HOME", "/root"),
                     "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile"}
        if kind == "mpijob-v1":
            variables |= {"OMPI_MCA_plm_rsh_agent": "/etc/mpi/kubexec.sh", "NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""}
        else:
            variables |= {"OMPI_MCA_orte_keep_fqdn_hostnames": "true", "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
                          "OMPI_MCA_orte_set_default_slots": "2", "K_MPI_JOB_ROLE": "launcher",
                          # The image's own settings of ssh.
                          "OMPI_MCA_plm_rsh_agent": " ".join(self.hosts.ssh())}
        for variable in container["env"]:
            value = variable.get("value", ADDRESSES[0])
            if variable["name"] == "OMPI_MCA_plm_rsh_agent":  # with the key that the launcher has copied
                value = " ".join([value, *self.hosts.ssh()[3:]])
            variables[variable["name"]] = value
        return variables

    def launch(self, kind):
        flags = ["--name", "four", "--namespace", "teams", "--insecure-network", "--slots-per-pod", "2", "--strategy", "ps-sync", "--workers",
                 "2", "--servers", "2", "--model", "mlp", "--data", "digits", "--hidden", "64,64", "--bucket-mb", "0.0078125", "--steps", "10", "--env", "WORD=a b"]
        etc, container = self.prepare(kind, flags)
        key = self.folder / "ssh"  # as Trainer mounts it
        key.mkdir(0o700)
        shutil.copy(self.folder / "user", key / "id_rsa")
        (key / "id_rsa").chmod(0o640)
        script = f'mount --bind "$0" /etc && mkdir -p /root/.ssh && mount --bind {key} /root/.ssh && exec "$@"'
        words = ["unshare", "--mount", "sh", "-c", script, etc, *container["command"], *container["args"]]
        done = subprocess.run(self.hosts.command(words), env=self.environment(kind, container), capture_output=True, text=True, timeout=120,
                              cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        summary = json.loads(done.stdout)
        self.assertEqual((summary["status"], summary["workers"], summary["servers"], summary["launcher"]), ("done", 2, 2, "mpirun"))

    def test_version_1(self):
        self.launch("mpijob-v1")

    def test_version_2(self):
        self.launch("mpijob-v2beta1")

    def test_trainer(self):
        self.launch("trainjob")


if __name__ == "__main__":
    main()
