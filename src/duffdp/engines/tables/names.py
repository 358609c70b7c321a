"""Names of columns inside of queries: rows enter them under these names alone, so that a user's
column has any name.
"""

VALUE, PERSON = "value", "person"
OTHER = "other_value"  # the second one of a pair
INDEX, GROUP, COUNT = "candidate", "group_number", "records"
LOW, HIGH, PART, START, WIDTH = "low", "high", "part", "start", "width"
COPY, ORDER, PLACE = "copy_number", "mixed", "place"
ASKED = "asked_{}"  # a column of a condition, by its position there
NUMBER = "number_{}"  # the same as a number, where it is a time or a decimal
KEY = "key_{}"  # the column of a group, by its position in `by`
# The same for several columns side by side, by their positions.
VALUES, CANDIDATES, PRESENT = "value_{}", "candidate_{}", "present"
LEVELS, SQUARES, RECORDS = "level_{}", "square_{}", "records_{}"
LOWS, HIGHS, STARTS, WIDTHS = "low_{}_{}", "high_{}_{}", "start_{}", "width_{}"
COLUMN = "column_name"  # which of them
MOST_COLUMNS = 32  # that one query is about
VALUE_NAMES = frozenset({VALUE, *map(VALUES.format, range(MOST_COLUMNS))})
