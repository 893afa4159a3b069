"""The stages an article passes, in order. Each is a thin file: glue between an item and a pure function.

A stage joins the table with the part of the project that it needs; the way is
wrapper, content, URL filter, duplicate, classify, store, publish (DESIGN: the way of the data).
"""

ORDER = (
    ("wrapper", "newsportal.pipelines.wrapper.WrapperPipeline"),
    ("content", "newsportal.pipelines.content.ContentPipeline"),
    ("url_filter", "newsportal.pipelines.url_filter.UrlFilterPipeline"),
    ("duplicate", "newsportal.pipelines.duplicate.DuplicatePipeline"),
    ("classify", "newsportal.pipelines.classify.ClassifyPipeline"),
    ("store", "newsportal.pipelines.store.StorePipeline"),
    ("thread", "newsportal.pipelines.thread.ThreadPipeline"),
    ("pictures", "newsportal.pipelines.pictures.PicturesPipeline"),
    ("gallery", "newsportal.pipelines.gallery.GalleryPipeline"),
)
