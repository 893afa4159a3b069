/* What a reader looked at, told to the portal in small batches. Nothing is told by a reader who does not want it. */
(() => {
  "use strict";
  const SECOND = 1000;
  const HALF = 0.5; // half of a picture for a second: what the Media Rating Council (2014) calls viewable
  const BATCH = 4 * SECOND;
  const READ = 10; // seconds on an article; it may be shorter for one who reached its end
  const READ_TO_END = 3;

  const story = document.querySelector("[data-article]");
  const refused = navigator.globalPrivacyControl || navigator.doNotTrack === "1" || /(^|;\s*)profile=off/.test(document.cookie);
  if (!story || refused || !navigator.sendBeacon || !("IntersectionObserver" in window)) return;

  const known = new Set();
  let waiting = [];
  let timer = 0;

  function tell() {
    clearTimeout(timer);
    timer = 0;
    if (!waiting.length) return;
    const said = JSON.stringify({ article: story.dataset.article, places: waiting });
    if (navigator.sendBeacon("/seen", new Blob([said], { type: "application/json" }))) waiting = [];
  }

  function saw(place) {
    if (known.has(place)) return;
    known.add(place);
    waiting.push(place);
    timer ||= setTimeout(tell, BATCH);
  }

  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") tell(); });
  addEventListener("pagehide", tell);

  const pictures = [...document.querySelectorAll("[data-place]")];
  if (pictures.length) lookedAt(pictures);
  else read();

  /* A picture higher than the window counts by the window that it fills. */
  function lookedAt(figures) {
    const since = new Map();
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting, intersectionRatio, intersectionRect, rootBounds } of entries) {
        const enough = isIntersecting && (intersectionRatio >= HALF || intersectionRect.height >= HALF * (rootBounds?.height ?? innerHeight));
        if (!enough) {
          clearTimeout(since.get(target));
          since.delete(target);
        } else if (!since.has(target)) {
          since.set(target, setTimeout(() => {
            const image = target.querySelector("img");
            since.delete(target);
            if (document.visibilityState === "visible" && image?.naturalWidth) { saw(+target.dataset.place); watch.unobserve(target); }
            else watch.unobserve(target), watch.observe(target); // asks again
          }, SECOND));
        }
      }
    }, { threshold: [0, 0.1, 0.2, 0.3, 0.4, HALF, 0.7, 1] });
    for (const figure of figures) watch.observe(figure);
    document.addEventListener("picture-seen", (event) => saw(event.detail));
  }

  function read() {
    let seconds = 0;
    let ended = false;
    const end = story.querySelector("[data-end]");
    if (end) new IntersectionObserver(([entry]) => { ended ||= entry.isIntersecting; }).observe(end);
    const clock = setInterval(() => {
      if (document.visibilityState !== "visible") return;
      seconds += 1;
      if (seconds >= READ || (ended && seconds >= READ_TO_END)) { clearInterval(clock); saw(1); }
    }, SECOND);
  }
})();
