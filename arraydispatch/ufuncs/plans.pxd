# The fields of plans, for compiled modules: slots of `plans.Plan`. All are set when a plan is made.

cdef extern from "_fields.h":
    ctypedef class arraydispatch.ufuncs.plans.Plan [object PlanObject, check_size ignore]:
        cdef object cast
        cdef object keeps_order
        cdef object kind
        cdef object kinds
        cdef object laid_out
        cdef object out
        cdef object reported
        cdef object run
