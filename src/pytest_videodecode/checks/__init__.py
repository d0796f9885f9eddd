"""The things that must hold of a decoder, one file each."""
