#!/usr/bin/env python3
"""Prints `passed failed skipped` of a JUnit XML file (of ctest or pytest), then the failed cases, one a line."""

import sys
import xml.etree.ElementTree as ElementTree


def main(path):
    passed = skipped = 0
    failed = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(case.get("name"))
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    print(passed, len(failed), skipped)
    print("\n".join(failed))


if __name__ == "__main__":
    main(sys.argv[1])
