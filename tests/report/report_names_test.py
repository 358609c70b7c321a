"""Names of columns, keys, units and statistics are text on a page, whatever is in them."""

from __future__ import annotations

import markdown_it
import polars as pl
import pytest

import duffdp
from duffdp._text import visible
from pages import read


def markdown(text):
    """HTML of Markdown, as a renderer that lets HTML through makes it."""
    return markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


EVIL = {
    "link": "[x](http://a)",
    "bare link": "see http://a.b or www.a.b or a@b.c",
    "picture": "![x](http://a/b.png)",
    "tag": "<b>bold</b>",
    "script": "<script>alert(1)</script>",
    "entity": "&lt;b&gt; &amp;",
    "table": "a|b",
    "code": "`a` ``` ~~~ ~~b~~ $x$ *c* _d_ :heart:",
    "heading": "# a #",
    "escape": "\x1b[31mred\x07\\[x](y)",
    "lines": "a\n\n# b\r\n- c\u2028d",
    "direction": "a\u202eb\u2066c\u200f",
    "quotes": "\" onload='x",
}


def everywhere(bad):
    """A name as heading, column, unit, key, category and statistic."""
    frame = pl.DataFrame({bad: ["a"], "v": [1], bad + "p": [1]})
    keys = {"by": bad, "keys": [bad, "b"], "unit": bad + "p"}

    class Own:
        name = bad

        def steps(self, values, domain):
            return duffdp.statistics.Median().steps(values, domain)

    return {
        bad: duffdp.median(frame, column="v", epsilon=1.0, bounds=(0, 9), rng=1, **keys),
        bad + "2": duffdp.mode([bad], epsilon=1.0, categories=[bad, "b"], rng=1),
        bad + "3": duffdp.release(Own(), [1, 2], epsilon=1.0, bounds=(0, 9), step=1, rng=1),
    }


def printable(text):
    return all(char.isprintable() or char == "\n" for char in text)


def made_by(bad):
    """The same as what the author of a page says."""
    return {
        "title": bad,
        "author": bad,
        "source": bad,
        "sources": {"bounds": bad, "keys": bad, "plan": bad},
    }


def table(bad):
    """The same as a column, a key, a unit and a name of a table."""
    frame = pl.DataFrame({bad: ["a"], bad + "v": [1], bad + "p": [1]})
    asked = {bad + "v": ["mean", {"statistic": "describe", "name": bad + "d"}]}
    keys = {"by": bad, "keys": [bad, "b"], "unit": bad + "p", "total": True}
    # With these the noise of no group decides what is on a page.
    sure = {"epsilon": 1, "smallest": 0, "interval": None, "rng": 1}
    return duffdp.table(frame, asked, bounds={bad + "v": (0, 9)}, **keys, **sure)


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_a_name_is_text_on_a_page_about_a_table(tmp_path, bad):
    pages = {}
    for name in (bad, "calm"):
        path = duffdp.report.write(table(name), tmp_path / "page.html", **made_by(name))
        assert printable(path.read_text(encoding="utf-8"))
        pages[name] = read(path)
        path = duffdp.report.write(table(name), tmp_path / "page.md", **made_by(name))
        assert printable(path.read_text(encoding="utf-8"))
        rendered = tmp_path / "rendered.html"
        rendered.write_text(markdown(path.read_text(encoding="utf-8")), encoding="utf-8")
        pages[name + ".md"] = read(rendered)
    for ending in ("", ".md"):
        (text, found), (_, calm) = pages[bad + ending], pages["calm" + ending]
        assert found.tags == calm.tags
        assert found.addresses == []
        assert text.count(" ".join(visible(bad).split())) >= 12


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_a_name_is_text_on_a_page_of_html(tmp_path, bad):
    releases = everywhere(bad)
    path = duffdp.report.write(releases, tmp_path / "page.html", title=bad)
    assert printable(path.read_text(encoding="utf-8"))
    text, reader = read(path)
    expected = " ".join(visible(bad).split())
    assert text.count(expected) >= 6
    assert reader.addresses == []
    calm = duffdp.report.write(everywhere("calm"), tmp_path / "calm.html", title="calm")
    assert reader.tags == read(calm)[1].tags


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_a_name_is_text_on_a_page_of_markdown(tmp_path, bad):
    """Rendered by a Markdown parser with tables and bare links, a page has the tags of any other
    page and says the name as it is.
    """
    pages = []
    for name in (bad, "calm"):
        path = duffdp.report.write(everywhere(name), tmp_path / "page.md", title=name)
        assert printable(path.read_text(encoding="utf-8"))
        rendered = markdown(path.read_text(encoding="utf-8"))
        (tmp_path / "rendered.html").write_text(rendered, encoding="utf-8")
        pages.append(read(tmp_path / "rendered.html"))
    (text, found), (_, calm) = pages
    assert found.tags == calm.tags
    assert found.addresses == []
    assert text.count(" ".join(visible(bad).split())) >= 6


def test_markdown_holds_no_bare_links(tmp_path):
    """Some renderers make links of addresses, pictures of words between colons and formulas of
    dollars.
    """
    source = duffdp.report.write(
        everywhere("http://a WWW.b a@b :heart: $x$ <b"), tmp_path / "page.md"
    ).read_text(encoding="utf-8")
    for mark in ("://", "WWW.", "@", ":heart", "$", "<"):
        assert mark not in source
