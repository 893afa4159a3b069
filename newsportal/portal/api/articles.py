"""Articles for editors: correct, fold, hide and classify them, and read their former states."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, HTTPException, Query
from pydantic import AliasPath, AwareDatetime, BaseModel, Field

from newsportal.errors import StoreError
from newsportal.portal.access import EDIT, ApiError, api_error_for, describe, or_404, require
from newsportal.portal.api.paging import Limit, Page, fill
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.desk import article_changes
from newsportal.services.editing.drafts import Candidate, Draft, MovedArticle, candidates, correction, draft_of
from newsportal.store.article_rows import EDITOR
from newsportal.store.corrections import OutdatedEdit
from newsportal.store.gallery_tables import StoredPicture
from newsportal.store.lists import ArticleFilter
from newsportal.store.results import StoredArticle, is_gallery

router = APIRouter(tags=["Articles"], dependencies=EDIT, responses=describe(404))

Id = Annotated[str, Field(min_length=1, max_length=40)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=200)]


class ArticleState(BaseModel):
    id: str
    story: str = Field(validation_alias="story_id")
    revision: int = Field(description="Number of the article's state; sent with a correction, it detects changes by others.")
    title: str
    author: str | None
    published: datetime | None
    source: str
    url: str
    category: str | None
    category_by: str | None = Field(description="source, lexicon, model VERSION, or editor.")
    category_score: float | None
    hidden: datetime | None
    hidden_by: str | None
    hidden_reason: str | None
    corrected: datetime | None = Field(description="When an editor corrected it; null: never.")
    corrected_by: str | None
    corrected_fields: list[str]


class ArticleStateDetail(ArticleState):
    text: str = Field(description="One paragraph per line.")
    lines: str | None = Field(description="The body in the format of `PATCH`; null if the text is not the article's own.")


class CorrectionIn(BaseModel):
    """Fields that are left out keep their values."""

    revision: int = Field(description="The state that was read.")
    title: str | None = Field(None, min_length=1, max_length=500)
    lines: str | None = Field(
        None,
        min_length=1,
        max_length=300_000,
        description="One paragraph per line; `## ` begins a heading, ⟦1⟧ stands for an existing picture, table or similar part.",
    )
    published: AwareDatetime | None = None
    author: str | None = Field(None, max_length=200)


class FoldCandidate(BaseModel):
    story: str = Field(validation_alias=AliasPath("story", "id"))
    title: str = Field(validation_alias=AliasPath("story", "head", "title"))
    versions: int = Field(validation_alias=AliasPath("story", "count"))
    shared: float = Field(description="Share of the text that both have, from 0 to 1.", validation_alias=AliasPath("similarity", "shared"))


class ShowIn(BaseModel):
    articles: Ids


class HideIn(ShowIn):
    reason: str = Field("", max_length=300)


class ArticleCategoryIn(BaseModel):
    category: str | None = Field(max_length=100, description="Null: none.")


class BulkCategoryIn(ArticleCategoryIn):
    articles: Ids


class TopicArticlesIn(ShowIn):
    topic: str = Field(min_length=1, max_length=100, description="An existing topic.")


class Caption(BaseModel):
    picture: str = Field(description="URL of the picture.", validation_alias=AliasPath("image", "url"))
    caption: str | None = Field(description="The caption; null: none.", validation_alias=AliasPath("image", "caption"))
    corrected: bool = Field(description="Whether an editor wrote it.")
    page: str | None = Field(description="The caption on the picture's page.", validation_alias="page_caption")


class CaptionsIn(BaseModel):
    captions: dict[str, Annotated[str, Field(max_length=article_changes.MAX_CAPTION)] | None] = Field(
        max_length=2000, description="URL of a picture → its caption: empty for none, null for that of its page."
    )


class ChangedArticles(BaseModel):
    articles: list[str] = Field(description="Ids of the articles that were changed.")


@router.get("/editing/articles", summary="Articles that may need work", response_model=Page[ArticleState])
def list_articles(
    visit: VisitDep,
    show: Annotated[Literal["all", "hidden", "corrected", "judged", "undated"], Query()] = "all",
    shorter: Annotated[int | None, Query(ge=1, description="Texts with fewer characters.")] = None,
    unsure: Annotated[float | None, Query(gt=0, le=1, description="Categories by a classifier with a lower score.")] = None,
    source: Annotated[str | None, Query(max_length=300)] = None,
    category: Annotated[str | None, Query(max_length=100)] = None,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 50,
) -> Page[Any]:
    """The newest first. A page may have fewer than `limit` articles although another follows."""
    selection = ArticleFilter(
        hidden=True if show == "hidden" else None, corrected=True if show == "corrected" else None, judged=show == "judged",
        undated=show == "undated", shorter=shorter, unsure=unsure, source=source, category=category, before=cursor, limit=limit,
    )  # fmt: skip
    page = visit.portal.store.select_articles(selection)
    return Page(items=list(page.articles), next=page.next)


@router.get("/articles/{id}/states", summary="All states of an article, the current one last")
def list_states(visit: VisitDep, id: str) -> list[ArticleStateDetail]:
    article = _article(visit, id)
    return [_whole_state(state) for state in (*visit.portal.store.revisions(id), article)]


@router.patch("/articles/{id}", summary="Correct an article", responses=describe(409))
def correct_article(visit: VisitDep, id: str, body: CorrectionIn) -> ArticleStateDetail:
    """A correction takes precedence over later versions of the page, field by field. 409: the article has changed since it was read."""
    article = _article(visit, id)
    draft = draft_of(article, body=False)
    fields = body.model_dump(exclude_unset=True)
    try:
        changes = correction(article, Draft(
            title=fields.get("title") or draft.title, lines=fields.get("lines"),
            published=fields.get("published", draft.published), author=fields.get("author", draft.author) or "",
        ))  # fmt: skip
        article_changes.editor(visit).correct(article, changes, body.revision)
    except ValueError as mark:
        raise ApiError(422, "unknown-part", f"The text has a part {mark} that is not in this article.", "Read `lines` again.") from mark
    except OutdatedEdit as error:
        raise HTTPException(409) from error
    except StoreError as error:
        raise ApiError(422, "field-not-correctable", str(error)) from error
    return _whole_state(_article(visit, id))


@router.delete("/articles/{id}/correction", summary="Withdraw the corrections of an article")
def withdraw_corrections(visit: VisitDep, id: str) -> ArticleStateDetail:
    article_changes.editor(visit).withdraw(_article(visit, id))
    return _whole_state(_article(visit, id))


@router.get("/articles/{id}/captions", summary="The captions of a photo story, in its order", response_model=list[Caption])
def list_captions(visit: VisitDep, id: str) -> list[StoredPicture]:
    """404 also for an article that is not a photo story."""
    require(is_gallery(_article(visit, id).source))
    return visit.portal.store.galleries.pictures(id)


@router.patch("/articles/{id}/captions", summary="Correct captions of a photo story", response_model=list[Caption])
def correct_captions(visit: VisitDep, id: str, body: CaptionsIn) -> list[StoredPicture]:
    """Corrected captions take precedence over later visits; pictures that are left out keep their captions."""
    if is_gallery(_article(visit, id).source):
        article_changes.set_captions(visit, id, body.captions)
    return list_captions(visit, id)


@router.put("/articles/{id}/category", summary="Set the category of an article", response_model=ArticleState)
def set_category(visit: VisitDep, id: str, body: ArticleCategoryIn) -> StoredArticle:
    """An editor's choice: no model changes it, and the next training learns from it."""
    article_changes.set_category(visit, [_article(visit, id)], (body.category or "").strip() or None, EDITOR)
    return _article(visit, id)


