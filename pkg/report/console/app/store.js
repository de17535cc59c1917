import { computed, signal } from "@preact/signals";

// The last overview that the console has sent, and the time at which it came.
export const fleet = signal(null);
export const received = signal(0);
// The reason why the overview is not current. It is empty while it is current.
export const trouble = signal("");
// The form for a token, with the reason why the last one was refused. It is null while there is no form.
export const signIn = signal(null);
// Changes since the page was opened, latest first.
export const changes = signal([]);

const names = ["q", "group", "state", "addon", "cluster", "at"];

// The filter for each state in which an add-on certainly fails.
export const fails = "fails";
export const failing = ["Failing", "Down"];

// The filter for clusters without the label. No value of a label begins with it.
export const unlabeled = "-";

// The filters of the page. They are the query of its address.
export const filters = signal(readFilters());

// The short name of the label whose values are the groups.
export const groupLabel = computed(() => fleet.value.matrix.groupBy.split("/").pop());

export const legend = computed(() => Object.fromEntries((fleet.value?.legend ?? []).map((text) => [text.state, text])));

function readFilters() {
  const query = new URLSearchParams(location.search);
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""]));
}

// Sets some filters, and shows them in the address.
export function setFilters(changed) {
  filters.value = { ...filters.value, ...changed };
  const query = new URLSearchParams(Object.entries(filters.value).filter(([, value]) => value));
  history.replaceState(null, "", query.size ? "?" + query : location.pathname);
}

// Shows everything in the list of managed clusters, but for the given filters. The details and the graph are those of the fleet.
export const showOnly = (chosen) => setFilters({ ...Object.fromEntries(names.map((name) => [name, ""])), ...chosen });

addEventListener("popstate", () => (filters.value = readFilters()));

const maxChanges = 100;

// Shows another overview, and records how it differs from the one before.
export function show(overview) {
  if (fleet.value) {
    const found = compare(fleet.value, overview);
    if (found.length) changes.value = [...found.map((text) => ({ time: new Date(overview.taken), text })), ...changes.value].slice(0, maxChanges);
  }
  fleet.value = overview;
  received.value = Date.now();
  trouble.value = "";
}

// Forgets all data, because the viewer may see it no more.
export function forget() {
  fleet.value = null;
  changes.value = [];
}

function compare(before, after) {
  const texts = [];
  const causes = new Map(before.causes.map((cause) => [cause.title, cause]));
  for (const cause of after.causes) {
    const last = causes.get(cause.title);
    causes.delete(cause.title);
    if (!last) texts.push(`New root cause: ${cause.title}, on ${cause.clusters} managed clusters`);
    else if (last.clusters !== cause.clusters) texts.push(`${cause.title}: ${last.clusters} → ${cause.clusters} managed clusters`);
  }
  for (const title of causes.keys()) texts.push(`Repaired: ${title}`);
  const [lost, nowLost] = [before.reach.lost ?? 0, after.reach.lost ?? 0];
  if (lost !== nowLost) texts.push(`Managed clusters that cannot be reached: ${lost} → ${nowLost}`);
  return texts;
}
