"""How far a release walks through the house: a reader follows it from file to file."""

from __future__ import annotations

from benchmarks import trace


def test_a_release_changes_file_at_most_forty_times(tmp_path):
    """Draws that were refused, or took more bits, walk a little further: the shortest of a few
    counts.
    """
    changes: dict[str, list[int]] = {"median": [], "quantiles": []}
    for i in range(4):
        (folder := tmp_path / str(i)).mkdir()
        for verb, calls in trace.walks(folder, epsilon=1).items():
            assert len(calls) > 200  # the whole way was traced
            changes[verb].append(len(trace.stays(calls)) - 1)
    assert min(changes["median"]) <= trace.MOST_CHANGES
    assert min(changes["quantiles"]) <= trace.MOST_CHANGES
