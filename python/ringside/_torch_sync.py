"""Connects a PyTorch model and its optimizer with a worker: hooks in the forward and the backward pass."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from ringside import _native, _torch_linear
from ringside._job import Error, _job, _keep_versions
from ringside._torch_rule import options_of, rule_of, updates_here


class _Gone(torch.Tensor):
    """The gradient of a parameter that the strategy updates, after it has left."""

    why = ("the gradient has left for the strategy, which updates the parameters itself: to read or change gradients before step(), "
           'make the DistributedOptimizer with update="program"')

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise Error(f"{cls.why}. If this was step(), call that of the optimizer which DistributedOptimizer returned")


class _GoneForItsMean(_Gone):
    """The gradient of a parameter that the program updates, until its mean over the workers is there."""

    why = ("the gradient has left for its mean over the workers: call synchronize() of the DistributedOptimizer before you read or "
           "change it")


class Synchronizer:
    """Connects a model and its optimizer with a worker: its hooks run in the forward and the backward pass."""

    def __init__(self, worker, optimizer, model, update, passes, zero_unused, overlap_forward) -> None:
        self._worker = worker
        self.groups = optimizer.param_groups
        self._passes = passes
        self._passes_left = passes
        self._counts_pass = False
        self._zero_unused = zero_unused
        self._syncs = True
        self._began: int | None = None
        self._forward_end: int | None = None
        self._batch = 0
        self._batch_of_eval = 0  # of a model that trains in the mode of evaluation
        self._finished_gradients = False
        rule, why_not = rule_of(optimizer)
        self.updates_here = updates_here(worker, update, rule, why_not)
        if isinstance(model, torch.jit.ScriptModule):
            raise Error("the model is a TorchScript module, which takes no hooks: make it a part of a torch.nn.Module")
        self._names, self._parameters = _trained(optimizer, model)
        self._register(None if self.updates_here else rule)
        self._name_of = {id(parameter): name for name, parameter in model.named_parameters()}
        self._index_of = {id(parameter): index for index, parameter in enumerate(self._parameters)}
        self._broadcast_the_rest(model)
        # Whether this step has waited for the parameter's update, and what counts up its version.
        self._awaited = [False] * len(self._parameters)
        self._versions = [parameter.detach().view(-1)[:0] for parameter in self._parameters]
        self._updates_pend = False  # a step has ended, so the strategy may still update
        self._seen = [parameter._version for parameter in self._parameters]
        self._add_hooks(model, overlap_forward)
        self._direct = [False] * len(self._parameters)  # whether the flat vector has the gradient that autograd computes
        _torch_linear.compute_in_place([(parameter, self._place_of(index)) for index, parameter in enumerate(self._parameters)])
        _job.progress = self._progress
        _keep_versions()

    # The start

    def _register(self, rule) -> None:
        shapes = [list(parameter.shape) for parameter in self._parameters]
        self._worker.register(self._names, shapes, optimizer=rule, learning_rate=self._rate())
        params, grads = torch.from_dlpack(self._worker.params()), torch.from_dlpack(self._worker.grads())
        self._grads = []
        for parameter, (begin, end) in zip(self._parameters, self._worker.ranges()):
            view = params[begin:end].view(parameter.shape)
            view.copy_(parameter.detach())
            parameter.data = view
            self._grads.append(grads[begin:end].view(parameter.shape))
        self._worker.loaded()
        # Their memory is never written, so it takes no room.
        gone = _GoneForItsMean if self.updates_here else _Gone
        self._gone = [torch.empty_like(parameter, requires_grad=False).as_subclass(gone) for parameter in self._parameters]
        self._pointers = [parameter.data_ptr() for parameter in self._parameters]
        self._options = options_of(self.groups)

    def _broadcast_the_rest(self, model) -> None:
        for name, tensor in sorted(list(model.named_parameters()) + list(model.named_buffers())):
            if id(tensor) not in self._index_of:
                broadcast(self._worker, name, tensor)

    def _add_hooks(self, model, overlap_forward) -> None:
        index_of = self._index_of
        begin = model.register_forward_pre_hook(self._begin_forward)
        model.register_forward_hook(self._end_forward)
        model._register_load_state_dict_pre_hook(self._refuse_load, with_module=True)
        model._register_state_dict_hook(lambda *_: self._await_all_between_steps())
        for module in model.modules():
            if isinstance(module, torch.jit.ScriptModule):
                continue  # the module around it waits
            indices = [index_of[id(p)] for p in module.parameters() if id(p) in index_of]
            if not overlap_forward:
                _put_first(module, module.register_forward_pre_hook(lambda *_: self._await_all()))
            elif indices:
                # A module with parameters of its own may read those of its children without calling them.
                _put_first(module, module.register_forward_pre_hook(self._awaits(indices if _has_own(module) else [])))
        _put_first(model, begin)  # what the model itself waits for is a part of its step
        self._nodes = []  # they live as long as somebody refers to them, and their hooks with them
        for index, parameter in enumerate(self._parameters):
            node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
            node.register_hook(self._takes_gradient(index))
            self._nodes.append(node)

    # The forward pass

    def _begin_forward(self, module, inputs) -> None:
        if not torch.is_grad_enabled():
            return self._await_all_between_steps()
        if not module.training:
            self._batch_of_eval = _samples_of(inputs)
        else:
            self._batch += _samples_of(inputs)
            if self._began is None:
                self._began = _native.now()
            self._forward_end = None
        return None

    def _end_forward(self, module, inputs, output) -> None:
        self._forward_end = _native.now()

    def _awaits(self, indices):
        def hook(module, inputs) -> None:
            if not torch.is_grad_enabled():  # a module may take a way on which it does not call those that have the parameters
                return self._await_all()
            for index in indices:
                if not self._awaited[index]:
                    self._worker.await_tensor(index)
                    self._mark_awaited(index)
            return None

        return hook

    def _await_all_between_steps(self) -> None:
        if self._worker.in_step and not self.updates_here:
            raise Error("between backward() and step() the strategy may be updating the parameters: read them after step(), also by "
                        "state_dict() or a forward pass without gradients")
        self._await_all()

    def _await_all(self) -> None:
        if self._worker.in_step or all(self._awaited):
            return
        self._worker.await_all()
        for index, awaited in enumerate(self._awaited):
            if not awaited:
                self._mark_awaited(index)

    def _mark_awaited(self, index) -> None:
        self._awaited[index] = True
        if self._updates_pend:
            self._check_unchanged(index)
            # The parameter may have changed now. Like an optimizer's step() this lets backward() refuse what was read before.
            self._versions[index].zero_()
            self._seen[index] = self._parameters[index]._version

    def _check_unchanged(self, index) -> None:
        """Where the strategy updates, it would overwrite what the program has written, or not, as it happens."""
        if self._parameters[index]._version != self._seen[index]:
            raise Error(
                f"the program has changed parameter '{self._names[index]}', but the strategy updates the parameters itself: make the "
                'DistributedOptimizer with update="program"')

    def _check_awaited(self, index) -> None:
        """Called when the gradient of a parameter was computed, so this step has read the parameter."""
        if self._updates_pend and not self._awaited[index]:
            raise Error(
                f"parameter '{self._names[index]}' was read in step {self._worker.step} before its update was there: call the module that "
                "has it, or synchronize() of the optimizer before you read it, or make the DistributedOptimizer with overlap_forward=False")

    # The backward pass

    def _takes_gradient(self, index):
        parameter = self._parameters[index]

        def hook(*_) -> None:
            self._direct[index] = False
            if not self._syncs:
                if self._worker.in_step and self._worker.is_gradient_ready(index):
                    raise Error(f"the gradient of '{self._names[index]}' has left already: no_sync() comes before the backward() that sends")
                self._check_awaited(index)
                return
            self._check_awaited(index)
            if self._passes > 1:
                self._count_pass()
                if self._passes_left > 1:
                    return
            self._take(index, parameter)

        return hook

    def _place_of(self, index):
        """Returns a function for ``compute_in_place``."""
        parameter, view = self._parameters[index], self._grads[index]

        def place():
            if not self._syncs or self._passes_left > 1 or self._direct[index] or parameter.grad is not None:
                return None  # it adds up with others
            if parameter._backward_hooks or parameter.shape != view.shape:
                return None  # a hook may keep it
            if self._worker.in_step and self._worker.is_gradient_ready(index):
                return None  # the hook refuses it
            try:
                if not torch._C._will_engine_execute_node(self._nodes[index]):
                    return None
            except RuntimeError:  # torch.autograd.grad() computes it for the user
                return None
            self._check_awaited(index)
            self._worker.await_tensor(index)  # the gradient of the last step may still be under way
            self._direct[index] = True
            return view

        return place

    def _count_pass(self) -> None:
        if self._counts_pass:
            return

        def end() -> None:
            self._counts_pass = False
            self._passes_left -= 1

        self._counts_pass = True
        torch.autograd.Variable._execution_engine.queue_callback(end)

    def _take(self, index, parameter) -> None:
        if parameter.grad is None:
            return  # a function of the user's has none for it; finish_gradients() says so
        if not self._worker.in_step:
            self._begin_step()
        if self._worker.is_gradient_ready(index):
            raise Error(
                f"the gradient of '{self._names[index]}' was computed twice in a step; for several backward passes a step use "
                "no_sync() or backward_passes_per_step")
        if parameter.grad.is_sparse:
            raise Error(f"the gradient of '{self._names[index]}' is sparse; Ringside sums dense ones")
        gradient = parameter.grad.detach().contiguous()
        parameter.grad = self._gone[index]
        self._worker.gradient_ready(index, torch.utils.dlpack.to_dlpack(gradient))

    def _begin_step(self) -> None:
        now = _native.now()
        self._step_rate = self._rate()
        self._check_parameters()
        _job.begin_step(self._began if self._began is not None else now, self._forward_end, self._step_rate)

    def _check_parameters(self) -> None:
        """That nothing has changed which was settled when the optimizer was made."""
        for index, (name, parameter, pointer) in enumerate(zip(self._names, self._parameters, self._pointers)):
            if parameter.data_ptr() != pointer:
                raise Error(f"parameter '{name}' has other memory than when the DistributedOptimizer was made; make that after such changes")
            if not self.updates_here:
                self._check_unchanged(index)
        for group in self.groups:
            for parameter in group["params"]:
                if parameter.requires_grad and id(parameter) not in self._index_of:
                    raise Error(self._why_unknown(parameter))
        if self.updates_here:
            return
        if options_of(self.groups) != self._options or any(group["lr"] != self._step_rate for group in self.groups):
            raise Error(
                "the optimizer's options have changed, or differ between groups of parameters; the strategy follows the learning rate "
                'alone, which all groups share: make the DistributedOptimizer with update="program"')

    def _progress(self) -> str:
        """Which gradient comes next: a hook that raised is probably that of this parameter."""
        if self._began is None or self._forward_end is None:
            return ""
        step = self._worker.step
        for index, name in enumerate(self._names):
            if not self._worker.in_step or not self._worker.is_gradient_ready(index):
                return f" (step {step}, after the forward pass, before the gradient of '{name}')"
        return f" (step {step}, after the backward pass)"

    def _why_unknown(self, parameter) -> str:
        name = self._name_of.get(id(parameter))
        if name is None:
            return (f"the optimizer has got a parameter of shape {tuple(parameter.shape)} since the DistributedOptimizer was made, which "
                    "does not synchronise it: give the optimizer all parameters before")
        return (f"parameter '{name}' is trained now, but it was frozen or not the optimizer's when the DistributedOptimizer was made, which "
                "does not synchronise it: unfreeze it before; to train it later, freeze it again after that, with "
                'unused_parameters="zero"')

    def _refuse_load(self, module, *_) -> None:
        """A copy of the model has parameters of its own, and may load them."""
        if any(id(parameter) in self._index_of for parameter in module.parameters()):
            raise Error("load the model's parameters before the DistributedOptimizer is made")

    def __deepcopy__(self, memo):
        return self  # hooks of a copied model still lead here

    def __reduce__(self):
        raise Error("a model of a DistributedOptimizer cannot be saved as a whole: save model.state_dict()")

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        before, self._syncs = self._syncs, False
        try:
            yield
        finally:
            self._syncs = before

    def _rate(self) -> float:
        return float(self.groups[0]["lr"])

    # The end of a step

    def finish_gradients(self) -> None:
        """Takes the gradients that are missing, and waits for the means if the program updates."""
        if self._finished_gradients:
            return
        for index, name in enumerate(self._names):
            if self._worker.in_step and self._worker.is_gradient_ready(index):
                continue
            if self._parameters[index].grad is not None and self._parameters[index].grad is not self._gone[index]:
                if self._parameters[index].grad.any():  # the program may fill in zeros for a parameter that it has not read
                    self._check_awaited(index)
                self._take(index, self._parameters[index])  # of an earlier pass of this step
                continue
            if not self._zero_unused:
                raise Error(
                    f"step {self._worker.step} has no gradient of '{name}': backward() did not reach it; "
                    'unused_parameters="zero" lets a step leave parameters out')
            if not self._worker.in_step:
                self._begin_step()
            self._worker.gradient_ready(index, None)
        if self.updates_here:
            self._worker.await_all()
            for parameter, view in zip(self._parameters, self._grads):
                parameter.grad = view
        self._finished_gradients = True

    def synchronize(self) -> None:
        if not self._worker.in_step:
            self._await_all()
        elif self.updates_here:
            self.finish_gradients()
        else:
            raise Error(
                "the strategy updates the parameters itself, so gradients cannot be read: make the DistributedOptimizer with "
                'update="program"')

    def check_passes(self) -> None:
        if self._passes > 1 and self._passes_left > 0:
            raise Error(f"step() came {self._passes_left} calls of backward() too early")

    def end_step(self) -> None:
        self._passes_left = self._passes
        self.finish_gradients()
        if not self.updates_here and self._rate() != self._step_rate:
            raise Error(
                f"the learning rate changed from {self._step_rate} to {self._rate()} after backward(): gradients have left "
                "already; change it after step()")
        loss_sum, samples = _job.take_report(self._batch or self._batch_of_eval)
        self._worker.end_step(loss_sum=loss_sum, samples=samples)
        for parameter in self._parameters if not self.updates_here else ():
            parameter.grad = None
        self._began, self._forward_end, self._batch, self._batch_of_eval = None, None, 0, 0
        self._finished_gradients = False
        self._awaited = [False] * len(self._awaited)
        self._updates_pend = not self.updates_here


def _has_own(module) -> bool:
    """Whether ``module`` has parameters for which no hook of another module waits: its own, those in lists, which are never called, and
    those of TorchScript, which takes no hooks."""
    if isinstance(module, torch.jit.ScriptModule):
        return next(module.parameters(), None) is not None
    without_hook = (torch.nn.ParameterList, torch.nn.ParameterDict, torch.nn.ModuleList, torch.nn.ModuleDict, torch.jit.ScriptModule)
    return (next(module.parameters(recurse=False), None) is not None
            or any(isinstance(child, without_hook) and _has_own(child) for child in module.children()))


def _put_first(module, handle) -> None:
    """Before hooks that compute a parameter of others, such as those of weight_norm."""
    module._forward_pre_hooks.move_to_end(handle.id, last=False)


def broadcast(worker, name: str, tensor: torch.Tensor) -> None:
    if tensor.is_meta:
        raise Error(f"'{name}' is on the device meta, where it has no values to begin with")
    with torch.no_grad():
        flat = tensor.detach().cpu().contiguous().view(-1).clone()
        if flat.numel() == 0:
            return
        what = f"'{name}' of shape {tuple(tensor.shape)} and type {tensor.dtype}"
        worker.broadcast(what, flat.view(torch.uint8).numpy() if flat.dtype != torch.uint8 else flat.numpy())
        values = flat.view(tensor.shape)
        if not torch.equal(tensor.detach().cpu(), values):  # a write counts as a change, also of a trained parameter
            tensor.copy_(values)


def _samples_of(inputs) -> int:
    for value in inputs:
        if isinstance(value, torch.Tensor) and value.dim() > 0:
            return value.shape[0]
    return 0


def _trained(optimizer, model) -> tuple[list[str], list[torch.nn.Parameter]]:
    """Names and parameters that the optimizer trains, in the order in which the backward pass finishes them."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    wanted = {id(parameter): parameter for group in optimizer.param_groups for parameter in group["params"]}
    for identity, parameter in wanted.items():
        if identity not in names:
            raise Error(f"the optimizer has a parameter of shape {tuple(parameter.shape)} that the model has not")
    trained = [(name, parameter) for name, parameter in model.named_parameters()
               if id(parameter) in wanted and parameter.requires_grad]
    trained.reverse()
    for name, parameter in trained:
        if parameter.dtype != torch.float32:
            raise Error(f"parameter '{name}' is {parameter.dtype}; Ringside trains torch.float32")
        if parameter.device.type != "cpu":
            raise Error(f"parameter '{name}' is on {parameter.device}; Ringside trains in the memory of the processor")
    if not trained:
        raise Error("the optimizer trains no parameter of the model")
    return [name for name, _ in trained], [parameter for _, parameter in trained]
