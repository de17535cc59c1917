import { filters, fleet, showOnly, unlabeled } from "./store.js";
import { Badge, goTo, plural } from "./parts.jsx";

// Matrix has the numbers of add-ons by group. A number filters the grid below.
export function Matrix() {
  const { matrix, leftOut } = fleet.value;
  return (
    <section aria-labelledby="matrix">
      <h2 id="matrix" tabIndex={-1}>Add-ons and clusters</h2>
      <div class="scroll tall" role="region" aria-label="Table of add-ons and groups of managed clusters" tabIndex={0}>
        <table class="matrix">
          <caption>The add-ons on managed clusters, by the label {matrix.groupBy}. A number lists its managed clusters below.</caption>
          <thead>
            <tr>
              <th scope="col">Add-on</th>
              <th scope="col">All</th>
              {matrix.groups.map((group, i) => (
                <th scope="col" key={i}>
                  {group.merged ? `${group.merged} other values` : group.name || "without the label"}
                  <br /><span class="quiet">{plural(group.clusters, "cluster")}{group.lost ? `, ${group.lost} lost` : ""}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matrix.rows.map((row) => (
              <tr key={row.addOn}>
                <th scope="row">{row.addOn}</th>
                <td><Cell cell={row.fleet} addOn={row.addOn} group="" /></td>
                {row.cells.map((cell, i) => <td key={i}><Cell cell={cell} addOn={row.addOn} group={matrix.groups[i].name || unlabeled} merged={matrix.groups[i].merged} /></td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {leftOut?.addOns ? <p>{leftOut.addOns} more add-ons have no room here.</p> : null}
    </section>
  );
}

function Cell({ cell, addOn, group, merged }) {
  if (!cell.installed) return <><span class="quiet" aria-hidden="true">–</span><span class="hidden">not installed</span></>;
  const now = filters.value;
  const list = (state) => {
    showOnly({ addon: addOn, group, state });
    goTo("clusters");
  };
  return cell.states.map(({ state, count }) => (
    <button key={state} type="button" class="plain" disabled={!!merged} onClick={() => list(state)}
      aria-pressed={now.addon === addOn && now.group === group && now.state === state && !now.q}>
      <Badge state={state} count={count} />
    </button>
  ));
}
