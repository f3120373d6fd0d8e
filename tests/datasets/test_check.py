from sketchhash.datasets import check, open_dataset


def test_a_check_counts_what_can_be_read(folder_pair):
    (folder_pair / "photos" / "cat" / "web_0.jpg").write_bytes(b"not a picture")
    (folder_pair / "sketches" / "dog" / "1.png").write_bytes(b"")
    report = check(open_dataset(folder_pair))
    assert [(count.category, count.sketches, count.photos) for count in report.counts] == [
        ("cat", 4, 2),
        ("dog", 3, 3),
        ("owl", 4, 0),
    ]
    assert sorted(text.split(":")[0].rsplit("/", 2)[-1] for text in report.unreadable) == [
        "1.png",
        "web_0.jpg",
    ]
    assert report.sketches_without_photos == ("owl",)
    assert report.why_unusable is None


def test_a_check_of_names_opens_nothing(folder_pair):
    (folder_pair / "photos" / "cat" / "web_0.jpg").write_bytes(b"not a picture")
    assert check(open_dataset(folder_pair), decode=False).unreadable == ()


def test_every_item_advances_the_progress(folder_pair):
    calls = []
    check(open_dataset(folder_pair), advance=lambda: calls.append(1))
    assert len(calls) == 18


def test_files_that_are_no_pictures_are_remarked_on(folder_pair):
    (folder_pair / "photos" / "cat" / "notes.txt").write_text("hello")
    (folder_pair / "photos" / "cat" / ".DS_Store").write_text("ignored")
    (remark,) = check(open_dataset(folder_pair)).remarks
    assert remark.endswith("cat: 1 entries are not pictures")


def test_missing_classes_of_a_published_list_are_named(tuberlin):
    report = check(open_dataset(tuberlin))
    assert len(report.missing) == 246
    assert "zebra" in report.missing


def test_sketches_alone_are_unusable_and_told_how_to_get_photos(quickdraw_official):
    assert "--photos" in check(open_dataset(quickdraw_official)).why_unusable


def test_photos_alone_are_unusable(cifar10):
    assert "no readable sketch" in check(open_dataset(cifar10)).why_unusable


def test_one_shared_category_is_not_enough(folder_pair):
    for photo in (folder_pair / "photos" / "dog").iterdir():
        photo.unlink()
    assert "fewer than two categories" in check(open_dataset(folder_pair)).why_unusable
