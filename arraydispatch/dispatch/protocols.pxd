from ..views cimport Handle
