"""Archives (WARC, CC-NEWS) made into articles where they lie: the spiders' readers and the stages of the crawl, in many processes.

``archives`` looks through the files and makes the parts of the work, ``reading`` reads lists and articles (in any process), ``mapping``
hands the parts to processes of this machine or to Apache Spark, ``storing`` folds and stores what they bring, in one process.
"""
