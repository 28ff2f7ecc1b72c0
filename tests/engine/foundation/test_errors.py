from engine.foundation.errors import error_in_words


def test_running_out_of_memory_names_what_to_lower() -> None:
    for error in (MemoryError(), RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")):
        assert "batch_size" in error_in_words(error)


def test_a_path_of_the_machine_is_not_told() -> None:
    sentence = error_in_words(OSError(30, "Read-only file system", "/home/somebody/runs"))
    assert sentence == "An error ended it (OSError: Read-only file system)."
