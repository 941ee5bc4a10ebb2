import json
import sys
import threading
from typing import Dict, List, Optional

from tickets import BuyerHoldRefused, Client, Problem

base_url = sys.argv[1]
organizer = Client(base_url, principal="olga")
ann = Client(base_url, principal="ann")

told: List[str] = []


def follow() -> None:
    for transition in organizer.feed("start"):
        seat = next((change for change in transition["changes"] if change["subject"] == "Seat"), None)
        events = "".join(f" {event['event']}" for event in transition["events"])
        told.append(f"{transition['operation']} {seat['key'][0] if seat else ''}{events}")
        if transition["operation"] == "confirm":
            return


following = threading.Thread(target=follow)
following.start()
for name in ("A1", "A2", "A3", "A4"):
    organizer.organizer.add_seat(seat=name, section="stalls")
first = ann.buyer.hold(seat="A1", booking="b1")
why: Dict[str, object] = {}
try:
    ann.buyer.hold(seat="A1", booking="b3")
except BuyerHoldRefused as refused:
    status: Optional[str] = None
    for record in refused.truth:
        if record["subject"] == "Seat" and record["truth"] is not None:
            status = record["truth"]["SeatInventoryState"]["status"]
    if refused.guard == "free":
        why = {"guard": refused.guard, "prevents": refused.prevents, "status": status}
wrong: Dict[str, object] = {}
try:
    ann.buyer.hold(seat="A1", booking="b4", ttl="long")
except Problem as problem:
    wrong = {"status": problem.status, "pointer": problem.pointer}
# its first answer is lost
second = ann.buyer.hold(seat="A2", booking="b2")
seat_now = ann.records.Seat.get("A2")
assert seat_now is not None
confirmed = ann.buyer.confirm(booking="b2")
following.join()
sold = organizer.records.Seat.list({"status": "SOLD", "section": "stalls"})
rows = organizer.views.Availability.rows(section="stalls", limit=1)
print(
    json.dumps(
        {
            "first": first["outcome"],
            "refused": why,
            "second": {"outcome": second["outcome"], "booking": seat_now["truth"]["SeatInventoryState"]["booking"]},
            "confirmed": confirmed["outcome"],
            "wrong": wrong,
            "absent": ann.records.Seat.get("none"),
            "sold": [found["key"][0] for found in sold],
            "counted": sum(1 for row in rows if row["truth"]["SeatInventoryState"]["section"] == "stalls"),
            "feed": told,
        }
    )
)
