"""Output of Kafka's own tools, and files that a broker keeps."""
