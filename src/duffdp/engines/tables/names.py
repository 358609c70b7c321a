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
