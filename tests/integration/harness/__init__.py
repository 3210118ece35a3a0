"""What the integration tests stand on: throw-away servers, the router as a process, raw protocol clients
and peers."""
