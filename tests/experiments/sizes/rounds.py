"""Works off the runs of an experiment: whatever fails is logged and made again behind the others."""

import time
from collections import Counter, deque


class Work:
    TRIES = 3  # of a run
    IN_A_ROW_MAX = 6  # failures: then it is nothing that passes

    def __init__(self, todo, seconds, log, say, end=float("inf")):
        """`todo`: cells. `seconds` that each takes; none begins that would end behind `end`. `log`: the file that says what failed, and why."""
        self.todo, self.seconds, self.log, self.say, self.end = deque(todo), seconds, log, say, end
        self.tries, self.given_up = Counter(), []

    def off(self, play):
        """play(cell) says in an exception why the cell is worth nothing."""
        in_a_row = 0
        while self.todo and in_a_row < self.IN_A_ROW_MAX and time.monotonic() + self.seconds <= self.end:
            cell = self.todo.popleft()
            try:
                play(cell)
                in_a_row = 0
            except Exception as reason:  # whatever it is: a run that is missing can be made up for
                in_a_row += 1
                self.failed(cell, reason)
            except KeyboardInterrupt:
                self.todo.appendleft(cell)
                raise

    def failed(self, cell, reason):
        self.tries[cell] += 1
        again = self.tries[cell] < self.TRIES
        (self.todo if again else self.given_up).append(cell)
        what = f"{type(reason).__name__}: {reason}"
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {cell}, try {self.tries[cell]} of {self.TRIES}\n{what}\n\n")
        self.say(f"{cell}: {what.splitlines()[0]}; {'once more later' if again else 'given up'}, more in {self.log.name}")

    def left(self):
        """Of what was to be done, what is not: None if nothing."""
        if not self.todo and not self.given_up:
            return None
        return f"{len(self.given_up)} runs were given up and {len(self.todo)} are still to be made: start it again for those"


def whole_rounds(rounds, arms, there):
    """The rounds of which every arm is there(round, arm)."""
    return [number for number in range(rounds) if all(there(number, name) for name in arms)]
