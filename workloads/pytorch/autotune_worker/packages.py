"""Models from torchvision, timm and any package.module:callable: modules that take one tensor."""

import copy
import difflib
import importlib
import inspect
import os
import pkgutil
import sys

from torch import nn
from torch.nn.parameter import is_lazy

from autotune_worker import inspection
from autotune_worker.errors import Missing, Usage

# The forms that were found, by what the model was made from: each is looked for once in the life of the worker.
_forms = {}


def make(name, options, input_shape, classes):
    """Gives the model of a name, and its form. input_shape and classes are those that the user gave, or empty and 0."""
    package, _, wanted = name.partition(":")
    if not wanted:
        forms = "torchvision:NAME, timm:NAME, transformers:NAME, package.module:callable or FILE.py:FUNCTION"
        raise Usage("--model %s: unknown; name one as %s" % (name, forms))
    maker = {"torchvision": _torchvision, "timm": _timm}.get(package, _callable)
    model, suggested = maker(name, wanted, options, classes)
    form = _form(model, name, options, input_shape, classes, suggested)
    if classes and form.classes != classes:
        raise Usage(
            "--model %s: --classes %d, but the model gives %s; choose it with an option of the callable, by --set"
            % (name, classes, "%d classes" % form.classes if form.classes else "no classes")
        )
    return model, form


def _form(model, name, options, input_shape, classes, suggested):
    key = repr((name, sorted(options.items()), input_shape, classes))
    if key not in _forms or any(is_lazy(p) for p in model.parameters()):  # a first pass gives lazy parameters their shapes
        _forms[key] = inspection.find(model, name, input_shape, suggested)
    return _forms[key]


def _torchvision(name, wanted, options, classes):
    models = load("torchvision", name).models
    known = models.list_models()
    if wanted not in known:
        raise Usage("--model %s: torchvision has no model %s%s" % (name, wanted, nearest(wanted, known)))
    builder = models.get_model_builder(wanted)
    if ".detection." in builder.__module__ or ".optical_flow." in builder.__module__:
        raise Usage(
            "--model %s: such a model takes more than one tensor in training, and gives losses of its own; "
            "write an adapter: --model FILE.py:FUNCTION" % name
        )
    takes = inspect.signature(builder).parameters
    arguments = {"weights": None, "weights_backbone": None}
    arguments = {k: v for k, v in arguments.items() if k in takes}
    arguments.update({"num_classes": classes} if classes else {}, **options)
    model = builder(**arguments)
    # A model that keeps the size of its images says it itself, whatever its options were.
    return model, [] if hasattr(model, "image_size") else _torchvision_input(models, wanted)


def _torchvision_input(models, wanted):
    """The size of images that torchvision's own weights of a model are used with, 224 where it has none; nothing for video, whose length is open."""
    if ".video." in models.get_model_builder(wanted).__module__:
        return []
    try:
        shown = models.get_model_weights(wanted).DEFAULT.transforms()
    except (AttributeError, ValueError):
        return [(3, 224, 224)]
    side = getattr(shown, "crop_size", None) or shown.resize_size
    return [(3, side[0], side[-1])]


def _timm(name, wanted, options, classes):
    timm = load("timm", name)
    if not timm.is_model(wanted.split(".")[0]):
        raise Usage("--model %s: timm has no model %s%s" % (name, wanted, nearest(wanted, timm.list_models())))
    arguments = dict({"num_classes": classes} if classes else {}, **options)
    model = timm.create_model(wanted, pretrained=False, **arguments)
    size = getattr(model, "default_cfg", {}).get("input_size")
    return model, [tuple(size)] if size else []


def _callable(name, wanted, options, classes):
    """A module, or a callable that gives one."""
    source = load(name.partition(":")[0], name)
    for part in wanted.split("."):
        if not hasattr(source, part):
            hint = _hidden(name.partition(":")[0]) or nearest(part, dir(source))
            raise Usage("--model %s: %s has no %s%s" % (name, getattr(source, "__name__", source), part, hint))
        source = getattr(source, part)
    if isinstance(source, nn.Module):
        if options:
            raise Usage("--model %s: it is a module already, which takes no options; leave out --set" % name)
        return copy.deepcopy(source), []
    if not callable(source):
        raise Usage("--model %s: it is a %s; name a torch.nn.Module or a callable that gives one" % (name, type(source).__name__))
    arguments = dict(options)
    if classes and "num_classes" in _parameters(source):
        arguments.setdefault("num_classes", classes)
    _check_call(source, arguments, name)
    model = source(**arguments)
    if not isinstance(model, nn.Module):
        raise Usage(
            "--model %s: it gave a %s, not a torch.nn.Module; for a function that gives more than the model write an adapter: "
            "--model FILE.py:FUNCTION" % (name, type(model).__name__)
        )
    return model, []


def _check_call(function, arguments, name):
    """Refuses a call that lacks an argument or has one too many."""
    try:
        inspect.signature(function).bind(**arguments)
    except ValueError:  # built-in callables do not say what they take
        pass
    except TypeError as error:
        raise Usage("--model %s: it cannot be called with the options given: %s; give its arguments by --set NAME=VALUE" % (name, error)) from None


def _parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def load(package, name):
    """Imports a package for a model's name."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if not error.name or not (package + ".").startswith(error.name + "."):
            raise
        raise _missing(error.name, name) from None


# The libraries of models that names begin with.
_LIBRARIES = ("torchvision", "timm", "transformers")


def _missing(package, name):
    """The error of a package, or of a module in one, that is not there."""
    said = "--model %s: there is no package %s" % (name, package)
    if package in _LIBRARIES:
        return Missing(said, package)
    above, _, last = package.rpartition(".")
    if above:
        known = _modules(getattr(sys.modules.get(above), "__path__", []))
    else:
        said += " in %s, nor in what %s has installed" % (os.getcwd(), sys.executable)
        known = [n for n in _modules(None) if n not in getattr(sys, "stdlib_module_names", ())] + list(_LIBRARIES)
    for meant in difflib.get_close_matches(last, known, 1):
        return Missing("%s; did you mean --model %s?" % (said, name.replace(package, package[: -len(last)] + meant, 1)))
    return Missing(said, "" if above else package)


def _modules(path):
    """The names of the modules in some folders; None: in all that Python looks through."""
    return [module.name for module in pkgutil.iter_modules(path)]


def _hidden(package):
    """Says, as a clause, that the user's file or folder for a package is not what was imported by that name; empty: it is, or there is none."""
    own = next((file for file in (package + ".py", os.path.join(package, "__init__.py")) if os.path.isfile(file)), "")
    imported = getattr(sys.modules.get(package), "__file__", None) or "it is built into Python"
    if not own or os.path.realpath(own) == os.path.realpath(imported):
        return ""
    return "; %s is another one, hidden by that which Python uses itself (%s): give it another name" % (own, imported)


def nearest(wanted, names):
    """A question for the name that was meant, empty where none is near."""
    found = difflib.get_close_matches(wanted, [n for n in names if not n.startswith("_")], 3)
    return "; did you mean %s?" % " or ".join(found) if found else ""
