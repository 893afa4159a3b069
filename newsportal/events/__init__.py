"""Events: what happened and how it went on, told by many stories under many titles. Pure: stories in time order in, events out."""

from newsportal.events.clustering import EventClusters, Membership, Story, places_among

__all__ = ["EventClusters", "Membership", "Story", "places_among"]
