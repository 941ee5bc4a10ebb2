import json
import sys
from typing import Dict

from i02 import Client, HolderRenewRefused

base_url = sys.argv[1]
ann = Client(base_url, principal="ann")
bob = Client(base_url, principal="bob")
ann.claimant.claim(resource="r1", ttl="1h")
# what `claimant` was handed, `holder` presents: they are one chain
renewed = ann.holder.renew(resource="r1", ttl="1h")
said: Dict[str, str] = {"renewed": renewed["outcome"]}
try:
    bob.holder.renew(resource="r1", ttl="1h")
except HolderRenewRefused as refused:
    said["bob"] = refused.guard
# another record has a memory of its own
try:
    ann.holder.renew(resource="r2", ttl="1h")
except HolderRenewRefused as refused:
    said["other"] = refused.guard
# a client that begins anew knows what was kept
again = Client(base_url, principal="ann", memory=json.loads(json.dumps(ann.memory.to_dict())))
said["again"] = again.holder.renew(resource="r1", ttl="1h")["outcome"]
forgetful = Client(base_url, principal="ann")
try:
    forgetful.holder.renew(resource="r1", ttl="1h")
except HolderRenewRefused as refused:
    said["forgetful"] = refused.guard
said["owner"] = str(ann.claimant.ownership(resource="r1")["result"]["owner_id"])
print(json.dumps(said))
