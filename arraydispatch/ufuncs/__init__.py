"""NumPy's ufuncs on native arrays.

``plans``     one plan for each (ufunc, operand kinds, precision): casts, kernel, result kinds, computed by NumPy's rules;
``ufunc_methods``  reduce, accumulate, reduceat and outer, written once;
``composed``  bodies of the ufuncs that a library lacks, over the ones it has.

This package imports none of its modules: a thread that imports one of them first would wait for one that imports the package.
"""
