"""Reads `line<TAB>zone<TAB>second`, from a file or what is piped in, and answers the second of croniter's next instant, or `none`."""

import sys
import time
from datetime import datetime
from zoneinfo import ZoneInfo

import tzdata
from croniter import CroniterBadDateError, croniter

print(tzdata.IANA_VERSION)
zones = {}
cases = []
for row in open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin:
    line, zone, second = row.rstrip("\n").split("\t")
    if zone not in zones:
        zones[zone] = ZoneInfo(zone)
    cases.append((line, zones[zone], int(second)))



def ask(line, start):
    # the rule of Vixie cron for days: croniter has it behind this switch
    asked = croniter(line, start, second_at_beginning=True, implement_cron_bug=True)
    try:
        return int(asked.get_next(float))
    except CroniterBadDateError:
        return None


def either_day(line, start):
    """croniter gives up on `31 NOV FRI`: no month has that day, and it does not look at the Fridays."""
    fields = line.split(" ")
    days, weekdays = len(fields) - 3, len(fields) - 1
    if fields[days].startswith("*") or fields[weekdays].startswith("*"):
        return None
    halves = [fields[:at] + ["*"] + fields[at + 1 :] for at in (days, weekdays)]
    found = [ask(" ".join(half), start) for half in halves]
    return min((second for second in found if second is not None), default=None)


begun = time.process_time()
answers = []
for line, zone, second in cases:
    start = datetime.fromtimestamp(second, zone)
    second = ask(line, start)
    if second is None:
        second = either_day(line, start)
    answers.append("none" if second is None else str(second))
took = time.process_time() - begun
print("\n".join(answers))
print(int(took * 1e9 / max(1, len(cases))))
