from ..backends.base cimport Kind
from ..views cimport Handle
