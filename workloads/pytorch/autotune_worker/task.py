"""What is trained: a model with all that a step needs, and where it comes from."""


class Task:
    """A model that is ready to train.

    model: the torch module, on the device, in the type of the precision (fp64: double; else as it was made).
    optimizer: a torch optimizer over the model's parameters.
    loss: loss(model, batch) runs the forward pass on a batch that lies on the device, and gives the mean loss over its samples.
    batches: an endless iterator of batches on the host, one micro-batch a pass. A batch is a tensor, or tensors in
        tuples, lists, dicts and objects (see nested.py). Whoever runs the step moves it to the device.
    samples: samples(batch) is the number of samples in a batch.
    own_optimizer: the user's own code made the optimizer, so that the one that was asked for does not hold.
    facts: what is known of the model (see probe.py): input_shape, classes, sample_unit; what is absent is not known.
    knob_checks: functions that say, after the first steps, whether a knob changed nothing (see knobs.py).
    """

    def __init__(self, model, optimizer, loss, batches, samples, own_optimizer=False, facts=None):
        self.model = model
        self.optimizer = optimizer
        self.loss = loss
        self.batches = batches
        self.samples = samples
        self.own_optimizer = own_optimizer
        self.facts = facts or {}
        self.knob_checks = []


def build(work, micro_batch, device, precision):
    """Builds the task of a trial's or a prediction's message (a dict) for passes of micro_batch samples.

    device is a torch.device. Errors: errors.Usage where what the user named cannot be resolved, errors.Unsupported
    where the engine cannot do it, and whatever the user's own code raises.
    """
    # Each kind of model is imported only where it is asked for.
    if work.get("graph"):
        from autotune_worker import graph as source
    elif is_adapter(work["model"]):
        from autotune_worker import adapter as source
    else:
        from autotune_worker import library as source
    return source.build(work, micro_batch, device, precision)


def is_adapter(name):
    """Says whether a model's name is that of a user's file: FILE.py or FILE.py:FUNCTION."""
    return name.endswith(".py") or ".py:" in name
