import numpy as np

for attempt in (
    lambda: np.ones(3) + np.ones(4),
    lambda: np.zeros((2, 2)).reshape(3),
    lambda: np.arange(3)[5],
    lambda: np.concatenate([]),
    lambda: np.linalg.inv(np.ones((2, 3))),
    lambda: np.float,
    lambda: np.no_such_name,
):
    try:
        attempt()
    except Exception as error:
        print(type(error).__name__)
