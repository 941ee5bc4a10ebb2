import { Client } from "./i02.js";

declare const process: { argv: string[] };

const baseUrl = process.argv[2] ?? "";
const ann = new Client({ baseUrl, principal: "ann" });
const bob = new Client({ baseUrl, principal: "bob" });
const renew = async (client: Client, resource: string): Promise<string> => {
  const answer = await client.holder.renew({ resource, ttl: "1h" });
  return answer.outcome === "done" ? answer.outcome : answer.guard;
};
await ann.claimant.claim({ resource: "r1", ttl: "1h" });
// what `claimant` was handed, `holder` presents: they are one chain
const renewed = await renew(ann, "r1");
// a client that begins anew knows what was kept
const kept = JSON.parse(JSON.stringify(ann.memory)) as Record<string, string>;
const again = new Client({ baseUrl, principal: "ann", memory: kept });
const owner = await ann.claimant.ownership({ resource: "r1" });
console.log(
  JSON.stringify({
    renewed,
    bob: await renew(bob, "r1"),
    other: await renew(ann, "r2"),
    again: await renew(again, "r1"),
    forgetful: await renew(new Client({ baseUrl, principal: "ann" }), "r1"),
    owner: owner.outcome === "done" ? owner.result.owner_id : null,
  }),
);
