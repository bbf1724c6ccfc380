"""Models from transformers, made from a configuration with random weights."""

import inspect

import torch

from autotune_worker import packages
from autotune_worker.errors import Usage

# The automatic classes of heads that carry a loss, in the order in which they are tried: an encoder may have a causal
# head too, but is trained with the masked one. The last two take one class a sample, the others one a token.
_TOKEN_HEADS = ("AutoModelForSeq2SeqLM", "AutoModelForMaskedLM", "AutoModelForCausalLM")
_CLASS_HEADS = ("AutoModelForImageClassification", "AutoModelForSequenceClassification")

# Names that configurations keep the longest sequence under.
_LENGTHS = ("max_position_embeddings", "n_positions")


def make(name, options, input_shape, classes):
    """Gives the model of a name (a model type such as bert, a configuration's or a model's class), and its form."""
    transformers = packages.load("transformers", name)
    if classes:
        options = dict(options, num_labels=classes)
    head, config = _resolve(transformers, name, name.partition(":")[2], options, classes)
    if getattr(config, "is_encoder_decoder", False) and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = getattr(config, "pad_token_id", None) or 0  # what the decoder's inputs, made of the labels, begin with
    model = head(config)
    return model, Form(model, config, name, input_shape)


def _resolve(transformers, name, wanted, options, classes):
    """Gives what makes the model, and its configuration."""
    named = getattr(transformers, wanted, None)
    if inspect.isclass(named) and issubclass(named, transformers.PreTrainedModel):
        return named, named.config_class(**options)
    if inspect.isclass(named) and issubclass(named, transformers.PretrainedConfig):
        config = named(**options)
    elif wanted in transformers.CONFIG_MAPPING:
        config = transformers.AutoConfig.for_model(wanted, **options)
    else:
        raise Usage(
            "--model %s: transformers has no model type, configuration or model of the name %s%s"
            % (name, wanted, packages.nearest(wanted, list(transformers.CONFIG_MAPPING)))
        )
    for head in _CLASS_HEADS if classes else _TOKEN_HEADS + _CLASS_HEADS:
        automatic = getattr(transformers, head)
        fits = getattr(config, "is_encoder_decoder", False) or head != "AutoModelForSeq2SeqLM"
        if fits and type(config) in automatic._model_mapping:
            return automatic.from_config, config
    raise Usage(
        "--model %s: no head of transformers that carries a loss is known for it; name the model's class, such as "
        "transformers:BertForMaskedLM, or write an adapter: --model FILE.py:FUNCTION" % name
    )


class Form:
    """What a model of transformers takes, and its own loss. It has the methods of inspection.Form."""

    def __init__(self, model, config, name, input_shape):
        self.name = name
        self.takes = model.main_input_name
        if "labels" not in inspect.signature(model.forward).parameters:
            raise Usage("--model %s: %s gives no loss; name a class with a head, such as transformers:BertForMaskedLM" % (name, type(model).__name__))
        if self.takes not in ("input_ids", "pixel_values"):
            raise Usage("--model %s: it takes %s, whose data cannot be made up; write an adapter: --model FILE.py:FUNCTION" % (name, self.takes))
        kind = type(model).__name__
        self.per_sample = "Classification" in kind and "Token" not in kind
        self.vocabulary = config.vocab_size if self.takes == "input_ids" else 0
        self.classes = config.num_labels if "Classification" in kind else self.vocabulary
        self.input_shape = list(input_shape or self._default_shape(model, config))

    def _default_shape(self, model, config):
        if self.takes == "pixel_values" and isinstance(getattr(config, "image_size", None), int):
            return (getattr(config, "num_channels", 3), config.image_size, config.image_size)
        lengths = [getattr(config, length, None) for length in _LENGTHS]
        known = [length for length in lengths if isinstance(length, int)]
        if self.takes == "input_ids" and known:
            return (_usable(model, known[0]),)
        example = "--input 3,224,224" if self.takes == "pixel_values" else "--input 128"
        raise Usage("--model %s: its configuration does not say how large a sample is; give --input, such as %s" % (self.name, example))

    def batch(self, samples, generator):
        """Makes a batch at random: the inputs and the labels."""
        shape = [samples] + self.input_shape
        if self.vocabulary:
            inputs = torch.randint(self.vocabulary, shape, generator=generator)
        else:
            inputs = torch.randn(shape, generator=generator)
        labels = torch.randint(self.classes, [samples] if self.per_sample else shape, generator=generator)
        return {self.takes: inputs, "labels": labels}

    def loss(self, model, batch):
        """The loss that the model gives itself."""
        return model(**batch).loss

    def facts(self):
        """What a task knows of its model; see task.Task."""
        return {"input_shape": self.input_shape, "classes": self.classes, "sample_unit": "sequence" if self.vocabulary else "image"}


def _usable(model, length):
    """The longest sequence, of a table of positions: some begin after the row of the padding, as RoBERTa's."""
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding) and module.num_embeddings == length and module is not model.get_input_embeddings():
            return length if module.padding_idx is None else length - module.padding_idx - 1
    return length
