# What compiled modules read of a frame and of its code without asking Python for the attribute.

cdef extern from "frameobject.h":
    """
    #define code_of(frame) ((PyObject *)PyFrame_GetCode((PyFrameObject *)(frame)))
    #define globals_of(frame) PyFrame_GetGlobals((PyFrameObject *)(frame))
    #define instruction_of(frame) PyFrame_GetLasti((PyFrameObject *)(frame))
    """
    object code_of(object)
    object globals_of(object)
    int instruction_of(object)

    ctypedef class types.FrameType [object PyObject, check_size ignore]:
        @property
        cdef inline object f_code(self):
            return code_of(self)

        @property
        cdef inline object f_globals(self):
            return globals_of(self)

        @property
        cdef inline int f_lasti(self) noexcept:
            return instruction_of(self)

    ctypedef class types.CodeType [object PyCodeObject, check_size ignore]:
        cdef object co_filename
