from pydantic import SerializeAsAny

from engine.encodings import ENCODINGS
from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.architectures import ARCHITECTURES, Architecture
from engine.settings.base import BaseConfig
from engine.settings.fields import Value
from engine.tasks.base import TaskSettings


class ComposedConfig(BaseConfig):
    """The settings before their rules are checked; :class:`engine.config.run_config.RunConfig` checks them."""

    task_settings: SerializeAsAny[TaskSettings] = TaskSettings()
    encoding_settings: SerializeAsAny[EncodingSettings] = EncodingSettings()

    @property
    def architecture(self) -> Architecture:
        return ARCHITECTURES[self.family]

    @property
    def encoding(self) -> EncodingSpec:
        return self.encoding_settings.specialise(ENCODINGS[self.pos_encoding])

    @property
    def causal(self) -> bool:
        return self.architecture.causal

    def value(self, name: str) -> Value:
        """A setting of any part. Raises KeyError."""
        for settings in (self, self.task_settings, self.encoding_settings):
            if name in type(settings).model_fields:
                value: Value = getattr(settings, name)
                return value
        raise KeyError(name)
