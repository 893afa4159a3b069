"""The stages an article passes, in order: glue between items and the rooms that do the work."""

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
