"""The server answers its own page on the loopback address, and nobody else."""

import http.client
import json
import urllib.parse
from pathlib import Path

import pytest

import pagecast.studio
from pagecast.errors import ArgumentError
from pagecast.studio.guard import HEADERS
from pagecast.studio.serving import Server
from pagecast.studio.session import Session
from tests.unit.studio.conftest import SCENARIO, serving

STATIC = Path(pagecast.studio.__file__).parent / "static"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Serve a scenario and give the parts of its address."""
    path = tmp_path_factory.mktemp("served") / "scenario.toml"
    path.write_text(SCENARIO)
    with serving(Session(path)) as server:
        yield urllib.parse.urlsplit(server.address)


def ask(address, path, method="GET", body=None, token=None, **headers):
    """Send a request with these headers and give status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
    own = f"/{token}/" if token is not None else address.path
    usual = {"Host": address.netloc}
    if method == "POST":
        usual |= {"Origin": f"http://{address.netloc}", "Content-Type": "application/json"}
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    given = {name: value for name, value in {**usual, **sent}.items() if value is not None}
    connection.request(method, own + path, body, given)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def question(**more):
    return json.dumps({"page": "p", "models": ["kernel"], **more})


def test_only_the_loopback_address_is_bound(session):
    server = Server(session)
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.address.startswith(f"http://127.0.0.1:{server.socket.getsockname()[1]}/")
    assert len(urllib.parse.urlsplit(server.address).path) > 32
    server.socket.close()


def test_the_page_and_its_files(address):
    status, headers, content = ask(address, "")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert content == (STATIC / "index.html").read_bytes()
    for file in ("studio.js", "studio.css", "vendor/uPlot.iife.min.js", "icon.svg"):
        assert ask(address, file)[0] == 200


def test_every_answer_has_the_headers(address):
    for found in (ask(address, ""), ask(address, "", token="wrong"), ask(address, "api/revision")):
        assert {name: found[1][name] for name in HEADERS} == HEADERS
        assert "Access-Control-Allow-Origin" not in found[1]
        assert "Server" not in found[1]


def test_the_page_has_no_inline_script_or_style():
    page = (STATIC / "index.html").read_text()
    assert "<style" not in page
    assert " style=" not in page
    assert page.count("<script") == page.count("<script src=")
    assert "http:" not in page
    assert "https:" not in page


@pytest.mark.parametrize("path", ["", "studio.js", "api/revision"])
@pytest.mark.parametrize("token", ["wrong", "", "é".encode().decode("latin-1")])
def test_another_token_finds_nothing(address, path, token):
    assert ask(address, path, token=urllib.parse.quote(token))[0] == 404


def test_the_root_without_a_token_finds_nothing(address):
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
    for path in ("/", "/favicon.ico", "//", "/api/revision"):
        connection.request("GET", path)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (404, b"not here\n")
    connection.close()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_is_refused(address, host):
    """A name of a stranger may lead to 127.0.0.1 (DNS rebinding)."""
    assert ask(address, "", Host=host)[0] == 421


def test_localhost_is_our_host(address):
    host = f"localhost:{address.port}"
    assert ask(address, "", Host=host)[0] == 200
    body = question()
    assert ask(address, "api/forecast", "POST", body, Host=host, Origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://127.0.0.1", ""])
def test_another_origin_asks_nothing(address, origin):
    assert ask(address, "api/forecast", "POST", question(), Origin=origin)[0] == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_form_of_another_page_asks_nothing(address, kind):
    assert ask(address, "api/forecast", "POST", question(), Content_Type=kind)[0] == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(address, method):
    assert ask(address, "api/forecast", method)[0] == 405


@pytest.mark.parametrize(
    "path",
    [
        "vendor",
        "vendor/",
        "static",
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "vendor/../../app.py",
        "/etc/passwd",
        "vendor/README.md",
        "scenario.toml",
        "api",
    ],
)
def test_no_other_file_is_served(address, path):
    assert ask(address, path)[0] == 404


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{",
        '{"set": []}',
        '{"set": {"a": 1}}',
        '{"models": "kernel"}',
        '{"models": [1]}',
        '{"host": 3}',
        '{"page": {}}',
        '{"known": null}',
        "\ud800".encode("utf-8", "surrogatepass"),
    ],
)
def test_what_is_no_question_is_refused(address, body):
    assert ask(address, "api/forecast", "POST", body)[0] == 400


def test_a_very_long_question_is_refused(address):
    assert ask(address, "api/forecast", "POST", " ", Content_Length=str(2**30))[0] == 413
    assert (
        ask(address, "api/forecast", "POST", " ", Content_Length=None, Transfer_Encoding="chunked")[0] == 413
    )


def test_a_question_is_answered(address):
    status, headers, content = ask(address, "api/forecast", "POST", question(set={"machine.cores": "2"}))
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(content)["main"] == "kernel"
    _, _, content = ask(address, "api/forecast", "POST", question(models=["kernal"]))
    assert "did you mean" in json.loads(content)["error"]["message"]


def test_a_mistake_of_ours_ends_no_server(address, monkeypatch):
    """A panic of the core is no `Exception`."""

    class PanicException(BaseException):
        pass

    def fail(*_):
        raise PanicException("a promise")

    monkeypatch.setattr(Session, "forecast", fail)
    _, _, content = ask(address, "api/forecast", "POST", question())
    message = "this is a mistake in pagecast, not yours: PanicException: a promise"
    assert json.loads(content)["error"]["message"] == message
    assert ask(address, "api/revision")[0] == 200


def test_settings_are_copied(address):
    body = question(set={"machine.cores": "2"})
    _, _, content = ask(address, "api/copy/toml", "POST", body)
    assert json.loads(content)["text"] == SCENARIO.replace("cores = 4", "cores = 2")
    _, _, content = ask(address, "api/copy/command", "POST", body)
    assert json.loads(content)["text"].endswith("--model kernel --set machine.cores=2")
    assert ask(address, "api/copy/other", "POST", body)[0] == 400
    _, _, content = ask(address, "api/copy/toml", "POST", question(set={"machine.corse": "2"}))
    assert "cores" in json.loads(content)["error"]["message"]


def test_a_port_that_is_in_use(session):
    server = Server(session)
    port = server.socket.getsockname()[1]
    with pytest.raises(ArgumentError, match=f"--port {port}: is in use; choose another one"):
        Server(session, port)
    server.socket.close()
