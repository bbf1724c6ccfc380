import gc
import subprocess
import sys
import unittest
import weakref

import torch
from torch.utils.checkpoint import checkpoint

import stubs
from autotune_worker import compat, device, steps
from autotune_worker.precision import Precision
from autotune_worker.storage import Ledger, uncounted


class _Told:
    phase = ""


def train(ledger, optimizer, accumulation, precision):
    """Two steps of the stub under a ledger."""
    with ledger:
        work = stubs.message(optimizer=optimizer)
        task = stubs.make(work, 8, torch.device("cpu"), precision)
        stepper = steps.Stepper(task, device.CpuDevice(), Precision(precision, "cpu"), 8, accumulation, _Told())
        for _ in range(2):
            stepper.step()


class Wasteful(torch.utils.data.Dataset):
    """Makes each of its small samples from a large tensor."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.ones(1000000)[:1].clone()


class CountTest(unittest.TestCase):
    def test_a_storage_counts_once_until_it_dies(self):
        ledger = Ledger()
        with ledger:
            a = torch.zeros(100)
            view = a.view(10, 10)[2:]
            a.add_(1)
            self.assertEqual(ledger.live, 400)
            del a
            self.assertEqual(ledger.live, 400)
            del view
            self.assertEqual(ledger.live, 0)
            b = torch.zeros(50)
        self.assertEqual((ledger.live, ledger.peak), (200, 400))
        del b
        self.assertEqual(ledger.live, 0)
        ledger.reset_peak()
        self.assertEqual(ledger.peak, 0)

    def test_saved_for_backward_stays_counted(self):
        ledger = Ledger()
        with ledger:
            x = torch.ones(100, requires_grad=True)
            y = x.exp().sum()  # exp keeps its result, which no name holds
            self.assertEqual(ledger.live, 400 + 400 + 4)
            del y
            self.assertEqual(ledger.live, 400)

    def test_resizes(self):
        ledger = Ledger()
        with ledger:
            a = torch.zeros(100)
            a.resize_(200)
            self.assertEqual(ledger.live, 800)
            torch.add(torch.ones(400), 1, out=a.resize_(0))
            self.assertEqual(ledger.live, 1600)
        self.assertEqual(ledger.peak, 3200)

    def test_operations_that_return_lists(self):
        ledger = Ledger()
        with ledger:
            many = torch._foreach_add([torch.zeros(10), torch.zeros(20)], 1)
            self.assertEqual(ledger.live, 120)
            out, hidden = torch.nn.LSTM(4, 4)(torch.zeros(3, 2, 4))
        self.assertEqual(len(many), 2)
        self.assertGreater(ledger.live, 120)

    def test_sparse_gradients(self):
        ledger = Ledger()
        with ledger:
            table = torch.nn.Embedding(10, 4, sparse=True)
            table(torch.tensor([1, 2])).sum().backward()
        self.assertTrue(table.weight.grad.is_sparse)

    def test_cache_of_autocast(self):
        ledger = Ledger()
        with ledger:
            layer = torch.nn.Linear(64, 64, bias=False)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                layer(torch.ones(1, 64))
                self.assertGreaterEqual(ledger.live, 64 * 64 * 6)  # the weight, and its copy in the cache
            gc.collect()
            self.assertEqual(ledger.live, 64 * 64 * 4)

    def test_uncounted(self):
        ledger = Ledger()
        with ledger:
            with uncounted():
                data = torch.zeros(1000)
            batch = data[:5]
            self.assertEqual(ledger.live, 0)
            batch = batch.clone()
        self.assertEqual((ledger.live, len(data)), (20, 1000))
        self.assertEqual(len(batch), 5)

    def test_keeps_nothing_alive(self):
        ledger = Ledger()
        with ledger:
            tensor = torch.zeros(10)
        gone = weakref.ref(tensor)
        del tensor
        self.assertIsNone(gone())

    def test_events(self):
        ledger = Ledger(log=True)
        with ledger:
            ledger.phase = "forward"
            a = torch.zeros(10)
            first = ledger.serial(a)
            del a
            ledger.phase = "backward"
            b = torch.zeros(20)
        self.assertEqual(ledger.events[0], ("alloc", first, 40, "forward"))
        self.assertEqual([(kind, size) for kind, _, size, _ in ledger.events], [("alloc", 40), ("free", 40), ("alloc", 80)])
        self.assertEqual(ledger.serial(b), ledger.events[2][1])
        self.assertIsNone(ledger.serial(torch.zeros(1)))

    def test_one_kind_of_device(self):
        ledger = Ledger(device_type="cuda")
        with ledger:
            kept = torch.zeros(10)
        self.assertEqual((ledger.live, len(kept)), (0, 10))

    def test_fakes_count_as_real_ones(self):
        if compat.version() < (2, 1):
            self.skipTest("fake tensors of torch %s cannot train" % torch.__version__)
        from torch._subclasses.fake_tensor import FakeTensorMode

        real, fake = Ledger(), Ledger()

        def model():
            torch.nn.Linear(16, 16)(torch.ones(8, 16)).exp().sum().backward()

        with real:
            model()
        with FakeTensorMode(), fake:
            model()
        self.assertEqual(real.peak, fake.peak)

    def test_interpreter_exit(self):
        program = (
            "import torch, atexit; from autotune_worker.storage import Ledger; ledger = Ledger(); ledger.__enter__();"
            "a = torch.zeros(10); cycle = [a]; cycle.append(cycle); atexit.register(lambda: torch.zeros(3) + 1)"
        )
        ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))


class LimitTest(unittest.TestCase):
    def test_the_peak_is_the_border(self):
        for optimizer in stubs.OPTIMIZERS:
            for accumulation in (1, 4):
                for precision in ("fp32", "fp64", "bf16"):
                    with self.subTest(optimizer=optimizer, accumulation=accumulation, precision=precision):
                        ledger = Ledger()
                        train(ledger, optimizer, accumulation, precision)
                        again = Ledger(limit=ledger.peak)
                        train(again, optimizer, accumulation, precision)
                        self.assertEqual(again.peak, ledger.peak)
                        with self.assertRaisesRegex(compat.OutOfMemoryError, "DefaultCPUAllocator: can't allocate memory"):
                            train(Ledger(limit=ledger.peak - 1), optimizer, accumulation, precision)

    def test_in_the_backward_pass_of_a_custom_function(self):
        class Wide(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                return x * 2

            @staticmethod
            def backward(context, gradient):
                return torch.zeros(100000).sum() + gradient

        x = torch.ones(10, requires_grad=True)
        with Ledger(limit=100000):
            with self.assertRaises(compat.OutOfMemoryError):
                Wide.apply(x).sum().backward()

    def test_in_a_backward_pass_within_another(self):
        layer = torch.nn.Linear(100, 100)

        def deep(x):
            return checkpoint(lambda y: layer(y).exp(), x, use_reentrant=True)

        ledger = Ledger()
        with ledger:
            checkpoint(deep, torch.ones(50, 100, requires_grad=True), use_reentrant=True).sum().backward()
        layer.zero_grad(set_to_none=True)
        with Ledger(limit=ledger.peak - 1):
            with self.assertRaises(compat.OutOfMemoryError):
                checkpoint(deep, torch.ones(50, 100, requires_grad=True), use_reentrant=True).sum().backward()

    def test_the_processes_of_a_loader_are_not_counted(self):
        with Ledger(limit=100000):
            batches = list(torch.utils.data.DataLoader(Wasteful(), batch_size=4, num_workers=1))
        self.assertEqual(len(batches), 2)

    def test_holds_after_it_was_passed_once(self):
        ledger = Ledger(limit=1000)
        with ledger:
            for _ in range(2):
                with self.assertRaises(compat.OutOfMemoryError):
                    torch.zeros(1000)
            self.assertEqual(ledger.live, 0)
            torch.zeros(250)


if __name__ == "__main__":
    unittest.main()
