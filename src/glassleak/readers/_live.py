"""A live, fitted object of the user's own process as inert `State`."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from glassleak.errors import MalformedModelError
from glassleak.readers._state import Reference, State

_PLAIN = (type(None), bool, int, float, str, bytes)


def state_of(obj: Any) -> Any:
    """`obj` as inert data; arrays are shared and not copied."""
    return _Converter().convert(obj)


class _Converter:
    def __init__(self) -> None:
        # The object is kept beside its state, so that its id is not given to another one.
        self.memo: dict[int, tuple[Any, Any]] = {}

    def convert(self, obj: Any) -> Any:
        if isinstance(obj, np.generic):
            return obj.item()
        if isinstance(obj, _PLAIN):
            return obj
        if id(obj) in self.memo:
            return self.memo[id(obj)][1]
        if isinstance(obj, type | types.FunctionType | types.BuiltinFunctionType | np.ufunc):
            return Reference(getattr(obj, "__module__", "") or "", obj.__name__)
        if isinstance(obj, np.ndarray):
            return self._array(obj)
        if isinstance(obj, list | set | frozenset):
            out: list[Any] = []
            self.memo[id(obj)] = (obj, out)
            out.extend(self.convert(v) for v in obj)
            return out
        if isinstance(obj, tuple):
            return tuple(self.convert(v) for v in obj)
        if isinstance(obj, Mapping):
            table: dict[Any, Any] = {}
            self.memo[id(obj)] = (obj, table)
            for key, value in obj.items():
                key = key.item() if isinstance(key, np.generic) else key
                plain = isinstance(key, str | int | float | bool | type(None))
                table[key if plain else str(key)] = self.convert(value)
            return table
        return self._instance(obj)

    def _array(self, obj: np.ndarray) -> Any:
        if obj.dtype != object:
            return np.asarray(obj)
        out = np.empty(obj.shape, dtype=object)
        self.memo[id(obj)] = (obj, out)
        flat = out.ravel()
        for i, item in enumerate(obj.ravel()):
            flat[i] = self.convert(item)
        out[...] = flat.reshape(obj.shape)
        return out

    def _instance(self, obj: Any) -> State:
        kind = type(obj)
        state = State(kind.__module__, kind.__name__)
        self.memo[id(obj)] = (obj, state)
        held = _handed_over(obj)
        if held is None and not _own_reduce(kind):
            held = getattr(obj, "__dict__", None)
        if not held:
            # Cython objects (scikit-learn's Tree), pandas containers and slotted objects hand
            # their state to pickle only.
            held, state.args = self._reduced(obj)
        state.attributes.update({str(k): self.convert(v) for k, v in held.items()})
        if kind.__module__.startswith("sklearn.") and hasattr(obj, "get_params"):
            # scikit-learn adds its version when it is pickled, and readers go by it.
            state.attributes.setdefault("_sklearn_version", sys.modules["sklearn"].__version__)
        return state

    def _reduced(self, obj: Any) -> tuple[dict[Any, Any], tuple[Any, ...]]:
        try:
            reduced = obj.__reduce_ex__(2)
        except Exception:  # an object that cannot be pickled is opaque, which is no error here
            return {}, ()
        if not isinstance(reduced, tuple):
            return {}, ()
        args = tuple(self.convert(a) for a in reduced[1] if not isinstance(a, type))
        held = reduced[2] if len(reduced) > 2 else None
        if held is None:
            return {}, args
        return held if isinstance(held, dict) else {"__state__": held}, args


def _own_reduce(kind: type) -> bool:
    """Whether a class says itself what pickle is to store."""
    own: Any = kind
    plain: Any = object
    return bool(
        own.__reduce__ is not plain.__reduce__ or own.__reduce_ex__ is not plain.__reduce_ex__
    )


def _handed_over(obj: Any) -> dict[str, Any] | None:
    """What an object that keeps its model in another language's memory says when asked.

    LightGBM gives the text it would save; XGBoost would give a binary form, so JSON is asked for.
    """
    origin = {(cls.__module__, cls.__name__) for cls in type(obj).__mro__}
    try:
        if ("lightgbm.basic", "Booster") in origin:
            return dict(obj.__getstate__())
        if ("xgboost.core", "Booster") in origin:
            return {"handle": bytes(obj.save_raw("json")), "config": obj.save_config()}
    except Exception as error:  # whatever the library raises, the caller gets one kind of error
        raise MalformedModelError(
            f"cannot hand over its model: {error}", type(obj).__name__
        ) from None
    return None
