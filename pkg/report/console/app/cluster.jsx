import { useEffect, useState } from "preact/hooks";
import { filters, fleet, legend, setFilters } from "./store.js";
import { request } from "./connection.js";
import { Time } from "./parts.jsx";

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

// ClusterDetails shows the add-ons of the managed cluster in the address that do not work.
export function ClusterDetails() {
  const name = filters.value.cluster;
  const { data, error } = useData(() => (name ? request("api/cluster", { name }) : Promise.resolve(null)), [name]);
  return (
    <section aria-labelledby="cluster" class={name ? "" : "empty"}>
      <h2 id="cluster" tabIndex={-1}>{name ? `Managed cluster ${name}` : "Details of a managed cluster"}</h2>
      {name ? <p><button type="button" onClick={() => setFilters({ cluster: "" })}>Close</button></p> : <p>Choose a managed cluster.</p>}
      {error ? <p role="alert">{error}</p> : null}
      {data && data.name === name ? <AddOns cluster={data} /> : null}
    </section>
  );
}

function AddOns({ cluster }) {
  if (!cluster.addOns?.length) return <p>All its add-ons work.</p>;
  return (
    <div class="scroll cluster" role="region" aria-label={"Add-ons on " + cluster.name} tabIndex={0}>
      <table>
        <caption>Add-ons on {cluster.name} that do not work. {cluster.working} others work.{cluster.leftOut ? ` ${cluster.leftOut} more have no room here.` : ""}</caption>
        <thead><tr>{["Add-on", "State", "Dependencies", "Conditions", "What to do"].map((name) => <th scope="col" key={name}>{name}</th>)}</tr></thead>
        <tbody>{cluster.addOns.map((addOn) => <AddOn key={addOn.name} addOn={addOn} />)}</tbody>
      </table>
    </div>
  );
}

function AddOn({ addOn }) {
  const text = legend.value[addOn.state];
  const causes = (addOn.causes ?? []).map((number) => fleet.value.causes[number - 1]).filter(Boolean);
  return (
    <tr>
      <th scope="row">{addOn.name}</th>
      <td><span class={"state " + addOn.state}><span aria-hidden="true">{text.symbol}</span> {text.word}</span></td>
      <td><ul>{(addOn.edges ?? []).map((edge, i) => (
        <li key={i}>{edge.name || "(not known)"} ({edge.type}): <strong>{edge.verdict}</strong>{edge.found ? ": " + edge.found : ""}</li>
      ))}</ul></td>
      <td><ul>{(addOn.conditions ?? []).map((condition) => (
        <li key={condition.type}>{condition.type}={condition.status}{condition.reason ? ", " + condition.reason : ""}
          {condition.since ? <>, since <Time value={condition.since} /></> : null}{condition.message ? ": " + condition.message : ""}</li>
      ))}</ul></td>
      <td>{causes.map((cause) => <p key={cause.number}><a href={"#cause-" + cause.number}>Root cause {cause.number}: {cause.title}</a></p>)}
        {addOn.run ? <code>{addOn.run}</code> : null}</td>
    </tr>
  );
}
