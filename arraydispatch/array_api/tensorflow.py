"""The array-API namespace of the backend of this name, which takes this module's place."""

import sys

from .module import Namespace

sys.modules[__name__] = Namespace(__name__)
