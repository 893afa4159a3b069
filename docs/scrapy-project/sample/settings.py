SPIDER_MODULES = ["sample.spiders"]
ADDONS = {"newsportal.crawl.page_objects.PageObjects": 500}
ROBOTSTXT_OBEY = True
FEED_EXPORT_ENCODING = "utf-8"
