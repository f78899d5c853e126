# What records calls as C.

from .tapes cimport Tape, mine
from .units cimport Form, Unit
from .values cimport Aval, Deferred, aval_of, known, number

cdef bint _records
