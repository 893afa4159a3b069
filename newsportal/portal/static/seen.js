/* Sends views to the portal in small batches; nothing is sent for readers who opted out. */
(() => {
  "use strict";
  const SECOND = 1000;
  const HALF = 0.5; // half of a picture for a second: the Media Rating Council's definition of viewable (2014)
  const BATCH = 4 * SECOND;
  const READ = 10; // seconds on an article until it counts as read; fewer if its end was reached
  const READ_TO_END = 3;

  const story = document.querySelector("[data-article]");
  const refused = navigator.globalPrivacyControl || navigator.doNotTrack === "1" || /(^|;\s*)profile=off/.test(document.cookie);
  if (!story || refused || !navigator.sendBeacon || !("IntersectionObserver" in window)) return;

  const sent = new Set();
  let waiting = [];
  let timer = 0;

  function send() {
    clearTimeout(timer);
    timer = 0;
    if (!waiting.length) return;
    const body = JSON.stringify({ article: story.dataset.article, places: waiting });
    if (navigator.sendBeacon("/seen", new Blob([body], { type: "application/json" }))) waiting = [];
  }

  function add(place) {
    if (sent.has(place)) return;
    sent.add(place);
    waiting.push(place);
    timer ||= setTimeout(send, BATCH);
  }

  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") send(); });
  addEventListener("pagehide", send);

  const pictures = [...document.querySelectorAll("[data-place]")];
  if (pictures.length) watchPictures(pictures);
  else watchArticle();

  /* A picture higher than the window counts by the share of the window that it fills. */
  function watchPictures(figures) {
    const since = new Map();
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting, intersectionRatio, intersectionRect, rootBounds } of entries) {
        const enough = isIntersecting && (intersectionRatio >= HALF || intersectionRect.height >= HALF * (rootBounds?.height ?? innerHeight));
        if (!enough) {
          clearTimeout(since.get(target));
          since.delete(target);
        } else if (!since.has(target)) {
          since.set(target, setTimeout(() => {
            const image = target.querySelector("img");
            since.delete(target);
            if (document.visibilityState === "visible" && image?.naturalWidth) { add(+target.dataset.place); observer.unobserve(target); }
            else observer.unobserve(target), observer.observe(target); // triggers the observer again
          }, SECOND));
        }
      }
    }, { threshold: [0, 0.1, 0.2, 0.3, 0.4, HALF, 0.7, 1] });
    for (const figure of figures) observer.observe(figure);
    document.addEventListener("picture-seen", (event) => add(event.detail));
  }

  function watchArticle() {
    let seconds = 0;
    let ended = false;
    const end = story.querySelector("[data-article-end]");
    if (end) new IntersectionObserver(([entry]) => { ended ||= entry.isIntersecting; }).observe(end);
    const clock = setInterval(() => {
      if (document.visibilityState !== "visible") return;
      seconds += 1;
      if (seconds >= READ || (ended && seconds >= READ_TO_END)) { clearInterval(clock); add(1); }
    }, SECOND);
  }
})();
