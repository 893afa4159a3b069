"""Images: size and format from the first bytes, perceptual hashes, and a filter for logos and advertisements. Pure."""
