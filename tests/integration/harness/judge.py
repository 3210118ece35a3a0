"""The judge is PostgreSQL: the same bytes go to it directly and through the router, and the answers must be
the same."""

from . import messages as m


def comparable(answer):
    return [m.summary(part) if isinstance(part, m.Message) else part for part in answer]


class Judge:
    """Runs one dialogue against `server` directly and through `front`."""

    def __init__(self, server, direct, front):
        self.server = server
        self.direct = direct
        self.front = front

    def _both(self, open_client, talk, before, database):
        answers = []
        for front in (self.direct, self.front):
            for sql in [before] if isinstance(before, str) else before or []:
                self.server.query(sql, database=database)
            with open_client(front) as client:
                answers.append(list(talk(client)))
        expected, seen = map(comparable, answers)
        assert seen == expected, self._difference(expected, seen)
        return answers[1]

    @staticmethod
    def _difference(expected, seen):
        for index, (left, right) in enumerate(zip(expected, seen)):
            if left != right:
                return f"message {index}: PostgreSQL {left}, router {right}"
        return f"PostgreSQL sent {len(expected)} messages, the router {len(seen)}: {expected[len(seen):] or seen[len(expected):]}"

    def same(
        self, talk, ready=1, before=None, tls=False, timeout=None, user="alice", database="app", **login
    ):
        """After a login: `talk` is bytes answered by `ready` ReadyForQuery messages, or a function from a
        client to messages.
        `before` is SQL the superuser runs ahead of each of the two runs. Returns the answer through the
        router.
        """

        def run(client):
            return talk(client) if callable(talk) else client.run(talk, ready, timeout)

        return self._both(
            lambda front: (front.tls_session if tls else front.session)(user, database, **login),
            run,
            before,
            "app",
        )

    def same_start(self, talk, before=None):
        """From the first byte on: `talk` gets a connected client that has sent nothing."""
        return self._both(lambda front: front.wire(), talk, before, "app")
