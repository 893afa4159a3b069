/* Keyboard shortcuts, switching the theme without reloading, and pictures that fail to load. All of it is optional. */
(() => {
  "use strict";
  const root = document.documentElement;
  const find = (selector, from = document) => from.querySelector(selector);
  let stories = [...document.querySelectorAll("[data-story]")];
  const help = find("[data-help]");
  const menu = find("[data-menu]");
  let selected = -1;
  let pressedG = 0; // when "g" was pressed

  const link = (story) => find(".headline a, th a", story);
  const go = (address) => { if (address) location.assign(address); };

  function choose(step) {
    if (!stories.length) return;
    stories[selected]?.classList.remove("selected");
    selected = Math.min(Math.max(selected + step, 0), stories.length - 1);
    const story = stories[selected];
    story.classList.add("selected");
    link(story)?.focus({ preventScroll: true });
    story.scrollIntoView({ block: "center" });
  }

  /* Suggestions for the search boxes: requested when typing pauses, never during input method composition. */
  let typingTimer = 0;
  document.addEventListener("input", (event) => {
    const box = event.target;
    if (!box.matches("input[list=suggested]") || event.isComposing || event.inputType === "insertReplacementText") return;
    clearTimeout(typingTimer);
    typingTimer = setTimeout(async () => {
      const answer = await fetch(`/search/suggest?q=${encodeURIComponent(box.value)}`).catch(() => null);
      if (!answer?.ok) return;
      const [typed, found] = await answer.json();
      if (typed === box.value) find("#suggested").replaceChildren(...found.map((one) => new Option(one, one)));
    }, 150);
  });
  document.addEventListener("compositionend", (event) => event.target.dispatchEvent(new Event("input", { bubbles: true })));

  document.addEventListener("stories-added", () => { stories = [...document.querySelectorAll("[data-story]")]; });

  /* j and k continue from the focused link. */
  document.addEventListener("focusin", (event) => {
    const place = stories.indexOf(event.target.closest("[data-story]"));
    if (place >= 0 && place !== selected) {
      stories[selected]?.classList.remove("selected");
      selected = place;
    }
  });

  function theme() {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const now = root.dataset.theme === "auto" ? system : root.dataset.theme;
    root.dataset.theme = now === "dark" ? "light" : "dark";
    document.cookie = `theme=${root.dataset.theme};path=/;max-age=31536000;samesite=lax`;
    const button = find("[data-theme-button]");
    if (button) button.value = now;
    if (menu) fetch(`/settings?theme=${root.dataset.theme}`, { redirect: "manual" }).catch(() => {}); // saved with the account
  }

  const only = () => stories[selected] || find("[data-article]") || (stories.length === 1 ? stories[0] : null);
  const keys = {
    j: () => choose(1),
    k: () => choose(-1),
    o: () => go(only() && link(only())?.href),
    v: () => go(only()?.dataset.original),
    r: () => { const order = find("[data-order]"); if (order?.href) go(order.href); else order?.click(); },
    s: () => find(".star", only() || document.createElement("p"))?.click(),
    m: () => find(".tick", only() || document.createElement("p"))?.click(),
    n: () => go(find("a[rel=next]")?.href),
    p: () => go(find("a[rel=prev]")?.href),
    t: theme,
    "/": () => (find("#query") || find("[data-search]"))?.focus(),
    "?": () => (help?.open ? help.close() : help?.showModal()),
  };
  const places = { t: "/", h: "/", s: "/starred", l: "/latest", r: "/runs", p: "/photos", f: "/for-you" };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (find(".pswp")) return; // the viewer has its own keys
    if (event.key === "Escape") { if (menu) menu.open = false; document.activeElement?.blur(); }
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    if (help?.open && event.key !== "?") return;
    const soon = Date.now() - pressedG < 1500;
    pressedG = 0;
    if (soon && places[event.key]) return go(places[event.key]);
    if (event.key === "g") { pressedG = Date.now(); return; }
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  document.addEventListener("click", (event) => { if (menu && !menu.contains(event.target)) menu.open = false; });

  /* Share the URL of this page without its query. No server is contacted. */
  const share = find("[data-share]");
  const copy = find("[data-copy]");
  const address = location.origin + location.pathname;
  if (share && navigator.share) {
    share.hidden = false;
    share.addEventListener("click", () => navigator.share({ title: document.title, url: address }).catch(() => {}));
  }
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", () => navigator.clipboard.writeText(address).then(() => { copy.textContent = copy.dataset.done; }, () => {}));
  }
  const print_ = find("[data-print]");
  if (print_) {
    print_.hidden = false;
    print_.addEventListener("click", () => print());
  }

  /* Offline copies (service-worker.js); queued marks are sent when the network is back. */
  navigator.serviceWorker?.register("/service-worker.js").catch(() => {});
  addEventListener("online", () => navigator.serviceWorker?.controller?.postMessage("online"));

  find("[data-theme-button]")?.addEventListener("click", (event) => { event.preventDefault(); theme(); });
  const helpButton = find("[data-help-button]");
  if (helpButton && help) {
    helpButton.hidden = false;
    helpButton.addEventListener("click", () => help.showModal());
  }

  /* Screen readers announce changes only: appending a space to the notice makes them read it. After an error the first invalid field gets
     the focus. */
  const done = find(".flash")?.firstChild;
  if (done) setTimeout(() => { done.data += "\u00a0"; }, 300);
  if (document.activeElement === document.body) find("main [aria-invalid=true]")?.focus();

  const onLoadError = (image) => {
    if (image.closest(".pictured")) { image.closest(".pictured").classList.remove("pictured"); image.remove(); }
    else if (image.closest(".cover")) { image.closest(".cover").classList.add("no-picture"); image.remove(); }
    else if (image.closest("[data-place]")) image.closest("[data-place]").classList.add("failed");
    else if (image.classList.contains("lead-picture")) image.remove();
  };
  document.addEventListener("error", (event) => { if (event.target.tagName === "IMG") onLoadError(event.target); }, true);
  for (const image of document.images) if (image.complete && image.currentSrc && !image.naturalWidth) onLoadError(image);
})();
