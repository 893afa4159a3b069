"""Where requests wait: the queue's promises (``base``), on disk for one machine (``disk``), in Redis for many (``shared``)."""
