# The state of arrays as C fields.

from .._core.handles cimport Handle
