"""Extract articles from archives (WARC, CC-NEWS) with the spiders' readers and the crawl's stages, in many processes.

``archives`` scans the files and divides the work into tasks, ``reading`` reads lists and articles (in any process), ``mapping``
distributes the tasks to processes of this machine or to Apache Spark, ``storing`` folds and stores the results, in one process.
"""
