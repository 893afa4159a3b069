"""Articles to files and back: JSON lines, CSV, Parquet, WARC, all of one form (:mod:`form`, ``docs/article.schema.json``)."""
