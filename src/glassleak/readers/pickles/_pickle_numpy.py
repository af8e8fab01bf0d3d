"""numpy's dtypes and arrays from the arguments a pickle gives, checked before anything is made.

numpy's own unpickling believes what it is told: sizes, offsets, object pointers in raw bytes.
Here a dtype is rebuilt from an allow-list of codes, and an array is made only when exactly its
bytes are present.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError, UnsupportedModelError
from glassleak.readers._state import State
from glassleak.readers.pickles._pickle_input import Budget

_CODE: Final = re.compile(
    r"[<>|=]?(b1|\?|[iu][1248]|f(?:2|4|8|12|16)|c(?:8|16|24|32)|[SUV][0-9]{1,9}|[Mm]8|O[48]?)"
)
_UNIT: Final = re.compile(rb"generic|Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as")
_MAX_DIMENSIONS: Final = 32
_MAX_FIELDS: Final = 10_000
_MAX_NESTED_FIELDS: Final = 8
_MAX_CODE_POINT: Final = 0x10FFFF


def checked_shape(value: Any) -> tuple[int, ...]:
    """`value` as the shape of an array."""
    if not isinstance(value, tuple) or len(value) > _MAX_DIMENSIONS:
        raise MalformedModelError("an array without a proper shape")
    if not all(type(n) is int and 0 <= n < 2**48 for n in value):
        raise MalformedModelError("an array with impossible dimensions")
    return value


class Arrays:
    """Makes arrays and remembers which states of the file stand for which dtypes."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        # The state is kept beside its dtype, so that its id is not given to another one.
        self._dtypes: dict[int, tuple[State, np.dtype[Any]]] = {}
        self._unfilled: dict[int, npt.NDArray[Any]] = {}

    # dtypes

    def new_dtype(self, arguments: tuple[Any, ...]) -> State:
        """What ``numpy.dtype(code, False, True)`` stands for."""
        code = arguments[0] if arguments else None
        if isinstance(code, bytes):
            code = code.decode("ascii")
        if not isinstance(code, str) or not _CODE.fullmatch(code):
            raise UnsupportedModelError(f"dtype {str(code)[:40]!r}")
        try:
            dtype: np.dtype[Any] = np.dtype(code)
        except TypeError:
            raise UnsupportedModelError(f"dtype {code!r} does not exist here") from None
        state = State("numpy", "dtype", args=arguments)
        self._remember(state, dtype)
        return state

    def _remember(self, state: State, dtype: np.dtype[Any]) -> None:
        state.module, state.name = type(dtype).__module__, type(dtype).__name__
        self._dtypes[id(state)] = (state, dtype)

    def is_dtype(self, value: Any) -> bool:
        """Whether `value` is a state made by `new_dtype`."""
        return id(value) in self._dtypes

    def dtype_of(self, value: Any) -> np.dtype[Any]:
        """The dtype `value` stands for."""
        if id(value) not in self._dtypes:
            what = value.type_name if isinstance(value, State) else type(value).__name__
            raise UnsupportedModelError(f"an array of dtype {what[:80]}")
        return self._dtypes[id(value)][1]

    def build_dtype(self, target: State, state: Any) -> None:
        """Byte order, fields and units: what ``dtype.__setstate__`` would be told."""
        dtype = self.dtype_of(target)
        if not isinstance(state, tuple) or not 8 <= len(state) <= 9:
            raise MalformedModelError("a dtype without its details")
        _, order, inner, names, fields, size = state[:6]
        order = order.decode("ascii") if isinstance(order, bytes) else order
        if not isinstance(order, str) or order not in ("<", ">", "|", "="):
            raise MalformedModelError("a dtype of unknown byte order")
        if inner is not None:
            raise UnsupportedModelError("dtypes with arrays inside")
        if names is not None or fields is not None:
            dtype = self._with_fields(dtype, names, fields, size)
        elif dtype.kind in "SUV" and size != dtype.itemsize:
            raise MalformedModelError("a dtype that contradicts its own size")
        elif order in "<>":
            dtype = dtype.newbyteorder("<" if order == "<" else ">")
        if len(state) == 9 and state[8] is not None:
            dtype = _with_details(target, dtype, state[8])
        self._remember(target, dtype)

    def _with_fields(self, whole: np.dtype[Any], names: Any, fields: Any, size: Any) -> Any:
        """A structured dtype, such as the nodes of scikit-learn's trees have."""
        if (
            whole.kind != "V"
            or type(size) is not int
            or not isinstance(names, tuple)
            or not isinstance(fields, dict)
            or not 0 < len(names) <= _MAX_FIELDS
        ):
            raise MalformedModelError("a structured dtype without proper fields")
        self.budget.spend_steps(len(names))
        parts, offsets = [], []
        for name in names:
            if not isinstance(name, str):
                raise MalformedModelError("a field without a name")
            entry = fields.get(name)
            if not isinstance(entry, tuple) or not 2 <= len(entry) <= 3:
                raise MalformedModelError(f"field {name[:40]!r} has no type")
            part, offset = self.dtype_of(entry[0]), entry[1]
            if type(offset) is not int or not 0 <= offset <= size - part.itemsize:
                raise MalformedModelError(f"field {name[:40]!r} lies outside its record")
            if part.hasobject or part.kind not in "biufcSV":
                raise UnsupportedModelError(f"field {name[:40]!r} of kind {part.kind}")
            parts.append(part)
            offsets.append(offset)
        leaves = sum(map(_leaves, parts))
        if size != whole.itemsize or leaves > _MAX_FIELDS:
            raise MalformedModelError("a structured dtype of impossible size")
        self.budget.spend_steps(leaves)
        if max(map(_levels, parts)) >= _MAX_NESTED_FIELDS:
            raise MalformedModelError("fields in fields in fields")
        layout = {"names": list(names), "formats": parts, "offsets": offsets, "itemsize": size}
        try:
            return np.dtype(layout)  # type: ignore[call-overload]
        except (ValueError, TypeError) as error:
            raise MalformedModelError(f"a structured dtype: {error}") from None

    # arrays

    def new_array(self) -> npt.NDArray[Any]:
        """An array whose content comes with a later instruction."""
        array = np.empty(0, dtype=np.int8)
        self._unfilled[id(array)] = array
        return array

    def fill(self, array: npt.NDArray[Any], state: Any) -> None:
        """Give an array from `new_array` its content, in place: others may refer to it already."""
        if self._unfilled.pop(id(array), None) is None:
            raise MalformedModelError("an array is filled twice")
        # Masked arrays add their mask and fill value.
        if not isinstance(state, tuple) or len(state) not in (5, 7):
            raise MalformedModelError("an array without content")
        shape, dtype = checked_shape(state[1]), self.dtype_of(state[2])
        fortran, content = bool(state[3]), state[4]
        count = math.prod(shape)
        if dtype.hasobject:
            if not isinstance(content, list) or len(content) != count:
                raise MalformedModelError(f"an array of {count:,} objects without them")
            self.budget.spend_steps(count)
        else:
            if isinstance(content, str):  # Python 2
                content = content.encode("latin-1")
            if not isinstance(content, bytes):
                raise MalformedModelError("an array without bytes")
            _check_size(len(content), dtype, count)
            self.budget.spend_bytes(len(content))
            if content:
                _check_content(np.frombuffer(content, dtype=dtype))
        array.__setstate__((1, shape, dtype, fortran, content))  # type: ignore[arg-type]
        if not dtype.hasobject:
            array.setflags(write=False)  # it may share memory with an immutable object

    def from_bytes(
        self,
        take: Callable[[int], bytes | memoryview],
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        order: str,
        axes: tuple[int, ...] | None = None,
    ) -> npt.NDArray[Any]:
        """An array over bytes that `take` hands out (and refuses when they are not there)."""
        count = math.prod(shape)
        raw = take(count * dtype.itemsize)
        _check_size(len(raw), dtype, count)
        flat = np.frombuffer(raw, dtype=dtype) if len(raw) else np.empty(0, dtype=dtype)
        _check_content(flat)
        array = flat.reshape(shape, order="F" if order == "F" else "C")
        if not array.flags.aligned:
            self.budget.spend_bytes(array.nbytes)
            array = array.copy(order="K")
        array.setflags(write=False)
        return array if axes is None else array.transpose(axes)

    def scalar(self, dtype: np.dtype[Any], raw: Any) -> Any:
        """A numpy scalar as the plain Python value it holds."""
        if isinstance(raw, str):  # Python 2
            raw = raw.encode("latin-1")
        if not isinstance(raw, bytes):
            raise MalformedModelError("a numpy number without bytes")
        _check_size(len(raw), dtype, 1)
        array = np.frombuffer(raw, dtype=dtype)
        _check_content(array)
        if dtype.kind in "fc":  # `item` keeps numbers of extended precision in numpy's own type
            return float(array[0]) if dtype.kind == "f" else complex(array[0])
        return array[0].item()


