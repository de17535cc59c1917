import { useState } from "preact/hooks";
import { changes, fleet } from "./store.js";
import { request } from "./connection.js";
import { plural } from "./parts.jsx";

// WhatIf tries the removal of an add-on, or another version. Nothing is written.
export function WhatIf() {
  const [result, setResult] = useState({});
  const submit = (event) => {
    event.preventDefault();
    const { addon, version } = Object.fromEntries(new FormData(event.currentTarget));
    const title = version ? `${addon} in version ${version}` : `The removal of ${addon}`;
    request("api/impact", { addon, version }).then((items) => setResult({ title, items }), (error) => setResult({ error: error.message }));
  };
  return (
    <section aria-labelledby="whatif">
      <h2 id="whatif" tabIndex={-1}>What if</h2>
      <p>Take an add-on away, or name another version of it. Nothing is written.</p>
      <form class="filters" onSubmit={submit}>
        <label>Add-on <select name="addon">{fleet.value.grid.addOns.map((name) => <option key={name}>{name}</option>)}</select></label>
        <label>Version <input name="version" placeholder="empty: remove it" /></label>
        <button>Try</button>
      </form>
      <div aria-live="polite">
        {result.error ? <p role="alert">{result.error}</p> : null}
        {result.items ? <Impact title={result.title} items={result.items} /> : null}
      </div>
    </section>
  );
}

function Impact({ title, items }) {
  if (!items.length) return <p>{title} changes no dependency.</p>;
  return (
    <div class="scroll" role="region" aria-label="Changed dependencies" tabIndex={0}>
      <table>
        <caption>{title} changes these dependencies.</caption>
        <thead><tr>{["Add-on", "Dependency", "Effect", "On"].map((name) => <th scope="col" key={name}>{name}</th>)}</tr></thead>
        <tbody>
          {items.map((item, i) => (
            <tr key={i}>
              <th scope="row">{item.addOn}</th>
              <td>{item.edge} ({item.type})</td>
              <td><span class={"state " + (item.breaks ? "Failing" : "Working")}><span aria-hidden="true">{item.breaks ? "✗" : "✓"}</span> {item.before ?? "new"} → {item.after}</span></td>
              <td>{plural(item.clusters, "managed cluster")}</td>
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
      <ul>{changes.value.map((change, i) => <li key={i}>{change.time.toISOString().slice(11, 19)} UTC: {change.text}</li>)}</ul>
    </section>
  );
}
