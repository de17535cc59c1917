import { useLayoutEffect, useRef } from "preact/hooks";
import { filters, unlabeled } from "./store.js";
import { requestPicture } from "./connection.js";
import { useData } from "./cluster.jsx";

// Graph shows the dependencies as the console draws them, around the add-on, and on the group and the managed cluster of the filters.
export function Graph() {
  const { addon, cluster, group } = filters.value;
  const { data, error } = useData(() => requestPicture("api/graph", { addon, cluster, group }), [addon, cluster, group]);
  const element = useRef(null);
  useLayoutEffect(() => {
    if (data) element.current.replaceChildren(document.adoptNode(data));
  }, [data]);
  const clusters = group === unlabeled ? "on clusters without the label" : group && `on clusters of ${group}`;
  const scope = [addon && `around ${addon}`, clusters, cluster && `on ${cluster}`].filter(Boolean).join(" ");
  return (
    <section aria-labelledby="graph">
      <h2 id="graph" tabIndex={-1}>Dependencies {scope}</h2>
      {error ? <p role="alert">The graph could not be read: {error}</p> : null}
      <div class="scroll" role="region" aria-label="Graph of dependencies" tabIndex={0} ref={element} />
    </section>
  );
}
