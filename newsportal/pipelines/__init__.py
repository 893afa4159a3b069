"""Scrapy item pipelines: the processing stages of an article in order, connecting items with the packages that implement each stage."""

ORDER = (
    ("wrapper", "newsportal.pipelines.content.WrapperPipeline"),
    ("content", "newsportal.pipelines.content.ContentPipeline"),
    ("url_filter", "newsportal.pipelines.duplicate.UrlFilterPipeline"),
    ("duplicate", "newsportal.pipelines.duplicate.DuplicatePipeline"),
    ("classify", "newsportal.pipelines.classify.ClassifyPipeline"),
    ("store", "newsportal.pipelines.store.StorePipeline"),
    ("thread", "newsportal.pipelines.store.ThreadPipeline"),
    ("pictures", "newsportal.pipelines.gallery.PicturesPipeline"),
    ("gallery", "newsportal.pipelines.gallery.GalleryPipeline"),
)
