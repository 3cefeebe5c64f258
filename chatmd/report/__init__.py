"""What is wrong with a document: facts, and their wording."""
