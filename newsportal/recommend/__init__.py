"""What a reader may like next, from what readers looked at. Pure: views in, recommendations out."""
