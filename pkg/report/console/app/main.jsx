import { render } from "preact";
import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import { follow } from "./connection.js";
import { fleet, received, showOnly, signIn, trouble } from "./store.js";
import { Badge, goTo, plural, Time } from "./parts.jsx";
import { Causes } from "./causes.jsx";
import { Matrix } from "./matrix.jsx";
import { Grid } from "./grid.jsx";
import { ClusterDetails } from "./cluster.jsx";
import { Graph } from "./graph.jsx";
import { SignIn, SignOut } from "./signin.jsx";
import { History, WhatIf } from "./whatif.jsx";

// The console sends the fleet each 30 seconds at least, so older data is not current.
const oldAfter = 90 * 1000;
const now = signal(Date.now());

const sections = [["causes", "Root causes"], ["matrix", "Add-ons and clusters"], ["clusters", "Managed clusters"], ["cluster", "Details"], ["graph", "Dependencies"], ["whatif", "What if"], ["history", "Changes"]];

function App() {
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 5000);
    return () => clearInterval(timer);
  }, []);
  if (!fleet.value) {
    return (
      <main>
        <h1>Add-ons of the fleet</h1>
        {signIn.value ? <SignIn /> : <><p role="status">{trouble.value || "Reading the fleet …"}</p><SignOut /></>}
      </main>
    );
  }
  const { hub, selection, headline, scope, taken, addOns, legend } = fleet.value;
  document.title = "Add-ons of " + hub;
  return (
    <>
      <a class="skip" href="#causes">Skip to the root causes</a>
      <header>
        <h1>Add-ons of {hub}</h1>
        <Banner />
        <p class="headline">{headline}</p>
        <p>{scope}{selection}, as read at <Time value={taken} />.</p>
        <ul class="states">{addOns.filter((each) => each.count).map((each) => <li key={each.state}><Count {...each} /></li>)}</ul>
        <Notices />
        <details><summary>What the states mean</summary>
          <dl>{legend.map((text) => [<dt key={text.state}><span class={"state " + text.state}><span aria-hidden="true">{text.symbol}</span> {text.word}</span></dt>, <dd key={text.state + "-meaning"}>{text.meaning}</dd>])}<dt><span class="quiet">–</span></dt><dd>The add-on is not installed.</dd></dl>
        </details>
        <SignOut />
      </header>
      <nav aria-label="Sections"><ul>{sections.map(([id, name]) => <li key={id}><a href={"#" + id}>{name}</a></li>)}</ul></nav>
      <main>
        <Causes /><Matrix /><Grid /><ClusterDetails /><Graph /><WhatIf /><History />
      </main>
    </>
  );
}

// Count shows the number of add-ons in a state. It lists their managed clusters.
function Count({ state, count }) {
  const text = fleet.value.legend.find((each) => each.state === state);
  const list = () => {
    showOnly({ state });
    goTo("clusters");
  };
  return <button type="button" class="plain" onClick={list}><Badge state={state} count={count} /> <span aria-hidden="true">{text.word}</span></button>;
}

// Banner says why the data is old, and which flags the commands lack.
function Banner() {
  const isOld = now.value - received.value > oldAfter && !trouble.value && !fleet.value.fixed;
  const urgent = (fleet.value.notices ?? []).filter((notice) => notice.urgent);
  return (
    <section class="notices" aria-label="Warnings" aria-live="polite">
      {trouble.value ? <p class="notice urgent"><strong>This data is old.</strong> {trouble.value}</p> : null}
      {isOld ? <p class="notice urgent"><strong>This data is old.</strong> Nothing has come for {Math.round((now.value - received.value) / 1000)} seconds.</p> : null}
      {urgent.map((notice) => <p key={notice.text} class="notice urgent">{notice.text}</p>)}
    </section>
  );
}

function Notices() {
  const notices = (fleet.value.notices ?? []).filter((notice) => !notice.urgent);
  return (
    <>
      {notices.length ? (
        <details><summary>{plural(notices.length, "notice")}</summary>
          {notices.map((notice) => <p key={notice.text} class="notice">{notice.text}{notice.run ? <> <code>{notice.run}</code></> : null}</p>)}
        </details>
      ) : null}
      <p class="quiet">Commands that begin with <code>kubectl addon</code> need the plugin of Interlock for kubectl.</p>
    </>
  );
}

render(<App />, document.getElementById("app"));
follow();
