import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { filters, fleet, setFilters, unlabeled } from "./store.js";
import { openCluster, plural } from "./parts.jsx";

const rowHeight = 30;

// The columns and rows that pass the filters. Managed clusters with the worst states come first.
const shown = computed(() => {
  const { grid, legend } = fleet.value;
  const { q, group, state, addon } = filters.value;
  const columns = grid.addOns.map((_, i) => i).filter((i) => !addon || grid.addOns[i] === addon);
  const digit = state ? String(legend.findIndex((text) => text.state === state)) : "";
  const rows = grid.clusters.filter((row) =>
    (!q || row.name.includes(q)) && (!group || (row.group || unlabeled) === group) &&
    columns.some((i) => row.states[i] !== " " && (!digit || row.states[i] === digit)));
  const rank = new Map(rows.map((row) => [row, columns.map((i) => (row.states[i] === " " ? "~" : row.states[i])).sort().join("")]));
  rows.sort((a, b) => (rank.get(a) < rank.get(b) ? -1 : rank.get(a) > rank.get(b) ? 1 : a.name < b.name ? -1 : 1));
  return { columns, rows };
});

// The cell that keys start from. It may be gone, with a filter, or not be visible, so the grid itself takes the focus of the keyboard first.
const chosen = signal({ row: 0, column: 0 });
const active = computed(() => ({
  row: Math.max(0, Math.min(chosen.value.row, shown.value.rows.length - 1)),
  column: Math.min(chosen.value.column, shown.value.columns.length),
}));

function useRows(count, element) {
  const [, setVersion] = useState(0);
  const virtualizer = useRef(null);
  // The heading stays at the top, above the rows that scroll.
  const heading = element.current?.firstElementChild.offsetHeight ?? 0;
  const options = {
    count, scrollMargin: heading, scrollPaddingStart: heading, estimateSize: () => rowHeight, overscan: 12, getScrollElement: () => element.current,
    observeElementRect, observeElementOffset, scrollToFn: elementScroll, onChange: () => setVersion((version) => version + 1),
  };
  virtualizer.current ??= new Virtualizer(options);
  virtualizer.current.setOptions(options);
  useLayoutEffect(() => virtualizer.current._didMount(), []);
  useLayoutEffect(() => virtualizer.current._willUpdate());
  return virtualizer.current;
}

export function Grid() {
  const { grid, matrix, legend: texts } = fleet.value;
  const { columns, rows } = shown.value;
  const element = useRef(null);
  const virtualizer = useRows(rows.length, element);
  const set = (name) => (event) => setFilters({ [name]: event.currentTarget.value });
  return (
    <section aria-labelledby="clusters">
      <h2 id="clusters" tabIndex={-1}>Managed clusters</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>Cluster <input type="search" value={filters.value.q} onInput={set("q")} /></label>
        <Choice name="Group" value={filters.value.group} onChange={set("group")} options={matrix.groups.filter((group) => !group.merged).map((group) => [group.name || unlabeled, group.name || "without the label"])} />
        <Choice name="Add-on" value={filters.value.addon} onChange={set("addon")} options={grid.addOns.map((name) => [name, name])} />
        <Choice name="State" value={filters.value.state} onChange={set("state")} options={texts.map((text) => [text.state, text.word])} />
        <button type="button" onClick={() => setFilters({ q: "", group: "", addon: "", state: "" })}>Clear</button>
        <span role="status">{plural(rows.length, "managed cluster")}</span>
      </form>
      <div class="scroll grid" ref={element} role="grid" tabIndex={0} aria-label="Add-ons on managed clusters" aria-rowcount={rows.length + 1} aria-colcount={columns.length + 1} onKeyDown={(event) => move(event, virtualizer)}>
        <div class="head" role="row" aria-rowindex={1}>
          <span class="name" role="columnheader">Managed cluster</span>
          {columns.map((i) => <span key={i} class="cell" role="columnheader" title={grid.addOns[i]}><span>{grid.addOns[i]}</span></span>)}
        </div>
        <div class="body" role="rowgroup" style={{ height: virtualizer.getTotalSize() + "px" }}>
          {virtualizer.getVirtualItems().map((item) => (
            <Row key={rows[item.index].name} row={rows[item.index]} index={item.index} top={item.start - virtualizer.options.scrollMargin} columns={columns} addOns={grid.addOns} texts={texts} />
          ))}
        </div>
      </div>
    </section>
  );
}

function Choice({ name, value, onChange, options }) {
  return (
    <label>{name} <select value={value} onChange={onChange}>
      <option value="">all</option>
      {options.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
    </select></label>
  );
}

function Row({ row, index, top, columns, addOns, texts }) {
  const isActive = (column) => active.value.row === index && active.value.column === column;
  return (
    <div class="row" role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)` }}>
      <span class="name" role="rowheader" id={isActive(0) ? "active" : undefined} tabIndex={-1} onClick={() => openCluster(row.name)}>{row.name}</span>
      {columns.map((i, position) => {
        const text = texts[row.states[i]];
        const current = isActive(position + 1);
        return (
          <span key={i} class={"cell " + (text?.state ?? "none")} role="gridcell" id={current ? "active" : undefined} tabIndex={-1}
            title={`${addOns[i]} on ${row.name}: ${text?.word ?? "not installed"}`} onClick={() => openCluster(row.name)}>
            <span aria-hidden="true">{text?.symbol ?? ""}</span><span class="hidden">{text?.word ?? "not installed"}</span>
          </span>
        );
      })}
    </div>
  );
}

// Moves the focus with the keys of a grid. Enter opens the managed cluster.
function move(event, virtualizer) {
  const { rows, columns } = shown.value;
  let { row, column } = active.value;
  const page = Math.max(1, Math.floor((event.currentTarget.clientHeight - virtualizer.options.scrollMargin) / rowHeight) - 1);
  switch (event.key) {
    case "ArrowDown": row++; break;
    case "ArrowUp": row--; break;
    case "ArrowRight": column++; break;
    case "ArrowLeft": column--; break;
    case "PageDown": row += page; break;
    case "PageUp": row -= page; break;
    case "Home": column = 0; if (event.ctrlKey) row = 0; break;
    case "End": column = columns.length; if (event.ctrlKey) row = rows.length - 1; break;
    case "Enter": if (rows[row]) openCluster(rows[row].name); return;
    default: return;
  }
  event.preventDefault();
  chosen.value = { row: Math.min(Math.max(row, 0), rows.length - 1), column: Math.min(Math.max(column, 0), columns.length) };
  virtualizer.scrollToIndex(active.value.row);
  requestAnimationFrame(() => document.getElementById("active")?.focus({ preventScroll: true }));
}
