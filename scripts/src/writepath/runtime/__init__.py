"""What starts the processes of a variant: local processes (native) or Compose (docker)."""
