"""Methods of dataclasses are compiled when they are first called: `compile_when_called()`.

The decorator of the standard library compiles up to six functions for each class, 1 ms in all. A
question needs some 300 classes, makes instances of a third of them and compares few: this takes a
fifth off `redask ask`. For a process of ours alone (the command line calls it before a command is
imported), never for a program that imports redask.

It stands in front of `dataclasses._create_fn`, which is called with the source of one method. What
the class gets compiles that source on its first call, puts the result in its own place and calls
it: the methods, their speed and their errors stay those of the standard library. A Python whose
library has no such function is left as it is (3.13 has none, and compiles a class at once).
"""

import dataclasses
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

_PARAMETERS = ["name", "args", "body", "globals", "locals", "return_type"]


def compile_when_called() -> bool:
    """Let dataclasses of this process compile late. → False where that is not possible"""
    at_once = getattr(dataclasses, "_create_fn", None)
    if at_once is None or list(inspect.signature(at_once).parameters) != _PARAMETERS:
        return False

    def later(name: str, args: Any, body: Any, **others: Any) -> Callable[..., Any]:
        return _stand_in(name, partial(at_once, name, args, body, **others))

    dataclasses._create_fn = later  # type: ignore[attr-defined]  # it is private
    return True


def _stand_in(name: str, compiled: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """A method that becomes the compiled one in the class that has it."""
    made: list[Callable[..., Any]] = []  # two threads may both compile: the results are equal

    def method(self: Any, *args: Any, **named: Any) -> Any:
        if not made:
            made.append(compiled())
            made[0].__qualname__ = method.__qualname__
            for each in type(self).__mro__:
                if each.__dict__.get(name) is method:
                    setattr(each, name, made[0])
        return made[0](self, *args, **named)

    method.__name__ = name
    return method
