"""Gemini CLI."""

from collections.abc import Mapping, Sequence

from woodwind.agents import choices
from woodwind.agents.base import Agent, Start
from woodwind.model.reading import Recorded
from woodwind.model.status import Status

_TITLES = {"◇": Status.READY, "✦": Status.WORKING, "✋": Status.ASKING}


class Gemini(Agent):
    """Google's terminal agent."""

    name = "gemini"
    command = "gemini"
    pass_env = (
        "GEMINI_API_KEY",
        "GEMINI_MODEL",
        "GEMINI_CLI_HOME",
        "GOOGLE_API_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
    )
    paths = ("~/.npm-global/bin/gemini",)
    install = "Install it: npm install -g @google/gemini-cli"
    checked = "0.61.0"
    prompt = "flag"
    prompt_flag = "--prompt-interactive"
    headless_args = ()
    headless_flag = "--prompt"
    plan_args = ("--approval-mode", "plan")
    model_flag = "--model"
    providers = ("google", "gemini")
    permissions: Mapping[str, Sequence[str]] = {
        "ask": ("--approval-mode", "default"),
        "auto": ("--approval-mode", "auto_edit"),
        "bypass": ("--approval-mode", "yolo"),
    }
    session_args = ("--session-id", "{session}")
    resume_args = ("--resume", "{session}")  # read
    exit = "/quit"
    # It has hooks, but takes them only from files of the user, the repository or root: none that is for one run.
    # Its title tells what it is doing, and its own record of the conversation how that ended.
    keeps_record = True
    answers: Mapping[str, Sequence[str]] = {"allow": ("1",), "deny": ("Escape",)}

    def answer_keys(self, answer: str, screen: str) -> Sequence[str]:
        return choices.keys_for(answer, screen)

    def words_keys(self, screen: str) -> Sequence[str] | None:
        return None

    def trust_args(self, start: Start) -> Sequence[str]:
        return ("--skip-trust",)

    def recorded(self, environ: Mapping[str, str], folder: str, since: int) -> Recorded | None:
        from woodwind.agents import gemini_record  # 4 ms with json, only while a turn may have ended

        return gemini_record.recorded(environ, folder, since)

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        status = _TITLES.get(title[:1])
        return (status, "its title says so") if status else None
