"""The stack machine that runs a pickle's program symbolically."""

from __future__ import annotations

import codecs
import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Callable
from typing import Any, Final

from glassleak.errors import MalformedModelError, ModelTooLargeError, UnsupportedModelError
from glassleak.readers._limits import Limits
from glassleak.readers._state import Reference, State
from glassleak.readers.pickles._joblib import is_array_wrapper, wrapped_array
from glassleak.readers.pickles._pickle_calls import (
    append_to,
    build,
    call,
    dict_of,
    make_instance,
    set_items,
)
from glassleak.readers.pickles._pickle_input import Budget, Input
from glassleak.readers.pickles._pickle_numpy import Arrays

_STOP: Final = ord(".")
_HIGHEST_PROTOCOL: Final = 5
# Seeds and hashes have a few hundred bits; turning much larger integers into text is refused by
# Python itself, which would be a surprise further down.
_MAX_INT_BYTES: Final = 512
_MAX_INT_DIGITS: Final = 1200
_MAX_NAME: Final = 1000


class Machine:
    """One program and what it has on its stack.

    Attributes
    ----------
    at : int
        Where the current instruction is, for error messages.
    """

    def __init__(
        self, source: Input, budget: Budget, limits: Limits, *, inside_joblib: bool = False
    ) -> None:
        self.source, self.budget, self.limits = source, budget, limits
        self.inside_joblib = inside_joblib
        self.arrays = Arrays(budget)
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # the stacks under each open mark
        self.memo: dict[int, Any] = {}
        self.protocol = 0
        self.at = source.position

    def run(self) -> Any:
        source, budget, table = self.source, self.budget, _TABLE
        data, end = source.data, source.end
        while True:
            self.at = at = source.position
            if at >= end:
                raise MalformedModelError("the file ends before the pickle does")
            code = data[at]
            source.position = at + 1
            if code == _STOP:
                return self.stack.pop()
            budget.steps -= 1
            if budget.steps < 0:
                raise ModelTooLargeError("more instructions than any model of allowed size needs")
            operation = table[code]
            if operation is None:
                raise MalformedModelError(f"unknown opcode {code:#04x}")
            operation(self)

    # stack, marks and memo

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        items = self.stack
        self.stack = self.below.pop()
        return items

    def pop(self) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.since_mark()

    def pop_mark(self) -> None:
        self.since_mark()

    def duplicate(self) -> None:
        self.stack.append(self.stack[-1])

    def protocol_number(self) -> None:
        self.protocol = self.source.byte()
        if self.protocol > _HIGHEST_PROTOCOL:
            raise UnsupportedModelError(f"pickle protocol {self.protocol}")

    def frame(self) -> None:
        self.source.take(8)  # frames only help readers that buffer

    def memoize(self) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def put(self) -> None:
        self.memo[self._text_int()] = self.stack[-1]

    def binput(self) -> None:
        self.memo[self.source.byte()] = self.stack[-1]

    def long_binput(self) -> None:
        self.memo[self.source.unsigned(4)] = self.stack[-1]

    def get(self) -> None:
        self.stack.append(self.memo[self._text_int()])

    def binget(self) -> None:
        self.stack.append(self.memo[self.source.byte()])

    def long_binget(self) -> None:
        self.stack.append(self.memo[self.source.unsigned(4)])

    # plain values

    def none(self) -> None:
        self.stack.append(None)

    def true(self) -> None:
        self.stack.append(True)

    def false(self) -> None:
        self.stack.append(False)

    def _text_int(self) -> int:
        line = self.source.line(_MAX_INT_DIGITS)
        return int(line.removesuffix(b"L"), 0)

    def int_line(self) -> None:
        # Protocol 0 writes booleans as the integers 00 and 01.
        if bytes(self.source.peek(3)) in (b"00\n", b"01\n"):
            self.stack.append(self.source.line(3) == b"01")
        else:
            self.stack.append(self._text_int())

    def long_line(self) -> None:
        self.stack.append(self._text_int())

    def binint(self) -> None:
        self.stack.append(int.from_bytes(self.source.take(4), "little", signed=True))

    def binint1(self) -> None:
        self.stack.append(self.source.byte())

    def binint2(self) -> None:
        self.stack.append(self.source.unsigned(2))

    def long1(self) -> None:
        self._long(self.source.byte())

    def long4(self) -> None:
        self._long(self.source.unsigned(4))

    def _long(self, size: int) -> None:
        if size > _MAX_INT_BYTES:
            raise MalformedModelError(f"an integer of {size:,} bytes")
        self.stack.append(int.from_bytes(self.source.take(size), "little", signed=True))

    def float_line(self) -> None:
        self.stack.append(float(self.source.line(_MAX_INT_DIGITS)))

    def binfloat(self) -> None:
        self.stack.append(struct.unpack(">d", self.source.take(8))[0])

    def string_line(self) -> None:
        line = self.source.line(self.limits.json_bytes)
        if len(line) < 2 or line[0] != line[-1] or line[0] not in b"'\"":
            raise MalformedModelError("a string without quotes")
        # Python 2 text; arrays of that time kept their bytes in such strings, one per character.
        self.stack.append(codecs.escape_decode(line[1:-1])[0].decode("latin-1"))

    def binstring(self) -> None:
        self.stack.append(str(self._text(self.source.unsigned(4)), "latin-1"))

    def short_binstring(self) -> None:
        self.stack.append(str(self.source.take(self.source.byte()), "latin-1"))

    def unicode_line(self) -> None:
        line = self.source.line(self.limits.json_bytes)
        text = line.decode("raw-unicode-escape")
        text.encode("utf-8")  # raises on halves of characters, which nothing could print
        self.stack.append(text)

    def short_binunicode(self) -> None:
        self.stack.append(str(self.source.take(self.source.byte()), "utf-8"))

    def binunicode(self) -> None:
        self.stack.append(str(self._text(self.source.unsigned(4)), "utf-8"))

    def binunicode8(self) -> None:
        self.stack.append(str(self._text(self.source.unsigned(8)), "utf-8"))

    def _text(self, size: int) -> memoryview:
        if size > self.limits.json_bytes:
            raise ModelTooLargeError(f"a text of {size:,} bytes")
        return self.source.take(size)

    def short_binbytes(self) -> None:
        self.stack.append(bytes(self.source.take(self.source.byte())))

    def binbytes(self) -> None:
        self.stack.append(bytes(self.source.take(self.source.unsigned(4))))

    def binbytes8(self) -> None:
        self.stack.append(bytes(self.source.take(self.source.unsigned(8))))

    # containers

    def empty_tuple(self) -> None:
        self.stack.append(())

    def tuple_since_mark(self) -> None:
        items = tuple(self.since_mark())
        self.stack.append(items)

    def tuple_of(self, size: int) -> None:
        if len(self.stack) < size:
            raise MalformedModelError("a tuple of values that are not there")
        self.stack[-size:] = [tuple(self.stack[-size:])]

    def tuple1(self) -> None:
        self.tuple_of(1)

    def tuple2(self) -> None:
        self.tuple_of(2)

    def tuple3(self) -> None:
        self.tuple_of(3)

    def empty_list(self) -> None:
        self.stack.append([])

    def list_since_mark(self) -> None:
        items = self.since_mark()
        self.stack.append(items)

    def empty_dict(self) -> None:
        self.stack.append({})

    def dict_since_mark(self) -> None:
        items = self.since_mark()
        self.stack.append(dict_of(items))

    def append(self) -> None:
        value = self.stack.pop()
        append_to(self.stack[-1], [value])

    def appends(self) -> None:
        items = self.since_mark()
        append_to(self.stack[-1], items)

    def setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        set_items(self.stack[-1], [key, value])

    def setitems(self) -> None:
        items = self.since_mark()
        set_items(self.stack[-1], items)

    # names and what is done with them

    def _reference(self, module: Any, name: Any) -> Reference:
        if type(module) is not str or type(name) is not str:
            raise MalformedModelError("a class is named by something other than text")
        if len(module) > _MAX_NAME or len(name) > _MAX_NAME:
            raise MalformedModelError("an absurdly long class name")
        if self.protocol < 3:
            # Old protocols carry the names of Python 2.
            if (module, name) in NAME_MAPPING:
                module, name = NAME_MAPPING[module, name]
            else:
                module = IMPORT_MAPPING.get(module, module)
        return Reference(module, name)

    def named(self) -> None:
        self.stack.append(self._reference(*self._two_lines()))

    def _two_lines(self) -> tuple[str, str]:
        module = self.source.line(_MAX_NAME).decode("utf-8")
        return module, self.source.line(_MAX_NAME).decode("utf-8")

    def stack_named(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(self._reference(module, name))

    def inst(self) -> None:
        reference = self._reference(*self._two_lines())
        arguments = tuple(self.since_mark())
        self.stack.append(call(self.arrays, reference, arguments))

    def obj(self) -> None:
        callee, *arguments = self.since_mark()
        self.stack.append(call(self.arrays, callee, tuple(arguments)))

    def reduce(self) -> None:
        arguments, callee = self.stack.pop(), self.stack.pop()
        self.stack.append(call(self.arrays, callee, arguments))

    def newobj(self) -> None:
        arguments, kind = self.stack.pop(), self.stack.pop()
        self.stack.append(make_instance(self.arrays, kind, arguments))

    def newobj_ex(self) -> None:
        named, arguments, kind = self.stack.pop(), self.stack.pop(), self.stack.pop()
        if not isinstance(named, dict) or not isinstance(arguments, tuple):
            raise MalformedModelError("constructor arguments of the wrong kind")
        given = (*arguments, named) if named else arguments
        self.stack.append(make_instance(self.arrays, kind, given))

    def build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        build(self.arrays, target, state)
        if isinstance(target, State) and is_array_wrapper(target) and not self.inside_joblib:
            self.stack[-1] = wrapped_array(
                target, self.source, self.arrays, self._nested_object_array
            )

    def _nested_object_array(self) -> Any:
        # joblib keeps arrays of objects as a complete pickle in the middle of the stream and
        # reads it with an unpickler of its own; here it is the same inert machine again.  Arrays
        # in there are never wrapped, so this cannot nest further.
        nested = Machine(self.source, self.budget, self.limits, inside_joblib=True)
        try:
            return nested.run()
        finally:
            self.at = nested.at

    def no_change(self) -> None:
        pass

    def refuse(self) -> None:
        raise MalformedModelError(
            "it refers to data outside the file (persistent id, extension or buffer)"
        )


_Operation = Callable[[Machine], None]
_M = Machine
_CODES: Final[dict[bytes, _Operation]] = {
    b"(": _M.mark, b"0": _M.pop, b"1": _M.pop_mark, b"2": _M.duplicate,
    b"\x80": _M.protocol_number, b"\x95": _M.frame,
    b"p": _M.put, b"q": _M.binput, b"r": _M.long_binput, b"\x94": _M.memoize,
    b"g": _M.get, b"h": _M.binget, b"j": _M.long_binget,
    b"N": _M.none, b"\x88": _M.true, b"\x89": _M.false,
    b"I": _M.int_line, b"L": _M.long_line, b"F": _M.float_line, b"G": _M.binfloat,
    b"J": _M.binint, b"K": _M.binint1, b"M": _M.binint2, b"\x8a": _M.long1, b"\x8b": _M.long4,
    b"S": _M.string_line, b"T": _M.binstring, b"U": _M.short_binstring,
    b"V": _M.unicode_line, b"X": _M.binunicode, b"\x8c": _M.short_binunicode,
    b"\x8d": _M.binunicode8,
    b"B": _M.binbytes, b"C": _M.short_binbytes, b"\x8e": _M.binbytes8, b"\x96": _M.binbytes8,
    b")": _M.empty_tuple, b"t": _M.tuple_since_mark, b"\x85": _M.tuple1, b"\x86": _M.tuple2,
    b"\x87": _M.tuple3,
    b"]": _M.empty_list, b"l": _M.list_since_mark, b"a": _M.append, b"e": _M.appends,
    b"}": _M.empty_dict, b"d": _M.dict_since_mark, b"s": _M.setitem, b"u": _M.setitems,
    # Sets are lists here, as in `state_of`: nothing from the file is ever hashed for them.
    b"\x8f": _M.empty_list, b"\x90": _M.appends, b"\x91": _M.list_since_mark,
    b"c": _M.named, b"\x93": _M.stack_named, b"i": _M.inst, b"o": _M.obj,
    b"R": _M.reduce, b"\x81": _M.newobj, b"\x92": _M.newobj_ex, b"b": _M.build,
    b"P": _M.refuse, b"Q": _M.refuse, b"\x82": _M.refuse, b"\x83": _M.refuse,
    b"\x84": _M.refuse, b"\x97": _M.refuse, b"\x98": _M.no_change,
}  # fmt: skip
_TABLE: Final[tuple[_Operation | None, ...]] = tuple(_CODES.get(bytes([i])) for i in range(256))
