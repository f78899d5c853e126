"""Values that stand for no value, where None may be one."""

from __future__ import annotations

from enum import Enum
from typing import Any


class _Sentinel(Enum):
    DECLINED = "declined"
    UNSET = "unset"

    def __repr__(self) -> str:
        return self.name

    def __bool__(self) -> bool:
        raise TypeError(f"{self.name} is neither true nor false: compare by `is`")


DECLINED: Any = _Sentinel.DECLINED
"""The result of a fast path that leaves the call to the general one. A backend declines by raising ``Unsupported``."""

UNSET: Any = _Sentinel.UNSET
"""The default of a parameter for which None is a valid argument."""
