"""Array-API namespace of the PyTorch backend; the namespace object replaces this module."""

import sys

from .module import Namespace

sys.modules[__name__] = Namespace(__name__)
