import { fleet } from "./store.js";
import { ClusterNames, Command, plural, Time } from "./parts.jsx";

export function Causes() {
  const { causes, unreachable, unavailable, leftOut, unusable } = fleet.value;
  return (
    <section aria-labelledby="causes">
      <h2 id="causes" tabIndex={-1}>Root causes</h2>
      {causes.length ? null : <p>No root cause is known: no Required dependency keeps an add-on from working.</p>}
      <ol class="causes">
        {causes.map((cause) => <li key={cause.title} id={"cause-" + cause.number}><h3>{cause.number}. {cause.title}</h3><Cause cause={cause} /></li>)}
      </ol>
      {leftOut?.causes ? <p>{leftOut.causes} more root causes have no room here: <code>kubectl addon why</code> has all.</p> : null}
      {unreachable ? <ul class="causes"><li><Unreachable entry={unreachable} /></li></ul> : null}
      {unavailable ? <h3 id="unavailable">Also not available, and no Required dependency fails because of it</h3> : null}
      {unavailable ? <ul class="causes">{unavailable.map((cause) => <li key={cause.title}><h4>{cause.title}</h4><Cause cause={cause} /></li>)}</ul> : null}
      {leftOut?.unavailable ? <p>{leftOut.unavailable} more have no room here: <code>kubectl addon why -o json</code> has all, as <code>failingThemselves</code>.</p> : null}
      {(unusable ?? []).map((each) => <p key={each.addOn}>The dependencies of {each.addOn} are not known: {each.problem}</p>)}
    </section>
  );
}

function breaks(cause) {
  const victims = cause.victims.map((victim) => `${victim.addOn} (${victim.clusters})`);
  if (cause.otherVictims) victims.push(`${cause.otherVictims} more`);
  return `${cause.addOns} of ${plural(fleet.value.dependents, "add-on")} with dependencies: ${victims.join(", ")}`;
}

function traits(cause) {
  if (cause.clusters < 2) return [];
  if (!cause.shared) return [["In common", "no label, claim or version of Kubernetes that most others lack"]];
  return cause.shared.map((trait) => ["In common", `${trait.name}=${trait.value}: ${trait.affected} of ${cause.clusters} affected, ${trait.others} of ${cause.others} other clusters with the same add-ons`]);
}

function Cause({ cause }) {
  const on = `${cause.clusters} of ${plural(fleet.value.reach.clusters, "managed cluster")}`;
  const rows = [["Message", cause.message], cause.number ? ["Breaks", `${on}, ${breaks(cause)}`] : ["On", on]];
  if (cause.since) rows.push(["Since", <><Time value={cause.since} />, {cause.place}</>]);
  if (cause.effectsSince) rows.push(["Effects since", <><Time value={cause.effectsSince} />, {cause.effectsPlace}</>]);
  rows.push(...traits(cause));
  rows.push(["Ranges", cause.ranges], ["Repair", cause.repair], ["Installs", cause.installation], ["Note", cause.note]);
  if (cause.run) rows.push(["Run", <>{cause.run.map((line) => <Command key={line} line={line} />)}<span class="quiet">{cause.effect}</span></>]);
  return (
    <>
      <Rows rows={rows} />
      <details>
        <summary>{plural(cause.clusters, "affected managed cluster")}</summary>
        <ClusterNames list={cause.clusterNames} />
      </details>
    </>
  );
}

// Rows shows names with their contents. It leaves out the empty ones.
function Rows({ rows }) {
  return <dl>{rows.filter(([, content]) => content).map(([name, content], i) => [<dt key={"t" + i}>{name}</dt>, <dd key={"d" + i}>{content}</dd>])}</dl>;
}

// Unreachable shows the managed clusters that cannot be reached.
function Unreachable({ entry }) {
  const rows = [["On", entry.on]];
  if (entry.since) rows.push(["Since", <><Time value={entry.since} />, {entry.place}</>]);
  rows.push(...(entry.inCommon ?? []).map((text) => ["In common", text]), ["Note", entry.note]);
  if (entry.run) rows.push(["Run", <><Command line={entry.run} /><span class="quiet">{entry.effect}</span></>]);
  return (
    <>
      <h3 id="unreachable">{entry.title}</h3>
      <Rows rows={rows} />
      <details>
        <summary>{plural(entry.clusters, "managed cluster")}</summary>
        <ClusterNames list={entry.clusterNames} />
      </details>
    </>
  );
}
