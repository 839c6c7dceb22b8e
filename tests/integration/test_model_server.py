"""The scripted model over HTTP: whole answers, streams, errors, broken connections."""

import http.client
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from woodwind.testing.model_server import ModelServer
from woodwind.testing.model_server.replies import Text

PATHS = {
    "anthropic": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/pro:generateContent",
}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def body_of(api: str, text: str, *, stream: bool) -> dict[str, Any]:
    said = {"role": "user", "content": text}
    shapes: dict[str, dict[str, Any]] = {
        "anthropic": {"messages": [said]},
        "chat": {"messages": [said]},
        "responses": {"input": text},
        "gemini": {"contents": [{"role": "user", "parts": [{"text": text}]}]},
    }
    return {**shapes[api], **({"stream": stream} if api != "gemini" else {})}


def post(url: str, body: dict[str, Any]) -> str:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("api", PATHS)
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_in_every_api(model: ModelServer, api: str, stream: bool) -> None:
    path = PATHS[api].replace(":generate", ":streamGenerate") if stream else PATHS[api]
    answer = post(model.url + path, body_of(api, "model: stream 0.2 nice words", stream=stream))
    assert "nice" in answer
    if stream:
        events = [line.removeprefix("data: ") for line in answer.splitlines() if line.startswith("data: ")]
        assert len(events) > 2
        assert all(json.loads(event) for event in events if event != "[DONE]")
    [exchange] = model.exchanges
    assert (exchange.path, exchange.reply) == (path, Text("nice words", 0.2))


@pytest.mark.parametrize("status", [429, 500])
def test_an_error(model: ModelServer, status: int) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(model.url + "/v1/messages", body_of("anthropic", f"model: fail {status}", stream=True))
    assert caught.value.code == status
    caught.value.close()


def test_a_script_that_cannot_be_understood_is_an_error_too(model: ModelServer) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(model.url + "/v1/messages", body_of("anthropic", "model: dance", stream=True))
    assert "no verb" in caught.value.read().decode()
    caught.value.close()


def test_a_connection_that_breaks(model: ModelServer) -> None:
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        post(model.url + "/v1/responses", body_of("responses", "model: drop", stream=True))


def test_what_else_agents_ask_for(model: ModelServer) -> None:
    with urllib.request.urlopen(model.url + "/v1/models", timeout=30) as answer:
        assert json.loads(answer.read())["data"][0]["id"] == "scripted"
    assert json.loads(post(model.url + "/v1/messages/count_tokens", {}))["input_tokens"]
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(model.url + "/telemetry", {})
    caught.value.close()
    assert model.strangers == ["POST /telemetry"]


def test_it_ends_with_an_answer_under_way() -> None:
    with ModelServer() as server:
        connection = http.client.HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=30)
        body = json.dumps(body_of("chat", "model: stream 600 for ever", stream=True))
        connection.request("POST", "/v1/chat/completions", body)
        assert connection.getresponse().readline()
    connection.close()


def test_it_runs_as_a_process() -> None:
    command = [sys.executable, "-m", "woodwind.testing.model_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert "hi there" in post(url + "/v1/messages", body_of("anthropic", "model: say hi there", stream=False))
        process.terminate()
