import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { fails, filters, fleet, groupLabel, setFilters, showOnly, unlabeled } from "./store.js";
import { filtered, groupName, hidden, shown, stateName } from "./rows.js";
import { Copy, openCluster, plural } from "./parts.jsx";

const rowHeight = 30;

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
  const { grid } = fleet.value;
  const { columns, rows } = shown.value;
  const element = useRef(null);
  const virtualizer = useRows(rows.length, element);
  const longest = (names, most) => Math.min(most, Math.max(16, ...names.map((name) => name.length)));
  const width = `${1.5 + .6 * longest(grid.clusters.slice(0, 1000).map((row) => row.name), 40)}rem`;
  const heightOf = (names) => `${1 + .54 * longest(names, 50)}rem`;
  const height = heightOf(columns.map((i) => grid.addOns[i]));
  // The height of all managed clusters, so that the grid of a few has no empty part, and the page does not move with the filters.
  const maxHeight = `calc(${heightOf(grid.addOns)} + ${grid.clusters.length * rowHeight}px + 1.5rem)`;
  return (
    <section aria-labelledby="clusters">
      <h2 id="clusters" tabIndex={-1}>Managed clusters</h2>
      <Filters />
      <Found />
      <p>A row opens the details of its managed cluster below, and a cell opens them at its add-on. In an empty cell, the add-on is not installed.</p>
      <div class="scroll grid" style={{ maxHeight }} ref={element} role="grid" tabIndex={0} aria-label="Add-ons on managed clusters" aria-rowcount={rows.length + 1} aria-colcount={columns.length + 1} onKeyDown={(event) => move(event, virtualizer)}>
        <div class="head" role="row" aria-rowindex={1}>
          <span class="name" role="columnheader" style={{ width }}>Managed cluster</span>
          {columns.map((i) => <span key={i} class="cell" role="columnheader" title={grid.addOns[i]} style={{ height }}><span>{grid.addOns[i]}</span></span>)}
        </div>
        <div class="body" role="rowgroup" style={{ height: virtualizer.getTotalSize() + "px" }}>
          {virtualizer.getVirtualItems().map((item) => (
            <Row key={rows[item.index].name} row={rows[item.index]} index={item.index} top={item.start - virtualizer.options.scrollMargin} columns={columns} width={width} />
          ))}
        </div>
      </div>
    </section>
  );
}

function Filters() {
  const { grid, matrix, legend: texts } = fleet.value;
  const set = (name) => (event) => setFilters({ [name]: event.currentTarget.value });
  const groups = matrix.groups.filter((group) => !group.merged).map((group) => group.name || unlabeled);
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>Cluster <input type="search" value={filters.value.q} onInput={set("q")} /></label>
      <Choice name={groupLabel.value} value={filters.value.group} onChange={set("group")} options={groups.map((group) => [group, groupName(group)])} />
      <Choice name="Add-on" value={filters.value.addon} onChange={set("addon")} options={grid.addOns.map((name) => [name, name])} />
      <Choice name="State" value={filters.value.state} onChange={set("state")} options={[fails, ...texts.map((text) => text.state)].map((state) => [state, stateName(state)])} />
      <button type="button" onClick={() => showOnly({})}>Clear</button>
      <Copy text={() => location.origin + location.pathname + location.search} name="Copy link to this view, without a token">Copy link</Copy>
    </form>
  );
}

// Found says how many managed clusters pass the filters, and which filters these are.
function Found() {
  const total = fleet.value.grid.clusters.length;
  const names = hidden.value;
  const count = shown.value.rows.length;
  return (
    <div class="found">
      <span role="status">
        {filtered.value ? `${count} of ${plural(total, "managed cluster")}` : plural(count, "managed cluster")}
        {names.length ? `: ${names.length === 1 ? names[0] + " exists" : names.length + " with this name exist"}, but other filters hide ${names.length === 1 ? "it" : "them"}` : ""}
      </span>
      {filtered.value ? <span class="quiet">Filters: {filtered.value}</span> : null}
      {names.length ? <button type="button" onClick={() => setFilters({ group: "", state: "", addon: "" })}>Clear the other filters</button> : null}
    </div>
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

function Row({ row, index, top, columns, width }) {
  const { grid, legend: texts } = fleet.value;
  const { cluster, at } = filters.value;
  const isActive = (column) => active.value.row === index && active.value.column === column;
  const isOpen = cluster === row.name;
  return (
    <div class={isOpen ? "row open" : "row"} role="row" aria-rowindex={index + 2} aria-selected={isOpen} style={{ transform: `translateY(${top}px)` }}>
      <span class="name" role="rowheader" id={isActive(0) ? "active" : undefined} tabIndex={-1} title={row.name} style={{ width }} onClick={() => openCluster(row.name)}>{row.name}</span>
      {columns.map((i, position) => {
        const text = texts[row.states[i]];
        const current = isActive(position + 1);
        const marked = isOpen && at === grid.addOns[i] ? " marked" : "";
        return (
          <span key={i} class={"cell " + (text?.state ?? "none") + marked} role="gridcell" id={current ? "active" : undefined} tabIndex={-1}
            title={`${grid.addOns[i]} on ${row.name}: ${text?.word ?? "not installed"}`} onClick={() => openAt(row, i)}>
            <span aria-hidden="true">{text?.symbol ?? ""}</span><span class="hidden">{text?.word ?? "not installed"}</span>
          </span>
        );
      })}
    </div>
  );
}

// Moves the focus with the keys of a grid. Enter opens the managed cluster, at the add-on of the cell.
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
    case "Enter": if (rows[row]) openAt(rows[row], columns[column - 1]); return;
    default: return;
  }
  event.preventDefault();
  chosen.value = { row: Math.min(Math.max(row, 0), rows.length - 1), column: Math.min(Math.max(column, 0), columns.length) };
  virtualizer.scrollToIndex(active.value.row);
  requestAnimationFrame(() => document.getElementById("active")?.focus({ preventScroll: true }));
}

function openAt(row, column) {
  openCluster(row.name, column >= 0 && row.states[column] !== " " ? fleet.value.grid.addOns[column] : "");
}
