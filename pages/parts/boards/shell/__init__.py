"""What all boards share: the component, its panels, their drawing and downloads, the status line, the style."""
