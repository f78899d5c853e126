"""``call`` and ``parameters``: a library's neural-network modules on arrays, and their parameters as a pytree."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ..backends import loader
from ..backends.base import Backend
from ..common.pytrees import tree_flatten, tree_map, tree_unflatten
from .flattening import dressed, is_array, library_of, name_of, native_of


def call(module: Any, *args: Any, params: Any = None, **kwargs: Any) -> Any:
    """Run a library's neural-network module on arrays.

    Parameters
    ----------
    module : callable
        A ``torch.nn.Module``, a Keras layer or model, or any other function of a library's arrays; with ``params`` also a Flax-like
        module, whose ``apply(params, *args)`` is called.
    *args, **kwargs : pytree
        Arguments of the module; arrays are passed as the library's own.
    params : pytree, optional
        Values in place of the module's own parameters, as :func:`parameters` returns them or as a Flax-like module stores them;
        :func:`arraydispatch.grad` can differentiate with respect to them.

    Returns
    -------
    pytree
        Result of the module, with its arrays wrapped.

    Raises
    ------
    TypeError
        If the module cannot be run with given parameters.
    KeyError
        If ``params`` lacks a parameter of the module or has an unknown one.
    """
    leaves, structure = tree_flatten((args, kwargs, params))
    backend = _owner(module) or library_of(leaves)
    with backend.within():
        natives = [native_of(x, backend) if is_array(x) else x for x in leaves]
        given, named, values = tree_unflatten(structure, natives)
        if params is None:
            made = module(*given, **named)
        else:
            if isinstance(params, Mapping) and (own := backend.transforms.parameters(module)):
                _check_names(module, own, params)
            made = backend.transforms.apply(module, values, given, named)
        return tree_map(lambda x: dressed(x, backend, False) if backend.is_native(x) else x, made)


def parameters(module: Any) -> dict[str, Any]:
    """Return the current parameters of a module by name.

    Parameters
    ----------
    module : object
        A ``torch.nn.Module``, or a Keras layer or model that has been built.

    Returns
    -------
    dict of str to array
        For ``params`` of :func:`call`.

    Raises
    ------
    TypeError
        If the module's parameters cannot be found; a Flax-like module returns them from its ``init``.
    """
    backend = _owner(module)
    found = None if backend is None else backend.transforms.parameters(module)
    if backend is None or not found:
        raise TypeError(
            f"ad.parameters knows of no parameters of {name_of(module)}, a {type(module).__name__}; build a Keras layer first by calling it, "
            "and take those of a Flax module from its init()."
        )
    with backend.within():
        return {name: dressed(x, backend, False) for name, x in found.items()}


def _owner(module: Any) -> Backend | None:
    """Return the backend of a module's library, or None. (The library has been imported if the module exists.)"""
    for name, row in loader.KNOWN.items():
        if row.library in sys.modules:
            backend = loader.load(name)
            if backend.transforms.parameters(module) is not None:
                return backend.home
    return None


def _check_names(module: Any, own: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    if own.keys() != given.keys():
        lacking, unknown = sorted(own.keys() - given.keys()), sorted(given.keys() - own.keys())
        said = [f"lacks {', '.join(lacking)}"] * bool(lacking) + [f"has {', '.join(unknown)}, which it has not"] * bool(
            unknown
        )
        raise KeyError(f"params of ad.call {' and '.join(said)}: {type(module).__name__} has {', '.join(own)}")
