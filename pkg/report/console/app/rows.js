import { computed } from "@preact/signals";
import { failing, fails, filters, fleet, legend, unlabeled } from "./store.js";

// The columns and rows that pass the filters. Managed clusters with the worst states come first.
export const shown = computed(() => {
  const { grid, legend } = fleet.value;
  const { q, group, state, addon } = filters.value;
  const columns = grid.addOns.map((_, i) => i).filter((i) => !addon || grid.addOns[i] === addon);
  const wanted = state === fails ? failing : [state];
  const digits = state ? legend.flatMap((text, i) => (wanted.includes(text.state) ? String(i) : [])) : null;
  const rows = grid.clusters.filter((row) =>
    (!q || row.name.includes(q)) && (!group || (row.group || unlabeled) === group) &&
    columns.some((i) => row.states[i] !== " " && (!digits || digits.includes(row.states[i]))));
  const rank = new Map(rows.map((row) => [row, columns.map((i) => (row.states[i] === " " ? "~" : row.states[i])).sort().join("")]));
  rows.sort((a, b) => (rank.get(a) < rank.get(b) ? -1 : rank.get(a) > rank.get(b) ? 1 : a.name < b.name ? -1 : 1));
  return { columns, rows };
});

// The managed clusters whose name passes, if other filters hide all of them.
export const hidden = computed(() => {
  const { q, group, state, addon } = filters.value;
  if (!q || shown.value.rows.length || !(group || state || addon)) return [];
  return fleet.value.grid.clusters.filter((row) => row.name.includes(q)).map((row) => row.name);
});

export const groupName = (group) => (group === unlabeled ? "without the label" : group);
export const stateName = (state) => (state === fails ? "Anything that fails" : legend.value[state]?.word ?? state);

// The filters in words.
export const filtered = computed(() => {
  const { q, group, state, addon } = filters.value;
  return [q && `name with "${q}"`, group && groupName(group), addon, state && stateName(state)].filter(Boolean).join(", ");
});