@router.get("/articles/{id}/candidates", summary="Stories that an article may belong to", response_model=list[FoldCandidate])
def list_fold_candidates(visit: VisitDep, id: str, q: Annotated[str | None, Query(max_length=300)] = None) -> Sequence[Candidate]:
    """The most similar first: found by `q`, or by their subject."""
    article = _article(visit, id)
    return candidates(visit.portal.store, visit.portal.index, article, q or None)


@router.post("/articles/{id}/fold", summary="Fold an article into another story", responses=describe(409))
def fold(visit: VisitDep, id: str, story: Annotated[Id, Body(embed=True, description="Story or one of its articles.")]) -> MovedArticle:
    _article(visit, id)
    with api_error_for(StoreError, status=409, code="not-folded", remedy="Name another story."):
        return article_changes.editor(visit).fold(id, story)


@router.post("/articles/{id}/unfold", summary="Unfold an article into its own story", responses=describe(409))
def unfold(visit: VisitDep, id: str) -> MovedArticle:
    _article(visit, id)
    with api_error_for(StoreError, status=409, code="alone"):
        return article_changes.editor(visit).unfold(id)


@router.post("/articles/hide", summary="Hide articles from readers")
def hide_articles(visit: VisitDep, body: HideIn) -> ChangedArticles:
    return ChangedArticles(articles=article_changes.editor(visit).hide(body.articles, body.reason))


@router.post("/articles/show", summary="Show hidden articles again")
def show_articles(visit: VisitDep, body: ShowIn) -> ChangedArticles:
    return ChangedArticles(articles=article_changes.editor(visit).show(body.articles))


@router.post("/articles/category", summary="Set the category of several articles")
def set_categories(visit: VisitDep, body: BulkCategoryIn) -> ChangedArticles:
    """An editor's choice for each of them, as for a single article. Unknown ids are ignored."""
    articles = visit.portal.store.articles(list(dict.fromkeys(body.articles)))
    return ChangedArticles(articles=article_changes.set_category(visit, articles, (body.category or "").strip() or None, EDITOR))


@router.post("/articles/topic", summary="Assign articles to a topic")
def add_to_topic(visit: VisitDep, body: TopicArticlesIn) -> ChangedArticles:
    """An editor's choice: it stays when the topic's words change, and trains the topic's model."""
    require(body.topic in visit.portal.topics(), 422, "no-topic", f"There is no topic {body.topic!r}.", "See /topics.")
    return ChangedArticles(articles=article_changes.add_topic(visit, body.articles, body.topic))


@router.post("/articles/topic/out", summary="Remove articles from a topic")
def remove_from_topic(visit: VisitDep, body: TopicArticlesIn) -> ChangedArticles:
    """Articles that an editor or the topic's words put there; those that a source, a search or a model brought stay."""
    return ChangedArticles(articles=article_changes.remove_topic(visit, body.articles, body.topic))


def _article(visit: Visit, id: str) -> StoredArticle:
    return or_404(visit.portal.store.article(id))


def _whole_state(article: StoredArticle) -> ArticleStateDetail:
    return fill(ArticleStateDetail, article, story=article.story_id, lines=draft_of(article).lines)
