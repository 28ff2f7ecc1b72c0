"""What pages share: the live board, figures, colours and the server's own routes."""
