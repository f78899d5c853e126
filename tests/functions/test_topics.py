"""Topics: the table of functions by the module that registers them, and the import of one when it is first needed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from arraydispatch.functions.topics import TOPICS, topics_of

REGISTERS = """
import importlib
from arraydispatch.functions import registry
from arraydispatch.functions.topics import TOPICS, topics_of

tables = registry.SPECS, registry.HOST, registry.OTHERS, registry.REFUSED
for topic in TOPICS:
    before = set().union(*tables)
    importlib.import_module(f"arraydispatch.functions.{topic}")
    made = set().union(*tables) - before
    print(topic, len(made), *[func.__name__ for func in made if topics_of(func) != (topic,)])
"""


def test_the_table_is_what_the_topics_register() -> None:
    told = subprocess.run([sys.executable, "-c", REGISTERS], capture_output=True, text=True, check=True).stdout
    found = dict(line.split(" ", 1) for line in told.splitlines())
    assert found == {topic: str(len(names.split())) for topic, names in TOPICS.items()}


@pytest.mark.parametrize(
    ("call", "topics"),
    [
        ("spec_of(np.sum)", {"reductions"}),
        ("spec_of(np.linalg.svd), facts_of(np.add), spec_of(np.linalg.svd)", {"linalg"}),
        ("spec_of(np.fft.fft)", {"fft"}),
        ("spec_of(np.busdaycalendar)", set(TOPICS)),
        ("spec_of(print), facts_of(np.add.reduce), facts_of(np.ndarray.sum)", set()),
    ],
)
def test_the_topic_of_a_function_is_imported(call: str, topics: set[str]) -> None:
    code = f"import numpy as np\nfrom arraydispatch.functions.registry import _loaded, facts_of, spec_of\n{call}\nprint(*_loaded)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(told.split()) == topics


def test_functions_that_no_table_names_have_all_topics_if_they_are_numpys() -> None:
    def sum() -> None: ...

    assert topics_of(sum) == topics_of(len) == topics_of(np.add.at) == ()
    sum.__module__ = "numpy.somewhere"
    assert topics_of(sum) == tuple(TOPICS)
    assert topics_of(np.fft.fft) == ("fft",)
