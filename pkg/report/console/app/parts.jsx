import { legend, setFilters } from "./store.js";

// Badge shows the number of add-ons in a state.
export function Badge({ state, count }) {
  const text = legend.value[state] ?? { symbol: "", word: state };
  return (
    <span class={"state " + state}>
      <span aria-hidden="true">{text.symbol}</span> {count}
      <span class="hidden"> {text.word}</span>
    </span>
  );
}

export function Time({ value }) {
  return <time dateTime={value}>{value.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC")}</time>;
}

export const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// ClusterNames lists managed clusters. A name opens the details.
export function ClusterNames({ list }) {
  return (
    <ul class="on">
      {(list.names ?? []).map((name) => (
        <li key={name}>
          <button type="button" class="link" onClick={() => openCluster(name)}>{name}</button>
        </li>
      ))}
      {list.leftOut ? <li class="quiet">and {list.leftOut} more</li> : null}
    </ul>
  );
}

export function openCluster(name) {
  setFilters({ cluster: name });
  document.getElementById("cluster")?.focus();
}
