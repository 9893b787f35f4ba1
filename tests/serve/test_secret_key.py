"""The generated key."""

from concurrent.futures import ThreadPoolExecutor

from vlmlab.serve.secret_key import KEY_LENGTH, read_or_create_key


def test_a_key_is_made_once_for_its_owner_only(tmp_path):
    path = tmp_path / "new folder" / "secret_key"

    first, again = read_or_create_key(path, prefix="p-"), read_or_create_key(path, prefix="p-")

    assert first == again
    assert first.startswith("p-")
    assert len(first) == len("p-") + KEY_LENGTH
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["secret_key"]


def test_two_folders_get_two_keys(tmp_path):
    assert read_or_create_key(tmp_path / "a") != read_or_create_key(tmp_path / "b")


def test_processes_that_start_together_agree_on_one_key(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        keys = list(pool.map(lambda _: read_or_create_key(tmp_path / "key"), range(64)))

    assert len(set(keys)) == 1
