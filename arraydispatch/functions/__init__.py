"""Bodies of NumPy's functions on native arrays, written once over ``xp``; one module for each topic of NumPy's reference."""
