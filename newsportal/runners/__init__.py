"""Who runs the spiders: processes of this machine (``local``) or a scrapyd (``scrapyd``), behind one interface (``base``).

``deploy`` packs newsportal with a sources file into an egg and sends it; ``planning`` decides, purely, what is started when.
"""
