"""The form of a remote system in a real browser."""

from vlmlab.web.roles import Role

SECRET = "sk-browser-0123456789"


def test_the_exact_request_is_shown_in_place_and_the_key_stays_in_the_browser(visit, transactional_db):
    visitor = visit(Role.RESEARCHER)
    visitor.open("/suts/new/?preset=qwen3_vl_235b")
    page, sent = visitor.page, []
    page.on(
        "request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None
    )

    page.fill("#id_secret", SECRET)
    chosen = page.input_value("#id_api_key")
    page.get_by_text("Show the exact request").click()
    page.wait_for_selector("#preview pre")

    shown = page.locator("#preview pre").first.inner_text()
    assert (chosen, page.input_value("#id_secret")) == ("new", SECRET)
    assert ('"Authorization": "<key>"' in shown, "Qwen3-VL-235B" in shown) == (True, True)
    assert [SECRET in body for body in sent] == [False]
    assert visitor.problems == []
