"""The type system: inference, match checks, and how types are shown."""
