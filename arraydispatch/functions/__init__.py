"""NumPy's functions by topic, as NumPy's reference sorts them: bodies on native arrays, written once over ``xp``."""
