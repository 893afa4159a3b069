"""Traditional characters of the stories in simplified form, for stories that a site in simplified characters reposts."""

from __future__ import annotations

from dataclasses import replace

from madeup.stories import FOLDER, Picture, Story

TABLE = str.maketrans({pair[0]: pair[1] for pair in (FOLDER / "characters.txt").read_text(encoding="utf-8").split()})


def simplified(text: str) -> str:
    return text.translate(TABLE)


def in_simplified(story: Story) -> Story:
    """Return the story as a site in simplified characters prints it."""
    return replace(
        story,
        language="zh",
        title=simplified(story.title),
        author=story.author and simplified(story.author),
        blocks=tuple(replace(block, text=simplified(block.text)) for block in story.blocks),
        pictures=tuple(Picture(picture.motif, simplified(picture.caption)) for picture in story.pictures),
    )
