from ..backends.base cimport Kind
from ..memory.views cimport Handle
