import { useState } from "preact/hooks";
import { changes, fleet } from "./store.js";
import { request } from "./connection.js";
import { useData } from "./cluster.jsx";
import { plural, Time } from "./parts.jsx";

// WhatIf tries the removal of an add-on, or another version. Nothing is written. The result of the last choice stays, and says so, so that the page does not move.
export function WhatIf() {
  const [trial, setTrial] = useState(null);
  const [isOld, setOld] = useState(false);
  const submit = (event) => {
    event.preventDefault();
    setTrial(Object.fromEntries(new FormData(event.currentTarget)));
    setOld(false);
  };
  const end = () => setOld(true);
  return (
    <section aria-labelledby="whatif">
      <h2 id="whatif" tabIndex={-1}>What if</h2>
      <p>Take an add-on away, or name another version of it. Nothing is written.</p>
      <form class="filters" onSubmit={submit}>
        <label>Add-on <select name="addon" onChange={end}>{fleet.value.grid.addOns.map((name) => <option key={name}>{name}</option>)}</select></label>
        <label>Version <input name="version" placeholder="empty: remove it" onInput={end} /></label>
        <button>Try</button>
      </form>
      <div aria-live="polite">{trial && isOld ? <p class="notice">The choice has changed: this is the result of the last one.</p> : null}{trial ? <Result key={trial.addon + " " + trial.version} trial={trial} /> : null}</div>
    </section>
  );
}

function Result({ trial }) {
  const { data, error } = useData(() => request("api/impact", trial), [trial]);
  if (error) return <p role="alert">{error}</p>;
  if (!data) return null;
  return (
    <>
      <p><strong>{trial.version ? `${trial.addon} in version ${trial.version}` : `Without ${trial.addon}`}: {data.sentence}</strong></p>
      {(data.notes ?? []).map((note) => <p key={note}>{note}</p>)}
      {data.groups.map((group) => <Group key={group.effect} group={group} />)}
    </>
  );
}

const signs = { Stops: ["✗", "Failing"], LosesOption: ["◐", "Limited"], StaysBroken: ["=", "quiet"], Undecided: ["◌", "Held"], Recovers: ["✓", "Working"] };

function Group({ group }) {
  const [sign, state] = signs[group.effect];
  return (
    <div class="scroll" role="region" aria-label={group.title} tabIndex={0}>
      <table>
        <caption><span class={"state " + state}><span aria-hidden="true">{sign}</span> {group.title}</span></caption>
        <thead><tr>{["Add-on", "Dependency", "Before", "After", "On"].map((name) => <th scope="col" key={name}>{name}</th>)}</tr></thead>
        <tbody>
          {group.edges.map((edge, i) => (
            <tr key={i}>
              <th scope="row">{edge.addOn}</th>
              <td>{edge.edge} ({edge.type})</td>
              <td>{edge.before ?? "not declared"}</td>
              <td>{edge.after}</td>
              <td>{plural(edge.clusters, "managed cluster")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// History has the changes since the page was opened.
export function History() {
  return (
    <section aria-labelledby="history">
      <h2 id="history" tabIndex={-1}>Since this page was opened</h2>
      {changes.value.length ? null : <p>Nothing has changed.</p>}
      <ul>{changes.value.map((change, i) => <li key={i}><Time value={change.time.toISOString()} />: {change.text}</li>)}</ul>
    </section>
  );
}
