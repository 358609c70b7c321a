"""Arrow IPC files (Feather version 2), which declare their types and are read in place."""

from __future__ import annotations

from typing import Any

from duffdp._engines.files.fields import FieldRules
from duffdp._engines.files.format import Format, OpenRequest, ReadRequest, RowSource
from duffdp._optional import load
from duffdp.errors import UnsupportedData


class ArrowFiles:
    """Arrow IPC files with one schema."""

    def __init__(self, request: OpenRequest) -> None:
        arrow, dataset = load("pyarrow", "cli"), load("pyarrow.dataset", "cli")
        schemas = [_schema(arrow, path) for path in request.paths]
        if any(not schema.equals(schemas[0]) for schema in schemas):
            raise UnsupportedData(
                "the Arrow files do not declare the same columns and types. Write them with one "
                "schema."
            )
        files = dataset.dataset(request.paths, schema=_plain(arrow, schemas[0]), format="ipc")
        rows = request.connection.from_arrow(files)
        zones = {
            field.name: field.type.tz
            for field in schemas[0]
            if arrow.types.is_timestamp(field.type) and field.type.tz is not None
        }
        self._source = RowSource(request.name, rows, lambda: rows, zones=zones)

    def columns(self, request: ReadRequest, rules: FieldRules) -> RowSource:
        return self._source


def _schema(arrow: Any, path: str) -> Any:
    """The columns and types of one file."""
    try:
        with arrow.memory_map(path) as source:
            return arrow.ipc.open_file(source).schema
    except (arrow.ArrowInvalid, OSError):
        raise UnsupportedData(
            f"{path!r} is not an Arrow IPC file. Write it with pyarrow.feather.write_feather, "
            "polars.DataFrame.write_ipc or pandas.DataFrame.to_feather."
        ) from None


def _plain(arrow: Any, schema: Any) -> Any:
    """The schema without dictionaries, whose values are those of the records."""
    fields = []
    for field in schema:
        if arrow.types.is_dictionary(field.type):
            plain = field.type.value_type
            try:
                arrow.array([], field.type).cast(plain)
            except arrow.ArrowNotImplementedError:
                raise UnsupportedData(
                    f"the column {field.name!r} is a dictionary of {plain}, which pyarrow does not "
                    "convert. Write it as text."
                ) from None
            field = field.with_type(plain)
        fields.append(field)
    return arrow.schema(fields)


ARROW = Format("Arrow", (".arrow", ".feather"), ArrowFiles)
