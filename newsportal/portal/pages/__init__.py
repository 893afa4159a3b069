"""One file a page. Each has a ``router``; ``app.ROUTERS`` names them in the order they are asked."""
