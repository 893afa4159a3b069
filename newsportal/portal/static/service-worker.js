/* Offline reading. Lists, stories and events are cached when they are read, and starred stories at once; marks are queued while offline.
   Pages of the desk, of the account and of administrators are never cached, and signing in or out clears the caches. */
"use strict";
const READING = /^\/(?:latest|starred|events|briefing|rising|boards|photos|offline)?$|^\/(?:topic|story|event|briefing)\/[^/]+$/;
const SIGNING = /^\/log(?:in|out)$/;
const MOST = { pages: 120, account: 120, pictures: 100, shell: 100, marks: 500 };
const OFFLINE = "/offline";
const ANY = { ignoreVary: true };
let session = 0; // incremented by signing in or out: responses requested before are not cached

async function store(name, address, answer) {
  const cache = await caches.open(name);
  await cache.delete(address, ANY);
  await cache.put(address, answer);
  const all = await cache.keys();
  await Promise.all(all.slice(0, Math.max(0, all.length - MOST[name])).map((one) => cache.delete(one, ANY)));
}

async function clear() {
  session += 1;
  await Promise.all(["pages", "account", "pictures", "marks"].map((name) => caches.delete(name)));
}

/* Return the cache for a response: pages of signed-in readers have no-store. A public one after them clears all caches. */
async function cacheFor(answer) {
  if (answer.headers.get("cache-control")?.includes("no-store")) {
    await caches.delete("pages");
    return "account";
  }
  if (await caches.has("account")) await clear();
  return "pages";
}

async function keep(address, answer, since) {
  if (!answer.ok || answer.redirected || !answer.headers.get("content-type")?.startsWith("text/html")) return;
  const name = await cacheFor(answer);
  if (!READING.test(new URL(address).pathname) || (name === "account" && since !== session)) return;
  const text = await answer.clone().text();
  await store(name, address, answer);
  const files = [...text.matchAll(/"(\/static\/[^"]+)"/g)].map((found) => found[1]);
  await Promise.all(files.map((file) => cachedFile("shell", file).catch(() => {})));
  const stories = new URL(address).pathname === "/starred" ? [...text.matchAll(/href="(\/story\/[^"/?#]+)"/g)].map((found) => found[1]) : [];
  for (const path of new Set([OFFLINE, ...stories])) await fetchCopy(path, name);
}

/* Cache a page that was not opened: the list of copies, and starred stories. */
async function fetchCopy(path, name) {
  const address = new URL(path, location.origin).href;
  if (await (await caches.open(name)).match(address, ANY)) return;
  const since = session;
  await fetch(address).then((answer) => keep(address, answer, since)).catch(() => {});
}

async function cachedFile(name, request) {
  const known = await caches.match(request, { cacheName: name, ...ANY });
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok) await store(name, request, answer.clone());
  return answer;
}

/* Return the copy of a page, with its (hidden) note of the time shown. The query of a story only names its list, so it is ignored. */
async function copyOf(address) {
  const story = new URL(address).pathname.startsWith("/story/");
  const found = (await caches.match(address, { ignoreSearch: story, ...ANY })) || (await caches.match(OFFLINE, ANY));
  if (!found) return Response.error();
  const headers = new Headers(found.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Response((await found.text()).replace("data-offline hidden", "data-offline"), { headers });
}

async function page(event) {
  const address = event.request.url.split("#")[0];
  const since = session;
  let answer;
  try {
    answer = await fetch(event.request);
  } catch {
    return copyOf(address);
  }
  event.waitUntil(keep(address, answer.clone(), since).then(() => sendMarks().catch(() => {})));
  return answer;
}

/* Marks are queued in a cache, earliest first; the number makes their keys unique. */
const post = (body) => fetch("/marks", {
  method: "POST", body, headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
});
let sending = null;
const sendMarks = () => (sending ||= sendWaiting().finally(() => { sending = null; }));

async function sendWaiting() {
  if (!(await caches.has("marks"))) return;
  const waiting = await caches.open("marks");
  for (const one of await waiting.keys()) {
    const answer = await post(await (await waiting.match(one)).text());
    if (answer.status >= 500) return;
    await waiting.delete(one);
  }
}

/* Retry: the network is often available only some time after the browser reports it. */
async function retryMarks() {
  for (let wait = 500; wait <= 16000; wait *= 2) {
    try { return await sendMarks(); } catch { await new Promise((go) => setTimeout(go, wait)); }
  }
}

let queued = 0;
async function mark(event) {
  const body = await event.request.text();
  const since = session;
  try {
    await sendMarks();
    const answer = await post(body);
    if (answer.ok && body.startsWith("star=")) event.waitUntil(fetchCopy(`/story/${body.slice(5)}`, "account"));
    return answer;
  } catch {
    if (since === session) await store("marks", `/marks/${Date.now()}.${(queued += 1)}`, new Response(body));
    self.registration.sync?.register("marks").catch(() => {});
    return new Response(null, { status: 202 });
  }
}

/* Beacons of a closing page bypass this worker: Chromium may lose them here. */
self.addEventListener("install", (event) => {
  event.addRoutes?.({ condition: { urlPattern: "/seen" }, source: "network" });
  self.skipWaiting();
});

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  await self.clients.claim();
  const open = (await self.clients.matchAll({ type: "window" })).map(({ url }) => url.split("#")[0]);
  const read = open.filter((url) => READING.test(new URL(url).pathname));
  await Promise.all(read.map((url) => fetch(url).then((answer) => keep(url, answer, session)).catch(() => {})));
})()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname, searchParams } = new URL(request.url);
  if (origin !== location.origin) return;
  if (request.method === "POST" && SIGNING.test(pathname)) event.waitUntil(clear());
  else if (request.method === "POST" && pathname === "/marks" && request.mode !== "navigate") event.respondWith(mark(event));
  else if (request.method !== "GET") return;
  else if (request.mode === "navigate" && (READING.test(pathname) || SIGNING.test(pathname))) event.respondWith(page(event));
  else if (!searchParams.has("v")) return; // its content may change
  else if (pathname.startsWith("/static/")) event.respondWith(cachedFile("shell", request));
  else if (pathname.startsWith("/picture/")) event.respondWith(cachedFile("pictures", request));
});

self.addEventListener("sync", (event) => event.waitUntil(sendMarks()));
self.addEventListener("message", (event) => event.waitUntil(retryMarks()));

/* Show alerts as notifications. */
self.addEventListener("push", (event) => {
  const { title, body, tag, url } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, tag, data: url, icon: "/static/icon-192.png" }));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data || "/"));
});
