"""Recommend stories to readers by their reading history and that of others. Pure: views in, recommendations out."""
