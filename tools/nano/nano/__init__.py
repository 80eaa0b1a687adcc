"""What the nano model is made of: its tasks, pictures, recordings, tokenizer and layers (developers only)."""
