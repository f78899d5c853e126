cdef class Plan:
    cdef public object cast, infinities, keeps_order, kernel, kind, kinds, laid_out, loops, one_float, out, reason, reported, run
