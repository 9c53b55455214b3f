"""Readers beside a writer."""

from __future__ import annotations


def test_a_reader_never_sees_an_error_and_never_goes_back(
    store_path, open_sessions, start_process, finish
):
    """It views, lists and reads the tape all the while, with a warm instance and a cold one."""
    reader = """
        with Sessions(sys.argv[1]) as sessions:
            say("ready")
            last = views = 0
            while last < 402:
                view = sessions.view("s")
                assert view.position >= last, (view.position, last)
                texts = [message.content[0].text for message in view.messages]
                assert texts == [str(n) for n in range(1, view.position)]
                last = view.position
                past = sessions.view("s", at=max(1, last // 2))
                assert past.position == max(1, last // 2)
                (info,) = sessions.sessions()
                assert info.position >= last
                last = info.position
                positions = [event.position for event in sessions.tape("s", gt=last - 1)]
                assert positions == list(range(last, last + len(positions)))
                last += len(positions) - 1
                views += 1
            say(views)
        """
    writer = """
        with Sessions(sys.argv[1]) as sessions:
            for n in range(1, 402):
                sessions.execute("s", lambda s: s.finalize("user", str(n)))
        """
    sessions = open_sessions(store_path)
    sessions.start("s", persist=True)
    readers = [start_process(reader, store_path) for _ in range(2)]
    for process in readers:
        assert process.stdout.readline() == "ready\n"
    finish(start_process(writer, store_path))
    for process in readers:
        (views,) = finish(process)
        assert int(views) > 5
    assert sessions.state("s").position == 402
