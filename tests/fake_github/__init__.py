"""A GitHub on loopback that keeps state and enforces what its API's document does not say."""
