"""gRPC: the service, its calls, health and reflection."""
