"""Wrong programs with PyTorch, and their forked children: what each is told, and how the run ends.

usage: torch_faults_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set
"""
import pathlib
import re
import subprocess
import unittest

from torch_runs import LONG, RINGSIDE, Programs, pairs

MODULE_PROGRAM = pathlib.Path(__file__).with_name("module_program.py")


class Faults(Programs):
    def refuses(self, case, text, *flags, expects=1, words=(), kind="sgd"):
        with self.subTest(case=case, flags=flags):
            summary, errors = self.train(*(flags or ("--strategy", "ring")), kind=kind, words=(f"case={case}", *words), expects=expects)
            self.assertIn(text, errors)
            self.assertNotEqual(summary.get("status"), "done")
            member = summary["failure"]["member"]
            self.assertIn(member, ("worker 0", "worker 1"))
            self.assertRegex(errors, rf"(?m)^(failed|diverged): {member}\b")
            return summary

    def test_wrong_programs_are_told_so(self):
        self.refuses("never-inits", ", without having called ringside.init()")
        self.refuses("no-parameters", "without registering parameters")
        self.refuses("shapes", "parameter 1 is 'last.weight' of shape [5,4", expects=2)
        self.refuses("double", "parameter 'last.bias' is torch.float64")
        self.refuses("meta", "parameter 'last.bias' is on meta")
        self.refuses("frozen-meta", "'frozen.bias' is on the device meta")
        self.refuses("twice", "the gradient of 'last.bias' was computed twice in a step")
        self.refuses("unused-error", "has no gradient of 'last.bias'")
        self.refuses("no-gradient", "has no gradient of 'last.bias'")
        self.refuses("clips-too-late", "the gradient has left for the strategy")
        self.refuses("no-sync-late", "the gradient of 'last.bias' has left already")
        self.refuses("clips-too-late", "call synchronize() of the DistributedOptimizer before you read or change it", words=("update=program",))
        self.refuses("saves-model", "save model.state_dict()")
        self.refuses("saves-state", "so it has the optimizer's state")
        self.refuses("loads-late", "load the model's parameters before the DistributedOptimizer is made")
        self.refuses("changes-momentum", "the optimizer's options have changed")
        self.refuses("moves-parameter", "has other memory than when the DistributedOptimizer was made")
        self.refuses("adds-group", "a group of parameters cannot be added")
        for case in ("predicts-before-step", "saves-before-step"):
            self.refuses(case, "between backward() and step() the strategy may be updating the parameters")
        self.refuses("scripted-whole", "the model is a TorchScript module, which takes no hooks")
        for strategy in ("ring", "ps-sync"):
            self.refuses("clamps", "the program has changed parameter 'last.bias', but the strategy updates", "--strategy", strategy)
        self.refuses("reports-batch-of-keywords", "report: give samples, the number of samples of the loss")
        self.refuses("rate-too-late", "the learning rate changed from 0.05 to 0.01 after backward()")

    def test_parameters_that_are_trained_later_are_refused(self):
        for strategy, words in (("ring", ()), ("ring", ("update=program",)), ("ps-sync", ())):
            self.refuses("unfreezes", "parameter 'frozen.weight' is trained now", "--strategy", strategy, words=words)
        self.refuses("grows", "the optimizer has got a parameter of shape (3,)", words=("update=program",))

    def test_parameters_that_are_read_before_their_update_are_refused(self):
        early = "parameter 'last.bias' was read in step 1 before"
        for (case, text), strategy in pairs(
                (("reads-early", early + " its update was there: call the module that has it"), ("gradients-by-hand", early),
                 # The forward pass waits for them later in the step. PyTorch says that they have changed since.
                 ("size-early", "has been modified by an inplace operation")), ("ring", "shm", "ps-sync")):
            self.refuses(case, text, "--strategy", strategy)

    def names_worker_1(self, case, text, *flags, words=()):
        summary = self.refuses(case, f"failed: worker 1: {text}", *flags, words=words)
        self.assertEqual(summary["failure"]["member"], "worker 1")
        return summary

    def test_one_rank_that_fails_is_named(self):
        exits = "its program ended the training after 3 steps"
        for (case, text, kind), strategy in pairs(
                (("raises", "the program raised ValueError: a bad batch", "program"),
                 ("raises-in-hook", "the program raised ValueError: a bad hook (step 3, after the forward pass, before the gradient of "
                  "'first.bias')", "program"), ("exits", exits, None), ("exits-0", exits, None)), ("ring", "shm", "ps-sync")):
            summary = self.names_worker_1(case, text, "--strategy", strategy)
            if kind:
                self.assertEqual(summary["failure"]["kind"], kind)
        for strategy, words in (("ring", ("update=program",)), ("shm", ()), ("ps-sync --server-update off", ()),
                                *((("ring", ()), ("ps-sync", ())) if LONG else ())):
            self.names_worker_1("fewer-steps", "its program ended the training after 5 steps", "--strategy", *strategy.split(), words=words)
        self.refuses("exits-at-once", "exited with code 0 before it handed in a result")
        self.names_worker_1("raises-in-thread", "the program raised ValueError: a bad batch")
        self.assertEqual(self.refuses("diverges", "of the gradient of 'last.bias' on worker 1 is")["status"], "diverged")
        self.assertEqual(self.refuses("evaluates-to-infinity", "the loss of worker 0 is inf at step 3")["status"], "diverged")

    def test_workers_that_broadcast_something_else_are_named(self):
        self.train("--strategy", "ring", words=("case=broadcasts",))
        self.train("--strategy", "ps-async", words=("case=broadcasts-after-fewer-steps",))
        differ = "the program raised ringside.Error: worker 0 broadcasts {} where this worker takes {}: their programs differ"
        for case, theirs, mine in (
                ("broadcasts-other-name", "'mean' of shape (3,) and type torch.float32 in step 3",
                 "'variance' of shape (3,) and type torch.float32 in step 3"),
                ("broadcasts-other-shape", "'mean' of shape (3, 1) and type torch.float32 in step 3",
                 "'mean' of shape (3, 2) and type torch.float32 in step 3"),
                ("broadcasts-more", "'mean' of shape (3,) and type torch.float32 in step 4",
                 "'mean' of shape (3,) and type torch.float32 in step 3")):
            self.names_worker_1(case, differ.format(theirs, mine))

    def test_what_servers_cannot_do_is_refused(self):
        for kind, case, reason in (("rmsprop", "", "RMSprop is not SGD, Adam or AdamW"), ("amsgrad", "", "amsgrad is set"),
                                   ("dampening", "", "dampening is set"), ("maximize", "", "maximize is set"),
                                   ("sgd", "groups", "its groups of parameters have different options")):
            self.refuses(case, reason, "--strategy", "ps-sync", kind=kind)
        self.refuses("", "updates the parameters itself, so the program cannot; --server-update off", "--strategy", "ps-sync",
                     words=("update=program",))

    def test_a_hint_names_what_the_strategy_can_do(self):
        """Only ps-sync and mixed read --server-update. Others get the strategies that leave the update to the program."""
        off = "--server-update off lets servers only sum"
        others = re.compile(r"take a strategy that leaves the update to the program: ring, [a-z, -]*\bshm\b[a-z, -]*; "
                            r"or ps-sync or mixed with --server-update off\n")
        refused = (("rmsprop", "", ()), ("sgd", "groups", ()), ("sgd", "", ("update=program",)), ("sgd", "registers-without-rule", ()))
        for reads, strategies in ((True, ("ps-sync", "mixed")), (False, ("ps-async", "ps-ssp", "ps-backup", "local-sgd", "diloco"))):
            for strategy, (kind, case, words) in pairs(strategies, refused):
                with self.subTest(strategy=strategy, kind=kind, case=case, words=words):
                    _, errors = self.train("--strategy", strategy, kind=kind, words=(f"case={case}", *words), expects=1)
                    reason = re.search(r"^failed: worker [01]: .*\n", errors, re.MULTILINE).group()
                    self.assertIn(f"strategy '{strategy}'", reason)
                    if reads:
                        self.assertIn(off, reason)
                    else:
                        self.assertNotIn(off, reason)
                        self.assertRegex(reason, others)

    def test_a_forked_child_may_not_use_the_job(self):
        _, errors = self.train("--strategy", "ring", words=("case=fork",))
        self.assertIn("the child: a forked child of the program uses Ringside", errors)
        self.assertIn("the child ended with 0", errors)
        self.assertIn("ValueError: a fault of the child", errors)
        self.assertIn("the child ended with 1", errors)
        for wrong in ("Error in sys.excepthook", "Exception ignored in atexit"):
            self.assertNotIn(wrong, errors)

    def test_a_forked_child_ends_although_the_model_lives_as_long_as_it(self):
        forked = "ringside.Error: a forked child of the program uses Ringside; only the process that called init may"
        for strategy, (case, code, text) in pairs(("ring", "ps-sync"), (("exits", 0, ""), ("steps", 1, forked),
                                                                        ("raises", 1, "ValueError: a fault of the child"),
                                                                        ("computes", 1, forked))):
            with self.subTest(strategy=strategy, case=case):
                summary, errors = self.run_program("--strategy", strategy, program=(MODULE_PROGRAM, case))
                self.assertEqual(errors.count(f"the child ended with {code}"), 2, errors)
                self.assertIn(text, errors)
                self.assertEqual(errors.count("the loop has ended"), 2, errors)
                self.assertEqual((summary["steps"], summary["status"]), (5, "done"))

    def test_a_child_that_was_forked_before_init_cannot_join_too(self):
        text = ("ringside.Error: another process of this worker has called init, so this one cannot: the program has forked before init; "
                "call init only in the process that trains")
        summary, errors = self.run_program("--strategy", "ring", program=(MODULE_PROGRAM, "inits"))
        self.assertEqual(errors.count(text), 2, errors)
        self.assertEqual(errors.count("the child ended with 1"), 2, errors)
        self.assertEqual((summary["steps"], summary["status"]), (5, "done"))
        summary, errors = self.run_program("--strategy", "ring", program=(MODULE_PROGRAM, "inits-first"), expects=1)
        self.assertIn(text, errors)
        self.assertEqual(summary["status"], "failed")

    def test_a_program_that_a_worker_starts_is_no_worker(self):
        _, errors = self.train("--strategy", "ring", words=("case=starts-program",))
        self.assertIn("one of 1", errors)

    def test_a_missing_program_is_a_wrong_flag(self):
        done = subprocess.run([RINGSIDE, "train", "--", "no-such-program"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no program 'no-such-program' in PATH", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
