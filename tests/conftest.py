from __future__ import annotations

import pytest

from engines import ENGINES


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow) if name == "spark" else name for name in ENGINES])
def engine(request):
    """The name of every engine in turn; Spark is the slow one."""
    return request.param
