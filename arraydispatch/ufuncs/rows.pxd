from .._core cimport machine
