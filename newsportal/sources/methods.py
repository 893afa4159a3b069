"""The methods that ``sources.yaml`` chooses from: how articles are extracted, and how reposts are found."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler, model_validator

from newsportal.messages import Message
from newsportal.sources.parts import Part
from newsportal.sources.values import mistake


class Method(Part):
    """A method with its parameters; its name alone stands for the mapping."""

    PARAMETERS: ClassVar[Mapping[str, Collection[str]]]
    """Key of a parameter → the methods that have it."""

    method: str

    @model_validator(mode="before")
    @classmethod
    def _accept_name(cls, value: Any) -> Any:
        return {"method": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_parameters(self) -> Self:
        for name in self.model_fields_set - {"method"}:
            key = type(self).model_fields[name].alias or name
            if self.method not in self.PARAMETERS[key]:
                message = Message("sources.no-parameter", key=key, method=self.method, allowed=", ".join(self.PARAMETERS[key]))
                raise mistake(message, at=(key,))
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        mapping = handler.resolve_ref_schema(super().__get_pydantic_json_schema__(core_schema, handler))
        return {"anyOf": [{"enum": mapping["properties"]["method"]["enum"]}, mapping], "description": cls.__doc__ or ""}


class Extracting(Method):
    """How articles are read from their pages: a method's name, or a mapping with its parameters."""

    PARAMETERS: ClassVar[Mapping[str, Collection[str]]] = {"P": ("table_stats",), "T": ("table_stats",)}

    method: Literal["best", "cevc", "cetd", "cetd_threshold", "cepr", "cetr", "table_stats", "summary_anchor", "url_tree"] = "best"
    """best, or a method of a paper."""
    least: Annotated[int, Field(ge=0, le=10_000)] | None = Field(default=None, alias="P")
    """table_stats: a block with no more characters is no candidate (P); by default 50."""
    share: Annotated[float, Field(gt=0, lt=1)] | None = Field(default=None, alias="T")
    """table_stats: the share of the outer block's characters above which an inner one takes its place (T); by default 0.65."""

    @property
    def options(self) -> dict[str, float]:
        return self.model_dump(include={"least", "share"}, exclude_none=True)


class Duplicates(Method):
    """How reposts are detected: a method's name, or a mapping with its parameters."""

    PARAMETERS: ClassVar[Mapping[str, Collection[str]]] = {
        "theta": ("feature_string", "cosine"),
        "days": ("trie", "title_index", "feature_string", "cosine"),
    }

    method: Literal["judge", "trie", "title_index", "feature_string", "cosine"] = "judge"
    """judge, or a method of a paper; with title_index reposts are not fetched, either."""
    theta: Annotated[float, Field(gt=0, lt=1)] | None = None
    """feature_string: the share of the longer string that a run must pass (0.5); cosine: the least cosine (0.3)."""
    days: Annotated[float, Field(gt=0, le=366)] | None = None
    """Days for which articles are compared: trie 1, feature_string 7, title_index and cosine unlimited."""
