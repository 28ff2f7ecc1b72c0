"""Parts of the lessons page: those that come with this version, and a teacher's own as a link."""
