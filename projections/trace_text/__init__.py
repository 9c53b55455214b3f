"""Full text: what was said, asked of tools and given back, in words and as it stands."""
