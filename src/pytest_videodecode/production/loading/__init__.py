"""How the streaming loader orders, decodes and puts together its samples."""
