from .engine.tape cimport record
