"""A page of HTML as a browser reads it: every tag closed in order, its text and its addresses."""

from __future__ import annotations

import html.parser

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Reader(html.parser.HTMLParser):
    """Every tag is closed in order; keeps the text, the tags and the addresses of other files."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.addresses, self.tags = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, [name for name, _ in attributes]))
        self.addresses += [
            value for name, value in attributes if name in ("src", "href", "action", "data")
        ]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    assert reader.open == []
    return " ".join(" ".join(reader.text).split()), reader
