"""What the names in a pickle stand for when it "calls" them: data, or a record of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from glassleak.errors import MalformedModelError
from glassleak.readers._state import Reference, State
from glassleak.readers.pickles._pickle_numpy import Arrays, checked_shape

# Where a state keeps what is not an attribute.
STATE_KEY: Final = "__state__"  # a saved state that is no dictionary
ITEMS_KEY: Final = "__items__"  # entries of a class derived from dict
VALUES_KEY: Final = "__values__"  # entries of a class derived from list or set

_MAX_KEY_PIECES: Final = 1000
_MAX_KEY_TEXT: Final = 10_000

_DICTS: Final = {
    ("builtins", "dict"),
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
    ("collections", "Counter"),
    ("sklearn.utils._bunch", "Bunch"),
    ("sklearn.utils", "Bunch"),
}
_LISTS: Final = {("builtins", "list"), ("builtins", "set"), ("builtins", "frozenset")}
_CONTAINERS: Final = _DICTS | _LISTS


def call(arrays: Arrays, callee: Any, arguments: Any) -> Any:
    """The value of ``callee(*arguments)`` as data; nothing is called."""
    if not isinstance(arguments, tuple):
        raise MalformedModelError("arguments that are no tuple")
    if not isinstance(callee, Reference):
        # Calling the result of a call, as protocol 2 does for keyword arguments.
        arrays.budget.spend_steps(len(arguments))
        return State("builtins", "<call>", args=(callee, *arguments))
    name = (callee.module.replace("numpy.core.", "numpy._core."), callee.name)
    if name in _CONTAINERS:
        return _container(arrays, name, arguments)
    handler = _CALLS.get(name)
    if handler is not None:
        return handler(arrays, arguments)
    if arguments and isinstance(arguments[0], Reference):
        if name[1].startswith("__pyx_unpickle_"):  # Cython's helper for instances
            arrays.budget.spend_steps(len(arguments))
            return State(arguments[0].module, arguments[0].name, args=arguments[1:])
        if name[0].startswith("pandas.core.indexes.") and name[1].startswith("_new_"):
            return _index(arrays, arguments)
    return State(callee.module, callee.name, args=arguments)


def make_instance(arrays: Arrays, kind: Any, arguments: Any) -> Any:
    """The value of ``kind.__new__(kind, *arguments)`` as data."""
    if not isinstance(arguments, tuple):
        raise MalformedModelError("arguments that are no tuple")
    if isinstance(kind, Reference) and (kind.module, kind.name) not in _CONTAINERS:
        return State(kind.module, kind.name, args=arguments)
    return call(arrays, kind, arguments)


def build(arrays: Arrays, target: Any, state: Any) -> None:
    """Give `target` the state it was saved with."""
    if isinstance(target, np.ndarray):
        arrays.fill(target, state)
    elif arrays.is_dtype(target):
        arrays.build_dtype(target, state)
    elif isinstance(target, State):
        if isinstance(state, tuple) and len(state) == 2 and all(map(_is_optional_dict, state)):
            parts = [part for part in state if part]  # (__dict__, slots)
        else:
            parts = [state] if isinstance(state, dict) else [{STATE_KEY: state}]
        for part in parts:
            arrays.budget.spend_steps(len(part))
            target.attributes.update({str(_key(key, part)): part[key] for key in part})
    elif isinstance(target, dict):
        target[STATE_KEY] = state
    else:
        raise MalformedModelError(f"a state for a {type(target).__name__}")


def append_to(target: Any, values: list[Any]) -> None:
    """``target.extend(values)`` for lists, sets (which are lists here) and classes like them."""
    if isinstance(target, State):
        target = target.attributes.setdefault(VALUES_KEY, [])
    if not isinstance(target, list):
        raise MalformedModelError(f"values appended to a {type(target).__name__}")
    target.extend(values)


def set_items(target: Any, items: list[Any]) -> None:
    """``target[key] = value`` for a list that alternates between keys and values."""
    if isinstance(target, State):
        target = target.attributes.setdefault(ITEMS_KEY, {})
    if not isinstance(target, dict) or len(items) % 2:
        raise MalformedModelError(f"entries set in a {type(target).__name__}")
    for key, value in zip(items[::2], items[1::2], strict=True):
        target[_key(key, target)] = value


def dict_of(items: list[Any]) -> dict[Any, Any]:
    """A dictionary from alternating keys and values."""
    table: dict[Any, Any] = {}
    set_items(table, items)
    return table


def _is_optional_dict(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _key(key: Any, table: dict[Any, Any]) -> Any:
    """A key that is cheap to hash: plain, or the text of it as `state_of` has it.

    Tuples from a file may share their parts so that hashing or printing one never ends.
    """
    if key is None or isinstance(key, str | int | float):
        return key
    text = _text(key)
    return f"<{type(key).__name__} {len(table)}>" if text is None else text


def _text(key: Any) -> str | None:
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) > _MAX_KEY_PIECES:
        return None
    for part in parts:
        if not (part is None or isinstance(part, str | int | float | bytes)):
            return None
        if isinstance(part, str | bytes) and len(part) > _MAX_KEY_TEXT:
            return None
    return str(key)


def _container(arrays: Arrays, name: tuple[str, str], arguments: tuple[Any, ...]) -> Any:
    """An empty or copied container; classes derived from dict are dictionaries here."""
    if name == ("collections", "defaultdict"):
        arguments = arguments[1:]
    source = arguments[0] if arguments else ()
    if len(arguments) > 1 or not isinstance(source, list | tuple | dict):
        return State(*name, args=arguments)
    arrays.budget.spend_steps(len(source))
    if name in _LISTS:
        return list(source)
    if isinstance(source, dict):
        return dict(source)
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in source):
        raise MalformedModelError("a dictionary from something other than pairs")
    return dict_of([part for pair in source for part in pair])


def _index(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    """A pandas index: its class and, in a dictionary, its data and names."""
    index = State(arguments[0].module, arguments[0].name)
    if len(arguments) != 2 or not isinstance(arguments[1], dict):
        raise MalformedModelError("a pandas index without content")
    arrays.budget.spend_steps(len(arguments[1]))
    index.attributes = {f"_{key}": value for key, value in arguments[1].items()}
    return index


def _array(arrays: Arrays, _arguments: tuple[Any, ...]) -> Any:
    return arrays.new_array()


def _array_from_buffer(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    if not 4 <= len(arguments) <= 5 or not isinstance(arguments[0], bytes):
        raise MalformedModelError("an array without bytes")
    raw, order = arguments[0], arguments[3]
    shape = checked_shape(arguments[2])
    axes = arguments[4] if len(arguments) == 5 else None
    known = isinstance(order, str) and order in ("C", "F", "K")
    if not known or (axes is not None and sorted(checked_shape(axes)) != [*range(len(shape))]):
        raise MalformedModelError("an array of unknown order")
    return arrays.from_bytes(lambda _: raw, arrays.dtype_of(arguments[1]), shape, order, axes)


def _scalar(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    if len(arguments) != 2:
        raise MalformedModelError("a numpy number without a value")
    dtype = arrays.dtype_of(arguments[0])
    return arguments[1] if dtype.hasobject else arrays.scalar(dtype, arguments[1])


def _dtype(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    return arrays.new_dtype(arguments)


def _reconstructor(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    """Protocols 0 and 1: (class, base, state of the base)."""
    if len(arguments) != 3 or not isinstance(arguments[0], Reference):
        raise MalformedModelError("an instance of nothing")
    kind, _, held = arguments
    instance = make_instance(arrays, kind, ())
    if held is None:
        return instance
    if isinstance(held, dict) and isinstance(instance, State | dict):
        arrays.budget.spend_steps(len(held))
        set_items(instance, [part for pair in held.items() for part in pair])
    elif isinstance(held, list) and isinstance(instance, State | list):
        arrays.budget.spend_steps(len(held))
        append_to(instance, held)
    elif isinstance(instance, State):
        instance.args = (held,)
    return instance


def _newobj(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    if not arguments:
        raise MalformedModelError("an instance of nothing")
    arrays.budget.spend_steps(len(arguments))
    return make_instance(arrays, arguments[0], arguments[1:])


def _encoded(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    """How protocols before 3 write bytes: text, one character per byte."""
    text, *encoding = arguments
    if not isinstance(text, str) or encoding not in (["latin1"], ["latin-1"]):
        raise MalformedModelError("bytes in an unknown encoding")
    arrays.budget.spend_bytes(len(text))
    return text.encode("latin-1")


def _bytes(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    """``bytes(…)`` and ``bytearray(…)``; a number would ask for that many bytes."""
    if not arguments:
        return b""
    if len(arguments) == 1 and isinstance(arguments[0], bytes):
        return arguments[0]
    return _encoded(arrays, arguments)


def _tuple(arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    if len(arguments) != 1 or not isinstance(arguments[0], list | tuple):
        return State("builtins", "tuple", args=arguments)
    arrays.budget.spend_steps(len(arguments[0]))
    return tuple(arguments[0])


def _type_of(_arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    if len(arguments) == 1 and arguments[0] is None:
        return Reference("builtins", "NoneType")
    return State("builtins", "type", args=arguments)


def _generator(kind: Reference) -> Callable[[Arrays, tuple[Any, ...]], Any]:
    return lambda _, arguments: State(kind.module, kind.name, args=arguments[:1])


def _bit_generator(_arrays: Arrays, arguments: tuple[Any, ...]) -> Any:
    kind = arguments[0] if arguments else "MT19937"
    if isinstance(kind, str):
        kind = Reference(f"numpy.random._{kind[:40].lower()}", kind[:40])
    if not isinstance(kind, Reference):
        raise MalformedModelError("a random generator of no kind")
    return State(kind.module, kind.name)


_CALLS: Final[dict[tuple[str, str], Callable[[Arrays, tuple[Any, ...]], Any]]] = {
    ("numpy._core.multiarray", "_reconstruct"): _array,
    ("numpy.ma.core", "_mareconstruct"): _array,
    ("numpy.ma", "_mareconstruct"): _array,
    ("numpy._core.numeric", "_frombuffer"): _array_from_buffer,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("numpy", "dtype"): _dtype,
    ("copyreg", "_reconstructor"): _reconstructor,
    ("copyreg", "__newobj__"): _newobj,
    ("_codecs", "encode"): _encoded,
    ("builtins", "bytes"): _bytes,
    ("builtins", "bytearray"): _bytes,
    ("builtins", "tuple"): _tuple,
    ("builtins", "type"): _type_of,
    ("numpy.random._pickle", "__bit_generator_ctor"): _bit_generator,
    ("numpy.random._pickle", "__randomstate_ctor"): _generator(
        Reference("numpy.random.mtrand", "RandomState")
    ),
    ("numpy.random", "__RandomState_ctor"): _generator(
        Reference("numpy.random.mtrand", "RandomState")
    ),
    ("numpy.random._pickle", "__generator_ctor"): _generator(
        Reference("numpy.random._generator", "Generator")
    ),
}
