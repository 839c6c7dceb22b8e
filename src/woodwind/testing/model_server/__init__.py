"""A scripted model on loopback: it speaks the languages of four model APIs and does what `model:` lines say.

Real agents talk to it instead of to a vendor, so a test decides what "the model" does and nothing is spent.
"""

from woodwind.testing.model_server.server import Exchange, ModelServer

__all__ = ["Exchange", "ModelServer"]
