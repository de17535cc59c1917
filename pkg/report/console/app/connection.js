import { forget, show, signIn, trouble } from "./store.js";

// The token of a local program comes with the fragment of the address, which browsers do not send, and that of a hub from the form. A hub
// has TLS: there, a link must not replace the token of the viewer. It stays in the session of the tab, for a reload.
const fromAddress = new URLSearchParams(location.hash.slice(1)).get("token");
if (fromAddress) {
  if (location.protocol === "http:") sessionStorage.setItem("token", fromAddress);
  history.replaceState(null, "", location.pathname + location.search);
}

// Without a token, a proxy in front of the console may add one.
function headers() {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: "Bearer " + token } : {};
}

const intervals = [500, 1000, 2000, 5000];

// The interval after which a viewer without rights tries again.
const withoutRights = 15000;

let following = null;

// Follows the events of the console. It connects again after each failure, but not with a token that is wrong.
export async function follow() {
  following = new AbortController();
  const { signal } = following;
  for (let failures = 0; !signal.aborted; failures++) {
    let pause = intervals[Math.min(failures, intervals.length - 1)];
    try {
      const response = await fetch("api/events", { headers: headers(), cache: "no-store", signal });
      const text = response.ok ? "" : (await response.text()).trim();
      if (response.status === 401) return refused(response, text);
      if (response.status === 403) {
        forget();
        trouble.value = text;
        pause = withoutRights;
      } else {
        if (!response.ok) throw new Error(text);
        failures = 0;
        await read(response.body.pipeThrough(new TextDecoderStream()).getReader());
      }
    } catch (error) {
      if (signal.aborted) return;
      trouble.value = "The program that shows this page does not respond: " + error.message;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

// A hub has a form for its tokens. Another console has its token in the address.
function refused(response, text) {
  forget();
  if (!(response.headers.get("WWW-Authenticate") ?? "").includes('realm="hub"')) {
    trouble.value = text;
    return;
  }
  trouble.value = "";
  signIn.value = { reason: sessionStorage.getItem("token") ? text : "" };
  sessionStorage.removeItem("token");
}

// Signs in with a token of the form.
export function useToken(token) {
  sessionStorage.setItem("token", token);
  sessionStorage.setItem("form", "yes");
  signIn.value = null;
  trouble.value = "";
  follow();
}

// Reports whether the token is from the form, so that it can be forgotten.
export const canSignOut = () => sessionStorage.getItem("form") === "yes" && sessionStorage.getItem("token") !== null;

export function signOut() {
  following?.abort();
  sessionStorage.removeItem("token");
  forget();
  trouble.value = "";
  signIn.value = { reason: "" };
}

async function read(reader) {
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the connection has ended");
    const from = Math.max(0, buffer.length - 1);
    buffer += value;
    for (let end = buffer.indexOf("\n\n", from); end >= 0; end = buffer.indexOf("\n\n")) {
      handle(buffer.slice(0, end));
      buffer = buffer.slice(end + 2);
    }
  }
}

function handle(event) {
  const match = /^event: (\w+)\ndata: /.exec(event);
  if (!match) return;
  const data = JSON.parse(event.slice(match[0].length));
  if (match[1] === "overview") show(data);
  if (match[1] === "trouble") trouble.value = "The hub cannot be watched: " + data;
}

// Requests data of the console.
export async function request(path, query) {
  const response = await fetch(path + "?" + new URLSearchParams(query), { headers: headers(), cache: "no-store" });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

// Requests a picture. The browser parses it as XML, so that no text of it becomes HTML.
export function requestPicture(path, query) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", path + "?" + new URLSearchParams(query));
    request.responseType = "document";
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.onload = () => (request.status === 200 ? resolve(request.responseXML.documentElement) : reject(new Error("status " + request.status)));
    request.onerror = () => reject(new Error("no response"));
    request.send();
  });
}