def _with_details(target: State, dtype: np.dtype[Any], details: Any) -> np.dtype[Any]:
    """The unit of dates; or metadata somebody attached, which is kept for the artefact scan."""
    if dtype.kind not in "Mm":
        target.attributes["metadata"] = details
        return dtype
    if not isinstance(details, tuple) or len(details) != 2:
        raise MalformedModelError("a date without a unit")
    unit = details[1]
    if not isinstance(unit, tuple) or len(unit) < 2:
        raise MalformedModelError("a date without a unit")
    name = unit[0].encode("ascii") if isinstance(unit[0], str) else unit[0]
    if not isinstance(name, bytes) or not _UNIT.fullmatch(name):
        raise MalformedModelError("a date of unknown unit")
    if type(unit[1]) is not int or not 0 < unit[1] < 2**31:
        raise MalformedModelError("a date of impossible unit")
    if name == b"generic":
        return dtype
    return np.dtype(f"{dtype.str[:3]}[{unit[1]}{name.decode('ascii')}]")


def _leaves(dtype: np.dtype[Any]) -> int:
    fields = dtype.fields
    return 1 if fields is None else sum(_leaves(part[0]) for part in fields.values())


def _levels(dtype: np.dtype[Any]) -> int:
    fields = dtype.fields
    return 0 if fields is None else 1 + max(_levels(part[0]) for part in fields.values())


def _check_size(present: int, dtype: np.dtype[Any], count: int) -> None:
    # An element of no bytes would make an array of any length from nothing.
    if dtype.hasobject or (dtype.itemsize == 0 and count) or present != count * dtype.itemsize:
        raise MalformedModelError(
            f"{present:,} bytes for an array of {count:,} x {dtype.itemsize} bytes"
        )


def _check_content(flat: npt.NDArray[Any]) -> None:
    """Refuse bytes that are no booleans or no text: numpy would fail on them later, or worse."""
    dtype = flat.dtype
    if flat.size == 0:
        return
    if dtype.kind == "b":
        if int(flat.view(np.uint8).max()) > 1:
            raise MalformedModelError("an array of booleans with other values")
    elif dtype.kind == "U":
        points = flat.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if int(points.max()) > _MAX_CODE_POINT or ((points >= 0xD800) & (points < 0xE000)).any():
            raise MalformedModelError("an array of text with invalid characters")
    elif dtype.fields is not None:
        for name in dtype.names or ():
            _check_content(flat[name])
