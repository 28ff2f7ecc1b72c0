"""The settings of a run in their three parts: plain, of its task, of its encoding. The rules between settings read them here."""

from pydantic import SerializeAsAny

from engine.encodings import ENCODINGS
from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.architectures import ARCHITECTURES, Architecture
from engine.settings.base import BaseConfig
from engine.settings.fields import Value
from engine.tasks.base import TaskSettings


class ComposedConfig(BaseConfig):
    """The plain settings with those of the chosen task and encoding; :class:`engine.config.run_config.RunConfig` checks them."""

    task_settings: SerializeAsAny[TaskSettings] = TaskSettings()
    encoding_settings: SerializeAsAny[EncodingSettings] = EncodingSettings()

    @property
    def architecture(self) -> Architecture:
        """The facts about the architecture."""
        return ARCHITECTURES[self.family]

    @property
    def encoding(self) -> EncodingSpec:
        """The registry row of the chosen encoding, adapted to its settings."""
        return self.encoding_settings.specialise(ENCODINGS[self.pos_encoding])

    @property
    def causal(self) -> bool:
        """Whether a position sees only itself and earlier positions."""
        return self.architecture.causal

    def value(self, name: str) -> Value:
        """A setting by its one name. Raises KeyError where this config has none of that name."""
        for settings in (self, self.task_settings, self.encoding_settings):
            if name in type(settings).model_fields:
                found: Value = getattr(settings, name)
                return found
        raise KeyError(name)
