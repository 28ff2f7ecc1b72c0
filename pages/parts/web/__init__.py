"""The server's own routes and headers, beside Streamlit's."""
