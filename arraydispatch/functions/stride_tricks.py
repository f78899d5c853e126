"""Views that repeat memory (``numpy.lib.stride_tricks``): ghosts describe their strides."""

from numpy.lib.stride_tricks import sliding_window_view

from .ghost_views import viewed
from .registry import implements

implements(sliding_window_view, mode="view")(viewed(sliding_window_view))
