import { fleet } from "./store.js";
import { ClusterNames, plural, Time } from "./parts.jsx";

export function Causes() {
  const { causes, leftOut, unusable } = fleet.value;
  return (
    <section aria-labelledby="causes">
      <h2 id="causes" tabIndex={-1}>Root causes</h2>
      {causes.length ? null : <p>No root cause is known: no Required dependency keeps an add-on from working.</p>}
      <ol class="causes">
        {causes.map((cause) => <Cause key={cause.title} cause={cause} />)}
      </ol>
      {leftOut?.causes ? <p>{leftOut.causes} more root causes have no room here: <code>kubectl addon why</code> has all.</p> : null}
      {(unusable ?? []).map((each) => <p key={each.addOn}>The dependencies of {each.addOn} are not known: {each.problem}</p>)}
    </section>
  );
}

function Cause({ cause }) {
  const rows = [["Message", cause.message]];
  const victims = cause.victims.map((victim) => `${victim.addOn} (${victim.clusters})`);
  if (cause.otherVictims) victims.push(`${cause.otherVictims} more`);
  rows.push(["Breaks", `${cause.clusters} of ${plural(fleet.value.reach.clusters, "managed cluster")}, ${cause.addOns} of ${plural(fleet.value.dependents, "add-on")} with dependencies: ${victims.join(", ")}`]);
  if (cause.since) rows.push(["Since", <><Time value={cause.since} />, {cause.place}</>]);
  if (cause.effectsSince) rows.push(["Effects since", <><Time value={cause.effectsSince} />, {cause.effectsPlace}</>]);
  for (const trait of cause.shared ?? []) {
    rows.push(["In common", `${trait.name}=${trait.value}: ${trait.affected} of ${cause.clusters} affected, ${trait.others} of ${cause.others} other clusters with the same add-ons`]);
  }
  rows.push(["Ranges", cause.ranges], ["Repair", cause.repair], ["Installs", cause.installation], ["Note", cause.note]);
  if (cause.run) rows.push(["Run", cause.run.map((line) => <pre key={line}><code>{line}</code></pre>)]);
  return (
    <li id={"cause-" + cause.number}>
      <h3>{cause.number}. {cause.title}</h3>
      <dl>{rows.filter(([, content]) => content).map(([name, content], i) => [<dt key={"t" + i}>{name}</dt>, <dd key={"d" + i}>{content}</dd>])}</dl>
      <details>
        <summary>{plural(cause.clusters, "affected managed cluster")}</summary>
        <ClusterNames list={cause.clusterNames} />
      </details>
    </li>
  );
}
