"""How the reader finds and decodes frames: the plan, its verification, the ways back when something does not fit."""
