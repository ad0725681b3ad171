"""The Python package without a run: a program alone, imports, the types of its interface.

usage: package_test.py     with PYTHONPATH (the package) set
"""
import ast
import pathlib
import subprocess
import sys
import unittest

import ringside
from packages import installed

PACKAGE = pathlib.Path(__file__).parents[2] / "python" / "ringside"


class Alone(unittest.TestCase):
    def test_without_a_launcher_a_program_trains_alone(self):
        code = ("import ringside, torch, ringside.torch as rt; ringside.init(); m = torch.nn.Linear(2, 2);"
                "o = torch.optim.SGD(m.parameters(), 0.1); d = rt.DistributedOptimizer(o, m); assert isinstance(d, torch.optim.SGD) and isinstance(d, rt.SynchronizedOptimizer); d.synchronize();"
                "m(torch.ones(1, 2)).sum().backward(); d.step(); d.zero_grad(); assert d.no_sync().__enter__() is None;"
                "print(ringside.rank(), ringside.size(), ringside.strategy())")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "0 1 none\n"), done.stderr)

    def test_init_comes_first(self):
        done = subprocess.run([sys.executable, "-c", "import ringside; ringside.rank()"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ringside.Error: call ringside.init() first", done.stderr)

    def test_records_take_only_what_can_be(self):
        for call, text in (("report(loss=1, samples=0)", "report: samples is 0; it is the number of samples of the loss, 1 or more"),
                           ("report(loss=1, samples=2.5)", "report: samples is 2.5;"),
                           ("evaluation(loss=1, accuracy=95)", "evaluation: accuracy is 95; it is from 0 to 1"),
                           ("evaluation(loss=1, accuracy=1.001)", "evaluation: accuracy is 1.001; it is from 0 to 1"),
                           ("evaluation(loss=1, mse=float('nan'))", "evaluation: mse is nan; it must be finite")):
            with self.subTest(call=call):
                done = subprocess.run([sys.executable, "-c", f"import ringside; ringside.init(); ringside.{call}"],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("ringside.Error: " + text, done.stderr)

    def test_an_accuracy_may_be_rounded(self):
        code = "import ringside; ringside.init(); ringside.evaluation(loss=1, accuracy=sum(9 * [1 / 9]) + 1e-15)"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_reports_of_a_program_alone_are_not_kept(self):
        code = "import ringside; ringside.init(); ringside.report(loss=1); assert not ringside._job._job.losses_of_batch"
        subprocess.run([sys.executable, "-c", code], check=True)

    def imports(self, *names):
        with self.subTest(order=names):
            done = subprocess.run(
                [sys.executable, "-c", f"import {', '.join(names)}, torch; torch.ones(3, requires_grad=True).sum().backward(); print('fine')"],
                capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)

    def test_packages_may_be_imported_in_any_order(self):
        packages = installed(self, "torch", "numpy", "grpc")
        for package in packages:
            self.imports(package, "ringside.torch")
            self.imports("ringside.torch", package)
            self.imports("ringside", package)
        self.imports(*packages, "ringside.torch")
        self.imports("ringside.torch", *packages)

    def test_the_native_part_links_no_framework(self):
        libraries = subprocess.run(["ldd", ringside._native.__file__], capture_output=True, text=True, check=True).stdout
        self.assertIn("libstdc++", libraries)
        for name in ("libtorch", "libc10", "libpython", "tensorflow"):
            self.assertNotIn(name, libraries)


def public(names):
    return {name for name in names if not name.startswith("_")}


def public_functions(tree):
    """Of a module and of its public classes, whose methods may also be special ones."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (each for each in node.body if isinstance(each, ast.FunctionDef))


class Types(unittest.TestCase):
    def test_the_stub_has_the_names_of_the_native_part(self):
        stub = ast.parse((PACKAGE / "_native.pyi").read_text())
        names = {node.name: node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(names.keys(), public(dir(ringside._native)))
        self.assertEqual(public(node.name for node in names["Worker"].body), public(dir(ringside._native.Worker)))

    def test_public_functions_are_annotated(self):
        for path in (*PACKAGE.glob("[!_]*.py"), PACKAGE / "_job.py"):
            for function in public_functions(ast.parse(path.read_text())):
                arguments = [each for each in (*function.args.args, *function.args.kwonlyargs) if each.arg != "self"]
                with self.subTest(path=path.name, function=function.name):
                    self.assertEqual([each.arg for each in arguments if each.annotation is None], [])
                    self.assertIsNotNone(function.returns)


if __name__ == "__main__":
    unittest.main(verbosity=2)
