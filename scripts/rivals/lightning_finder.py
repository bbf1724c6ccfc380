"""Lightning's scale_batch_size by bisection: lightning_finder.py MODEL [MARGIN]."""

import logging
import sys
import time
import warnings

import numpy
import pytorch_lightning
import torch
from pytorch_lightning.tuner import Tuner

import subject

STEPS = 3  # of a trial: Lightning's default
POOL = 256

warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)

name = sys.argv[1]
margin = {"margin": float(sys.argv[2])} if len(sys.argv) > 2 else {}
# The pool is NumPy's: no tensor that is held beside what the plain loop holds.
pool = numpy.random.default_rng(0).standard_normal((POOL, *subject.SHAPES[name]), dtype=numpy.float32)


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 3 * 8192  # three batches of the largest size that it tries

    def __getitem__(self, index):
        return torch.from_numpy(pool[index % POOL]), index % subject.CLASSES


class Module(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = subject.model(name)
        self.batch_size = 2
        self.trials = 0
        self.ended = 0

    def train_dataloader(self):
        return torch.utils.data.DataLoader(Samples(), batch_size=self.batch_size)

    def on_train_epoch_start(self):
        self.trials += 1

    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def on_train_batch_end(self, outputs, batch, index):
        self.ended += index == STEPS - 1

    def configure_optimizers(self):
        return subject.optimizer(self.parameters())


module = Module()
trainer = pytorch_lightning.Trainer(
    accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
)
begun = time.perf_counter()
found = Tuner(trainer).scale_batch_size(module, mode="binsearch", steps_per_trial=STEPS, **margin)
subject.answer(found=found, trials=module.trials, failures=module.trials - module.ended, seconds=time.perf_counter() - begun)
