"""Pictures by themselves: size and format from the first bytes, perceptual hashes, and which of them belong to no story. Pure."""
