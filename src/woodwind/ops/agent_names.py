"""The names of configured agents, for completion scripts. Nothing but the configuration is loaded for it."""

from woodwind.config.load import load, project_file
from woodwind.git.repo import locate
from woodwind.model.errors import WoodwindError


def agent_names(folder: str) -> list[str]:
    """The agents that the user and the folder's project configured; none where that cannot be read."""
    try:
        repo = locate(folder)
        project = project_file(folder, repo.top, repo.main_top) if repo.top else ""
    except WoodwindError:
        project = ""
    try:
        return list(load(project).config.agents)
    except WoodwindError:
        return []  # a completion that fails must not disturb the command line
