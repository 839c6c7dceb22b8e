"""The few words of `typing` that the everyday commands are written with, at a fraction of its cost.

Importing typing takes 3 ms, and each NamedTuple of its making 0.3 ms for a constructor that is compiled on the spot:
together an eighth of `ww new`. To mypy these words are those of typing; at run time they do just what is used here.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING or sys.version_info >= (3, 14):  # from there on, a class's annotations are made when asked for
    from typing import Any as Any, NamedTuple as NamedTuple, NoReturn as NoReturn, Protocol as Protocol
else:
    from _collections import _tuplegetter

    Any = NoReturn = object  # annotations only

    class Protocol:
        """What a class has to offer; only mypy looks at it."""

    class _RecordType(type):
        def __new__(mcls, name, bases, body):
            fields = tuple(body.get("__annotations__", ()))
            body["_fields"] = body["__match_args__"] = fields
            body["_field_defaults"] = {field: body[field] for field in fields if field in body}
            body.update((field, _tuplegetter(n, "")) for n, field in enumerate(fields))
            return super().__new__(mcls, name, bases, {"__slots__": (), **body})

    class NamedTuple(tuple, metaclass=_RecordType):
        """A tuple whose places have names, and defaults where they are given one."""

        def __new__(cls, *values, **named):
            if not named and len(values) == len(cls._fields):  # nearly always
                return tuple.__new__(cls, values)
            missing = cls._fields[len(values) :]
            if missing:
                known = {**cls._field_defaults, **named}
                try:
                    values += tuple([known[field] for field in missing])
                except KeyError as field:
                    raise TypeError(f"{cls.__name__} needs {field}") from None
            if len(values) != len(cls._fields) or not named.keys() <= set(missing):
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}, each once")
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, **named):
            made = tuple.__new__(type(self), map(named.pop, self._fields, self))
            if named:
                raise TypeError(f"{type(self).__name__} has no {', '.join(named)}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._asdict().items())})"
