import { useLayoutEffect, useRef } from "preact/hooks";
import { filters, fleet, setFilters, unlabeled } from "./store.js";
import { groupName } from "./rows.js";
import { requestPicture } from "./connection.js";
import { useData } from "./cluster.jsx";

// Graph shows the dependencies as the console draws them, around the add-on, and on the managed cluster or else the group of the filters.
export function Graph() {
  const { addon, cluster } = filters.value;
  const group = cluster ? "" : filters.value.group;
  const { data, error } = useData(() => requestPicture("api/graph", { addon, cluster, group }), [addon, cluster, group]);
  const element = useRef(null);
  useLayoutEffect(() => {
    if (!data) return;
    const picture = document.adoptNode(data);
    addButtons(picture, addon);
    element.current.replaceChildren(picture);
  }, [data]);
  const title = ["Dependencies", addon && `around ${addon}`, group && `on clusters ${group === unlabeled ? "" : "of "}${groupName(group)}`, cluster && `on ${cluster}`].filter(Boolean).join(" ");
  return (
    <section aria-labelledby="graph">
      <h2 id="graph" tabIndex={-1}>{title}</h2>
      <p>An add-on in the picture filters the page to it.</p>
      {error ? <p role="alert">The graph could not be read: {error}</p> : null}
      <div class="scroll" role="region" aria-label="Graph of dependencies" tabIndex={0} ref={element} />
    </section>
  );
}

// Makes the add-ons of a picture buttons that filter to them. The chosen one ends its filter.
function addButtons(picture, chosen) {
  picture.setAttribute("role", "group");
  for (const node of picture.querySelectorAll(".node")) {
    const name = node.querySelector("title").textContent;
    if (!fleet.value.grid.addOns.includes(name)) continue;
    const label = [...node.querySelectorAll("text")].map((line) => line.textContent).join(" ");
    const filter = () => setFilters({ addon: name === chosen ? "" : name });
    for (const [attribute, value] of Object.entries({ role: "button", tabindex: "0", "aria-label": label, "aria-pressed": String(name === chosen) })) node.setAttribute(attribute, value);
    node.addEventListener("click", filter);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      filter();
    });
  }
}
