"""The pictures of README and docs, and the script that draws them."""
