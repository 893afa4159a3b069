/* Reading without a network. Copies are kept of lists, stories and events as they were read, and of starred stories; marks wait until there
   is a network. Nothing is kept of the desk, the account or what administrators see, and nothing stays after signing in or out. */
"use strict";
const READING = /^\/(?:latest|starred|events|briefing|rising|boards|photos|offline)?$|^\/(?:topic|story|event|briefing)\/[^/]+$/;
const SIGNING = /^\/log(?:in|out)$/;
const MOST = { pages: 120, account: 120, pictures: 100, shell: 100, marks: 500 };
const OFFLINE = "/offline";
const ANY = { ignoreVary: true };
let era = 0; // goes on when somebody signs in or out: what was on its way then is not kept

async function store(name, address, answer) {
  const cache = await caches.open(name);
  await cache.delete(address, ANY);
  await cache.put(address, answer);
  const all = await cache.keys();
  await Promise.all(all.slice(0, Math.max(0, all.length - MOST[name])).map((one) => cache.delete(one, ANY)));
}

async function clear() {
  era += 1;
  await Promise.all(["pages", "account", "pictures", "marks"].map((name) => caches.delete(name)));
}

/* The cache for an answer: pages of somebody who is signed in say no-store. Those of anybody end what was kept for him. */
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
  if (!READING.test(new URL(address).pathname) || (name === "account" && since !== era)) return;
  const text = await answer.clone().text();
  await store(name, address, answer);
  const files = [...text.matchAll(/"(\/static\/[^"]+)"/g)].map((found) => found[1]);
  await Promise.all(files.map((file) => keptFile("shell", file).catch(() => {})));
  const stories = new URL(address).pathname === "/starred" ? [...text.matchAll(/href="(\/story\/[^"/?#]+)"/g)].map((found) => found[1]) : [];
  for (const path of new Set([OFFLINE, ...stories])) await fetchCopy(path, name);
}

/* A page that nobody opened: the page that lists the copies, and starred stories. */
async function fetchCopy(path, name) {
  const address = new URL(path, location.origin).href;
  if (await (await caches.open(name)).match(address, ANY)) return;
  const since = era;
  await fetch(address).then((answer) => keep(address, answer, since)).catch(() => {});
}

async function keptFile(name, request) {
  const known = await caches.match(request, { cacheName: name, ...ANY });
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok) await store(name, request, answer.clone());
  return answer;
}

/* The copy says when it was made: the sentence stands hidden in every page. A story is the same whichever list led to it. */
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
  const since = era;
  let answer;
  try {
    answer = await fetch(event.request);
  } catch {
    return copyOf(address);
  }
  event.waitUntil(keep(address, answer.clone(), since).then(() => sendMarks().catch(() => {})));
  return answer;
}

/* Marks wait in a cache, the earliest first; the number keeps them apart. */
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

/* The network is often there only a moment after the browser says so. */
async function sendSoon() {
  for (let wait = 500; wait <= 16000; wait *= 2) {
    try { return await sendMarks(); } catch { await new Promise((go) => setTimeout(go, wait)); }
  }
}

let marked = 0;
async function mark(event) {
  const body = await event.request.text();
  const since = era;
  try {
    await sendMarks();
    const answer = await post(body);
    if (answer.ok && body.startsWith("star=")) event.waitUntil(fetchCopy(`/story/${body.slice(5)}`, "account"));
    return answer;
  } catch {
    if (since === era) await store("marks", `/marks/${Date.now()}.${(marked += 1)}`, new Response(body));
    self.registration.sync?.register("marks").catch(() => {});
    return new Response(null, { status: 202 });
  }
}

/* What a leaving page says of what was looked at goes past this script: Chromium may lose it here. */
self.addEventListener("install", (event) => {
  event.addRoutes?.({ condition: { urlPattern: "/seen" }, source: "network" });
  self.skipWaiting();
});

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  await self.clients.claim();
  const open = (await self.clients.matchAll({ type: "window" })).map(({ url }) => url.split("#")[0]);
  const read = open.filter((url) => READING.test(new URL(url).pathname));
  await Promise.all(read.map((url) => fetch(url).then((answer) => keep(url, answer, era)).catch(() => {})));
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
  else if (pathname.startsWith("/static/")) event.respondWith(keptFile("shell", request));
  else if (pathname.startsWith("/picture/")) event.respondWith(keptFile("pictures", request));
});

self.addEventListener("sync", (event) => event.waitUntil(sendMarks()));
self.addEventListener("message", (event) => event.waitUntil(sendSoon()));

/* Messages of alerts. */
self.addEventListener("push", (event) => {
  const { title, body, tag, url } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, tag, data: url, icon: "/static/icon-192.png" }));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data || "/"));
});
