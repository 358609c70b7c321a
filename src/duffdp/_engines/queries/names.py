"""Fixed names of columns inside of queries, which allow any name of a user's column."""

VALUES = "value_{}"  # a column of values, by its position among those that one query is about
VALUE = VALUES.format(0)  # the first of them: adapters sample it, pairs have it on one side
SECOND_VALUE = "other_value"  # the second one of a pair
KEY, PERSON = "key_{}", "person"  # the column of a group, by its position in `by`
INDEXES = "candidate_{}"  # the candidate of a value, by the position of its column
PRESENT = "present"  # whether there is a value
INDEX, GROUP, COUNT = "candidate", "group_number", "records"
COLUMN_NAME = "column_name"  # which of several columns a count is of
BELOW, WIDTH = "below", "width"
COPY, ORDER, PLACE = "copy_number", "mixed", "place"
CONDITION_COLUMN = "asked_{}"  # a column of a condition, by its position there
NUMBER = "number_{}"  # the same as a number, where it is a time or a decimal
# Limits of a group, by the position of what they are for and of a range in it.
LOWS, HIGHS, STARTS, WIDTHS = "low_{}_{}", "high_{}_{}", "start_{}", "width_{}"
LEVEL_SUMS, SQUARES, RECORD_COUNTS = "level_{}", "square_{}", "records_{}"
MAX_COLUMNS = 32  # that one query is about
VALUE_NAMES = frozenset(map(VALUES.format, range(MAX_COLUMNS)))
