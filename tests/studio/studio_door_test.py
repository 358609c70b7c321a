"""The door of the studio: who gets in, what may be asked, and that nothing else is told."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from duffdp import DuffError
from duffdp._studio.folder import Folder
from duffdp._studio.guard import MAX_BYTES, POLICY
from duffdp._studio.server import Studio
from studio import AGES, COMMAND, PORT, running, visit, with_data

PAGES = ["/", "/static/studio.js", "/release/0123456789abcdef", "/nothing"]
FORMS = ["/plan", "/preview", "/sample", "/download/plan.toml", "/release", "/release/x/start"]


@pytest.fixture
def folder(tmp_path):
    return with_data(tmp_path)


@pytest.mark.parametrize("path", PAGES)
def test_without_the_cookie_there_is_a_sentence_and_nothing_else(folder, path):
    with visit(folder, welcome=False) as visitor:
        for cookie in ("", f"duffdp-studio-{PORT}=", f"duffdp-studio-{PORT}=0", "a=b; ;;\x01"):
            answer = visitor.get(path, cookie=cookie)
            assert answer.status_code == 403
            assert answer.text == "The token is missing. Open the address that the studio printed."


@pytest.mark.parametrize("path", FORMS)
def test_forms_need_the_cookie_too(folder, path):
    with visit(folder, welcome=False) as visitor:
        assert visitor.post(path, AGES).status_code == 403


def test_a_wrong_token_is_refused_and_the_right_one_leaves_the_address(folder):
    with visit(folder, welcome=False) as visitor:
        for wrong in ("", "0" * 64, visitor.studio.guard.token[:-1], "é"):
            answer = visitor.get(f"/?token={wrong}")
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers
        answer = visitor.get(f"/?token={visitor.studio.guard.token}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert visitor.studio.guard.token not in cookie
        assert visitor.get("/").status_code == 200


def test_what_a_browser_is_started_with_opens_the_door_once(folder):
    """Every account of a machine can list processes with their arguments."""
    with visit(folder, welcome=False) as visitor:
        once, printed = visitor.studio.guard.one_time_address, visitor.studio.guard.address
        assert once != printed
        assert [visitor.get(once).status_code for _ in range(2)] == [303, 403]
        assert visitor.get("/").status_code == 200
        assert [visitor.get(printed).status_code for _ in range(2)] == [303, 303]


def test_the_browser_gets_the_one_time_address(folder):
    """The real command with a browser that writes down how it was started."""
    browser = folder / "browser.sh"
    browser.write_text('#!/bin/sh\necho "$1" > started.part && mv started.part started\n')
    browser.chmod(0o755)
    command = [word for word in COMMAND if word != "--no-browser"]
    env = os.environ | {"BROWSER": f"{browser} %s", "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            printed = process.stdout.readline().strip()
            started = folder / "started"
            for _ in range(600):
                if started.exists():
                    break
                time.sleep(0.05)
            given = started.read_text().strip()
        finally:
            process.terminate()
    printed_token, given_token = (address.partition("token=")[2] for address in (printed, given))
    assert len(given_token) == len(printed_token) == 64
    assert given_token != printed_token


def test_ctrl_c_says_that_nothing_was_charged(folder):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(COMMAND, cwd=folder, env=env, text=True, **streams) as process:
        address = process.stdout.readline().strip()
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        connection.request("GET", "/")
        status = connection.getresponse().status  # of a server that runs
        connection.close()
        process.send_signal(signal.SIGINT)
        assert status == 403
        assert process.stderr.read() == "duffdp: stopped; nothing was charged\n"
    assert process.returncode == 130


@pytest.mark.parametrize(("port", "host"), [(80, "127.0.0.1"), (8080, "127.0.0.1:8080")])
def test_the_host_is_named_as_browsers_name_it(folder, port, host):
    """They leave out the port that HTTP has anyway."""
    guard = Studio(Folder(folder), "", port).guard
    assert guard.hosts[0] == host
    assert guard.address.startswith(f"http://{host}/?")


def test_secrets_differ_from_start_to_start(folder):
    with visit(folder) as one, visit(folder) as other:
        guards = one.studio.guard, other.studio.guard
        found = {secret for guard in guards for secret in (guard.token, guard.csrf)}
        assert len(found) == 4
        assert {len(secret) for secret in found} == {64}
        other.client.cookies = one.client.cookies
        assert other.get("/").status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"0.0.0.0:{PORT}"]
)
def test_a_foreign_host_is_refused_with_the_right_cookie(folder, host):
    """DNS rebinding: another name that leads to this machine."""
    with visit(folder) as visitor:
        assert visitor.get("/", host=f"localhost:{PORT}").status_code == 200
        assert visitor.get("/", host=host).status_code == 421
        assert visitor.get(f"/?token={visitor.studio.guard.token}", host=host).status_code == 421
        assert visitor.post("/preview", AGES, host=host).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
def test_requests_from_other_sites_are_refused(folder, headers):
    with visit(folder) as visitor:
        assert visitor.get("/", **headers).status_code == 403
        assert visitor.post("/preview", AGES, **headers).status_code == 403
        assert visitor.post("/preview", AGES).status_code == 200


def test_a_form_says_where_it_comes_from(folder):
    with visit(folder) as visitor:
        body = f"csrf={visitor.studio.guard.csrf}"
        kind = {"content-type": "application/x-www-form-urlencoded"}
        assert visitor.client.post("/preview", content=body, headers=kind).status_code == 403


@pytest.mark.parametrize("path", FORMS)
def test_changes_of_state_need_the_secret_of_the_page(folder, path):
    with visit(folder) as visitor:
        for csrf in ("", "0" * 64, visitor.studio.guard.token):
            assert visitor.post(path, AGES, csrf=csrf).status_code == 403
        assert "state" not in visitor.studio.__dict__


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(folder, method):
    with visit(folder) as visitor:
        assert visitor.client.request(method, "/").status_code == 405


@pytest.mark.parametrize("path", ["/plan", "/preview", "/release", "/sample"])
def test_the_address_of_a_form_leads_back_to_the_plan(folder, path):
    """Such as one that is typed again, or kept as a bookmark."""
    with visit(folder) as visitor:
        answer = visitor.get(path)
        assert answer.status_code == 404
        assert '<a class="button" href="/">Back to the plan</a>' in answer.text


def test_requests_are_bounded(folder):
    with visit(folder) as visitor:
        big = [("where", "x" * (MAX_BYTES + 1))]
        assert visitor.post("/preview", big).status_code == 413
        assert visitor.post("/preview", [("a", "")] * 3000).status_code == 400
        other = visitor.post("/preview", AGES, **{"content-type": "multipart/form-data"})
        assert other.status_code == 415
        many = [("source", "adult.parquet"), *((f"column.{i}", f"c{i}") for i in range(13))]
        assert "at most 12 columns" in visitor.post("/preview", many).text
        keys = "\n".join(map(str, range(10_001)))
        fields = [(name, keys if name == "keys.0" else text) for name, text in AGES]
        assert "at most 10,000 groups" in visitor.post("/preview", fields).text


def test_every_answer_has_the_headers(folder):
    with visit(folder) as visitor:
        for answer in (
            visitor.get("/"),
            visitor.get("/static/studio.css"),
            visitor.get("/nothing"),
            visitor.get("/", host="evil.example"),
            visitor.post("/preview", AGES),
        ):
            assert answer.headers["content-security-policy"] == POLICY
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["referrer-policy"] == "same-origin"
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


@pytest.mark.parametrize(
    "name",
    ["../secret.csv", "/etc/passwd", "a/../../secret.csv", "link.csv", "", ".", "a\0b", "up/x.csv"],
)
def test_no_path_leads_out_of_the_folder(tmp_path, name):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.csv").write_text("confidential\n1\n")
    (inner / "link.csv").symlink_to(tmp_path / "secret.csv")
    (inner / "up").symlink_to(tmp_path)
    with pytest.raises(DuffError):
        Folder(inner).inside(name)
    with_data(inner)
    with visit(inner) as visitor:
        for field in ("source", "ledger"):
            fields = [(key, name if key == field else text) for key, text in AGES]
            for path in ("/preview", "/plan", "/download/plan.py", "/release"):
                answer = visitor.post(path, fields)
                assert "confidential" not in answer.text
                assert answer.status_code in (200, 400)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inner", "secret.csv"]


@pytest.mark.parametrize("name", ["a" * 300, "loop", "loop/x.csv", "adult.parquet/" + "b/" * 3000])
@pytest.mark.parametrize("field", ["source", "ledger"])
def test_a_name_that_no_file_can_have_is_told_in_words(folder, field, name):
    (folder / "loop").symlink_to(folder / "loop")
    with visit(folder) as visitor:
        fields = [(key, name if key == field else text) for key, text in AGES]
        for path in ("/preview", "/plan", "/release"):
            answer = visitor.post(path, fields)
            assert answer.status_code == (400 if path == "/release" else 200)
            assert "cannot be found" in answer.text


@pytest.mark.parametrize("name", ["../secret.csv", "@../secret.csv", "codes.csv", "@codes.csv"])
def test_a_group_that_is_called_like_a_file_is_a_group(tmp_path, name):
    """Plans and commands may name a file of keys; what is typed here is a key."""
    inner = tmp_path / "inner"
    inner.mkdir()
    for path in (tmp_path / "secret.csv", inner / "codes.csv"):
        path.write_text("confidential\nsecrecy\n")
    with visit(with_data(inner)) as visitor:
        asked = visitor.asked([(key, name if key == "keys.0" else text) for key, text in AGES])
        cost = visitor.studio.state.jobs.get(asked).cost
        assert {facts.keys for facts in cost.releases.values()} == {((name,),)}


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/"])
def test_static_files_are_those_of_the_page(folder, path):
    with visit(folder) as visitor:
        assert visitor.get(path).status_code in (400, 404)


def test_an_unexpected_error_is_told_in_words(folder, monkeypatch):
    from duffdp._studio.state import StudioState

    def broken(*_):
        raise RuntimeError("a record: 4711")

    monkeypatch.setattr(StudioState, "preview", broken)
    with visit(folder) as visitor:
        answer = visitor.post("/preview", AGES)
        assert answer.status_code == 500
        assert "Something unexpected went wrong (RuntimeError)." in answer.text
        assert "4711" not in answer.text


def test_files_are_listed_by_name_and_hidden_ones_are_not(folder):
    (folder / ".hidden.csv").write_text("a\n1\n")
    (folder / "deep").mkdir()
    (folder / "deep" / "other.csv").write_text("a\n1\n")
    (folder / "notes.txt").write_text("x")
    assert Folder(folder).files() == ["adult.parquet", "deep/other.csv"]


def test_a_process_listens_on_this_machine_alone(folder):
    """The real server: what it prints first, where it listens, and how it refuses."""
    with running(folder, "adult.parquet", "--port", "0") as address:
        parts = urlsplit(address)
        # Another address of the same machine, which Linux has without being told.
        for other, reached in (("127.0.0.1", True), ("127.0.0.2", False)):
            with socket.socket() as probe:
                probe.settimeout(5)
                assert (probe.connect_ex((other, parts.port)) == 0) is reached
        connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=20)

        def status(path, **headers):
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            assert "server" not in {name.lower() for name, _ in answer.getheaders()}
            return answer.status, answer.getheader("set-cookie"), text

        assert status("/")[0] == 403
        assert status("/?token=0")[0] == 403
        assert status(f"/?{parts.query}", Host="evil.example")[0] == 421
        code, cookie, _ = status(f"/?{parts.query}")
        assert code == 303
        code, _, text = status("/", Cookie=cookie.partition(";")[0])
        assert code == 200
        assert "Plan a private table" in text
        connection.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("../outside.csv",), "outside of the folder"),
        (("nothing.csv",), "there is no file"),
        (("adult.parquet", "--port", "1"), "cannot be used"),
        (("adult.parquet", "--port", "99999"), "cannot be used"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(folder, arguments, said):
    if arguments[-1] == "1":  # root may use any port: one that is taken will do
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            ran = _run(folder, *arguments[:-1], port)
    else:
        ran = _run(folder, *arguments)
    assert ran.returncode in (2, 4)
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert ran.stdout == ""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_what_is_missing_is_named(monkeypatch):
    from duffdp._studio.server import serve

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(DuffError, match=r"pip install 'duffdp\[studio\]'"):
        serve(None, 0, print)
