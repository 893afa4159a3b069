/* Lists the pages saved in this browser, latest first. */
(async () => {
  "use strict";
  const list = document.querySelector("[data-copies]");
  for (const name of ["account", "pages"]) {
    if (!("caches" in window) || !(await caches.has(name))) continue;
    const cache = await caches.open(name);
    for (const { url } of (await cache.keys()).reverse()) {
      if (new URL(url).pathname === location.pathname || new URL(url).pathname === "/offline") continue;
      const page = new DOMParser().parseFromString(await (await cache.match(url, { ignoreVary: true })).text(), "text/html");
      const link = document.createElement("a");
      link.href = url;
      link.textContent = page.title;
      list.appendChild(document.createElement("li")).appendChild(link);
    }
  }
  list.dataset.copies = "listed";
})();
