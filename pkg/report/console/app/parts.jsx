import { useState } from "preact/hooks";
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

// Copy copies a text. Only pages from this machine or by HTTPS may use the clipboard.
export function Copy({ text, name, children }) {
  const [result, setResult] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      setResult("copied");
    } catch {
      setResult("not copied: select the text");
    }
  };
  return <><button type="button" class="copy" aria-label={name} onClick={copy} onBlur={() => setResult("")}>{children ?? "Copy"}</button> <span class="quiet" aria-live="polite">{result}</span></>;
}

// Command shows a command that can be selected, and copied.
export function Command({ line }) {
  return <div class="command"><pre><code>{line}</code></pre><Copy text={line} name={"Copy: " + line} /></div>;
}

// ClusterNames lists managed clusters. A name opens the details.
export function ClusterNames({ list }) {
  const names = list.names ?? [];
  return (
    <>
      {names.length > 1 ? <p><Copy text={names.join("\n")} name="Copy the names of the managed clusters">Copy {list.leftOut ? `the first ${names.length}` : "the"} names</Copy></p> : null}
      <ul class="on">
        {names.map((name) => (
          <li key={name}>
            <button type="button" class="link" onClick={() => openCluster(name)}>{name}</button>
          </li>
        ))}
        {list.leftOut ? <li class="quiet">and {list.leftOut} more</li> : null}
      </ul>
    </>
  );
}

// goTo moves the focus, and the window, to a heading.
export function goTo(id) {
  const heading = document.getElementById(id);
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView();
}

// The add-on whose row in the details takes the focus once they are there.
let awaited = "";

// Opens the details of a managed cluster, at an add-on if one is given.
export function openCluster(name, addOn = "") {
  awaited = addOn;
  setFilters({ cluster: name, at: addOn });
  goTo("cluster");
}

export function focusAwaited(row) {
  if (!row || !awaited) return;
  awaited = "";
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
}
