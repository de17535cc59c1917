import { useEffect, useState } from "preact/hooks";
import { filters, fleet, legend, setFilters } from "./store.js";
import { request } from "./connection.js";
import { shown } from "./rows.js";
import { Command, Copy, focusAwaited, Time } from "./parts.jsx";

// useData requests data again with each change of the fleet, and shows only the answer to the last request.
export function useData(load, keys) {
  const [result, setResult] = useState({});
  useEffect(() => {
    let isLast = true;
    load().then((data) => isLast && setResult({ data }), (error) => isLast && setResult({ error: error.message }));
    return () => (isLast = false);
  }, [fleet.value, ...keys]);
  return result;
}

// ClusterDetails shows the add-ons of the managed cluster in the address.
export function ClusterDetails() {
  const name = filters.value.cluster;
  const { data, error } = useData(() => (name ? request("api/cluster", { name }) : Promise.resolve(null)), [name]);
  const isListed = shown.value.rows.some((row) => row.name === name);
  return (
    <section aria-labelledby="cluster" class={name ? "" : "empty"}>
      <h2 id="cluster" tabIndex={-1}>{name ? `Managed cluster ${name}` : "Details of a managed cluster"}</h2>
      {name ? <p><button type="button" onClick={() => setFilters({ cluster: "", at: "" })}>Close</button></p> : <p>Choose a managed cluster.</p>}
      {name && !isListed ? <p class="notice">The filters of the list above hide {name}. These are its details all the same.</p> : null}
      {error ? <p role="alert">{error}</p> : null}
      {data && data.name === name ? <Details cluster={data} /> : null}
    </section>
  );
}

function Details({ cluster }) {
  return (
    <>
      {cluster.notice ? <p class="notice urgent">{cluster.notice}</p> : null}
      {cluster.run ? <><Command line={cluster.run} /><p class="quiet">only reads</p></> : null}
      <AddOns cluster={cluster} />
    </>
  );
}

function AddOns({ cluster }) {
  return (
    <div class="scroll cluster" role="region" aria-label={"Add-ons on " + cluster.name} tabIndex={0}>
      <table>
        <caption>{cluster.caption} The commands here only read.</caption>
        <thead><tr>{["Add-on", "State", "Dependencies", "Conditions", "What to do"].map((name) => <th scope="col" key={name}>{name}</th>)}</tr></thead>
        <tbody>{(cluster.addOns ?? []).map((addOn) => <AddOn key={addOn.name} addOn={addOn} />)}</tbody>
      </table>
    </div>
  );
}

function AddOn({ addOn }) {
  const text = legend.value[addOn.state];
  const causes = (addOn.causes ?? []).map((number) => fleet.value.causes[number - 1]).filter(Boolean);
  const isMarked = filters.value.at === addOn.name;
  return (
    <tr class={isMarked ? "marked" : ""} aria-current={isMarked ? "true" : undefined} tabIndex={-1} ref={isMarked ? focusAwaited : undefined}>
      <th scope="row">{addOn.name}</th>
      <td><span class={"state " + addOn.state}><span aria-hidden="true">{text.symbol}</span> {text.word}</span>{addOn.explanation ? <p>{addOn.explanation}</p> : null}</td>
      <td>{addOn.edges ? <ul>{addOn.edges.map((edge, i) => (
        <li key={i}>{edge.name || "(not known)"} ({edge.type}): <strong>{edge.verdict}</strong>{edge.found ? ": " + edge.found : ""}</li>
      ))}</ul> : <span class="quiet">{addOn.state === "Lost" ? "not known" : "none fails"}</span>}</td>
      <td><ul>{(addOn.conditions ?? []).map((condition) => (
        <li key={condition.type}>{condition.type}={condition.status}{condition.reason ? ", " + condition.reason : ""}
          {condition.since ? <>, since <Time value={condition.since} /></> : null}{condition.message ? ": " + condition.message : ""}</li>
      ))}</ul></td>
      <td>{causes.map((cause) => <p key={cause.number}><a href={"#cause-" + cause.number}>Root cause {cause.number}: {cause.title}</a></p>)}
        {addOn.run ? <p><code>{addOn.run}</code> <Copy text={addOn.run} name={"Copy: " + addOn.run} /></p> : null}</td>
    </tr>
  );
}
